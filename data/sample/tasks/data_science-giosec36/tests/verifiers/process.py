"""Running the agent's programs: as the agent, bounded in time, memory, output and processes.

Nothing the program does raises here: whatever happened is in the `Outcome`. When a run ends, for
whatever reason, every process that it left behind is killed, also those that forked twice.
"""

from __future__ import annotations

import contextlib
import math
import os
import resource
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .ending import (
    OURS,
    Agent,
    Ident,
    adopt_orphans,
    crowd,
    descendants,
    end,
    first_to_go,
    no_new_privileges,
    signal_everyone,
)

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
STDERR_KEPT = 65_536
# A main process that has ended may have helpers (a pipeline's `tee`) that still write.
GRACE = 0.5
# RLIMIT_NPROC counts a uid over all containers of a host, so a tight value would fail honest
# programs on a busy host. Ours is only a backstop; the count per run is watched in /proc.
NPROC_BACKSTOP = 4096
# Megabytes of the sandbox that one candidate cannot have: the grader lives under the same cap, and
# where the kernel has to kill for memory, the grader is in line behind the candidates.
RESERVED_MB = 64
CAPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
# Seen by every runtime as the sandbox's two CPUs, also where the host shows all of its own.
THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_MAX_THREADS",
    "RAYON_NUM_THREADS",
    "GOMAXPROCS",
)


class Limits(NamedTuple):
    """What one program may use. `memory_mb` counts private writable memory of each process, and is
    never all that the sandbox has."""

    timeout: float = 10.0
    memory_mb: int = 512
    output: int = 1 << 20
    processes: int = 64
    file_mb: int = 64


class Outcome(NamedTuple):
    """What a program did. `code` is None if it never started, negative if a signal ended it."""

    stdout: bytes = b""
    stderr: bytes = b""
    code: int | None = None
    timed_out: bool = False
    truncated: bool = False
    error: str = ""

    @property
    def ok(self) -> bool:
        """It ran to its end within its limits and returned 0."""
        return self.code == 0 and not (self.timed_out or self.truncated or self.error)

    @property
    def text(self) -> str:
        """Standard output as UTF-8, undecodable bytes replaced."""
        return self.stdout.decode("utf-8", "replace")


