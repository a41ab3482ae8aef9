"""A wary connection to the loopback, and the plain TCP and UDP clients.

One deadline for a whole exchange (a peer that drips a byte at a time gains nothing), a cap on
bytes, and None for anything that is not a proper answer.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from collections.abc import Sequence

from .process import BUDGET

HOST = "127.0.0.1"
CAP = 1 << 20


class Broken(Exception):
    """The peer went away, was too slow, said too much, or said something else than its protocol."""


class Wire:
    """A connection with one deadline and one cap for all that is read from it."""

    def __init__(self, port: int, timeout: float, cap: int = CAP, kind: int = 0) -> None:
        self.deadline = time.monotonic() + min(timeout, BUDGET.left())
        self.left = cap
        self.buffer = bytearray()
        self.socket = socket.socket(socket.AF_INET, kind or socket.SOCK_STREAM)
        try:
            self._arm()
            self.socket.connect((HOST, port))
        except BaseException:
            self.socket.close()
            raise

    def _arm(self) -> None:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise Broken("too slow")
        self.socket.settimeout(left)

    def send(self, data: bytes) -> None:
        self._arm()
        self.socket.sendall(data)  # its timeout is for the whole of it

    def more(self) -> bool:
        """Read once into the buffer; False at the end."""
        self._arm()
        data = self.socket.recv(65_536)
        self.left -= len(data)
        if self.left < 0:
            raise Broken("too much")
        self.buffer += data
        return bool(data)

    def until(self, mark: bytes, cap: int = CAP) -> bytes:
        """Bytes up to and with `mark`."""
        start = 0
        while (at := self.buffer.find(mark, start)) < 0:
            start = max(0, len(self.buffer) - len(mark) + 1)
            if len(self.buffer) > cap or not self.more():
                raise Broken("ended early")
        return self._take(at + len(mark))

    def exactly(self, count: int) -> bytes:
        if not 0 <= count <= CAP:
            raise Broken("a length out of range")
        while len(self.buffer) < count:
            if not self.more():
                raise Broken("ended early")
        return self._take(count)

    def rest(self) -> bytes:
        while self.more():
            pass
        return self._take(len(self.buffer))

    def _take(self, count: int) -> bytes:
        taken = bytes(self.buffer[:count])
        del self.buffer[:count]
        return taken

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()


# What reading an answer can run into. Anything else is a bug of ours and shall be seen.
TROUBLE = (OSError, Broken, ValueError, IndexError, struct.error, RecursionError, OverflowError)


def accepts(port: int) -> bool:
    """Something listens on the TCP port."""
    with contextlib.suppress(OSError):
        socket.create_connection((HOST, port), timeout=1).close()
        return True
    return False


def tcp(
    port: int, payload: bytes, until: bytes | None = None, *, timeout: float = 5, cap: int = CAP
) -> bytes | None:
    """Send, then read up to and with `until`, or to the end of the connection without it."""
    if until is not None:
        replies = converse(port, [(payload, until)], timeout=timeout, cap=cap)
        return replies[0] if replies else None
    try:
        with Wire(port, timeout, cap) as wire:
            wire.send(payload)
            wire.socket.shutdown(socket.SHUT_WR)
            return wire.rest()
    except TROUBLE:
        return None


def converse(
    port: int,
    steps: Sequence[tuple[bytes, bytes | None]],
    *,
    timeout: float = 5,
    cap: int = CAP,
) -> list[bytes] | None:
    """Several (send, read until) steps on one connection. Sending b"" and reading until None skip
    that half. None when any step fails."""
    replies = []
    try:
        with Wire(port, timeout, cap) as wire:
            for payload, until in steps:
                if payload:
                    wire.send(payload)
                replies.append(wire.until(until, cap) if until else b"")
        return replies
    except TROUBLE:
        return None


def udp(port: int, payload: bytes, *, timeout: float = 3, tries: int = 2) -> bytes | None:
    """One datagram each way, sent again when no answer comes."""
    for _ in range(tries):
        try:
            with Wire(port, timeout / tries, kind=socket.SOCK_DGRAM) as wire:
                wire.send(payload)
                return wire.socket.recv(65_536)
        except TROUBLE:
            continue
    return None
