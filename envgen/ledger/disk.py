"""A full disk says nothing about the task that met it."""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from envgen.errors import HostDiskFull

_FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def room(place: Path) -> Iterator[None]:
    """Turn a full disk met inside into HostDiskFull, which names the place."""
    try:
        yield
    except (OSError, sqlite3.OperationalError) as error:
        if getattr(error, "errno", None) in _FULL or "is full" in str(error):
            raise HostDiskFull(f"no space left at {place}: free some, then run again") from error
        raise
