"""Our agent in Harbor, which runs standard benchmarks: `harbor run -a envgen.harbor:Agent`.

    harbor run -p TASKS -a envgen.harbor:Agent -m openai/NAME --ak url=http://127.0.0.1:8000/v1

The same loop, prompts and parsing as everywhere; only the shell is another, one `exec` of Harbor's
a command. What `--ak` may set beside `url` are the settings of the group `agent`. The trajectory is
in the trial's `agent/trajectory.json`, in ATIF. Needs Python 3.12, `pip install 'envgen[harbor]'`.
"""

import base64
import json
import shlex
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from envgen import __version__, config
from envgen.agent import episode
from envgen.agent.loop import Loop
from envgen.agent.players import text_policy
from envgen.agent.showing import opening
from envgen.config import AgentConfig, LlmConfig
from envgen.errors import SandboxLost
from envgen.export import atif
from envgen.ledger import Ledger
from envgen.llm.opened import open_models
from envgen.llm.pace import Clock, LoopClock
from envgen.records import End, Message, Observation, Turn
from envgen.sandbox import shell

SECONDS = 86_400
"""Of an episode where nothing is set: Harbor ends the agent when its own time is over."""
OUTPUT_BYTES = 16 * 1024
"""Of the head and of the tail of an output that are brought out."""
ARGUMENT_BYTES = 96 * 1024
"""Longer scripts are uploaded: an argument may have 128 KB."""
GRACE = 20
"""Seconds that Harbor waits longer for a command than the command may take."""

_WRAP = """\
d=$(mktemp -d /tmp/.envgen-XXXXXX) && mkfifo "$d/in" && exec 3<>"$d/in" || exit 125
{source} >&3 &
timeout -k 2 {seconds} {bash} <&3 3>&- >"$d/out" 2>"$d/err"
code=$? size=$(stat -c %s "$d/out") most={most}
rest=$((size > 2 * most ? most : size > most ? size - most : 0))
echo; echo "{mark} code $code"; echo "{mark} size $size"
echo "{mark} head $(head -c $most "$d/out" | base64 -w0)"
echo "{mark} tail $(tail -c $rest "$d/out" | base64 -w0)"
echo "{mark} channel $(head -c {channel} "$d/err" | base64 -w0)"
rm -rf "$d"
"""
# The script comes through a pipe that never ends, as the session's shell wants it; outputs go to
# files, so that a server in the background holds nothing open.


class Container:
    """A shell in an environment of Harbor's, which has `exec` and `upload_file`.

    Attributes:
        environment: a `harbor.environments.base.BaseEnvironment`.
        clock: of the episode.
    """

    def __init__(self, environment: Any, clock: Clock | None = None) -> None:
        self.environment = environment
        self.clock = clock or LoopClock()
        self._began = self.clock.now()
        self._state: shell.State | None = None
        self._home = "/"
        self._commands = 0

    @property
    def age(self) -> float:
        return self.clock.now() - self._began

    async def run(self, command: str, seconds: float) -> Observation:
        """Run a command in the state that the last one left. SandboxLost when nothing runs."""
        state = self._state or await self._begin()
        self._commands += 1
        mark = f"envgen-mark-{self._commands:08d}"
        said = shell.script(mark, self._home, state, command)
        wrapped = _WRAP.format(
            mark=mark,
            source=await self._source(said),
            seconds=f"{seconds:.3f}",
            bash=shlex.join(shell.BASH),
            most=OUTPUT_BYTES,
            channel=shell.STATE_BYTES + 65536,
        )
        started = self.clock.now()
        told = await self._exec(wrapped, int(seconds) + GRACE)
        facts = dict(
            line[len(mark) + 1 :].partition(" ")[::2]
            for line in told.splitlines()
            if line.startswith(mark)
        )
        if "channel" not in facts:
            raise SandboxLost(f"the sandbox runs nothing any more: {told[-300:]}")
        took = self.clock.now() - started
        # A command may itself end with the codes that `timeout` has.
        killed = facts["code"] in ("124", "137") and took >= seconds
        return self._seen(facts, mark, state, killed, took)

    def _seen(
        self, facts: dict[str, str], mark: str, state: shell.State, killed: bool, took: float
    ) -> Observation:
        head, tail, channel = (base64.b64decode(facts[n]) for n in ("head", "tail", "channel"))
        report = shell.reported(mark, channel, state)
        self._state = (report.state if report else None) or state
        end: End = "timeout" if killed else "done" if report else "shell"
        cut = int(facts["size"]) - len(head) - len(tail)
        gap = b"\n[... %d bytes ...]\n" % cut if cut else b""
        text = (head + gap + tail).replace(mark.encode(), b"")
        return Observation(
            output=text.decode(errors="replace"),
            exit_code=report.exit_code if report and not killed else None,
            end=end,
            seconds=took,
            cut=cut,
        )

    async def _begin(self) -> shell.State:
        """Environment and directory as the image has them."""
        told = await self._exec("echo; env -0 | base64 -w0; echo; pwd", 60)
        *_, variables, cwd = told.rstrip("\n").split("\n")
        pairs = base64.b64decode(variables).decode(errors="replace").split("\0")
        env = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
        own = ("_", "PWD", "OLDPWD", "SHLVL", "HOSTNAME")
        env = {n: v for n, v in env.items() if n.isidentifier() and n not in own}
        self._home = env.get("HOME", "/")
        return shell.beginning(cwd, env)

    async def _source(self, said: bytes) -> str:
        """A command that prints the script."""
        text = base64.b64encode(said).decode()
        if len(text) < ARGUMENT_BYTES:
            return f"echo {text} | base64 -d"
        target = f"/tmp/.envgen-script-{self._commands}"
        with tempfile.NamedTemporaryFile() as file:
            file.write(said)
            file.flush()
            await self.environment.upload_file(Path(file.name), target)
        return f"cat {target}"

    async def _exec(self, command: str, seconds: int) -> str:
        done = await self.environment.exec(command, timeout_sec=seconds)
        return str(done.stdout or "")


