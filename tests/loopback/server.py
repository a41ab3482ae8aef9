"""The server: HTTP/1.1 on a real socket of 127.0.0.1, kept alive, one task a connection."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import format_datetime
from http import HTTPStatus
from typing import Any, Literal, Self


@dataclass(frozen=True)
class Ask:
    """One request as it arrived."""

    number: int
    """How many came before it."""
    method: str
    path: str
    """With its query."""
    headers: dict[str, str]
    """Names in lower case."""
    data: bytes

    @property
    def body(self) -> Any:
        """The JSON that was sent."""
        return json.loads(self.data)


@dataclass(frozen=True)
class Reply:
    """One answer, and how well it travels.

    Attributes:
        how: `whole`; `drop` closes without a byte; `reset` closes after the headers; `half`
            announces all, sends half and closes; `drip` sends a byte each `pause` seconds; `raw`
            sends `head` as it stands, then `data` so many `times`, and closes.
        delay: seconds before the first byte.
    """

    status: int = 200
    data: bytes = b""
    headers: tuple[tuple[str, str], ...] = (("content-type", "application/json"),)
    how: Literal["whole", "drop", "reset", "half", "drip", "raw"] = "whole"
    delay: float = 0.0
    pause: float = 0.5
    head: bytes = b""
    times: int = 1

    @classmethod
    def of(cls, value: Any, status: int = 200, **headers: str) -> Self:
        """JSON; `retry_after="3"` is the header `retry-after: 3`."""
        named = tuple((name.replace("_", "-"), text) for name, text in headers.items())
        data = json.dumps(value).encode()
        return cls(status, data, (("content-type", "application/json"), *named))

    def but(self, **changes: Any) -> Self:
        """The same with other values: `reply.but(how="half")`."""
        return replace(self, **changes)


Answer = Callable[[Ask], Reply]


def script(*replies: Reply) -> Answer:
    """One reply after the other; the last one for good."""
    rest = list(replies)
    return lambda ask: rest.pop(0) if len(rest) > 1 else rest[0]


@dataclass
class Loopback:
    """The server, as an async context.

    Attributes:
        answer: says what is replied.
        asked: the last `keep` requests, in order of arrival.
        counts: requests by path, without query.
        busy, most: requests being answered now, and the most that ever were.
    """

    answer: Answer
    keep: int = 10_000
    port: int = 0
    asked: list[Ask] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    connections: int = 0
    busy: int = 0
    most: int = 0
    _server: asyncio.Server | None = None
    _open: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def url(self) -> str:
        """Without a path: the OpenAI base address is this and `/v1`."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def total(self) -> int:
        return self.counts.total()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._connection, "127.0.0.1", self.port, backlog=2048, limit=2**20
        )
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for _ in range(5):  # connections that were accepted just now get their task
            await asyncio.sleep(0)
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        await self._server.wait_closed()
        await asyncio.sleep(0)  # closed transports let go of their sockets

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        self.connections += 1
        try:
            async for ask in self._requests(reader):
                if not await self._reply(writer, ask):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._open.discard(task)
            writer.close()

    async def _requests(self, reader: asyncio.StreamReader) -> AsyncIterator[Ask]:
        while head := await _head(reader):
            first, *lines = head.split("\r\n")
            method, path, _ = first.split(" ")
            headers = {
                name.strip().lower(): text.strip()
                for name, _, text in (line.partition(":") for line in lines)
            }
            data = await reader.readexactly(int(headers.get("content-length", "0")))
            ask = Ask(self.total, method, path, headers, data)
            self.counts[path.partition("?")[0]] += 1
            if len(self.asked) < self.keep:
                self.asked.append(ask)
            yield ask

    async def _reply(self, writer: asyncio.StreamWriter, ask: Ask) -> bool:
        """Send what is told; whether the connection goes on."""
        async with self._counted():
            reply = self.answer(ask)
            if reply.delay:
                await asyncio.sleep(reply.delay)
            if reply.how == "drop":
                writer.transport.abort()
                return False
            if reply.how == "raw":
                writer.write(reply.head)
                for _ in range(reply.times):
                    writer.write(reply.data)
                    await writer.drain()
                return False
            if reply.how == "drip":
                await _drip(writer, reply)
                return True
            data = reply.data
            if reply.how in ("half", "reset"):
                data = data[: len(data) // 2] if reply.how == "half" else b""
            writer.write(_headers(reply) + data)
            await writer.drain()
            return reply.how == "whole"

    @asynccontextmanager
    async def _counted(self) -> AsyncIterator[None]:
        self.busy += 1
        self.most = max(self.most, self.busy)
        try:
            yield
        finally:
            self.busy -= 1


async def _head(reader: asyncio.StreamReader) -> str:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return ""
    return head[:-4].decode("latin-1")


def _headers(reply: Reply) -> bytes:
    named = dict(reply.headers)
    named.setdefault("date", format_datetime(datetime.now(UTC), usegmt=True))
    named["content-length"] = str(len(reply.data))
    lines = [f"HTTP/1.1 {reply.status} {_reason(reply.status)}"]
    lines += [f"{name}: {text}" for name, text in named.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Other"


async def _drip(writer: asyncio.StreamWriter, reply: Reply) -> None:
    writer.write(_headers(reply))
    for byte in reply.data:
        writer.write(bytes((byte,)))
        await writer.drain()
        await asyncio.sleep(reply.pause)
