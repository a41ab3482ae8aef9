"""What is done in a sandbox outside of its shell: killing and counting.

As the agent where that works, in one bash that starts no other process. Where the agent has made
it impossible, by a container beside, which the agent can do nothing to.
"""

from docker.errors import APIError

from envgen.errors import SetupTimeout
from envgen.records import Opening
from envgen.sandbox import shell
from envgen.sandbox.containers import KEEPER_UID, Containers
from envgen.sandbox.execs import Exec
from envgen.sandbox.shell import Counters

KILL_SECONDS = 10
"""Most that killing may take."""
CLEAR_SECONDS = 60
"""Most that the container may take that clears another."""

_KILL = """\
IFS= read -r s
line=
{ IFS= read -r line < "/proc/$s/stat"; } 2>/dev/null
set -- ${line##*) }
case "$1" in ""|Z|X) builtin printf gone; return ;; esac
kill -VTALRM "$s" 2>/dev/null
for n in 1 2 3 4 5 6; do [ -d "/proc/$s" ] && read -rt 0.05 none; done
for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
found=
for p in /proc/[0-9]*; do
{ IFS= read -r line < "$p/stat"; } 2>/dev/null || continue
set -- ${line##*) }
[ "$4" = "$s" ] && [ "$1" != Z ] && [ "$1" != X ] && kill -9 "${p#/proc/}" 2>/dev/null && found=1
done
[ "$found" ] || return
[ "$n" -gt 2 ] && read -rt 0.05 none
done
kill -9 -1
"""
# Every process of a session, without starting another: its shell may report first, which takes it a
# moment; then all go. Who started another session (`setsid`) is let be. A crowd that is never
# gone in twenty rounds goes all at once.

_CLEAR = f"""\
for n in $(seq 100); do
found=
for p in /proc/[0-9]*; do
uid= state=
{{ while read -r key value rest; do
case "$key" in State:) state=$value ;; Uid:) uid=$value; break ;; esac
done < "$p/status"; }} 2>/dev/null
case "${{p#/proc/}}:$state:$uid" in
1:*|$$:*|*:Z:*|*:X:*|*:{KEEPER_UID}|*:) ;;
*) found=1; [ "$n" -lt 4 ] && kill -STOP "${{p#/proc/}}" || kill -9 "${{p#/proc/}}" ;;
esac
done 2>/dev/null
[ "$found" ] || exit 0
sleep 0.05
done
exit 1
"""
# All of the agent's processes, from a container that sees them and that they cannot reach. First
# they are stopped, so that a fork bomb is outrun; then they go.


class Inside:
    """A running container, seen from inside.

    Args:
        containers: runs it.
        name: its id.
        opening: what it is.
    """

    def __init__(self, containers: Containers, name: str, opening: Opening) -> None:
        self._containers = containers
        self._api = containers.api
        self._name = name
        self._opening = opening

    def kill(self, pid: int) -> str | None:
        """Kill the session of a process: `gone` when that was no more, None when it failed."""
        return self._as_agent(_KILL, str(pid))

    def _as_agent(self, text: str, said: str = "") -> str | None:
        """A few lines of bash as the agent, outside of its shell; what they print, None if not run.

        They say themselves that they have ended: the daemon may take seconds to notice.
        """
        whole = f'IFS= read -r mark;f() {{\n{text}\n}};f;printf %s "$mark"'
        try:
            process = Exec(
                self._api, self._name, ("/bin/bash", "-c", whole), self._opening.uid, 1 << 16
            )
            process.start(f"{process.mark}\n{said}\n".encode())
        except APIError:
            return None
        try:
            ended = process.wait(lambda: process.marked or process.ended, KILL_SECONDS)
        finally:
            process.close()
        if not ended:
            self.clear()
        return process.tail.text() if process.marked else None

    def clear(self) -> None:
        """Kill every process of the agent's, whatever it did: used up all processes, stopped ours.

        It is done by another container, which only the engine itself can keep from doing it.

        Raises:
            SetupTimeout, APIError: that container did not work either: the engine is at fault.
        """
        command = ("/bin/bash", "-c", _CLEAR)
        if not self._containers.beside(self._name, self._opening, command, CLEAR_SECONDS):
            raise SetupTimeout(f"the engine did not clear a sandbox in {CLEAR_SECONDS} s")

    def count(self) -> Counters | None:
        """The kernel's counters; None when they cannot be told."""
        said = self._as_agent(f'builtin printf "x begin 0"{shell.COUNTERS}')
        found = shell.began("x", said.encode()) if said is not None else None
        return found[1] if found else None
