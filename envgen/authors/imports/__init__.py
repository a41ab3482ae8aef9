"""Task sets that others made, as drafts: one module a format.

`read` lists what cannot be imported with its reason, and goes on. Everything in these folders is
hostile until it was looked at; nothing in them is run here.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from envgen.authors.imports import endless, folder, harbor, tmax
from envgen.authors.imports.images import check_map
from envgen.authors.imports.options import Options
from envgen.digest import digest, short
from envgen.errors import Fault, Misconfigured
from envgen.records import Rejection, TaskDraft

Reader = Callable[[Path, str, Options], TaskDraft]

KINDS: dict[str, tuple[str, Reader]] = {
    "harbor": (harbor.MARKER, harbor.read),
    "tmax": (tmax.MARKER, tmax.read),
    "endless": (endless.MARKER, endless.read),
}
"""Formats by name: the file that makes a folder a task, and what reads it."""


def read(
    kind: str, source: Path, options: Options | None = None
) -> Iterator[TaskDraft | Rejection]:
    """Every task in a folder, one after the other, in order of their names.

    Args:
        kind: `harbor`, `tmax` or `endless`.
        source: a folder of tasks, or one task.
        options: what stands for images, where wheels are, how to grade.

    Raises:
        Misconfigured: no such format, folder or base, or a folder without any task.
    """
    options = options or Options()
    check(kind, source, options)
    return _read(kind, source, options)


def check(kind: str, source: Path, options: Options) -> None:
    """Misconfigured as in `read`, apart from what shows only while reading."""
    if kind not in KINDS:
        raise Misconfigured(f"no format {kind!r} to import: known are {', '.join(KINDS)}")
    if not source.is_dir():
        raise Misconfigured(f"{source} is not a folder: give the one that holds the tasks")
    check_map(options.base_map)


def count(kind: str, source: Path) -> int:
    """How many tasks `read` would give."""
    return sum(1 for _ in folder.tasks(source, KINDS[kind][0]))


def parse(text: str) -> tuple[str, Path]:
    """`KIND:FOLDER`, as it is written on the command line.

    Raises:
        Misconfigured: there is no such format, or no folder.
    """
    kind, colon, path = text.partition(":")
    if not colon or kind not in KINDS or not path:
        raise Misconfigured(f"--import {text}: write KIND:FOLDER, with KIND of {', '.join(KINDS)}")
    return kind, Path(path)


def _read(kind: str, source: Path, options: Options) -> Iterator[TaskDraft | Rejection]:
    marker, reader = KINDS[kind]
    none = True
    for name, path in folder.tasks(source, marker):
        none = False
        yield _one(kind, name, path, reader, options)
    if none:
        raise Misconfigured(f"no folder in {source} holds a {marker}: is it of the format {kind}?")


def _one(
    kind: str, name: str, path: Path, reader: Reader, options: Options
) -> TaskDraft | Rejection:
    origin = f"{kind}:{folder.printable(name)}"
    try:
        if path.is_symlink():
            raise Fault("import:link", "it is a link: give the folder that it points to")
        return reader(path, origin, options)
    except Fault as fault:
        return Rejection(
            spec=None,
            slug=f"import-{short(digest(origin), 8)}",
            step="import",
            code=fault.code,
            detail=f"{origin}: {fault.detail}",
        )


__all__ = ["KINDS", "Options", "check", "count", "parse", "read"]
