"""Services started cold, and clients that no server can hang, flood or crash."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifiers import Task, ending, wire, wire_dns
from verifiers import multi_protocol as net

Handler = Callable[[socket.socket], None]


@contextlib.contextmanager
def serving(handler: Handler) -> Iterator[int]:
    """A TCP server on a free port that gives each connection to `handler`."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.01)
        stop = threading.Event()

        def loop() -> None:
            while not stop.is_set():
                with contextlib.suppress(OSError):
                    peer = listener.accept()[0]
                    peer.settimeout(2)
                    with peer:
                        handler(peer)

        thread = threading.Thread(target=loop)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            stop.set()
            thread.join()


@contextlib.contextmanager
def answering(reply: Callable[[bytes], list[bytes]]) -> Iterator[int]:
    """A UDP server that sends `reply(datagram)`."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(0.01)
        stop = threading.Event()

        def loop() -> None:
            while not stop.is_set():
                with contextlib.suppress(OSError):
                    data, peer = server.recvfrom(65_536)
                    for packet in reply(data):
                        server.sendto(packet, peer)

        thread = threading.Thread(target=loop)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            stop.set()
            thread.join()


def says(data: bytes) -> Handler:
    """Takes one chunk, says `data`, hangs up."""

    def handler(peer: socket.socket) -> None:
        peer.recv(65_536)
        peer.sendall(data)

    return handler


# -- HTTP ---------------------------------------------------------------------------------------


def test_http_request_and_reply() -> None:
    seen: list[bytes] = []

    def handler(peer: socket.socket) -> None:
        seen.append(peer.recv(65_536))
        peer.sendall(
            b"HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nX-A: 1\r\nx-a: 2\r\n"
            b'Content-Length: 9\r\n\r\n{"a": [1]}ignored'
        )

    with serving(handler) as port:
        reply = net.http("POST", port, "/p?q=1", {"X-Key": "k"}, b"body", "shop.test")
    assert seen == [
        b"POST /p?q=1 HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\nAccept: */*\r\n"
        b"User-Agent: check\r\nContent-Length: 4\r\nX-Key: k\r\n\r\nbody"
    ]
    assert reply == net.HttpReply(
        201,
        {"content-type": "application/json", "x-a": "1, 2", "content-length": "9"},
        b'{"a": [1]',
    )
    assert reply.json() is None and reply.text == '{"a": [1]'


@pytest.mark.parametrize(
    ("raw", "status", "body"),
    [
        (b"HTTP/1.0 200 OK\r\n\r\nto the end", 200, b"to the end"),
        (b"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", 200, b""),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No\r\n\r\n", 204, b""),
        (b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", 200, b"ok"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x\r\nde\r\n0\r\n\r\n",
         200, b"abcde"),
    ],
)  # fmt: skip
def test_http_framing(raw: bytes, status: int, body: bytes) -> None:
    with serving(says(raw)) as port:
        reply = net.http("GET", port)
    assert reply is not None and (reply.status, reply.body) == (status, body)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"garbage\r\n\r\n",
        b"\x00\xff" * 100,
        b"HTTP/1.1\r\n\r\n",
        b"HTTP/1.1 2x0 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 20_000,
        b"HTTP/1.1 200 OK\r\n" + b"A" * 100_000,
    ],
)
def test_http_nonsense_is_none(raw: bytes) -> None:
    with serving(says(raw)) as port:
        assert net.http("GET", port, timeout=2) is None


def test_http_head_has_no_body() -> None:
    with serving(says(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")) as port:
        reply = net.http("HEAD", port)
    assert reply is not None and reply.body == b""


# -- misbehaviour that concerns every client ------------------------------------------------------


def drip(peer: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            peer.sendall(b"x")
            time.sleep(0.02)


def flood(peer: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            peer.sendall(b"x" * 65_536)


def lines_forever(peer: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            peer.sendall(b"250-more\r\nHTTP/1.1 100 x\r\n\r\n")


def silent(peer: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while peer.recv(65_536):
            pass


def reset(peer: socket.socket) -> None:
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


CLIENTS: list[Callable[[int], Any]] = [
    lambda port: net.http("GET", port, timeout=0.25),
    lambda port: net.http("PUT", port, body=b"x" * 3_000_000, timeout=0.25),
    lambda port: net.tcp(port, b"hi", timeout=0.25),
    lambda port: net.tcp(port, b"hi\n", b"\n", timeout=0.25),
    lambda port: net.redis(port, "GET", "a", timeout=0.25),
    lambda port: net.smtp(port, "a@b", ["c@d"], b"hello", timeout=0.25),
    lambda port: net.dns(port, "example.test", timeout=0.25),
]


@pytest.mark.parametrize("server", [drip, flood, lines_forever, silent, reset])
@pytest.mark.parametrize("client", CLIENTS)
def test_no_server_can_hold_a_client(server: Handler, client: Callable[[int], Any]) -> None:
    with serving(server) as port:
        start = time.monotonic()
        assert client(port) in (None, b"", b"250-more\r\n")  # a proper line is an answer
        assert time.monotonic() - start < 6


@pytest.mark.parametrize("client", CLIENTS)
def test_nobody_there(client: Callable[[int], Any]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    assert client(port) is None


def test_any_bytes_from_a_server() -> None:
    said = [b""]
    with serving(lambda peer: says(said[0])(peer)) as port:

        @settings(max_examples=60, database=None)
        @given(st.binary(max_size=200), st.sampled_from([0, *range(2, 6)]))
        def ask(data: bytes, client: int) -> None:
            said[0] = data
            CLIENTS[client](port)

        ask()


@given(st.binary(max_size=300))
def test_any_bytes_as_a_dns_packet(data: bytes) -> None:
    for packet in (data, struct.pack(">6H", 0x5EED, 0x8000, 1, 3, 0, 0) + data):
        with contextlib.suppress(*wire.TROUBLE):
            wire_dns._dns_reply(packet, 0x5EED)


# -- TCP, UDP -----------------------------------------------------------------------------------


def echo_lines(peer: socket.socket) -> None:
    peer.sendall(b"hello\n")
    while data := peer.recv(4096):
        peer.sendall(data.upper())


def test_tcp_conversations() -> None:
    with serving(echo_lines) as port:
        steps = [(b"", b"\n"), (b"one\n", b"\n"), (b"two;", b";")]
        assert net.converse(port, steps) == [b"hello\n", b"ONE\n", b"TWO;"]
        assert net.tcp(port, b"x\n") == b"hello\nX\n"
        assert net.tcp(port, b"x\n", b"X\n") == b"hello\nX\n"
        assert net.converse(port, [(b"", b"\n"), (b"", b"never")], timeout=0.2) is None
        assert net.accepts(port)


def test_udp() -> None:
    with answering(lambda data: [data[::-1]]) as port:
        assert net.udp(port, b"abc") == b"cba"
    with answering(lambda data: []) as port:
        assert net.udp(port, b"abc", timeout=0.2) is None


# -- Redis --------------------------------------------------------------------------------------


def test_redis() -> None:
    seen: list[bytes] = []
    replies = [
        b"+OK\r\n",
        b"-ERR no\r\n",
        b":-7\r\n",
        b"$5\r\na\r\nbc\r\n",
        b"$-1\r\n",
        b"*3\r\n$1\r\nx\r\n*0\r\n:1\r\n",
    ]

    def handler(peer: socket.socket) -> None:
        for reply in replies:
            seen.append(peer.recv(4096))
            peer.sendall(reply)

    with serving(handler) as port:
        commands: list[list[str | bytes | int]] = [["SET", "k", 5]] + [["PING"]] * 5
        answers = net.redis_pipeline(port, commands)
    R = net.RespReply
    assert seen[0] == b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\n5\r\n"
    assert answers == [
        R("simple", b"OK"),
        R("error", b"ERR no"),
        R("integer", -7),
        R("bulk", b"a\r\nbc"),
        R("nil", None),
        R("array", [R("bulk", b"x"), R("array", []), R("integer", 1)]),
    ]


@pytest.mark.parametrize(
    "raw", [b"", b"?\r\n", b"$5\r\nab", b"$-2\r\n", b"$3\r\nabcde\r\n", b":x\r\n", b"*1\r\n" * 50]
)
def test_redis_nonsense_is_none(raw: bytes) -> None:
    with serving(says(raw)) as port:
        assert net.redis(port, "PING") is None


# -- SMTP ---------------------------------------------------------------------------------------


def mail_server(refuse: str, mails: list[bytes]) -> Handler:
    def handler(peer: socket.socket) -> None:
        with peer.makefile("rwb") as file:

            def say(line: bytes) -> None:
                file.write(line + b"\r\n")
                file.flush()

            say(b"220-two lines\r\n220 ready")
            for line in file:
                verb = line.split()[0].decode() if line.strip() else ""
                if verb == refuse:
                    say(b"550 no")
                elif verb == "DATA":
                    say(b"354 go")
                    mail = b""
                    while (line := file.readline()) not in (b".\r\n", b""):
                        mail += line
                    mails.append(mail)
                    say(b"250 queued")
                else:
                    say(b"250 ok")

    return handler


def test_smtp_hands_a_mail_over() -> None:
    mails: list[bytes] = []
    with serving(mail_server("", mails)) as port:
        reply = net.smtp(port, "a@x.test", ["b@x.test", "c@x.test"], b"S: x\n\n.dot\nend")
    assert reply is not None and reply.accepted
    assert [code for _, code in reply.codes] == [220, 250, 250, 250, 250, 354, 250]
    assert mails == [b"S: x\r\n\r\n..dot\r\nend\r\n"]


def test_smtp_reports_a_refusal() -> None:
    with serving(mail_server("RCPT", [])) as port:
        reply = net.smtp(port, "a@x.test", ["b@evil.test"], b"")
    assert reply is not None and not reply.accepted
    assert reply.code("to") == 550 and reply.code("data") is None


# -- DNS ----------------------------------------------------------------------------------------


def name(text: str) -> bytes:
    return b"".join(bytes([len(label)]) + label.encode() for label in text.split(".")) + b"\0"


def record(kind: int, data: bytes) -> bytes:
    return b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 60, len(data)) + data


def dns_server(data: bytes) -> list[bytes]:
    answers = [
        record(1, bytes([10, 0, 0, 2])),
        record(1, bytes([10, 0, 0, 1])),
        record(15, struct.pack(">H", 10) + b"\x04mail\xc0\x0c"),
        record(16, b"\x03one\x04 two"),
        record(28, socket.inet_pton(socket.AF_INET6, "fd00::1")),
        record(5, name("Other.test")),
    ]
    header = data[:2] + struct.pack(">5H", 0x8400, 1, len(answers), 0, 0)
    return [header + data[12:] + b"".join(answers)]


def test_dns() -> None:
    with answering(dns_server) as port:
        reply = net.dns(port, "Zone.test", "A")
    assert reply is not None and (reply.rcode, reply.authoritative) == (0, True)
    assert reply.data("A") == ["10.0.0.1", "10.0.0.2"]
    assert reply.data("MX") == ["10 mail.zone.test"]
    assert (reply.data("TXT"), reply.data("AAAA")) == (["one two"], ["fd00::1"])
    assert reply.data("CNAME") == ["other.test"]
    assert reply.answers[0][0] == "zone.test" and reply.answers[0][2] == 60


def test_dns_refusals_and_nonsense() -> None:
    none = struct.pack(">5H", 0x8003, 1, 0, 0, 0)
    with answering(lambda data: [data[:2] + none + data[12:]]) as port:
        assert net.dns(port, "none.test") == net.DnsReply(3, False, ())
    header = struct.pack(">5H", 0x8000, 0, 1, 0, 0)
    tails = [b"\xc0\x0c", b"\x05ab", name("a") + struct.pack(">HHIH", 1, 1, 1, 900), b""]
    with answering(lambda data: [data[:2] + header + tails[0]]) as port:
        while len(tails) > 1:
            assert net.dns(port, "a.test", timeout=0.2) is None
            tails.pop(0)
    with answering(lambda data: [b"\0\0" + data[2:]]) as port:
        assert net.dns(port, "a.test", timeout=0.2) is None


# -- services -----------------------------------------------------------------------------------

HTTP_SERVER = "exec python3 -m http.server --bind 127.0.0.1 $PORT --directory site\n"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def started(task: Task, work: Path, script: str, port: int, **options: Any) -> net.Service:
    (work / "start.sh").write_text(script)
    env = {"PORT": str(port)}
    return net.Service(task, ["/bin/bash", "start.sh"], [port], env=env, **options)


@pytest.fixture
def site(work: Path) -> Path:
    (work / "site").mkdir()
    (work / "site" / "index.txt").write_text("hello")
    return work


@pytest.mark.parametrize("kind", ["", "background"])
def test_a_service_lives_through_client_runs_and_then_ends(
    task: Task, site: Path, kind: str
) -> None:
    port = free_port()
    script = HTTP_SERVER if not kind else "(" + HTTP_SERVER.strip() + ") >/dev/null 2>&1 &\n"
    with started(task, site, script, port) as service:
        assert (service.ready, service.error) == (True, "")
        for _ in range(3):
            reply = net.http("GET", port, "/index.txt")
            assert reply is not None and reply.text == "hello"
            # A candidate that is run beside it and leaves a daemon does not take it along.
            assert task.run(["sh", "-c", "setsid sleep 100 & echo ok"]).text == "ok\n"
        assert service.alive()
        if not kind:
            assert "GET /index.txt" in service.log()
    assert ending.descendants(task.agent) == [] and not net.accepts(port)
    assert task.services == 0


def test_a_service_that_never_comes_up(task: Task, work: Path) -> None:
    port = free_port()
    with started(task, work, "echo broken >&2; exit 7\n", port) as service:
        assert not service.ready and service.log() == "broken\n"
        assert service.error == "it ended (code 7) before it was ready"
    start = time.monotonic()
    with started(task, work, "sleep 100\n", port, ready_timeout=0.3) as service:
        assert not service.ready and service.error == f"nothing on port {port} in time"
    assert time.monotonic() - start < 8 and ending.descendants(task.agent) == []


def test_a_service_that_cannot_be_started(task: Task, work: Path) -> None:
    with net.Service(task, ["./none"], [free_port()]) as service:
        assert (service.ready, service.error) == (False, "cannot be started: FileNotFoundError")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with started(task, work, HTTP_SERVER, port) as service:
            assert (service.ready, service.error) == (False, f"port {port} was already taken")
    assert task.services == 0


def test_a_udp_service(task: Task, work: Path) -> None:
    port = free_port()
    script = (
        "exec python3 -c 'import os, socket; s = socket.socket(2, 2);"
        ' s.bind(("127.0.0.1", int(os.environ["PORT"])))\n'
        "while True: d, p = s.recvfrom(99); s.sendto(d.upper(), p)'\n"
    )
    (work / "start.sh").write_text(script)
    command = ["/bin/bash", "start.sh"]
    with net.Service(task, command, udp_ports=[port], env={"PORT": str(port)}) as service:
        assert service.ready, service.log()
        assert net.udp(port, b"abc") == b"ABC"


def test_a_service_runs_as_the_agent(task: Task, work: Path) -> None:
    with started(task, work, "id -u > who; exec sleep 100\n", free_port(), ready_timeout=0.3):
        assert task.read("who") == b"%d\n" % task.agent.uid
        assert (work / "who").stat().st_uid == task.agent.uid != 0 or os.geteuid() != 0
