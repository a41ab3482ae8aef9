"""What the server answers to whom, without a browser."""

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from envgen import config, report
from envgen.errors import Misconfigured
from envgen.export import audits, parquet, repairs
from envgen.report import Report
from envgen.runs import RunFolder
from envgen.web import server

Answer = tuple[int, dict[str, str], str]


def ask(url: str, path: str, method: str = "GET", **headers: str) -> Answer:
    at = urlsplit(url)
    connection = http.client.HTTPConnection(at.hostname or "", at.port, timeout=10)
    connection.putrequest(method, path, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    found = answer.status, dict(answer.getheaders()), answer.read().decode()
    connection.close()
    return found


@pytest.mark.parametrize(
    ("host", "status"),
    [
        *((name, 200) for name in ("127.0.0.1", "localhost:9", "[::1]:80", "127.8.0.1")),
        *((name, 421) for name in ("evil.example", "127.0.0.1.example", "localhost.example", "")),
        *((name, 421) for name in ("0.0.0.0", "10.0.0.1", "user@127.0.0.1", "[::1", "2130706433")),
    ],
)  # fmt: skip
def test_only_names_of_this_machine_are_answered(host: str, status: int, url: str) -> None:
    assert ask(url, "/", Host=host)[0] == status


def test_a_request_without_a_name_or_with_two_is_refused(url: str) -> None:
    for lines in ("", "Host: 127.0.0.1\r\nHost: evil.example\r\n"):
        assert b" 421 " in spoken(url, f"GET / HTTP/1.1\r\n{lines}\r\n".encode())


@pytest.mark.parametrize(
    ("target", "status"),
    [(b"[", 404), (b"http://evil.example/", 404), (b"*", 404), (b"/\xff\xfe", 404), (b"a b", 400)],
)
def test_odd_requests_are_answered(target: bytes, status: int, url: str) -> None:
    first = spoken(url, b"GET " + target + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert first.startswith(f"HTTP/1.0 {status} ".encode())


def spoken(url: str, request: bytes) -> bytes:
    """The first line of what comes back for bytes that no client would send."""
    at = urlsplit(url)
    with socket.create_connection((at.hostname, at.port), timeout=10) as plain:
        plain.sendall(request)
        return plain.recv(4096).split(b"\r\n")[0]


@pytest.mark.parametrize(
    "path",
    [
        "/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/task/..%2f..%2fledger.sqlite",
        "/task/../ledger.sqlite", "/manifest.parquet", "/report.html", "//etc/passwd", "/task/",
        "/task/%00", "/task/%ff", "/{hostile}/episode/999", "/{hostile}/episode/-1",
        "/receipt/sha256:ab", "/favicon.ico",
        f"/receipt/sha256:{'0' * 64}", "/task/" + "a" * 9000, "/?x=/../..", "/task?/..",
    ],
)  # fmt: skip
def test_no_path_leads_out_of_the_run(path: str, url: str, places: dict[str, str]) -> None:
    status, headers, text = ask(url, path.replace("{hostile}", places["hostile"]))
    assert status == (200 if path.startswith("/?") else 404)
    assert "root:" not in text and "default-src 'none'" in headers["Content-Security-Policy"]


@pytest.mark.parametrize("name", ["report", "hostile", "nowhere"])
def test_every_answer_forbids_what_it_does_not_hold(
    name: str, url: str, places: dict[str, str]
) -> None:
    _, headers, text = ask(url, f"/{places[name]}")
    policy = headers["Content-Security-Policy"]
    assert re.fullmatch(
        r"default-src 'none'; style-src 'sha256-[\w+/]+='; script-src 'sha256-[\w+/]+='; "
        r"base-uri 'none'; form-action 'none'; frame-ancestors 'none'", policy
    )  # fmt: skip
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert "Python" not in headers["Server"]
    assert 'http-equiv="Content-Security-Policy" content="default-src' in text


def test_other_methods_are_refused_and_head_has_no_body(url: str) -> None:
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PROPFIND"):
        status, headers, _ = ask(url, "/", method)
        assert status == 501 and "Content-Security-Policy" in headers
    status, headers, text = ask(url, "/", "HEAD")
    assert (status, text) == (200, "") and int(headers["Content-Length"]) > 10_000


class Links(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.hrefs: set[str] = set()
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "a":
            self.hrefs.add(found["href"] or "")
        if found.get("id"):
            self.ids.add(found["id"] or "")


def test_links_lead_somewhere(url: str, found: Report, places: dict[str, str]) -> None:
    pages = [f"/{places[name]}" for name in ("report", "hostile", "weak", "lost")]
    seen = set[str]()
    for page in pages:
        status, _, text = ask(url, page)
        links = Links(text)
        assert status == 200
        assert {h[1:] for h in links.hrefs if h.startswith("#")} <= links.ids
        seen |= {h for h in links.hrefs if h.startswith("/") and not h.startswith("/receipt/")}
    assert {h for h in seen if h.count("/") == 2} >= {f"/task/{found.tasks[0].task}"}
    assert len(seen) > len(found.tasks)
    assert [h for h in seen if ask(url, h.partition("#")[0])[0] != 200] == []


def test_a_receipt_is_shown(url: str, folder: RunFolder, places: dict[str, str]) -> None:
    from envgen.ledger import Ledger

    ledger = Ledger(folder.path)
    ((_, key, _), *_) = ledger.used(places["hostile"].removeprefix("task/"), "job")
    ledger.close()
    status, _, text = ask(url, f"/receipt/{key}")
    assert status == 200
    assert "&#34;exit_code&#34;: 0" in text and "&lt;script&gt;alert(1)" in text
    assert "<script>alert" not in text


def test_one_task_is_read_alone(folder: RunFolder, found: Report) -> None:
    name = found.tasks[3].task
    for rows in (
        parquet.read(folder.manifest, ["task"], task=name),
        parquet.read(folder.manifest, task=name),
        audits.rows(folder.audits, ["task", "label"], name),
        repairs.read(folder.repairs, name),
    ):
        assert [row["task"] for row in rows] == [name]
    assert list(parquet.read(folder.manifest, task="nobody")) == []


def test_a_changed_archive_is_said(tmp_path: Path, folder: RunFolder) -> None:
    own = RunFolder(tmp_path / "run")
    own.path.mkdir()
    rows = list(parquet.read(folder.manifest))
    rows[0]["archive"] = b"changed"
    parquet.write_manifest(own.manifest, rows)
    measured = report.report(own, config.RunConfig())
    with server.opened(own, measured, "localhost", 0) as serving:
        site = serving.server.RequestHandlerClass.site  # type: ignore[attr-defined]
        status, page = site.answer(("task", rows[0]["task"]))
    assert status == 200
    assert "Its files cannot be shown: task data_querying-ahlxo2zc: its archive was" in page.html


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.1", "example.org", ""])
def test_other_addresses_are_refused_aloud(host: str, folder: RunFolder, found: Report) -> None:
    opening = server.opened(folder, found, host, 0)
    with pytest.raises(Misconfigured, match="on this machine alone"), opening:
        pass


def test_a_port_that_is_taken_is_named(url: str, folder: RunFolder, found: Report) -> None:
    port = urlsplit(url).port or 0
    opening = server.opened(folder, found, "127.0.0.1", port)
    with pytest.raises(Misconfigured, match=f"port {port}: .*: use another --port"), opening:
        pass


@pytest.fixture
def view(folder: RunFolder) -> Iterator[subprocess.Popen[str]]:
    """The command, in a process of its own."""
    words = ["view", "--run", "shown", "--data", str(folder.path.parents[1])]
    process = subprocess.Popen(
        [sys.executable, "-m", "envgen.cli", *words],
        stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"},
        # As in a terminal, also where the tests run in the background and Ctrl-C is ignored.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    yield process
    process.kill()
    process.communicate()


def test_the_command_says_where_it_is_and_ends_with_ctrl_c(view: subprocess.Popen[str]) -> None:
    assert view.stderr
    line = view.stderr.readline()
    address = re.fullmatch(r"run shown: (http://127\.0\.0\.1:\d+/) \(Ctrl-C ends\)\n", line)
    assert address, line
    assert ask(address[1], "/")[0] == 200
    view.send_signal(signal.SIGINT)
    assert view.wait(10) == 0
    assert view.stderr.read() == ""
