"""Doubles that ship with the package: policies that play given commands, and a sampler of bytes.

With them everything around a policy is tested on real containers without a model; the one that
plays the reference shows that a task can be done within an agent's budgets, one command a turn.
"""

import asyncio
import json
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from envgen.agent import SUBMIT, Reply, Sampled, Sampling
from envgen.agent.parsing import TOOL
from envgen.files import FileTree
from envgen.records import Message, ToolCall, Usage

PLACE = "/tmp/solution"
"""Where the reference is put: it is written for `/solution`, which an agent cannot make."""


@dataclass
class Commands:
    """A policy that runs commands in order, one a turn, and is silent after the last.

    Attributes:
        commands: in order.
        calls: as tool calls, in place of blocks.
        pause: seconds before each reply.
        heard: everything that it was told.
    """

    commands: Sequence[str]
    calls: bool = False
    pause: float = 0.0
    heard: list[Message] = field(default_factory=list)
    _done: int = 0

    async def reply(self, heard: Sequence[Message], most: int) -> Reply:
        self.heard += heard
        await asyncio.sleep(self.pause)
        words = sum(len(message.text.split()) for message in self.heard)
        if self._done >= len(self.commands):
            return Reply("I am done.", "stop", usage=Usage(input=words, output=3))
        command = self.commands[self._done]
        self._done += 1
        usage = Usage(input=words, output=len(command.split()))
        if self.calls:
            call = ToolCall(
                ref=f"call-{self._done}", name=TOOL, arguments=json.dumps({"command": command})
            )
            return Reply("", "stop", (call,), usage)
        fence = "```"
        while fence in command:
            fence += "`"
        return Reply(f"{fence}bash\n{command}\n{fence}", "stop", usage=usage)


def as_commands(solution: FileTree) -> tuple[str, ...]:
    """A solution as an agent would type it: every file, then the script, then the submission.

    The script is one command, for it may be any program; what it calls `/solution` is elsewhere.
    """
    files = []
    for path, file in solution.items():
        data = file.data.replace(b"/solution/", f"{PLACE}/".encode())
        target = f"{PLACE}/{path}"
        text = b64encode(data).decode()
        files.append(
            f"mkdir -p \"$(dirname '{target}')\" && base64 -d > '{target}' <<'END'\n{text}\nEND\n"
            f"chmod {file.mode:o} '{target}'"
        )
    return (*files, f"/bin/bash {PLACE}/solve.sh", SUBMIT)


def nothing() -> tuple[str, ...]:
    """Submit what was found."""
    return (SUBMIT,)


@dataclass
class ByteChat:
    """A `Chat` whose ids are bytes, with four more for the marks of turns."""

    ends: tuple[int, ...] = (257,)

    def opening(self, heard: Sequence[Message]) -> tuple[int, ...]:
        return (*self._said(heard), 258)

    def between(self, heard: Sequence[Message], *, ended: bool) -> tuple[int, ...]:
        return (*(() if ended else self.ends), *self._said(heard), 258)

    def text(self, ids: tuple[int, ...]) -> str:
        return bytes(i for i in ids if i < 256).decode(errors="replace")

    def _said(self, heard: Sequence[Message]) -> tuple[int, ...]:
        return tuple(i for m in heard for i in (256, *m.text.encode(errors="replace"), *self.ends))


@dataclass
class ScriptedSampler:
    """A `Sampler` that continues prompts as told.

    Attributes:
        answer: the text for a prompt; it is cut at the limit, or gets an end.
        version: of the policy.
        prompts: what it was asked to continue.
    """

    answer: Callable[[tuple[int, ...]], str]
    version: int = 0
    prompts: list[tuple[int, ...]] = field(default_factory=list)

    async def sample(self, prompt: tuple[int, ...], sampling: Sampling) -> Sampled:
        self.prompts.append(prompt)
        ids = (*self.answer(prompt).encode(), sampling.ends[0])[: sampling.max_tokens]
        logprobs = tuple(-((i % 7) + 1) / 8 for i in ids)
        return Sampled(ids, logprobs, (self.version,) * len(ids))
