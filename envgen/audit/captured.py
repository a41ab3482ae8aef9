"""Captured outputs as values: what is in the archive, and the archive with another content."""

import io
import tarfile
from collections.abc import Iterator

from envgen.sandbox.archive import STAGING, packed

Entries = list[tuple[tarfile.TarInfo, bytes]]


def entries(outputs: bytes) -> Entries:
    """All entries of an archive with their contents."""
    with tarfile.open(fileobj=io.BytesIO(outputs), mode="r:", errors="surrogateescape") as archive:
        found = []
        for member in archive:
            stream = archive.extractfile(member) if member.isreg() else None
            found.append((member, stream.read() if stream else b""))
        return found


def files(found: Entries) -> Iterator[tuple[str, tarfile.TarInfo, bytes]]:
    """Regular files by their absolute paths."""
    for entry, data in found:
        if entry.isreg() and entry.name.startswith(f"{STAGING}/"):
            yield entry.name[len(STAGING) :], entry, data


def paths(outputs: bytes) -> frozenset[str]:
    """Absolute paths of everything in an archive, and of the folders above."""
    found = set()
    for entry, _ in entries(outputs):
        path = entry.name[len(STAGING) :]
        while path:
            found.add(path)
            path = path.rpartition("/")[0]
    return frozenset(found)


def replaced(found: Entries, path: str, data: bytes, mode: int) -> bytes:
    """The archive with another content and mode at a path."""
    changed = []
    for entry, old in found:
        if entry.name == f"{STAGING}{path}":
            new = tarfile.TarInfo(entry.name)
            new.uid, new.gid, new.mtime = entry.uid, entry.gid, entry.mtime
            new.mode, new.size = mode, len(data)
            changed.append((new, data))
        else:
            changed.append((entry, old))
    return packed(changed)
