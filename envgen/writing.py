"""Files that are there whole or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from envgen.errors import Misconfigured


@contextmanager
def aside(path: Path) -> Iterator[Path]:
    """Where to write a file that takes the place of `path` at the end, and only if all went well.

    Who is killed leaves the old file or the new one.

    Raises:
        Misconfigured: `path` is a folder.
    """
    if path.is_dir():
        raise Misconfigured(f"{path} is a folder, and a file is to be written there: name a file")
    part = path.with_name(f".{path.name}.part")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> None:
    """Write a text aside, then rename."""
    with aside(path) as part:
        part.write_text(text, encoding="utf-8")
