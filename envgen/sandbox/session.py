"""A session in a container: commands one after the other, each ending in a defined way.

What the agent caused is an observation. Everything else is raised, and only on evidence from
outside of the sandbox: an agent that could provoke it would escape its score.
"""

import shutil
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from docker.errors import APIError, NotFound

from envgen.errors import EngineRefused, HostDiskFull, SandboxLost, SetupTimeout
from envgen.records import AGENT_UID, HOME, End, Observation, Opening
from envgen.sandbox import parity, shell
from envgen.sandbox.containers import KEEPER_UID, WATCH_SECONDS, Containers
from envgen.sandbox.execs import Exec
from envgen.sandbox.shell import Counters

START_SECONDS = 60
"""Most that a process may take to begin: the daemon's time, not the command's."""
KILL_SECONDS = 10
"""Most that killed processes may take to be gone."""
SPARE_PIDS = (32, 64, 128, 256)
"""Room for a process of ours where the agent has used up all of its own, and what is left of it
may take this as well."""
FLOOR_BYTES = 256 << 20
"""With less than this on the engine's disk, nothing that fails is the agent's doing."""

_KILL = """\
IFS= read -rN 9 n; IFS= read -r s
kill -VTALRM "$s" 2>/dev/null
for n in 1 2 3 4 5 6; do [ -d "/proc/$s" ] && read -rt 0.05 none; done
for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
found=
for p in /proc/[0-9]*; do
{ IFS= read -r line < "$p/stat"; } 2>/dev/null || continue
set -- ${line##*) }
[ "$4" = "$s" ] && [ "$1" != Z ] && [ "$1" != X ] && kill -9 "${p#/proc/}" 2>/dev/null && found=1
done
[ "$found" ] || exit 0
[ "$n" -gt 2 ] && read -rt 0.05 none
done
kill -9 -1
"""
# Every process of a session, without starting another: its shell may report first, which takes it a
# moment; then all go. Who started another session (`setsid`) is let be. A crowd that is never
# gone in twenty rounds goes all at once.
_KILL_ALL = "read -rN 9 n; kill -9 -1; kill -9 -1; :"


