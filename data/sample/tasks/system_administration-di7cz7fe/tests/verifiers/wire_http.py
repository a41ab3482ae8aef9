"""An HTTP/1.1 client."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from .wire import CAP, TROUBLE, Broken, Wire

HEAD_CAP = 65_536


class HttpReply(NamedTuple):
    """`headers` has lower-case names; repeated ones are joined by ", "."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """The body as JSON, None when it is not."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None


def http(
    method: str,
    port: int,
    path: str = "/",
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
    host: str = "localhost",
    *,
    timeout: float = 5,
) -> HttpReply | None:
    """One HTTP/1.1 exchange; redirects are not followed."""
    lines = {"Host": host, "Connection": "close", "Accept": "*/*", "User-Agent": "check"}
    if body or method.upper() in ("POST", "PUT", "PATCH"):
        lines["Content-Length"] = str(len(body))
    lines.update(headers or {})
    head = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in lines.items())]
    request = "\r\n".join([*head, "", ""]).encode("utf-8") + body
    try:
        with Wire(port, timeout, 8 * CAP) as wire:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                wire.send(request)  # a server may answer and hang up before it has read it all
            return _http_reply(wire, method)
    except TROUBLE:
        return None


def _http_reply(wire: Wire, method: str) -> HttpReply:
    status = 100
    while 100 <= status < 200:
        head = wire.until(b"\n", HEAD_CAP).split(None, 2)
        if not head[0].startswith(b"HTTP/1.") or len(head[1]) != 3 or not head[1].isdigit():
            raise Broken("no status line")
        status, headers = int(head[1]), _http_headers(wire)
    if method.upper() == "HEAD" or status in (204, 304):
        return HttpReply(status, headers, b"")
    if "chunked" in headers.get("transfer-encoding", "").lower():
        return HttpReply(status, headers, _http_chunks(wire))
    if "content-length" in headers:
        return HttpReply(status, headers, wire.exactly(int(headers["content-length"])))
    return HttpReply(status, headers, wire.rest())


def _http_headers(wire: Wire) -> dict[str, str]:
    headers: dict[str, str] = {}
    while line := wire.until(b"\n", HEAD_CAP).strip().decode("latin-1"):
        if len(headers) > 200:
            raise Broken("too many headers")
        name, colon, value = line.partition(":")
        if not colon:
            raise Broken("no header")
        key = name.strip().lower()
        headers[key] = f"{headers[key]}, {value.strip()}" if key in headers else value.strip()
    return headers


def _http_chunks(wire: Wire) -> bytes:
    body = bytearray()
    while size := int(wire.until(b"\n", 1024).split(b";")[0].strip(), 16):
        body += wire.exactly(size)
        wire.until(b"\n", 16)
    return bytes(body)
