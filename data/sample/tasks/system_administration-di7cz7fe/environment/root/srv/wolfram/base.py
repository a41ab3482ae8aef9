# mypy: ignore-errors
"""Shared parts of the daemons: strict settings, pid files, a store client, small HTTP servers."""

import configparser
import http.server
import json
import os
import pathlib
import signal
import socket
import socketserver
import sys
import time


def say(text):
    """One line of the log, on standard error."""
    sys.stderr.write(f"{pathlib.Path(sys.argv[0]).stem}: {text}\n")
    sys.stderr.flush()


def fail(text):
    """Give up at start, with the reason in the log."""
    say(f"fatal: {text}")
    raise SystemExit(2)


def config_path():
    if len(sys.argv) != 3 or sys.argv[1] != "--config":
        fail("usage: --config FILE")
    return pathlib.Path(sys.argv[2])


def read(path):
    try:
        return pathlib.Path(path).read_text()
    except OSError as error:
        fail(f"cannot read {path}: {error.strerror}")


def ini(path, wanted):
    """Settings of an INI file; `wanted` maps section -> key -> type. Anything else is refused."""
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(read(path))
    except configparser.Error as error:
        fail(f"{path}: {error.message.splitlines()[0]}")
    out = {}
    for section in parser.sections():
        for key in parser[section]:
            if key not in wanted.get(section, {}):
                fail(f"{path}: unknown key {key!r} in [{section}]")
    for section, keys in wanted.items():
        for key, kind in keys.items():
            if not parser.has_option(section, key):
                fail(f"{path}: key {key!r} is missing in [{section}]")
            out[key] = typed(f"{path}: [{section}] {key}", parser[section][key], kind)
    return out


def settings(path, wanted):
    """Settings of a JSON file, by the same rules."""
    try:
        given = json.loads(read(path))
    except ValueError as error:
        fail(f"{path}: not JSON: {error}")
    for key in given:
        if key not in wanted:
            fail(f"{path}: unknown key {key!r}")
    for key, kind in wanted.items():
        if key not in given:
            fail(f"{path}: key {key!r} is missing")
        if type(given[key]) is not kind:
            fail(f"{path}: {key} must be of type {kind.__name__}")
    return given


def typed(name, text, kind):
    if isinstance(kind, tuple):
        if text not in kind:
            fail(f"{name} must be one of {', '.join(kind)}, not {text!r}")
        return text
    try:
        return kind(text)
    except ValueError:
        fail(f"{name} is not a {kind.__name__}: {text!r}")


def secret(path):
    """The content of a file that nobody but its owner may read."""
    text = read(path).strip()
    if os.stat(path).st_mode & 0o077:
        fail(f"{path} is open to others: its mode must be 0600")
    return text


def folder(path):
    """A folder that must be there; daemons make none themselves."""
    if not os.path.isdir(path):
        fail(f"no folder {path}")
    if not os.access(path, os.W_OK | os.X_OK):
        fail(f"folder {path} is not writable")
    return pathlib.Path(path)


def claim(path, policy):
    """Write the pid file. An old one stops us, unless the policy is `replace`."""
    path = pathlib.Path(path)
    if path.exists() and policy == "refuse":
        fail(f"pid file {path} exists: is another one running? (on_stale_pid = refuse)")
    try:
        path.write_text(f"{os.getpid()}\n")
    except OSError as error:
        fail(f"cannot write {path}: {error.strerror}")


def on_end(action):
    """Run an action at SIGTERM or SIGINT, then leave."""

    def handle(number, frame):
        action()
        os._exit(0)

    signal.signal(signal.SIGTERM, handle)
    signal.signal(signal.SIGINT, handle)


class Threads(socketserver.ThreadingTCPServer):
    """A TCP server with a thread for each connection."""

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64


def listen(kind, bind, port, handler):
    try:
        return kind((bind, port), handler)
    except OSError as error:
        fail(f"cannot listen on {bind}:{port}: {error.strerror}")


class StoreError(Exception):
    """The store said no, or said nothing."""


class Store:
    """Client of the store daemon: one connection for each command."""

    def __init__(self, host, port, password):
        self.where, self.password = (host, port), password

    def __call__(self, *words):
        commands = [("AUTH", self.password)] if self.password else []
        try:
            with socket.create_connection(self.where, timeout=2) as connection:
                stream = connection.makefile("rwb")
                for command in [*commands, words]:
                    stream.write(b"*%d\r\n" % len(command))
                    for word in command:
                        data = str(word).encode()
                        stream.write(b"$%d\r\n%s\r\n" % (len(data), data))
                    stream.flush()
                    reply = self._reply(stream)
                return reply
        except OSError as error:
            raise StoreError(f"store at {self.where[0]}:{self.where[1]}: {error}") from error

    def _reply(self, stream):
        line = stream.readline().rstrip(b"\r\n").decode()
        if line[:1] == "-" or not line:
            raise StoreError(line[1:] or "connection lost")
        if line[0] == "+":
            return line[1:]
        if line[0] == ":":
            return int(line[1:])
        if line[0] == "$":
            size = int(line[1:])
            return None if size < 0 else stream.read(size + 2)[:-2].decode()
        return [self._reply(stream) for _ in range(int(line[1:]))]

    def wait(self, seconds):
        """Until the store answers; the daemon gives up after `seconds`."""
        end = time.monotonic() + seconds
        while True:
            try:
                return self("PING")
            except StoreError as error:
                if time.monotonic() >= end:
                    fail(f"no store after {seconds} s: {error}")
                time.sleep(0.1)


class Web(http.server.BaseHTTPRequestHandler):
    """Subclasses define `answer(method, path, body) -> (status, value[, headers])`."""

    protocol_version = "HTTP/1.1"
    max_body = 1 << 20

    def _serve(self):
        size = int(self.headers.get("Content-Length") or 0)
        if size > self.max_body:
            self.rfile.read(min(size, 1 << 20))
            self.close_connection = True
            return self.send(413, {"error": "body too large"})
        body = self.rfile.read(size) if size else b""
        try:
            answer = self.answer(self.command, self.path, body)
        except StoreError as error:
            say(f"503 {self.command} {self.path}: {error}")
            answer = (503, {"error": "store unavailable"})
        return self.send(*answer)

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _serve

    def send(self, status, value, headers=None):
        raw = isinstance(value, bytes)
        data = value if raw else (json.dumps(value) + "\n").encode()
        self.send_response(status)
        headers = dict(headers or {})
        headers.setdefault("Content-Type", "text/plain" if raw else "application/json")
        headers["Content-Length"] = str(len(data))
        for name, text in headers.items():
            self.send_header(name, text)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, form, *args):
        say(form % args)


def parsed(body):
    """The JSON object of a body, or None."""
    try:
        value = json.loads(body)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