class Sandbox:
    """A running container and the state of its shell. Every method blocks.

    Args:
        containers: runs it.
        name: its id.
        opening: what it is.
        root: the folder of the engine's data, when it is on this machine.
    """

    def __init__(
        self, containers: Containers, name: str, opening: Opening, root: Path | None
    ) -> None:
        self.containers = containers
        self.api = containers.api
        self.name = name
        self.opening = opening
        self.began = time.time()
        self._root = root
        env = parity.environment(opening.uid, opening.cpus) | dict(opening.env)
        self._home = env.get("HOME", HOME)
        self._state = shell.beginning(opening.cwd, env)
        self._counters = Counters()
        self._over: Observation | None = None
        self._handed_in = False

    def check(self) -> None:
        """Run nothing, as the agent. Raises EngineRefused, or HostDiskFull, when that fails."""
        self._room()
        seen = self.run("", START_SECONDS, threading.Event())
        if seen.end != "done" or seen.exit_code != 0:
            raise EngineRefused(f"a new sandbox does not run commands: {seen.end} {seen.output}")

    def run(self, command: str, seconds: float, cancelled: threading.Event) -> Observation:
        """Run a command. Raises Weather; see `Session.run`."""
        if self._handed_in:
            self._lost("handed in before")
        if self._over:
            return self._over
        process, pid = self._begin(command)
        if process is None:
            return self._end()
        started = time.monotonic()
        try:
            end = self._watch(process, started + seconds, cancelled)
            if end != "done":
                self._kill(process, pid)
            return self._seen(process, end, time.monotonic() - started)
        finally:
            process.close()

    def capture(self, folders: tuple[str, ...]) -> str | None:
        """Kill everything and take folders out; None when they are over the cap."""
        self._handed_in = True
        try:
            with suppress(APIError):  # it has ended already
                self.api.kill(self.name)
            self.api.wait(self.name)
            blob, _ = self.containers.capture(
                self.name, folders, self.opening.capture_mb, self.began
            )
        except NotFound as error:
            raise SandboxLost("the sandbox was removed by somebody else") from error
        return blob

    # -- a command's life ----------------------------------------------------------------------

    def _begin(self, command: str) -> tuple[Exec | None, int]:
        """Start the command's bash, and wait until it says so; its process id.

        None for a process: the sandbox cannot run anything any more.
        """
        for _ in range(2):
            try:
                process = Exec(
                    self.api, self.name, shell.BASH, self.opening.uid, self.opening.output_bytes
                )
                process.start(shell.script(process.mark, self._home, self._state, command))
            except (APIError, NotFound):
                if self._has_ended():
                    return None, 0
                raise
            process.wait(lambda p=process: p.ended or self._begun(p), START_SECONDS)
            if begun := self._begun(process):
                return process, begun
            process.close()
            if self._has_ended():
                return None, 0
            if not process.ended and not self._answers():
                raise SetupTimeout(f"the engine did not start a command in {START_SECONDS} s")
            # Nothing was run, by the agent's doing: it left no room for a process, or no bash.
            if not self._make_room():
                return None, 0
        return None, 0

    def _answers(self) -> bool:
        """Whether a process starts and ends that the agent can do nothing to."""
        process = Exec(self.api, self.name, ("/bin/true",), KEEPER_UID, 1 << 10)
        try:
            process.start()
            return process.wait(lambda: process.ended, START_SECONDS)
        finally:
            process.close()

    @staticmethod
    def _begun(process: Exec) -> int:
        found = shell.began(process.mark, bytes(process.channel))
        return found[0] if found else 0

    def _watch(self, process: Exec, deadline: float, cancelled: threading.Event) -> End:
        """Wait for a command's end, looking at clock and disk: `done`, or why to kill it."""
        gone = 0
        while (left := deadline - time.monotonic()) > 0 and not cancelled.is_set():
            if process.wait(lambda: self._told(process), min(left, WATCH_SECONDS)):
                return "done"
            if self._disk_full():
                return "disk"
            gone += not process.running  # its children hold the streams open: not ended, but over
            if gone > 1:
                return "done"
        return "timeout"

    @staticmethod
    def _told(process: Exec) -> bool:
        end = f"{process.mark} end\n".encode()
        return process.ended or (process.marked and end in process.channel)

    def _kill(self, process: Exec, pid: int) -> None:
        """End what the command started, but neither earlier commands' jobs nor what left it."""
        process.say(b"x")
        if not self._as_agent(_KILL, f"{pid}\n".encode()):
            self._make_room()
        if not process.wait(lambda: self._told(process), KILL_SECONDS) and process.running:
            self._make_room()

    def _seen(self, process: Exec, end: End, seconds: float) -> Observation:
        """What the agent gets to see of a command that has ended."""
        report = shell.reported(process.mark, bytes(process.channel), self._state)
        code: int | None = None
        notes = []
        if report is not None:
            self._state = report.state or self._state
            if report.state is None:
                notes.append("the shell's state is too large: it is as it was before")
            code = report.exit_code if end == "done" else None
        elif end == "done":
            end, code = "shell", process.exit_code
            if self._has_ended():
                return self._end(process.tail.text(), seconds)
        end = self._limits(process, report, end, notes)
        self._room()
        text = process.tail.text() + "".join(f"\n[{note}]" for note in notes)
        return Observation(
            output=text,
            exit_code=code,
            end=end,
            seconds=round(seconds, 3),
            cut=process.tail.dropped,
        )

    def _limits(
        self, process: Exec, report: shell.Report | None, end: End, notes: list[str]
    ) -> End:
        """Which limit the command has met, if any; notes for the agent are added."""
        opening = self.opening
        before, now = self._counters, report.counters if report else self._count()
        self._counters = now
        if end == "timeout":
            notes.append("killed: the time limit was reached")
        if end == "disk" or (end in ("done", "shell") and self._disk_full()):
            end = "disk"
            notes.append(f"more than {opening.disk_mb} MB written: remove something")
        if now.oom > before.oom:
            notes.append(f"a process was killed: more than {opening.memory_mb} MB of memory")
            end = "memory" if end in ("done", "shell") else end
        if now.pids > before.pids:
            notes.append(f"more than {opening.pids} processes: all were killed")
            self._make_room()
            self._counters = self._count()  # they went on trying until now
            end = "processes" if end in ("done", "shell") else end
        return end

    # -- what ended, and why -------------------------------------------------------------------

    def _has_ended(self) -> bool:
        """Whether the container runs no more. Raises SandboxLost when somebody took it away."""
        try:
            state = self.api.inspect_container(self.name)["State"]
        except NotFound as error:
            raise SandboxLost("the sandbox was removed by somebody else") from error
        if state.get("Paused"):
            raise SandboxLost("the sandbox was paused by somebody else")
        return not state["Running"]

    def _end(self, output: str = "", seconds: float = 0.0) -> Observation:
        """The sandbox is over, by what the agent did; raises SandboxLost when it was not that."""
        reason = "nothing can be started in it any more"
        if self._has_ended():
            reason = self._reason()
        note = f"[the sandbox has ended: {reason}]"
        text = f"{output}\n{note}" if output else note
        self._over = Observation(output=note, exit_code=None, end="over")
        return self._over.model_copy(update={"output": text, "seconds": round(seconds, 3)})

    def _reason(self) -> str:
        """Why the container has ended, if that was the agent's doing.

        The agent cannot end the process that keeps it alive, except by using up its memory; if it
        is root, it can. All else came from outside.
        """
        state = self.api.inspect_container(self.name)["State"]
        seen = self.api.events(
            since=int(self.began) - 60,
            until=int(time.time()) + 60,
            filters={"container": self.name, "type": "container"},
            decode=True,
        )
        happened = {str(event.get("Action")) for event in seen}
        if happened & {"kill", "stop", "destroy"}:
            self._lost("killed by somebody else")
        if "die" not in happened:
            self._lost("gone with the engine, which was restarted")
        if state.get("OOMKilled") or "oom" in happened:
            return f"it had used more than {self.opening.memory_mb} MB of memory"
        if state["ExitCode"] == 0:
            return f"its {self.opening.seconds} seconds are over"
        if self.opening.uid != AGENT_UID:
            return "its first process was killed"
        self._lost(f"ended from outside, with code {state['ExitCode']}")

    def _lost(self, why: str) -> NoReturn:
        raise SandboxLost(f"the sandbox was {why}")

    # -- limits --------------------------------------------------------------------------------

    def _as_agent(self, text: str, said: bytes = b"") -> Exec | None:
        """A few lines of bash as the agent, outside of its shell, to their end; None if not run."""
        try:
            process = Exec(
                self.api, self.name, ("/bin/bash", "-c", text), self.opening.uid, 1 << 16
            )
            process.start(b"%09d" % len(said) + said)
            try:
                process.wait(lambda: process.ended, KILL_SECONDS)
                return process if process.ended and process.exit_code == 0 else None
            finally:
                process.close()
        except APIError:
            return None

    def _make_room(self) -> bool:
        """Kill every process of the agent's, also when it has left no room to start one."""
        made = False
        for spare in SPARE_PIDS:
            self._limit_pids(self.opening.pids + spare)
            if made := self._as_agent(_KILL_ALL) is not None:
                break
        self._limit_pids(self.opening.pids)
        return made

    def _limit_pids(self, limit: int) -> None:
        api: Any = self.api  # the SDK has no such argument
        with suppress(APIError):  # and Podman no such call: there we do without
            url = api._url("/containers/{0}/update", self.name)
            api._raise_for_status(api._post_json(url, data={"PidsLimit": limit}))

    def _count(self) -> Counters:
        """The kernel's counters, when the command's own shell could not tell them."""
        text = f'builtin printf "x begin 0"{shell.COUNTERS}'
        process = self._as_agent(text)
        found = shell.began("x", process.tail.text().encode()) if process else None
        return found[1] if found else self._counters

    def _disk_full(self) -> bool:
        return self.containers.disk_full(self.name, self.opening.disk_mb)

    def _room(self) -> None:
        if self._root is not None and shutil.disk_usage(self._root).free < FLOOR_BYTES:
            raise HostDiskFull(f"the engine's disk at {self._root} is full: free some space")
