"""The server that the tests of the model edge ask: what it sends is what a socket gets."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.loopback import Loopback, Reply, openai, script

Do = Callable[[Any], Any]


async def raw(server: Loopback, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(request)
    try:
        return await reader.read()
    finally:
        writer.close()


def post(path: str, value: Any) -> bytes:
    data = json.dumps(value).encode()
    return f"POST {path} HTTP/1.1\r\nX-A: b\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data


@pytest.mark.parametrize(
    ("reply", "parts"),
    [
        (Reply(data=b"abcd", how="half"), (b"content-length: 4", b"ab")),
        (Reply(data=b"abcd", how="reset"), (b"content-length: 4", b"")),
        (Reply(data=b"abcd", how="drop"), (b"", b"")),
    ],
)
def test_a_reply_can_break_off(reply: Reply, parts: tuple[bytes, bytes], do: Do) -> None:
    async def ask() -> bytes:
        async with Loopback(script(reply)) as server:
            return await raw(server, post("/x", 1))

    head, _, rest = do(ask()).partition(b"\r\n\r\n")
    assert (head.rpartition(b"\r\n")[2], rest) == parts


def test_requests_are_kept_and_counted_on_one_connection(do: Do) -> None:
    async def ask() -> tuple[Loopback, bytes]:
        async with Loopback(script(openai.answer("a"), Reply(how="half"))) as server:
            return server, await raw(server, post(openai.PATH, {"n": 1}) + post("/y?z=1", 2))

    server, got = do(ask())
    assert b'"content": "a"' in got
    assert (server.total, server.connections, server.most) == (2, 1, 1)
    assert dict(server.counts) == {openai.PATH: 1, "/y": 1}
    assert server.asked[0].body == {"n": 1}
    assert server.asked[0].headers["x-a"] == "b"
    assert server.asked[1].path == "/y?z=1"