async def play(
    instruction: str, container: Container, agent: AgentConfig, llm: LlmConfig, logs: Path
) -> tuple[Turn, ...]:
    """Play one task; the trajectory is written however it ends."""
    told = await container.run("pwd", 60)
    first = opening(
        instruction,
        told.output.strip(),
        (),
        calls=agent.tools == "calls",
        steps=agent.steps,
        seconds=agent.seconds or SECONDS,
        command_seconds=agent.command_seconds,
        confined=False,
    )
    ledger = Ledger(logs / "envgen")
    try:
        async with open_models({"agent": str(agent.model)}, llm, ledger) as models:
            policy = text_policy(agent, models["agent"].model)
            loop = Loop(policy, container, agent, agent.seconds or SECONDS)
            try:
                await loop.run(first)
            finally:
                _write(logs, first, loop, agent)
    finally:
        ledger.close()
    return tuple(loop.turns)


def _write(logs: Path, first: tuple[Message, ...], loop: Loop, agent: AgentConfig) -> None:
    settings = json.loads(episode.settings_of(agent))
    about = {"ending": loop.ending, "detail": loop.detail, "settings": settings}
    found = atif.trajectory(first, loop.turns, str(agent.model), logs.parent.name, about)
    atif.write(logs / "trajectory.json", found)


def settings_of(
    model: str | None, url: str | None, **options: Any
) -> tuple[AgentConfig, LlmConfig]:
    """The settings that Harbor's options mean. Misconfigured names a wrong one."""
    name = (model or "").replace("/", ":", 1)
    llm = {"base_url": url, "no_budget": True}
    whole = config.load(None, [], agent={"model": name, **options}, llm=llm)
    return whole.agent, whole.llm


@cache
def _agent() -> type:
    """The class, made when Harbor asks for it: nobody else has Harbor's library."""
    from harbor.agents.base import BaseAgent
    from harbor.agents.capabilities import AgentCapabilities

    class Agent(BaseAgent):  # type: ignore[misc]  # Harbor is no part of an install
        """The agent of envgen, as Harbor wants agents."""

        capabilities = AgentCapabilities(atif=True)

        def __init__(
            self,
            logs_dir: Path,
            model_name: str | None = None,
            *,
            url: str | None = None,
            **kwargs: Any,
        ) -> None:
            ours = {n: kwargs.pop(n) for n in AgentConfig.model_fields if n in kwargs}
            super().__init__(logs_dir, model_name, **kwargs)
            self.settings, self.llm = settings_of(model_name, url, **ours)

        @staticmethod
        def name() -> str:
            return "envgen"

        def version(self) -> str:
            return __version__

        async def setup(self, environment: Any) -> None:
            """Nothing is installed: the loop is here, outside of the sandbox."""

        async def run(self, instruction: str, environment: Any, context: Any) -> None:
            container = Container(environment)
            turns = await play(instruction, container, self.settings, self.llm, self.logs_dir)
            context.n_input_tokens = sum(turn.usage.input for turn in turns)
            context.n_cache_tokens = sum(turn.usage.cached for turn in turns)
            context.n_output_tokens = sum(turn.usage.output for turn in turns)

    return Agent


def __getattr__(name: str) -> Any:
    if name == "Agent":
        return _agent()
    raise AttributeError(name)
