"""Images of registries that cannot be reached, as bases and packages of ours.

A substitute is never silent: what an image became stands in the notes of the task.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from envgen import bases
from envgen.errors import Fault, Misconfigured

PLAIN = "data_querying"
"""The base that holds least: what every base has, and nothing of a domain's."""
_NOT_FOR_TASKS = ("tools",)


@cache
def names() -> dict[str, Any]:
    """The tables of `names.yaml`."""
    tables: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "names.yaml").read_text())
    return tables


def check_map(base_map: Mapping[str, str]) -> None:
    """Refuse what `--base-map` names and is no base of ours.

    Raises:
        Misconfigured: the image, and what may stand on the right.
    """
    for image, local in base_map.items():
        base, *packages = local.split("+")
        known = [name for name in bases.names() if name not in _NOT_FOR_TASKS]
        if base not in known or not all(bases.PACKAGE.fullmatch(p) for p in packages):
            raise Misconfigured(
                f"--base-map {image}={local}: write IMAGE=BASE or IMAGE=BASE+package+package, with "
                f"one of the bases {', '.join(known)}"
            )


def stand_in(image: str, base_map: Mapping[str, str]) -> tuple[str | None, tuple[str, ...], str]:
    """A base (None: whichever fits the packages), packages, and a note, for a stranger's image.

    Raises:
        Fault: nobody said what stands for it.
    """
    repository = re.sub(r"(@sha256:[0-9a-f]+)$", "", image)
    repository = re.sub(r":[\w.-]+$", "", repository)
    short = re.sub(r"^(docker\.io/)?(library/)?", "", repository)
    for name in (image, repository, short):
        if name in base_map:
            base, *packages = base_map[name].split("+")
            return base, tuple(packages), f"base: {base_map[name]} stands for {image}, as was asked"
    known = names()["images"]
    if short not in known:
        raise Fault(
            "import:base",
            f"nothing stands for the image {image}: say what does with --base-map "
            f"{repository}=BASE+package+package",
        )
    return None, tuple(known[short]), f"base: a Debian base stands for {image}"


def fitting(base: str | None, packages: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """A base, and what it lacks of the packages.

    Without a wish it is the base that holds most of them and, beyond what all bases hold, nothing
    else.
    """
    wanted = {names()["debian"].get(p, p) for p in packages} - set(names()["root"])
    if base is None:
        common = set(bases.contents(PLAIN))
        able = [
            name
            for name in bases.names()
            if name not in _NOT_FOR_TASKS and set(bases.contents(name)) - common <= wanted
        ]
        base = max(able, key=lambda name: (len(set(bases.contents(name))), name == PLAIN, name))
    return base, tuple(sorted(wanted - set(bases.contents(base))))
