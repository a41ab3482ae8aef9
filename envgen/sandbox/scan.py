"""What an image's filesystem holds, and what it holds beyond its parent.

A script of its own: it is put into a container of the image and run there as root by the image's
`python3 -I`, so it uses the standard library only (3.9 and later) and imports nothing of envgen.

    scan.py list [ROOT]                              {path: [size, mtime_ns, mode, uid, gid, kind]}
    scan.py diff PARENT KNOWN MAXBYTES OUT [ROOT]    {"entries", "removed", "stored"}

Kinds: f regular file, d folder, l symbolic link, o anything else. `diff` writes the tar OUT: one
member per content, named by its sha256, for contents that the JSON list KNOWN does not name.
Exit 0; or 1 with {"error": ...} ("too large" above MAXBYTES).
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys
import tarfile
from collections.abc import Sequence
from typing import Any

SKIP = frozenset(
    b"/" + path
    for path in (
        b"proc", b"sys", b"dev", b"tests", b"logs", b".scan",
        b"etc/hosts", b"etc/hostname", b"etc/resolv.conf", b"etc/mtab",
        b".dockerenv", b"run/.containerenv",
    )
)  # fmt: skip
# Known contents are hashed too; this many times MAXBYTES is where that ends.
HASHED = 8

Row = list[Any]  # [size, mtime_ns, mode, uid, gid, kind]


class Refused(Exception):
    """It cannot be scanned in full, and a scan with holes would be a false all-clear."""


def listing(root: bytes) -> dict[bytes, Row]:
    """Every entry below `root` on its device, by absolute path as seen from `root`."""
    device = os.lstat(root or b"/").st_dev
    found: dict[bytes, Row] = {}
    folders = [b""]
    while folders:
        folder = folders.pop()
        try:
            entries = list(os.scandir(root + folder or b"/"))
            for entry in entries:
                path = folder + b"/" + entry.name
                if path in SKIP:
                    continue
                info = entry.stat(follow_symlinks=False)
                kind = _kind(info.st_mode)
                if kind == "d":
                    # Files are not asked: an overlay may show those of each layer as one device.
                    if info.st_dev != device:
                        continue
                    folders.append(path)
                found[path] = [
                    0 if kind == "d" else info.st_size,  # a folder's size is its store's affair
                    info.st_mtime_ns, stat.S_IMODE(info.st_mode), info.st_uid, info.st_gid, kind,
                ]  # fmt: skip
        except OSError as error:  # too deep for a path, or not readable even for us
            raise Refused(f"{error.strerror}: {_text(folder)[:200]}") from error
    return found


def difference(root: bytes, parent: dict[str, Row], limit: int) -> dict[str, Any]:
    """Entries that are new or not as in `parent`, with sha256 or target; and what is gone."""
    now = {_text(path): (path, row) for path, row in listing(root).items()}
    entries: dict[str, Any] = {}
    seen: dict[tuple[int, int], str] = {}
    hashed = 0
    for name, (path, row) in sorted(now.items()):
        if name in parent and _same(row, parent[name]):
            continue
        size, _, mode, uid, gid, kind = row
        entry = {"kind": kind, "size": size, "mode": mode, "uid": uid, "gid": gid}
        if kind == "l":
            entry["target"] = _text(os.readlink(root + path))
        elif kind == "f":
            hashed += size
            if size > limit or hashed > HASHED * limit:
                raise Refused("too large")
            entry["sha256"] = _sha256(root + path, seen)
        entries[name] = entry
    return {"entries": entries, "removed": sorted(set(parent) - set(now))}


def store(root: bytes, entries: dict[str, Any], known: set[str], limit: int, out: str) -> int:
    """Write the contents that are not known to the tar `out`; how many there are."""
    wanted: dict[str, str] = {}
    for path, entry in entries.items():
        if entry["kind"] == "f" and entry["sha256"] not in known:
            wanted.setdefault(entry["sha256"], path)
    if sum(entries[path]["size"] for path in wanted.values()) > limit:
        raise Refused("too large")
    with tarfile.open(out, "w", format=tarfile.GNU_FORMAT) as tar:
        for digest, path in sorted(wanted.items()):
            member = tarfile.TarInfo(digest)  # no time, no owner: equal contents, equal bytes
            member.size = entries[path]["size"]
            with os.fdopen(_open(root + _bytes(path)), "rb") as file:
                tar.addfile(member, file)
    return len(wanted)


def main(arguments: Sequence[str]) -> int:
    """Run one of the two commands; the exit code."""
    try:
        document = _run(arguments)
    except (Refused, OSError) as error:
        document = {"error": str(error)}
    sys.stdout.write(json.dumps(document, sort_keys=True) + "\n")
    return 1 if "error" in document else 0


def _run(arguments: Sequence[str]) -> dict[str, Any]:
    command, rest = arguments[0], list(arguments[1:])
    if command == "list":
        root = _root(rest[0:])
        return {_text(path): row for path, row in listing(root).items()}
    parent, known, limit, out = rest[:4]
    root = _root(rest[4:])
    document = difference(root, _json(parent), int(limit))
    stored = store(root, document["entries"], set(_json(known)), int(limit), out)
    return {**document, "stored": stored}


def _root(rest: Sequence[str]) -> bytes:
    return os.fsencode(rest[0]).rstrip(b"/") if rest else b""


def _json(path: str) -> Any:
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def _kind(mode: int) -> str:
    if stat.S_ISREG(mode):
        return "f"
    if stat.S_ISDIR(mode):
        return "d"
    return "l" if stat.S_ISLNK(mode) else "o"


def _same(row: Row, old: Row) -> bool:
    # A folder's time moves with every file put into it, and the file is reported already.
    return row[2:] == old[2:] if row[5] == "d" else row == old


def _sha256(path: bytes, seen: dict[tuple[int, int], str]) -> str:
    digest = hashlib.sha256()
    with os.fdopen(_open(path), "rb", buffering=0) as file:
        info = os.fstat(file.fileno())
        inode = (info.st_dev, info.st_ino)
        if inode not in seen:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
            seen[inode] = digest.hexdigest()
    return seen[inode]


def _open(path: bytes) -> int:
    return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)


def _text(path: bytes) -> str:
    # Not fsdecode: its encoding is the container's locale.
    return path.decode("utf-8", "surrogateescape")


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
