"""Task folders from a manifest alone."""

from pathlib import Path

from envgen.errors import Misconfigured
from envgen.export import harbor, parquet
from envgen.files import check_path


def unpack(manifest: Path, target: Path) -> int:
    """Write every task's folder below `target`; returns how many.

    Raises:
        Misconfigured: an archive is not the one that the manifest names, or a task's name is no
            name of a folder.
    """
    count = 0
    for row in parquet.read(manifest, ["task", "archive", "archive_sha256"]):
        harbor.write(parquet.tree_of(row), target / _folder(row["task"]))
        count += 1
    return count


def _folder(task: str | None) -> str:
    try:
        name = check_path(task or "")
    except ValueError as error:
        raise Misconfigured(f"a task's name is no name of a folder: {error}") from None
    if "/" in name:
        raise Misconfigured(f"a task's name is no name of a folder: {name!r}")
    return name
