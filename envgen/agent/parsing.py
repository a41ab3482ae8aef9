"""What a reply asks for: a command out of a tool call or out of a fenced block, or a mistake.

Thinking is never searched. What cannot be run is named, so that the agent can be told.
"""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from envgen.agent import SUBMIT, Reply
from envgen.agent.policies import thoughtless

TOOL = "bash"
SHELLS = ("bash", "sh", "shell")
"""Words behind a fence that mark a command."""
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([\w+.-]*)[ \t]*")

TOOLS = json.dumps(
    [
        {
            "name": TOOL,
            "description": "Run a command in the shell.",
            "parameters": {
                "type": "object",
                "properties": {"command": {"type": "string", "description": "What bash reads."}},
                "required": ["command"],
            },
        }
    ]
)
"""The one tool, as `Request.tools` wants it."""


class Action(NamedTuple):
    """What a reply asks for: a command, or the name of a mistake (see `Turn.mistake`)."""

    command: str = ""
    mistake: str = ""
    left: int = 0
    """Further commands of the reply, which are not run."""

    @property
    def submits(self) -> bool:
        return self.command.strip() == SUBMIT


def by_call(reply: Reply) -> Action:
    """The command of the first tool call."""
    if not reply.calls:
        return Action(mistake=_nothing(reply))
    call, left = reply.calls[0], len(reply.calls) - 1
    if call.name != TOOL:
        return Action(mistake="tool", left=left)
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        arguments = None
    command = arguments.get("command") if isinstance(arguments, dict) else None
    if not isinstance(command, str):
        return Action(mistake="cut" if reply.finish == "length" else "arguments", left=left)
    return _checked(command, left)


def by_block(reply: Reply) -> Action:
    """The command of the first block that is marked as one, else of the first without a mark."""
    blocks = list(_blocks(thoughtless(reply.text)))
    commands = [b for b in blocks if b.word in SHELLS] or [b for b in blocks if not b.word]
    if not commands:
        return Action(mistake=_nothing(reply))
    if not commands[0].closed and reply.finish == "length":
        return Action(mistake="cut")
    return _checked(commands[0].text, len(commands) - 1)


def _checked(command: str, left: int) -> Action:
    if not command.strip() or "\0" in command:
        return Action(mistake="empty" if not command.strip() else "arguments", left=left)
    return Action(command, left=left)


def _nothing(reply: Reply) -> str:
    return "cut" if reply.finish == "length" else "none"


class _Block(NamedTuple):
    word: str
    text: str
    closed: bool


def _blocks(text: str) -> Iterator[_Block]:
    """Fenced blocks, as Markdown has them: a longer fence may hold shorter ones."""
    fence, word, lines = "", "", list[str]()
    for line in text.splitlines():
        found = _FENCE.fullmatch(line)
        if not fence:
            if found:
                fence, word, lines = found[1], found[2].lower(), []
        elif found and found[1].startswith(fence) and not found[2]:
            yield _Block(word, "\n".join(lines), closed=True)
            fence = ""
        else:
            lines.append(line)
    if fence:
        yield _Block(word, "\n".join(lines), closed=False)
