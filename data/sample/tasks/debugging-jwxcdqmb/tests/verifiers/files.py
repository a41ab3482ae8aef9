"""Touching files that the agent made, without ever following a link that it planted."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from typing import NamedTuple

MAX_DEPTH = 128
MAX_ENTRIES = 500_000
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Refused(Exception):
    """The path is missing, is reached through a link, or is not the kind of file asked for."""


def parts(path: str) -> list[str]:
    """Components of an absolute path; refuses what could leave it."""
    if not path.startswith("/") or "\0" in path:
        raise Refused("not an absolute path")
    found = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in found:
        raise Refused("a path with '..'")
    return found


@contextlib.contextmanager
def parent_of(path: str) -> Iterator[tuple[int, str]]:
    """The folder that holds `path`, opened component by component, and the last name."""
    names = parts(path)
    if not names:
        raise Refused("the root folder")
    fd = os.open("/", _DIRECTORY)
    try:
        for name in names[:-1]:
            below = _open(name, _DIRECTORY, fd)
            os.close(fd)
            fd = below
        yield fd, names[-1]
    finally:
        os.close(fd)


def look(path: str) -> os.stat_result:
    """What `path` itself is (a link is a link)."""
    with parent_of(path) as (fd, name):
        try:
            return os.stat(name, dir_fd=fd, follow_symlinks=False)
        except (OSError, ValueError) as error:
            raise Refused(_reason(error)) from error


def read(path: str, limit: int, secret: frozenset[tuple[int, int]] = frozenset()) -> bytes:
    """Bytes of a regular file of at most `limit` bytes; `secret` are inodes never to be read."""
    with parent_of(path) as (fd, name):
        # Looked at before it is opened: opening a device or a pipe is an act in itself.
        try:
            kind = os.stat(name, dir_fd=fd, follow_symlinks=False)
        except (OSError, ValueError) as error:
            raise Refused(_reason(error)) from error
        if stat.S_ISREG(kind.st_mode):
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
            with os.fdopen(_open(name, flags, fd), "rb") as file:
                kind = os.fstat(file.fileno())
                if stat.S_ISREG(kind.st_mode):
                    return _bytes(file.fileno(), kind, limit, secret)
        raise Refused(f"not a regular file but a {kind_of(kind.st_mode)}")


def _bytes(fd: int, kind: os.stat_result, limit: int, secret: frozenset[tuple[int, int]]) -> bytes:
    if (kind.st_dev, kind.st_ino) in secret:
        raise Refused("a hard link to the tests")
    if kind.st_size > limit:
        raise Refused(f"larger than {limit} bytes")
    data = bytearray()
    try:
        while len(data) <= limit and (chunk := os.read(fd, min(1 << 20, limit + 1 - len(data)))):
            data += chunk
    except OSError as error:
        raise Refused(_reason(error)) from error
    if len(data) > limit:
        raise Refused(f"larger than {limit} bytes")
    return bytes(data)


def listing(path: str, deep: bool, limit: int) -> list[str]:
    """Sorted names in a folder, folders with a closing '/'; with `deep`, also what is below."""
    with parent_of(path) as (above, name):
        top = _open(name, _DIRECTORY, above)
    found: list[str] = []
    for prefix, fd, entry in _walk(top, MAX_DEPTH if deep else 1):
        found.append(prefix + entry + ("/" if stat.S_ISDIR(_mode(entry, fd)) else ""))
        if len(found) > limit:
            raise Refused(f"more than {limit} entries")
    return sorted(found)


class Handover(NamedTuple):
    """Entries given to the agent, and entries left alone (hard links to files elsewhere)."""

    given: int
    left: int


def hand_over(path: str, uid: int, gid: int) -> Handover:
    """Make `uid` the owner of a tree, links themselves included.

    A file with several names is given only when all its names are in the tree: else a planted
    hard link could hand a file of root's to the agent.
    """
    given = left = 0
    names: dict[tuple[int, int], list[str]] = {}
    with parent_of(path) as (above, name):
        top = _open(name, _DIRECTORY, above)
    os.chown(top, uid, gid)
    for prefix, fd, entry in _walk(top):
        kind = os.stat(entry, dir_fd=fd, follow_symlinks=False)
        if not stat.S_ISDIR(kind.st_mode) and kind.st_nlink > 1:
            names.setdefault((kind.st_dev, kind.st_ino), []).append(prefix + entry)
            continue
        os.chown(entry, uid, gid, dir_fd=fd, follow_symlinks=False)
        given += 1
    for same in names.values():
        if look(f"{path}/{same[0]}").st_nlink == len(same):
            with parent_of(f"{path}/{same[0]}") as (fd, entry):
                os.chown(entry, uid, gid, dir_fd=fd, follow_symlinks=False)
            given += len(same)
        else:
            left += len(same)
    return Handover(given, left)


def _walk(top: int, depth: int = MAX_DEPTH) -> Iterator[tuple[str, int, str]]:
    """(prefix, folder, name) of every entry below `top`, which it closes. Bounded."""
    open_folders = [("", top, _names(top))]
    count = 0
    try:
        while open_folders:
            prefix, fd, names = open_folders[-1]
            if not names or count >= MAX_ENTRIES:
                os.close(fd)
                open_folders.pop()
                continue
            entry = names.pop()
            count += 1
            yield prefix, fd, entry
            if len(open_folders) < depth and stat.S_ISDIR(_mode(entry, fd)):
                with contextlib.suppress(Refused, OSError):
                    below = _open(entry, _DIRECTORY, fd)
                    open_folders.append((f"{prefix}{entry}/", below, _names(below)))
    finally:
        for _, fd, _ in open_folders:
            os.close(fd)


def _names(fd: int) -> list[str]:
    with contextlib.suppress(OSError):
        return sorted(os.listdir(fd), reverse=True)
    return []


def _mode(name: str, fd: int) -> int:
    with contextlib.suppress(OSError):
        return os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode
    return 0


def _open(name: str, flags: int, fd: int) -> int:
    try:
        return os.open(name, flags, dir_fd=fd)
    except (OSError, ValueError) as error:
        raise Refused(_reason(error)) from error


def _reason(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "missing"
    # ELOOP and ENOTDIR are what opening a link with O_NOFOLLOW gives.
    return (error.strerror or "unreadable") if isinstance(error, OSError) else "not a valid path"


def kind_of(mode: int) -> str:
    """A word for a file type."""
    words = (
        (stat.S_ISREG, "file"), (stat.S_ISDIR, "folder"), (stat.S_ISLNK, "symbolic link"),
        (stat.S_ISFIFO, "named pipe"), (stat.S_ISSOCK, "socket"),
    )  # fmt: skip
    return next((word for test, word in words if test(mode)), "device")


def remove(path: str) -> None:
    """Remove whatever is at `path`; nothing there is fine."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(mode):
        os.unlink(path)
        return
    try:
        shutil.rmtree(path)
    except (OSError, RecursionError):
        # Deeper than Python can recurse or open at once: rm can.
        subprocess.run(["/bin/rm", "-rf", "--", path], env={}, check=True, capture_output=True)
