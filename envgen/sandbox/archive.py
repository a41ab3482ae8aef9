"""Archives that cross the border of a container, made and checked by us.

What comes out of a container is hostile: names, links, devices, sizes. `normalised` keeps what a
task may hand over and makes equal content equal bytes.
"""

import io
import tarfile
from collections.abc import Iterable, Iterator

from envgen.files import EPOCH, TAR_END
from envgen.records import Put

STAGING = ".outputs"
"""Where captured folders stand in an archive and, for grading, in the fresh container."""

MAX_ENTRIES = 50_000


class TooLarge(Exception):
    """More bytes or entries than the cap allows."""


def bundle(puts: Iterable[Put], restore: bytes | None) -> bytes:
    """One tar, to be unpacked at `/`: all trees, each below its target, then captured outputs."""
    trees = [
        put.tree.blocks(uid=put.uid, root=put.target.strip("/"), root_mode=put.mode) for put in puts
    ]
    return b"".join(trees) + (restore or TAR_END)


def capped(stream: Iterable[bytes], limit: int) -> bytes:
    """All bytes of a stream; TooLarge as soon as there are more than `limit`."""
    out = io.BytesIO()
    for chunk in stream:
        out.write(chunk)
        if out.tell() > limit:
            raise TooLarge(f"more than {limit} bytes")
    return out.getvalue()


def normalised(
    folder: str, data: bytes, started: float, limit: int
) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    """The entries of an engine's archive of `folder` that may carry over, in a settled form.

    Regular files, folders and symbolic links stay, with owner and permission bits; hard links
    become copies; sockets, pipes and devices are left behind. Times after the job's start become
    one fixed instant, so that a deterministic solution gives equal bytes.

    Args:
        folder: absolute path that was captured.
        data: the engine's tar; its names begin with the folder's last part.
        started: the container's start, in seconds since 1970.
        limit: most bytes of content; TooLarge above (hard links make much of little).
    """
    total = 0
    parent = folder.rstrip("/").rpartition("/")[0].strip("/")
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:", errors="surrogateescape") as archive:
        members = archive.getmembers()
        if len(members) > MAX_ENTRIES:
            raise TooLarge(f"more than {MAX_ENTRIES} files")
        for member in sorted(members, key=lambda m: m.name):
            name = "/".join(part for part in (STAGING, parent, member.name.strip("/")) if part)
            if "/../" in f"/{name}/" or not (
                member.isreg() or member.isdir() or member.issym() or member.islnk()
            ):
                continue
            content = b""
            if member.isreg() or member.islnk():
                try:
                    stream = archive.extractfile(member)
                except KeyError:  # a hard link to something outside of what was captured
                    continue
                content = stream.read() if stream else b""
                total += len(content)
                if total > limit:
                    raise TooLarge(f"more than {limit} bytes")
            yield _settled(member, name, len(content), started), content


def _settled(member: tarfile.TarInfo, name: str, size: int, started: float) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type = tarfile.REGTYPE if member.islnk() else member.type
    entry.linkname = member.linkname if member.issym() else ""
    entry.mode = member.mode & 0o777
    entry.uid, entry.gid, entry.size = member.uid, member.gid, size
    entry.mtime = EPOCH if member.mtime >= started - 1 else int(member.mtime)
    return entry


def packed(entries: Iterable[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    """The entries as one tar, with the folders above them."""
    out = io.BytesIO()
    with tarfile.open(
        fileobj=out, mode="w", format=tarfile.GNU_FORMAT, errors="surrogateescape"
    ) as archive:
        for entry, content in entries:
            archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def texts(data: bytes, limit: int = 1 << 20) -> tuple[tuple[str, str], ...]:
    """The small regular files of an archive, as text, by name without their folder."""
    found: dict[str, str] = {}
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:", errors="surrogateescape") as archive:
        for member in archive:
            if member.isreg() and member.size <= limit:
                stream = archive.extractfile(member)
                content = stream.read() if stream else b""
                found[member.name.partition("/")[2]] = content.decode(errors="replace")
    return tuple(sorted(found.items()))


def files_below(data: bytes, folder: str) -> dict[str, bytes]:
    """The regular files below a folder of a captured archive, by their path from there."""
    start = f"{folder.strip('/')}/"
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:", errors="surrogateescape") as archive:
        streams = {
            m.name[len(start) :]: archive.extractfile(m)
            for m in archive
            if m.isreg() and m.name.startswith(start)
        }
        return {name: stream.read() for name, stream in streams.items() if stream}
