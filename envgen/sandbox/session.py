"""A session in a container: commands one after the other, each ending in a defined way.

What the agent caused is an observation. Everything else is raised, and only on evidence from
outside of the sandbox: an agent that could provoke it would escape its score.
"""

import shutil
import threading
import time
from contextlib import suppress
from pathlib import Path

from docker.errors import APIError, NotFound

from envgen.errors import EngineRefused, HostDiskFull, SandboxLost
from envgen.records import HOME, End, Observation, Opening
from envgen.sandbox import parity, shell
from envgen.sandbox.containers import WATCH_SECONDS, Containers
from envgen.sandbox.execs import Exec
from envgen.sandbox.fate import has_ended, lost, reason
from envgen.sandbox.inside import Inside
from envgen.sandbox.shell import Counters

PATIENCE_SECONDS = 20
"""After so long without a sign of a command, it is found out whose doing that is."""
CHECK_SECONDS = 60
"""Limit of the command that proves a new sandbox."""
LAST_SECONDS = 1
"""What is waited for the last words of what was killed; a child elsewhere may hold its streams."""
ENDING_SECONDS = 5
"""Most that an engine may take to say that a container has ended in which nothing runs any more."""
FLOOR_BYTES = 256 << 20
"""With less than this on the engine's disk, nothing that fails is the agent's doing."""


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
        self._inside = Inside(containers, name, opening)
        self._over: Observation | None = None
        self._handed_in = False

    def check(self) -> None:
        """Run nothing, as the agent. Raises EngineRefused, or HostDiskFull, when that fails."""
        self._room()
        seen = self.run("", CHECK_SECONDS, threading.Event())
        if seen.end != "done" or seen.exit_code != 0:
            raise EngineRefused(f"a new sandbox does not run commands: {seen.end} {seen.output}")

    def run(self, command: str, seconds: float, cancelled: threading.Event) -> Observation:
        """Run a command. Raises Weather; see `Session.run`."""
        if self._handed_in:
            lost("handed in before")
        if self._over:
            return self._over
        process, pid = self._begin(command)
        if process is None:
            return self._end()
        started = time.monotonic()
        try:
            end = self._watch(process, started + seconds, cancelled)
            if end != "done" and self._kill(process, pid) == "gone":
                end = "done"  # its shell went before, and the daemon has not noticed yet
            return self._seen(process, end, time.monotonic() - started)
        finally:
            process.close()

    def capture(self, folders: tuple[str, ...]) -> str | None:
        """Kill everything and take folders out; None when they are over the cap.

        It may be tried again. Raises SandboxLost when the sandbox had ended before, and not by the
        agent's doing: what it holds is not what the agent would have handed in.
        """
        if not (self._handed_in or self._over) and has_ended(self.api, self.name):
            self._end()
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
                if has_ended(self.api, self.name):
                    return None, 0
                raise
            process.wait(lambda p=process: p.ended or self._begun(p), PATIENCE_SECONDS)
            if begun := self._begun(process):
                return process, begun
            process.close()
            if has_ended(self.api, self.name):
                return None, 0
            # Nothing was run. When all can be killed from beside, it was the agent's doing that it
            # could not: it had left no room for a process, or no bash, or it had stopped it.
            self._inside.clear()
        return None, 0

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

    def _kill(self, process: Exec, pid: int) -> str:
        """End what the command started, but neither earlier commands' jobs nor what left it.

        `gone` when its shell is no more: then nothing is killed.
        """
        process.say(b"x")
        said = self._inside.kill(pid)
        if said is None:
            self._inside.clear()
        if said != "gone":  # what it had printed is on its way, and perhaps a report
            process.wait(lambda: self._told(process), LAST_SECONDS)
        return said or ""

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
        counted = report.counters if report else self._inside.count()
        if counted is None and self._ends():
            return self._end(process.tail.text(), seconds)
        if report is None and end == "done":
            end, code = "shell", process.exit_code
        end = self._limits(counted or self._counters, end, notes)
        self._room()
        text = process.tail.text() + "".join(f"\n[{note}]" for note in notes)
        return Observation(
            output=text,
            exit_code=code,
            end=end,
            seconds=round(seconds, 3),
            cut=process.tail.dropped,
        )

    def _limits(self, now: Counters, end: End, notes: list[str]) -> End:
        """Which limit the command has met, if any; notes for the agent are added."""
        opening, before = self.opening, self._counters
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
            self._inside.clear()
            self._counters = self._inside.count() or self._counters  # they went on trying until now
            end = "processes" if end in ("done", "shell") else end
        return end

    # -- what ended, and why -------------------------------------------------------------------

    def _ends(self) -> bool:
        """Whether the container has ended: its processes go a moment before the engine says so."""
        deadline = time.monotonic() + ENDING_SECONDS
        while not (ended := has_ended(self.api, self.name)) and time.monotonic() < deadline:
            time.sleep(0.1)
        return ended

    def _end(self, output: str = "", seconds: float = 0.0) -> Observation:
        """The sandbox is over, by what the agent did; raises SandboxLost when it was not that."""
        why = "nothing can be started in it any more"
        if has_ended(self.api, self.name):
            why = reason(self.api, self.name, self.opening, self.began)
        note = f"[the sandbox has ended: {why}]"
        text = f"{output}\n{note}" if output else note
        self._over = Observation(output=note, exit_code=None, end="over")
        return self._over.model_copy(update={"output": text, "seconds": round(seconds, 3)})

    # -- limits --------------------------------------------------------------------------------

    def _disk_full(self) -> bool:
        return self.containers.disk_full(self.name, self.opening.disk_mb)

    def _room(self) -> None:
        if self._root is not None and shutil.disk_usage(self._root).free < FLOOR_BYTES:
            raise HostDiskFull(f"the engine's disk at {self._root} is full: free some space")
