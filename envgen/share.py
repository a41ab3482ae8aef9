"""The one function that finds the files shipped beside the code, in checkout and wheel alike."""

from functools import cache
from pathlib import Path


@cache
def share(name: str) -> Path:
    """The folder `axes`, `prompts`, `verifiers` or `data/bases`, or the file `data/prices.yaml`.

    Raises:
        FileNotFoundError: the installation is incomplete.
    """
    package = Path(__file__).parent
    for root in (package / "_share", package.parent):
        if (root / name).exists():
            return root / name
    raise FileNotFoundError(f"envgen's own {name!r} is missing: install envgen again")
