"""Captured outputs as values: what is in the archive, and the archive with another content."""

import io
import tarfile
from collections.abc import Iterator, Mapping

from envgen.files import EPOCH, File
from envgen.records import AGENT_UID
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


def holding(found: Entries, files: Mapping[str, File]) -> bytes:
    """The archive with these files: in place of what stands there, or more of them."""
    rest = dict(files)
    changed = []
    for entry, old in found:
        file = rest.pop(entry.name[len(STAGING) :], None)
        if file is None:
            changed.append((entry, old))
        else:
            changed.append((_made(entry.name, file, entry.uid, entry.mtime), file.data))
    for path, file in sorted(rest.items()):
        changed.append((_made(f"{STAGING}{path}", file, AGENT_UID, EPOCH), file.data))
    return packed(changed)


def _made(name: str, file: File, uid: int, mtime: float) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.uid = made.gid = uid
    made.mtime, made.mode, made.size = mtime, file.mode, len(file.data)
    return made
