"""One process in a running container: started, spoken to, and read to its end.

A thread of its own reads each process: a daemon whose stream is not read stops answering others,
and the thread that reads must not be the one that calls the daemon. What a process prints is kept
at head and tail only, so that it may print without end.
"""

import socket
import struct
import threading
import time
from contextlib import suppress
from http.client import HTTPException
from typing import Any

from docker.api import APIClient
from urllib3.exceptions import HTTPError

from envgen.sandbox.shell import STATE_BYTES
from envgen.sandbox.tail import Tail

CHANNEL_BYTES = STATE_BYTES + 64 * 1024
"""About the most that is kept of the channel that reports come through."""
_HEADER = struct.Struct(">BxxxL")


class Exec:
    """A process in a container.

    Two streams: what it prints, and a channel for its report. It has ended when it has said so on
    both (`mark`), or when both are closed; a child may hold them open for as long as it likes.

    Args:
        api: the SDK's low-level client.
        container: its id.
        command: the process.
        uid: whose process it is.
        limit: bytes of what it prints that are kept.
    """

    def __init__(
        self, api: APIClient, container: str, command: tuple[str, ...], uid: int, limit: int
    ) -> None:
        self._api = api
        self.id: str = api.exec_create(container, list(command), stdin=True, user=f"{uid}:{uid}")[
            "Id"
        ]
        self.mark = self.id[:32]
        self.tail = Tail(limit)
        self.channel = bytearray()
        self.marked = False
        self.ended = False
        self._rest = b""
        self._changed = threading.Condition()
        self._stream: Any = None

    def start(self, said: bytes = b"") -> None:
        """Start it, with something to read on its standard input (which stays open)."""
        self._stream = self._api.exec_start(self.id, socket=True)
        self._stream._sock.settimeout(None)
        threading.Thread(target=self._read, args=(said,), daemon=True).start()

    def say(self, more: bytes) -> None:
        """Something more to read."""
        with suppress(OSError):
            self._stream._sock.sendall(more)

    def wait(self, what: Any, seconds: float) -> bool:
        """Wait until `what()` is true, at most so long; False when it is not."""
        with self._changed:
            return bool(self._changed.wait_for(what, seconds))

    @property
    def running(self) -> bool:
        """Whether the daemon says that it runs."""
        return bool(self._api.exec_inspect(self.id)["Running"])

    @property
    def exit_code(self) -> int | None:
        """What the daemon knows; it may know it a moment after the streams have closed."""
        deadline = time.monotonic() + 2
        while True:
            found = self._api.exec_inspect(self.id)
            if not found["Running"] and found["ExitCode"] is not None:
                return int(found["ExitCode"])
            if time.monotonic() > deadline:
                return None
            time.sleep(0.02)

    def close(self) -> None:
        """Let go of it; it may run on."""
        if self._stream is None:
            return
        connection = self._stream._sock
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)  # wakes the thread that reads
        self._stream._response.close()
        connection.close()

    def _read(self, said: bytes) -> None:
        buffered = self._stream._response.raw._fp.fp  # what came with the headers is in it
        waiting = b""
        with suppress(OSError, ValueError, AttributeError, HTTPException, HTTPError):
            self._stream._sock.sendall(said)
            while data := buffered.read1(1 << 16):
                waiting = self._frames(waiting + data)
        with self._changed:
            self.tail.write(self._rest)
            self._rest = b""
            self.ended = True
            self._changed.notify_all()

    def _frames(self, data: bytes) -> bytes:
        """Take the whole frames of multiplexed data; the rest."""
        at = 0
        with self._changed:
            while at + 8 <= len(data):
                kind, size = _HEADER.unpack_from(data, at)
                if at + 8 + size > len(data):
                    break
                self._take(kind, data[at + 8 : at + 8 + size])
                at += 8 + size
            self._changed.notify_all()
        return data[at:]

    def _take(self, kind: int, data: bytes) -> None:
        if kind == 2:
            self.channel += data
            if len(self.channel) > CHANNEL_BYTES:  # too much to be a state; its end is still seen
                del self.channel[STATE_BYTES : -(1 << 12)]
        elif not self.marked:  # later comes only what a child prints
            data = self._rest + data
            at = data.find(self.mark.encode())
            self.marked = at >= 0
            keep = at if self.marked else max(0, len(data) - len(self.mark) + 1)
            self.tail.write(data[:keep])
            self._rest = b"" if self.marked else data[keep:]
