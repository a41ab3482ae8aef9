"""Task folders from a manifest alone."""

from pathlib import Path

from envgen.digest import digest_bytes
from envgen.errors import Misconfigured
from envgen.export import harbor, parquet
from envgen.files import FileTree


def unpack(manifest: Path, target: Path) -> int:
    """Write every task's folder below `target`; returns how many. Folders there are left alone.

    Raises:
        Misconfigured: an archive is not the one that the manifest names.
    """
    count = 0
    for row in parquet.read(manifest, ["task", "archive", "archive_sha256"]):
        if digest_bytes(row["archive"]) != row["archive_sha256"]:
            raise Misconfigured(f"{manifest}: the archive of task {row['task']} was changed")
        harbor.write(FileTree.from_tar(row["archive"]), target / row["task"])
        count += 1
    return count
