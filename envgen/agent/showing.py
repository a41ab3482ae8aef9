"""What the agent is told: outputs made harmless and short, mistakes explained.

Outputs are hostile. Control characters and escape sequences go; what a chat template could take for
its own marks is broken by a space, so that no file can speak as somebody else.
"""

import re
import unicodedata
from collections.abc import Sequence

from envgen.agent import SUBMIT
from envgen.agent.parsing import Action
from envgen.prompts import render
from envgen.records import Message, Observation, ToolCall
from envgen.share import share

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
_MARKS = re.compile(
    r"<(?=[|｜]|/?(?:think|tool_call|tool_response|tools|bos|eos|s|start_of_turn|end_of_turn)>)"
    r"|\[(?=/?INST\])"
)
"""The beginnings of marks of the chat templates that are in use."""


def shown(text: str, most: int) -> str:
    """Output as the agent may see it: at most so many characters of it, head and tail."""
    text = _ESCAPES.sub("", text)
    text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    text = "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cs"))
    text = _MARKS.sub(lambda found: f"{found[0]} ", text)
    if len(text) > most:
        head = most // 2
        gap = f"\n[... {len(text) - most} characters are left out here ...]\n"
        text = text[:head] + gap + text[len(text) - (most - head) :]
    return text


def observed(seen: Observation, action: Action, most: int, seconds: float) -> str:
    """What an agent is told after its command."""
    last = action.command.rstrip().rpartition("\n")[2].strip()
    return _prompt(
        "observation",
        output=shown(seen.output, most).rstrip("\n"),
        end=seen.end,
        exit_code=seen.exit_code,
        seconds=f"{seconds:.0f}",
        left=action.left,
        late_submit=last == SUBMIT,
        submit=SUBMIT,
    )


def corrected(mistake: str, *, calls: bool) -> str:
    """What an agent is told after a turn without a command."""
    return _prompt("mistake", mistake=mistake, calls=calls, submit=SUBMIT)


def messages(text: str, calls: Sequence[ToolCall]) -> tuple[Message, ...]:
    """A text for the agent: as the result of its first call, or as the user's words.

    A provider wants every call answered.
    """
    if not calls:
        return (Message(role="user", text=text),)
    first, *others = calls
    return (
        Message(role="tool", text=text, answers=first.ref),
        *(Message(role="tool", text="Not run.", answers=call.ref) for call in others),
    )


def opening(
    instruction: str,
    workdir: str,
    outputs: tuple[str, ...],
    *,
    calls: bool,
    steps: int,
    seconds: int,
    command_seconds: int,
    confined: bool = True,
) -> tuple[Message, ...]:
    """The first messages of an episode.

    Args:
        outputs: folders that are graded; none = nobody knows.
        confined: whether the sandbox has no network and the agent no root, as ours.
    """
    about = _prompt(
        "system", calls=calls, submit=SUBMIT, command_seconds=command_seconds, confined=confined
    )
    task = _prompt(
        "task",
        instruction=instruction.strip(),
        workdir=workdir,
        outputs=outputs,
        steps=steps,
        seconds=seconds,
    )
    return (Message(role="system", text=about), Message(role="user", text=task))


def _prompt(name: str, **values: object) -> str:
    return render(share("prompts") / "agent" / f"{name}.md.j2", **values).strip() + "\n"