class Budget:
    """Seconds that all candidates together may take.

    Without it an agent could sleep its way past the harness's own limit, and a grader that was cut
    off is no verdict at all.
    """

    def __init__(self) -> None:
        self._end = math.inf

    def start(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        return max(0.0, self._end - time.monotonic())


BUDGET = Budget()


# -- starting -----------------------------------------------------------------------------------


def environment(agent: Agent, extra: Mapping[str, str]) -> dict[str, str]:
    """A fixed environment; zone, locale and hash seed are the container's (see test.sh)."""
    env = {"PATH": PATH, "HOME": agent.home, "USER": "agent", "LOGNAME": "agent"}
    env.update({"SHELL": "/bin/bash", "LANG": "C.UTF-8", "TERM": "dumb"})
    env.update(dict.fromkeys(THREADS, "2"))
    env.update({name: os.environ[name] for name in ("TZ", "LC_ALL", "PYTHONHASHSEED")
                if name in os.environ})  # fmt: skip
    env.update(extra)
    return env


def spawn(
    argv: Sequence[str],
    agent: Agent,
    limits: Limits,
    cwd: str,
    env: Mapping[str, str],
    stdin: int,
    stdout: int,
    stderr: int,
    cpu_seconds: int | None = None,
) -> subprocess.Popen[bytes]:
    """Start `argv` as the agent in a session of its own. Raises OSError, ValueError or
    SubprocessError when it cannot be started."""
    memory_mb = int(min(limits.memory_mb, room_mb()))
    caps = [
        (resource.RLIMIT_CORE, 0),
        # Data, not address space: Go, Java and Node reserve gigabytes that they never touch.
        (resource.RLIMIT_DATA, memory_mb << 20 if memory_mb else -1),
        (resource.RLIMIT_FSIZE, limits.file_mb << 20),
        (resource.RLIMIT_NOFILE, 1024),
        (resource.RLIMIT_NPROC, NPROC_BACKSTOP),
        (resource.RLIMIT_CPU, cpu_seconds if cpu_seconds is not None else -1),
    ]
    caps = [(kind, _under_hard_limit(kind, value)) for kind, value in caps]
    drop = os.geteuid() == 0 and agent.uid != os.geteuid()

    def become_the_agent() -> None:
        for kind, value in caps:
            resource.setrlimit(kind, (value, value))
        os.umask(0o022)
        os.nice(5)  # a bomb of runnable processes must not keep us from ending it
        first_to_go()
        if drop:
            os.setgroups([])
            os.setresgid(agent.gid, agent.gid, agent.gid)
            os.setresuid(agent.uid, agent.uid, agent.uid)
        no_new_privileges()
        os.chdir(cwd)  # as the agent: a folder it may not enter is its own problem

    adopt_orphans()
    process = subprocess.Popen(
        list(argv),
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        env=environment(agent, env),
        start_new_session=True,
        close_fds=True,
        preexec_fn=become_the_agent,  # safe: the kit has no threads
    )
    OURS[process.pid] = process
    return process


def room_mb(caps: Sequence[str] = CAPS) -> float:
    """Megabytes that one candidate may have of the sandbox; infinite where no cap is in sight."""
    for path in caps:
        with contextlib.suppress(OSError, ValueError), open(path, encoding="ascii") as file:
            cap = int(file.read()) >> 20  # version 2 says "max" where there is none
            return max(cap - RESERVED_MB, cap // 2)
    return math.inf


def _under_hard_limit(kind: int, value: int) -> int:
    hard = resource.getrlimit(kind)[1]
    if hard == resource.RLIM_INFINITY:
        return value
    return hard if value == -1 else min(value, hard)


# -- running ------------------------------------------------------------------------------------


def run(
    argv: Sequence[str],
    agent: Agent,
    limits: Limits,
    cwd: str,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    keep: frozenset[Ident] = frozenset(),
) -> Outcome:
    """Run `argv` to its end and kill what it leaves behind, sparing `keep` and their children."""
    timeout = min(limits.timeout, BUDGET.left())
    if timeout <= 0:
        return Outcome(timed_out=True, error="the time for running candidates is used up")
    try:
        process = spawn(
            argv, agent, limits, cwd, env or {},
            subprocess.PIPE if stdin else subprocess.DEVNULL, subprocess.PIPE, subprocess.PIPE,
            cpu_seconds=(math.ceil(timeout) + 1) * (os.cpu_count() or 1),  # threads add up
        )  # fmt: skip
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        reason = error.strerror if isinstance(error, OSError) else "cannot be started as the agent"
        return Outcome(error=f"{type(error).__name__}: {reason}")
    watch = _Watch(process, agent, limits, time.monotonic() + timeout, stdin, keep)
    try:
        watch.until_over()
    finally:
        end(process, agent, keep)
        watch.drain()
    return watch.outcome()


class _Watch:
    """Feeds and reads one process until it is over or over a limit."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        agent: Agent,
        limits: Limits,
        deadline: float,
        stdin: bytes,
        keep: frozenset[Ident],
    ) -> None:
        self.process, self.agent, self.limits, self.keep = process, agent, limits, keep
        self.deadline = deadline
        self.to_write = memoryview(stdin)
        self.out, self.err = bytearray(), bytearray()
        self.timed_out = self.truncated = False
        self.error = ""
        self.crowd = crowd()
        self.next_count = time.monotonic() + 0.02
        self.selector = selectors.DefaultSelector()
        self.open: set[Any] = set()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
                event = selectors.EVENT_WRITE if pipe is process.stdin else selectors.EVENT_READ
                self.selector.register(pipe, event)
                self.open.add(pipe)
        self.pidfd = _pidfd(process.pid)
        if self.pidfd >= 0:
            self.selector.register(self.pidfd, selectors.EVENT_READ)
            self.open.add(self.pidfd)

    def until_over(self) -> None:
        over_at = math.inf
        while not (self.timed_out or self.truncated or self.error):
            now = time.monotonic()
            if over_at == math.inf and self.process.poll() is not None:
                over_at = now + GRACE
                self._forget(self.pidfd)
            if over_at < math.inf and (not self._reading() or now >= over_at):
                return
            if now >= self.deadline:
                self.timed_out = over_at == math.inf
                return
            self._count_processes(now)
            self._transfer(min(self.deadline, over_at, self.next_count) - now)

    def _transfer(self, wait: float) -> None:
        if self.pidfd < 0:
            wait = min(wait, 0.005)  # nothing tells us of the end: look often
        for key, _ in self.selector.select(max(0.0, wait)):
            if key.fileobj is self.process.stdin:
                self._feed()
            elif key.fileobj is self.process.stdout or key.fileobj is self.process.stderr:
                self._read(key.fileobj)

    def _feed(self) -> None:
        pipe = self.process.stdin
        assert pipe is not None
        try:
            self.to_write = self.to_write[os.write(pipe.fileno(), self.to_write[:65_536]) :]
        except BlockingIOError:
            return
        except OSError:
            self.to_write = memoryview(b"")  # it closed its standard input: its right
        if not self.to_write:
            self._forget(pipe)

    def _read(self, pipe: Any) -> bool:
        """One chunk; False at the end or when nothing is there now."""
        try:
            chunk = os.read(pipe.fileno(), 65_536)
        except BlockingIOError:
            return False
        except OSError:
            chunk = b""
        if not chunk:
            self._forget(pipe)
            return False
        if pipe is self.process.stderr:
            # Chatter is no fault: what does not fit is dropped.
            self.err += chunk[: STDERR_KEPT - len(self.err)]
            return True
        room = self.limits.output - len(self.out)
        self.out += chunk[:room]
        self.truncated = self.truncated or len(chunk) > room
        return not self.truncated

    def _count_processes(self, now: float) -> None:
        if now < self.next_count:
            return
        if crowd() > self.crowd + self.limits.processes:
            # Many more than at the start. Whose they are is looked up while they stand still.
            frozen = signal_everyone(self.agent, signal.SIGSTOP)
            if len(descendants(self.agent, self.keep)) > self.limits.processes:
                self.error = f"more than {self.limits.processes} processes"
            elif frozen:
                signal_everyone(self.agent, signal.SIGCONT)
        self.next_count = time.monotonic() + 0.05

    def _reading(self) -> bool:
        return self.process.stdout in self.open or self.process.stderr in self.open

    def _forget(self, watched: Any) -> None:
        if watched in self.open:
            self.open.discard(watched)
            self.selector.unregister(watched)
            if not isinstance(watched, int):
                with contextlib.suppress(OSError):
                    watched.close()

    def drain(self) -> None:
        """Take what the pipes still hold (the writers are dead by now), then close them."""
        for pipe in (self.process.stdout, self.process.stderr):
            while pipe in self.open and not self.truncated and self._read(pipe):
                pass
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self.selector.close()
        if self.pidfd >= 0:
            os.close(self.pidfd)

    def outcome(self) -> Outcome:
        code = self.process.returncode
        return Outcome(
            bytes(self.out), bytes(self.err), code, self.timed_out, self.truncated, self.error
        )


def _pidfd(pid: int) -> int:
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return -1
