"""Grading a service: started cold as the agent, then spoken to over the loopback.

The clients are small and wary: one deadline for a whole exchange (a peer that drips a byte at a
time gains nothing), a cap on bytes, and None for anything that is not a proper answer.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from . import process
from .process import BUDGET, Limits
from .task import Task

HOST = "127.0.0.1"
CAP = 1 << 20
HEAD_CAP = 65_536


class Service:
    """`with Service(task, ["/bin/bash", "start.sh"], ports=[8080]) as service: ...`

    `ready` says whether every TCP port accepted a connection (and every UDP port was bound) in
    time; if not, `error` says why. `start.sh` may stay in the foreground or end after it has put
    its servers in the background. On exit everything of the agent's is killed.
    """

    def __init__(
        self,
        task: Task,
        argv: Sequence[str],
        ports: Sequence[int] = (),
        ready_timeout: float = 20,
        *,
        udp_ports: Sequence[int] = (),
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        memory_mb: int = 0,
    ) -> None:
        self._task, self._argv = task, task.command(argv)
        self._ports, self._udp_ports = tuple(ports), tuple(udp_ports)
        self._timeout, self._env = ready_timeout, dict(env or {})
        self._cwd = task.path(cwd) if cwd is not None else task.workdir
        self._limits = Limits(memory_mb=memory_mb)
        self._process: subprocess.Popen[bytes] | None = None
        self._keep: frozenset[process.Ident] = frozenset()
        self._log = ""
        self.ready = False
        self.error = ""

    def __enter__(self) -> Service:
        self._keep = self._task.keep()
        taken = [port for port in self._ports if _accepts(port)]
        if taken:
            self.error = f"port {taken[0]} was already taken"
            return self
        self._task.services += 1
        # A file, not a pipe: nobody has to read it for the service to go on.
        self._log = os.path.join(self._task.scratch({"log": b""}), "log")
        try:
            log = os.open(self._log, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW)
            with os.fdopen(log, "wb") as sink:
                self._process = process.spawn(
                    self._argv, self._task.agent, self._limits, self._cwd, self._env,
                    subprocess.DEVNULL, sink.fileno(), sink.fileno(),
                )  # fmt: skip
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            self.error = f"cannot be started: {type(error).__name__}"
            return self
        self.error = self._wait()
        self.ready = not self.error
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            process.end(self._process, self._task.agent, self._keep)
        if self._log:
            self._task.services -= 1

    def log(self, limit: int = 4096) -> str:
        """The end of what the service printed."""
        text = (self._task.read(self._log) or b"") if self._log else b""
        return text[-limit:].decode("utf-8", "replace")

    def alive(self) -> bool:
        """Some process of the service still runs."""
        return bool(process.descendants(self._task.agent, self._keep))

    def _wait(self) -> str:
        """Until ready; "" then, else the reason."""
        deadline = time.monotonic() + min(self._timeout, BUDGET.left())
        tcp, udp = list(self._ports), list(self._udp_ports)
        while True:
            tcp = [port for port in tcp if not _accepts(port)]
            udp = [port for port in udp if not _bound(port)]
            if not tcp and not udp:
                return ""
            assert self._process is not None
            if self._process.poll() is not None and not self.alive():
                return f"it ended (code {self._process.returncode}) before it was ready"
            if time.monotonic() > deadline:
                return f"nothing on port {(tcp + udp)[0]} in time"
            time.sleep(0.02)


def _accepts(port: int) -> bool:
    with contextlib.suppress(OSError):
        socket.create_connection((HOST, port), timeout=1).close()
        return True
    return False


def _bound(port: int) -> bool:
    for table in ("/proc/net/udp", "/proc/net/udp6"):
        with contextlib.suppress(OSError), open(table, encoding="ascii") as file:
            if any(line.split()[1].endswith(f":{port:04X}") for line in list(file)[1:]):
                return True
    return False


# -- the wire -----------------------------------------------------------------------------------


class _Broken(Exception):
    """The peer went away, was too slow, said too much, or said something else than its protocol."""


class _Wire:
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
            raise _Broken("too slow")
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
            raise _Broken("too much")
        self.buffer += data
        return bool(data)

    def until(self, mark: bytes, cap: int = CAP) -> bytes:
        """Bytes up to and with `mark`."""
        start = 0
        while (at := self.buffer.find(mark, start)) < 0:
            start = max(0, len(self.buffer) - len(mark) + 1)
            if len(self.buffer) > cap or not self.more():
                raise _Broken("ended early")
        return self._take(at + len(mark))

    def exactly(self, count: int) -> bytes:
        if not 0 <= count <= CAP:
            raise _Broken("a length out of range")
        while len(self.buffer) < count:
            if not self.more():
                raise _Broken("ended early")
        return self._take(count)

    def rest(self) -> bytes:
        while self.more():
            pass
        return self._take(len(self.buffer))

    def _take(self, count: int) -> bytes:
        taken = bytes(self.buffer[:count])
        del self.buffer[:count]
        return taken

    def __enter__(self) -> _Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()


# What reading an answer can run into. Anything else is a bug of ours and shall be seen.
_TROUBLE = (OSError, _Broken, ValueError, IndexError, struct.error, RecursionError, OverflowError)


# -- HTTP ---------------------------------------------------------------------------------------


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
        with _Wire(port, timeout, 8 * CAP) as wire:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                wire.send(request)  # a server may answer and hang up before it has read it all
            return _http_reply(wire, method)
    except _TROUBLE:
        return None


def _http_reply(wire: _Wire, method: str) -> HttpReply:
    status = 100
    while 100 <= status < 200:
        head = wire.until(b"\n", HEAD_CAP).split(None, 2)
        if not head[0].startswith(b"HTTP/1.") or len(head[1]) != 3 or not head[1].isdigit():
            raise _Broken("no status line")
        status, headers = int(head[1]), _http_headers(wire)
    if method.upper() == "HEAD" or status in (204, 304):
        return HttpReply(status, headers, b"")
    if "chunked" in headers.get("transfer-encoding", "").lower():
        return HttpReply(status, headers, _http_chunks(wire))
    if "content-length" in headers:
        return HttpReply(status, headers, wire.exactly(int(headers["content-length"])))
    return HttpReply(status, headers, wire.rest())


def _http_headers(wire: _Wire) -> dict[str, str]:
    headers: dict[str, str] = {}
    while line := wire.until(b"\n", HEAD_CAP).strip().decode("latin-1"):
        if len(headers) > 200:
            raise _Broken("too many headers")
        name, colon, value = line.partition(":")
        if not colon:
            raise _Broken("no header")
        key = name.strip().lower()
        headers[key] = f"{headers[key]}, {value.strip()}" if key in headers else value.strip()
    return headers


def _http_chunks(wire: _Wire) -> bytes:
    body = bytearray()
    while size := int(wire.until(b"\n", 1024).split(b";")[0].strip(), 16):
        body += wire.exactly(size)
        wire.until(b"\n", 16)
    return bytes(body)


# -- TCP and UDP --------------------------------------------------------------------------------


def tcp(
    port: int, payload: bytes, until: bytes | None = None, *, timeout: float = 5, cap: int = CAP
) -> bytes | None:
    """Send, then read up to and with `until`, or to the end of the connection without it."""
    if until is not None:
        replies = converse(port, [(payload, until)], timeout=timeout, cap=cap)
        return replies[0] if replies else None
    try:
        with _Wire(port, timeout, cap) as wire:
            wire.send(payload)
            wire.socket.shutdown(socket.SHUT_WR)
            return wire.rest()
    except _TROUBLE:
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
        with _Wire(port, timeout, cap) as wire:
            for payload, until in steps:
                if payload:
                    wire.send(payload)
                replies.append(wire.until(until, cap) if until else b"")
        return replies
    except _TROUBLE:
        return None


def udp(port: int, payload: bytes, *, timeout: float = 3, tries: int = 2) -> bytes | None:
    """One datagram each way, sent again when no answer comes."""
    for _ in range(tries):
        try:
            with _Wire(port, timeout / tries, kind=socket.SOCK_DGRAM) as wire:
                wire.send(payload)
                return wire.socket.recv(65_536)
        except _TROUBLE:
            continue
    return None


def accepts(port: int) -> bool:
    """Something listens on the TCP port."""
    return _accepts(port)


# -- Redis --------------------------------------------------------------------------------------


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
        with _Wire(port, timeout) as wire:
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
    except _TROUBLE:
        return None


def _bulk(word: str | bytes | int) -> bytes:
    data = word if isinstance(word, bytes) else str(word).encode()
    return b"$%d\r\n%s\r\n" % (len(data), data)


def _resp(wire: _Wire, depth: int) -> RespReply:
    line = wire.until(b"\r\n", HEAD_CAP)[:-2]
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
            raise _Broken("no end of line")
        return RespReply("bulk", data)
    if mark == b"*" and 0 <= count <= 100_000 and depth < 8:
        return RespReply("array", [_resp(wire, depth + 1) for _ in range(count)])
    raise _Broken("not RESP")


# -- SMTP ---------------------------------------------------------------------------------------


class SmtpReply(NamedTuple):
    """`codes`: (step, code) in order, from "connect" to the first refusal or "data-end"."""

    codes: tuple[tuple[str, int], ...]
    accepted: bool

    def code(self, step: str) -> int | None:
        """The code of a step: connect, helo, from, to (the last one), data, data-end."""
        return dict(self.codes).get(step)


def smtp(
    port: int,
    sender: str,
    recipients: Sequence[str],
    message: bytes,
    *,
    helo: str = "client.test",
    timeout: float = 10,
) -> SmtpReply | None:
    """Hand over one mail. Stops at the first refusal; None when the peer does not speak SMTP."""
    text = message.replace(b"\r\n", b"\n").replace(b"\n.", b"\n..").replace(b"\n", b"\r\n")
    text = b"." + text if text.startswith(b".") else text
    end = b"" if text.endswith(b"\r\n") else b"\r\n"
    steps = [("connect", b"", 220), ("helo", f"EHLO {helo}".encode(), 250)]
    steps.append(("from", f"MAIL FROM:<{sender}>".encode(), 250))
    steps += [("to", f"RCPT TO:<{one}>".encode(), 250) for one in recipients]
    steps += [("data", b"DATA", 354), ("data-end", text + end + b".", 250)]
    codes: list[tuple[str, int]] = []
    try:
        with _Wire(port, timeout) as wire:
            for step, line, wanted in steps:
                if line:
                    wire.send(line + b"\r\n")
                codes.append((step, _smtp_code(wire)))
                if codes[-1][1] != wanted:
                    break
            else:
                with contextlib.suppress(OSError, _Broken):
                    wire.send(b"QUIT\r\n")
                return SmtpReply(tuple(codes), True)
    except _TROUBLE:
        return None
    return SmtpReply(tuple(codes), False)


def _smtp_code(wire: _Wire) -> int:
    while True:
        line = wire.until(b"\n", 4096)
        if not line[:3].isdigit():
            raise _Broken("no reply code")
        if line[3:4] != b"-":
            return int(line[:3])


# -- DNS ----------------------------------------------------------------------------------------

_TYPES = {
    "A": 1,
    "NS": 2,
    "CNAME": 5,
    "SOA": 6,
    "PTR": 12,
    "MX": 15,
    "TXT": 16,
    "AAAA": 28,
    "SRV": 33,
}


class DnsReply(NamedTuple):
    """`answers`: (name, type, ttl, data) as text, sorted. MX data is "10 mail.test"."""

    rcode: int
    authoritative: bool
    answers: tuple[tuple[str, str, int, str], ...]

    def data(self, qtype: str) -> list[str]:
        """Sorted data of the answers of one type."""
        return sorted(data for _, kind, _, data in self.answers if kind == qtype)


def dns(port: int, name: str, qtype: str = "A", *, timeout: float = 3) -> DnsReply | None:
    """One question over UDP."""
    number = 0x5EED
    labels = [label.encode("idna") for label in name.rstrip(".").split(".") if label]
    question = b"".join(bytes([len(label)]) + label for label in labels) + b"\0"
    question += struct.pack(">HH", _TYPES[qtype], 1)
    packet = udp(port, struct.pack(">6H", number, 0x0100, 1, 0, 0, 0) + question, timeout=timeout)
    try:
        return None if packet is None else _dns_reply(packet, number)
    except _TROUBLE:
        return None


def _dns_reply(packet: bytes, number: int) -> DnsReply:
    ident, flags, questions, answers, _, _ = struct.unpack_from(">6H", packet)
    if ident != number or not flags & 0x8000 or questions > 1 or answers > 500:
        raise _Broken("not an answer to our question")
    at = 12
    for _ in range(questions):
        at = _dns_name(packet, at)[1] + 4
    names = {value: name for name, value in _TYPES.items()}
    found = []
    for _ in range(answers):
        owner, at = _dns_name(packet, at)
        kind, _, ttl, size = struct.unpack_from(">HHIH", packet, at)
        at += 10
        if at + size > len(packet):
            raise _Broken("cut off")
        found.append((owner, names.get(kind, str(kind)), ttl, _dns_data(packet, at, size, kind)))
        at += size
    return DnsReply(flags & 15, bool(flags & 0x0400), tuple(sorted(found)))


def _dns_data(packet: bytes, at: int, size: int, kind: int) -> str:
    data = packet[at : at + size]
    if kind in (1, 28):
        return socket.inet_ntop(socket.AF_INET if kind == 1 else socket.AF_INET6, data)
    if kind in (2, 5, 12):
        return _dns_name(packet, at)[0]
    if kind == 15:
        return f"{struct.unpack_from('>H', data)[0]} {_dns_name(packet, at + 2)[0]}"
    if kind == 33:
        priority, weight, port = struct.unpack_from(">3H", data)
        return f"{priority} {weight} {port} {_dns_name(packet, at + 6)[0]}"
    if kind == 16:
        text, place = bytearray(), 0
        while place < len(data):
            text += data[place + 1 : place + 1 + data[place]]
            place += 1 + data[place]
        return text.decode("utf-8", "replace")
    return data.hex()


def _dns_name(packet: bytes, at: int) -> tuple[str, int]:
    """The name at an offset, and the offset after it. Compression can form loops: bounded."""
    labels: list[str] = []
    after = -1
    for _ in range(128):
        size = packet[at]
        if size >= 0xC0:
            after = at + 2 if after < 0 else after
            at = (size & 0x3F) << 8 | packet[at + 1]
        elif size == 0:
            return ".".join(labels).lower(), at + 1 if after < 0 else after
        else:
            labels.append(packet[at + 1 : at + 1 + size].decode("latin-1"))
            at += 1 + size
    raise _Broken("a name without an end")
