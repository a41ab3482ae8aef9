"""Which processes of the agent live, and ending them all: double-forked daemons, fork bombs."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import time
from typing import Any, NamedTuple

Ident = tuple[int, int]  # (pid, start time): a pid alone can be used again
# More processes than that beside the known ones, and they are stopped before they are counted.
CROWD = 64
_PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 36, 38

_libc: Any = None
OURS: dict[int, subprocess.Popen[bytes]] = {}  # started here, not yet waited for


class Agent(NamedTuple):
    """Who runs candidates. `exclusive`: nobody else uses the uid, so that all its processes are
    the agent's, as in a grading container; else only those that descend from us."""

    uid: int
    gid: int
    home: str
    exclusive: bool = False


def adopt_orphans() -> None:
    """Become the parent of processes whose own parent died, so that they stay in sight."""
    _prctl(_PR_SET_CHILD_SUBREAPER)


def first_to_go() -> None:
    """Where memory runs out, a candidate is killed before its grader."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def no_new_privileges() -> None:
    """For a child of ours: no setuid program makes it more than the agent."""
    _prctl(_PR_SET_NO_NEW_PRIVS)


def _prctl(option: int) -> None:
    global _libc
    if _libc is None:
        _libc = ctypes.CDLL(None)
    _libc.prctl(option, 1, 0, 0, 0)


class _Seen(NamedTuple):
    parent: int
    start: int
    state: str
    mine: bool


def descendants(agent: Agent, keep: frozenset[Ident] = frozenset()) -> list[int]:
    """Living processes of the agent, without `keep` and what descends from it."""
    return _living(_table(agent), keep)


def _living(seen: dict[int, _Seen], keep: frozenset[Ident]) -> list[int]:
    kept = {pid for pid, start in keep if pid in seen and seen[pid].start == start}
    return sorted(
        pid
        for pid, one in seen.items()
        if one.mine and one.state not in "ZX" and not _descends(pid, kept, seen)
    )


def living(agent: Agent) -> frozenset[Ident]:
    """A snapshot for `keep`: who is there now."""
    return frozenset((pid, one.start) for pid, one in _table(agent).items() if one.mine)


def _descends(pid: int, roots: set[int], seen: dict[int, _Seen]) -> bool:
    for _ in range(10_000):  # a chain can change under our eyes: never loop
        if pid in roots:
            return True
        if pid not in seen:
            return False
        pid = seen[pid].parent
    return False


def _table(agent: Agent) -> dict[int, _Seen]:
    """Every process; `mine` are the agent's: all of its uid, or else all that descend from us."""
    table: dict[int, _Seen] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError, StopIteration):
                table[int(name)] = _look(name, agent)
    if not agent.exclusive:
        ours = {os.getpid()}
        for pid, one in table.items():
            mine = pid not in ours and _descends(pid, ours, table)
            table[pid] = one._replace(mine=mine)
    return table


def _look(pid: str, agent: Agent) -> _Seen:
    with open(f"/proc/{pid}/stat", "rb") as file:
        # The name in brackets is the program's own choice and may hold brackets and blanks.
        fields = file.read(4096).rpartition(b")")[2].split()
    mine = False
    if agent.exclusive:
        # Not the owner of /proc/PID: that is root for a process that made itself undumpable.
        with open(f"/proc/{pid}/status", "rb") as file:
            line = next(line for line in file if line.startswith(b"Uid:"))
        mine = any(int(uid) == agent.uid for uid in line.split()[1:5])
    return _Seen(int(fields[1]), int(fields[19]), fields[0].decode("ascii"), mine)


def end(
    process: subprocess.Popen[bytes] | None, agent: Agent, keep: frozenset[Ident] = frozenset()
) -> bool:
    """Kill `process`, its group and everything of the agent but `keep`. True when none is left."""
    if process is not None and process.poll() is None:
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    clean = kill_all(agent, keep)
    if process is not None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=5)
            OURS.pop(process.pid, None)
        if agent.exclusive:
            _sweep(agent, keep)  # dead children that it never collected are ours now
    return clean


def kill_all(agent: Agent, keep: frozenset[Ident] = frozenset(), seconds: float = 10.0) -> bool:
    """Kill until nobody is left; a fork bomb cannot outrun it. True when nobody is left."""
    deadline = time.monotonic() + seconds
    # No look around before the first blow: a bomb leaves us no processor time to look.
    frozen = bool(keep) and crowd() > len(keep) + CROWD and signal_everyone(agent, signal.SIGSTOP)
    while True:
        if not keep:
            signal_everyone(agent, signal.SIGKILL)
        left = _sweep(agent, keep)
        if not left or time.monotonic() > deadline:
            break
        if keep and not frozen and signal_everyone(agent, signal.SIGSTOP):
            frozen = True
            left = descendants(agent, keep)  # all of them, now that none can fork
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.002)
    if frozen:
        signal_everyone(agent, signal.SIGCONT)
    return not left


def crowd() -> int:
    """Processes in sight, whoever's: one cheap look."""
    return sum(name.isdigit() for name in os.listdir("/proc"))


def signal_everyone(agent: Agent, number: int) -> bool:
    """`kill -N -1` as the agent: the only way to hit all processes of a uid in one step."""
    if not agent.exclusive:
        return False  # it would hit processes that are none of our business
    try:
        child = os.fork()
    except OSError:
        return False  # the bomb holds every process slot: the caller kills one by one
    if child == 0:
        with contextlib.suppress(BaseException):
            os.setgroups([])
            os.setresgid(agent.gid, agent.gid, agent.gid)
            os.setresuid(agent.uid, agent.uid, agent.uid)
            os.kill(-1, number)
            os._exit(0)
        os._exit(1)
    # No deadline: among hundreds of runnable processes its turn may come late. But now that it is
    # the agent's, the agent may stop or kill it.
    _, status = os.waitpid(child, os.WUNTRACED)
    if os.WIFSTOPPED(status):
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    return status == 0


def _sweep(agent: Agent, keep: frozenset[Ident]) -> list[int]:
    """`descendants`, and dead orphans collected: a container's first process often does not do
    that, and its process slots run out."""
    seen = _table(agent)
    if agent.exclusive:
        for pid, one in seen.items():
            if one.mine and one.state == "Z" and one.parent == os.getpid() and pid not in OURS:
                with contextlib.suppress(OSError):
                    os.waitpid(pid, os.WNOHANG)
    return _living(seen, keep)
