"""Grading a service: started cold as the agent, then spoken to over the loopback.

The clients are small and wary: one deadline for a whole exchange (a peer that drips a byte at a
time gains nothing), a cap on bytes, and None for anything that is not a proper answer.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Mapping, Sequence

from . import ending, process
from .process import BUDGET, Limits
from .task import Task
from .wire import accepts, converse, tcp, udp
from .wire_dns import DnsReply, dns
from .wire_http import HttpReply, http
from .wire_redis import RespReply, redis, redis_pipeline
from .wire_smtp import SmtpReply, smtp

__all__ = [
    "DnsReply", "HttpReply", "RespReply", "Service", "SmtpReply", "accepts", "converse", "dns",
    "http", "redis", "redis_pipeline", "smtp", "tcp", "udp",
]  # fmt: skip


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
        self._keep: frozenset[ending.Ident] = frozenset()
        self._log = ""
        self.ready = False
        self.error = ""

    def __enter__(self) -> Service:
        self._keep = self._task.keep()
        taken = [port for port in self._ports if accepts(port)]
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
            ending.end(self._process, self._task.agent, self._keep)
        if self._log:
            self._task.services -= 1

    def log(self, limit: int = 4096) -> str:
        """The end of what the service printed."""
        text = (self._task.read(self._log) or b"") if self._log else b""
        return text[-limit:].decode("utf-8", "replace")

    def alive(self) -> bool:
        """Some process of the service still runs."""
        return bool(ending.descendants(self._task.agent, self._keep))

    def _wait(self) -> str:
        """Until ready; "" then, else the reason."""
        deadline = time.monotonic() + min(self._timeout, BUDGET.left())
        tcp, udp = list(self._ports), list(self._udp_ports)
        while True:
            tcp = [port for port in tcp if not accepts(port)]
            udp = [port for port in udp if not _bound(port)]
            if not tcp and not udp:
                return ""
            assert self._process is not None
            if self._process.poll() is not None and not self.alive():
                return f"it ended (code {self._process.returncode}) before it was ready"
            if time.monotonic() > deadline:
                return f"nothing on port {(tcp + udp)[0]} in time"
            time.sleep(0.02)


def _bound(port: int) -> bool:
    for table in ("/proc/net/udp", "/proc/net/udp6"):
        with contextlib.suppress(OSError), open(table, encoding="ascii") as file:
            if any(line.split()[1].endswith(f":{port:04X}") for line in list(file)[1:]):
                return True
    return False
