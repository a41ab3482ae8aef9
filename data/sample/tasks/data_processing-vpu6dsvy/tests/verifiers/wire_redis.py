"""A client of the Redis protocol (RESP2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .wire import TROUBLE, Broken, Wire

LINE_CAP = 65_536


class RespReply(NamedTuple):
    """`kind`: "simple", "error", "integer", "bulk", "nil" or "array" (of such replies)."""

    kind: str
    value: bytes | int | list[Any] | None


def redis(port: int, *args: str | bytes | int, timeout: float = 5) -> RespReply | None:
    """One command of the Redis protocol."""
    replies = redis_pipeline(port, [args], timeout=timeout)
    return replies[0] if replies else None


def redis_pipeline(
    port: int, commands: Sequence[Sequence[str | bytes | int]], *, timeout: float = 5
) -> list[RespReply] | None:
    """Several commands on one connection (AUTH, SELECT, MULTI, ...), one reply each."""
    try:
        with Wire(port, timeout) as wire:
            replies = []
            for command in commands:
                words = [
                    word if isinstance(word, bytes) else str(word).encode() for word in command
                ]
                wire.send(b"*%d\r\n" % len(words)
                          + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
                )  # fmt: skip
                replies.append(_resp(wire, 0))
            return replies
    except TROUBLE:
        return None


def _bulk(word: str | bytes | int) -> bytes:
    data = word if isinstance(word, bytes) else str(word).encode()
    return b"$%d\r\n%s\r\n" % (len(data), data)


def _resp(wire: Wire, depth: int) -> RespReply:
    line = wire.until(b"\r\n", LINE_CAP)[:-2]
    mark, rest = line[:1], line[1:]
    if mark == b"+":
        return RespReply("simple", rest)
    if mark == b"-":
        return RespReply("error", rest)
    count = int(rest)
    if mark == b":":
        return RespReply("integer", count)
    if mark in (b"$", b"*") and count == -1:
        return RespReply("nil", None)
    if mark == b"$":
        data = wire.exactly(count)
        if wire.exactly(2) != b"\r\n":
            raise Broken("no end of line")
        return RespReply("bulk", data)
    if mark == b"*" and 0 <= count <= 100_000 and depth < 8:
        return RespReply("array", [_resp(wire, depth + 1) for _ in range(count)])
    raise Broken("not RESP")
