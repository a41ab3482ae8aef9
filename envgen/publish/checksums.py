"""`SHA256SUMS`: the digest of every file of a folder, and of the list itself.

The form is that of coreutils; the last line, a comment to them, is the digest of the lines above,
so that damage to the list is told from damage to a file.
"""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from envgen.authors.imports.folder import printable
from envgen.errors import Misconfigured

NAME = "SHA256SUMS"
MOST = 64 << 20
"""Bytes of a list."""
_LINE = re.compile(r"([0-9a-f]{64})  ([^\x00-\x1f\x7f]+)")
_LAST = "# of the lines above: "


class Trouble(NamedTuple):
    """What is wrong with a file, or with a task."""

    file: str
    reason: str


def write(folder: Path) -> str:
    """List what is in a folder of ours; the SHA-256 of the list."""
    lines = [f"{sha256(folder / name)}  {name}\n" for name in sorted(_files(folder))]
    text = "".join(lines)
    text += _last(text.encode())
    (folder / NAME).write_text(text, encoding="utf-8")
    return hashlib.sha256(text.encode()).hexdigest()


def check(folder: Path) -> Iterator[Trouble]:
    """Everything in a folder that is not as its list says, by the name of the file.

    Hidden files, which hosts of data sets add, are not looked at.

    Raises:
        Misconfigured: there is no list.
    """
    listed = _listed(folder)
    if listed is None:
        yield Trouble(NAME, "its bytes are others, so that nothing can be told of the rest")
        return
    there = set(_files(folder))
    for name, wanted in sorted(listed.items()):
        if name not in there:
            yield Trouble(name, "it is missing")
        elif sha256(folder / name) != wanted:
            yield Trouble(name, "its bytes are others")
    yield from (Trouble(printable(name), "it is not listed") for name in sorted(there - {*listed}))
    yield from (
        Trouble(printable(str(path.relative_to(folder))), "it is a link")
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() and not _hidden(path.relative_to(folder))
    )


def sha256(path: Path) -> str:
    """The hex digest of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _listed(folder: Path) -> dict[str, str] | None:
    """Digests by the path of the file; None when the list is not what was written."""
    path = folder / NAME
    if path.is_symlink() or not path.is_file() or path.stat().st_size > MOST:
        raise Misconfigured(f"{folder} is no data set of envgen: it has no {NAME}")
    data = path.read_bytes()
    above = data[: max(0, data.rfind(_LAST.encode()))]
    if data != above + _last(above).encode():
        return None
    matches = [_LINE.fullmatch(line) for line in above.decode(errors="replace").splitlines()]
    return {match[2]: match[1] for match in matches if match}


def _last(above: bytes) -> str:
    return f"{_LAST}{hashlib.sha256(above).hexdigest()}\n"


def _files(folder: Path) -> Iterator[str]:
    """Regular files by their path from the folder; not the list, and nothing that is hidden."""
    for path in folder.rglob("*"):
        under = path.relative_to(folder)
        plain = path.is_file() and not path.is_symlink()
        if plain and not _hidden(under) and under.as_posix() != NAME:
            yield under.as_posix()


def _hidden(under: Path) -> bool:
    return any(part.startswith(".") for part in under.parts)
