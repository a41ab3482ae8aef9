"""The pages of a run, served on this machine alone.

Tasks are hostile and the run is private: only loopback addresses are listened on, only requests
that name one are answered (a page elsewhere may have its name resolve to this machine), no path of
a request is ever a path of the disk, and each page forbids the browser all that it does not hold.
"""

import errno
import ipaddress
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

from envgen.errors import Misconfigured
from envgen.report import Report
from envgen.runs import RunFolder
from envgen.web.page import Page
from envgen.web.site import Site

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
SECONDS = 30
"""That a connection may be idle."""


@dataclass(frozen=True)
class Serving:
    """A server that listens."""

    url: str
    server: ThreadingHTTPServer

    def forever(self) -> None:
        """Answer until Ctrl-C."""
        try:
            self.server.serve_forever()
        except KeyboardInterrupt:
            return


@contextmanager
def opened(folder: RunFolder, report: Report, host: str, port: int) -> Iterator[Serving]:
    """Listen; whoever closes it stops it.

    Args:
        folder: of the run.
        report: what was found in it; its tasks are those that have a page.
        host: a loopback address, or `localhost`.
        port: 0 for one that is free.

    Raises:
        Misconfigured: another address, or the port is taken.
    """
    _check(host)
    answering = type("Answering", (_Answering,), {"site": Site(folder, report)})
    six = ":" in host
    try:
        server = (_Six if six else ThreadingHTTPServer)((host, port), answering)
    except OSError as error:
        if error.errno not in (errno.EADDRINUSE, errno.EACCES, errno.EADDRNOTAVAIL):
            raise
        raise Misconfigured(f"{host}, port {port}: {error.strerror}: use another --port") from None
    with server:
        shown = f"[{host}]" if six else host
        yield Serving(f"http://{shown}:{server.server_address[1]}/", server)


def _check(host: str) -> None:
    try:
        fine = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        fine = False
    if not fine:
        raise Misconfigured(
            f"--host {host}: the pages are served on this machine alone, for they have no password "
            "and show hostile text; from elsewhere: ssh -L 8000:127.0.0.1:PORT THIS-MACHINE"
        )


def named_here(host: str) -> bool:
    """Whether the Host header of a request names this machine, under any port: a tunnel has its
    own."""
    try:
        name = None if "@" in host else urlsplit(f"//{host}").hostname
        return name == "localhost" or (name is not None and ipaddress.ip_address(name).is_loopback)
    except ValueError:
        return False


class _Six(ThreadingHTTPServer):
    address_family = socket.AF_INET6


class _Answering(BaseHTTPRequestHandler):
    """GET and HEAD of pages; everything else is refused with a page that says why."""

    site: Site
    timeout = SECONDS
    server_version, sys_version = "envgen", ""

    def do_GET(self) -> None:
        """Answer with a page."""
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1 or not named_here(hosts[0]):
            self._send(421, self.site.trouble("This server answers to names of this machine only."))
            return
        path = re.split("[?#]", self.path, maxsplit=1)[0]
        self._send(*self.site.answer(tuple(map(unquote, path.split("/")[1:]))))

    do_HEAD = do_GET

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the library refuses: other methods, requests that cannot be read."""
        self._send(code, self.site.trouble(message or "This request cannot be answered."))

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: what is asked for is nobody's news."""

    def _send(self, code: int, page: Page) -> None:
        data = page.html.encode()
        try:
            self._write(code, page.policy, data)
        except ConnectionError:
            return  # whoever asked has gone

    def _write(self, code: int, policy: str, data: bytes) -> None:
        self.send_response(code)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Content-Security-Policy", f"{policy}; frame-ancestors 'none'")
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
