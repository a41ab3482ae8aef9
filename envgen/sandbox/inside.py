"""What is done in a sandbox outside of its shell: killing, counting, asking whether it answers.

All of it as the agent, for nobody else in there may kill the agent's processes, and in one bash
that starts no other process.
"""

from contextlib import suppress
from typing import Any

from docker.api import APIClient
from docker.errors import APIError

from envgen.records import Opening
from envgen.sandbox import shell
from envgen.sandbox.containers import KEEPER_UID
from envgen.sandbox.execs import Exec
from envgen.sandbox.shell import Counters

START_SECONDS = 60
"""Most that a process may take to begin: the daemon's time, not the command's."""
KILL_SECONDS = 10
"""Most that killing may take."""
SPARE_PIDS = (32, 64, 128, 256)
"""Room for a process of ours where the agent has used up all of its own, and what is left of it
may take this as well."""

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
_KILL_ALL = "kill -9 -1; kill -9 -1"


class Inside:
    """A running container, seen from inside.

    Args:
        api: the SDK's low-level client.
        name: its id.
        opening: what it is.
    """

    def __init__(self, api: APIClient, name: str, opening: Opening) -> None:
        self._api = api
        self._name = name
        self._opening = opening

    def kill(self, pid: int) -> str | None:
        """Kill the session of a process: `gone` when that was no more, None when it failed."""
        return self._as_agent(_KILL, str(pid))

    def answers(self) -> bool:
        """Whether a process starts and ends that the agent can do nothing to."""
        process = Exec(self._api, self._name, ("/bin/true",), KEEPER_UID, 1 << 10)
        try:
            process.start()
            return process.wait(lambda: process.ended, START_SECONDS)
        finally:
            process.close()

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
            process.wait(lambda: process.marked or process.ended, KILL_SECONDS)
            return process.tail.text() if process.marked else None
        finally:
            process.close()

    def make_room(self) -> bool:
        """Kill every process of the agent's, also when it has left no room to start one."""
        made = False
        for spare in SPARE_PIDS:
            self._limit_pids(self._opening.pids + spare)
            if made := self._as_agent(_KILL_ALL) is not None:
                break
        self._limit_pids(self._opening.pids)
        return made

    def _limit_pids(self, limit: int) -> None:
        api: Any = self._api  # the SDK has no such argument
        with suppress(APIError):  # and Podman no such call: there we do without
            url = api._url("/containers/{0}/update", self._name)
            api._raise_for_status(api._post_json(url, data={"PidsLimit": limit}))

    def count(self) -> Counters | None:
        """The kernel's counters; None when they cannot be told."""
        said = self._as_agent(f'builtin printf "x begin 0"{shell.COUNTERS}')
        found = shell.began("x", said.encode()) if said is not None else None
        return found[1] if found else None
