"""Who owns a container: a lock file that its process holds, so a dead owner is known at once."""

import fcntl
import os
import secrets
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from envgen.digest import digest, short

_ALL = "all"


def _folder() -> Path:
    path = Path(tempfile.gettempdir()) / f"envgen-owners-{os.getuid()}"
    path.mkdir(mode=0o700, exist_ok=True)
    return path


def _place() -> str:
    """Host and folder of the locks: of another host or user's owners we can say nothing."""
    return f"{socket.gethostname()}.{short(digest(str(_folder())), 8)}"


def _locked(path: Path) -> IO[str]:
    """The file, held. Between making and locking it a sweep may have taken it for a dead one's."""
    while True:
        lock = path.open("w")
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _is(lock, path):
            return lock
        lock.close()


def _is(file: IO[str], path: Path) -> bool:
    """Whether an open file still is what stands at a path."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


class Owner:
    """A name, and the lock that says that the process behind it lives."""

    def __init__(self) -> None:
        self.name = f"{_place()}.{secrets.token_hex(6)}"
        self._path = _folder() / self.name
        self._lock = _locked(self._path)
        self._shared = (_folder() / _ALL).open("a")
        fcntl.flock(self._shared, fcntl.LOCK_SH)

    @staticmethod
    def alive(name: str) -> bool:
        """Whether its process lives. Owners whose locks we cannot see are taken to live."""
        if name.rpartition(".")[0] != _place():
            return True
        path = _folder() / name
        try:
            with path.open() as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if not _is(lock, path):
                    return True  # what we opened was swept, and its owner has made it anew
                path.unlink()  # only who holds this very file may
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False

    @staticmethod
    def forget_dead() -> None:
        """Remove the lock files of processes that were killed."""
        for path in _folder().iterdir():
            if path.name != _ALL:
                Owner.alive(path.name)

    @contextmanager
    def alone(self) -> Iterator[bool]:
        """Whether no other process of ours uses the engine, for as long as the context lasts."""
        try:
            fcntl.flock(self._shared, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fcntl.flock(self._shared, fcntl.LOCK_SH)
            yield False
            return
        try:
            yield True
        finally:
            fcntl.flock(self._shared, fcntl.LOCK_SH)

    def release(self) -> None:
        self._path.unlink(missing_ok=True)
        self._lock.close()
        self._shared.close()
