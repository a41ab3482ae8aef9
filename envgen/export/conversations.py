"""Episodes as conversations for supervised fine-tuning: which are taken, and as what rows.

Rows are JSON lines in the form that trainers read: `messages` with `role` and `content` (and
`tool_calls`, where the agent made some), beside where they come from.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from envgen.agent.showing import messages
from envgen.digest import digest
from envgen.records import Episode, Message, ToolCall
from envgen.writing import aside


def conversation(episode: Episode) -> tuple[Message, ...]:
    """Everything that was said in an episode, in order, as it was said."""
    found = list(episode.play.opening)
    for turn in episode.trajectory.turns if episode.trajectory else ():
        found.append(Message(role="assistant", text=turn.text, calls=turn.calls))
        if turn.shown:
            found += messages(turn.shown, turn.calls)
    return tuple(found)


def tokens(episode: Episode) -> int:
    """Tokens of the whole conversation, as the server counted them; 0 where it did not say."""
    turns = episode.trajectory.turns if episode.trajectory else ()
    return max((turn.usage.input + turn.usage.output for turn in turns), default=0)


class Light(NamedTuple):
    """What decides about an episode."""

    task: str
    sample: int
    valid: bool
    passed: bool
    tokens: int
    doings: str
    """Equal for duplicates: the task and the commands, whatever was said about them."""


def light(episode: Episode) -> Light:
    """What decides about an episode."""
    turns = episode.trajectory.turns if episode.trajectory else ()
    commands = [" ".join(turn.command.split()) for turn in turns]
    return Light(
        task=episode.slug,
        sample=episode.play.sample,
        valid=episode.valid,
        passed=episode.passed,
        tokens=tokens(episode),
        doings=digest([episode.play.task, commands]),
    )


@dataclass
class Selection:
    """Which episodes are taken, and why the others are not.

    Attributes:
        failures: whether those that did not pass are taken too; rows are marked.
        longest: most tokens of a conversation.
        budget: most tokens of all.
        tokens: of what is taken.
        left: episodes that were left out, by reason.
    """

    failures: bool = False
    longest: int | None = None
    budget: int | None = None
    tokens: int = 0
    taken: set[tuple[str, int]] = field(default_factory=set)
    left: Counter[str] = field(default_factory=Counter)
    _seen: set[str] = field(default_factory=set)

    def choose(self, episodes: Iterable[Light]) -> None:
        """Take one of each task, then a second of each, while the budget lasts."""
        for found in _in_turns(episodes):
            reason = self._against(found)
            if reason:
                self.left[reason] += 1
            else:
                self.taken.add((found.task, found.sample))
                self._seen.add(found.doings)
                self.tokens += found.tokens

    def of(self, episodes: Iterable[Episode]) -> Iterator[Episode]:
        """Those that were taken."""
        return (e for e in episodes if (e.slug, e.play.sample) in self.taken)

    def _against(self, found: Light) -> str:
        if not found.valid:
            return "no verdict"
        if not (found.passed or self.failures):
            return "not passed"
        if found.doings in self._seen:
            return "duplicate"
        if (self.longest or self.budget) and not found.tokens:
            return "tokens unknown"
        if self.longest and found.tokens > self.longest:
            return "too long"
        if self.budget and self.tokens + found.tokens > self.budget:
            return "over budget"
        return ""


def _in_turns(episodes: Iterable[Light]) -> Iterator[Light]:
    """Episodes of all tasks by turns, so that a budget is spent on many tasks."""
    tasks: dict[str, list[Light]] = {}
    for found in episodes:
        tasks.setdefault(found.task, []).append(found)
    for place in range(max(map(len, tasks.values()), default=0)):
        yield from (own[place] for own in tasks.values() if len(own) > place)


def row(episode: Episode) -> dict[str, Any]:
    """An episode as a line."""
    turns = episode.trajectory.turns if episode.trajectory else ()
    return {
        "messages": [_message(message) for message in conversation(episode)],
        "task": episode.slug,
        "draft": episode.play.task,
        "model": episode.play.model,
        "sample": episode.play.sample,
        "passed": episode.passed,
        "reward": episode.score.reward if episode.score else None,
        "mistakes": sum(bool(turn.mistake) for turn in turns),
        "tokens": tokens(episode),
    }


def _message(message: Message) -> dict[str, Any]:
    found: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.answers:
        found["tool_call_id"] = message.answers
    if message.calls:
        found["tool_calls"] = [_call(call) for call in message.calls]
    return found


def _call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.ref, "type": "function", "function": function}


def write(path: Path, episodes: Iterable[Episode]) -> int:
    """Write lines; how many. Folders above are made."""
    total = 0
    path.parent.mkdir(parents=True, exist_ok=True)
    with aside(path) as part, part.open("w", encoding="utf-8", errors="replace") as file:
        for episode in episodes:
            file.write(json.dumps(row(episode), ensure_ascii=False) + "\n")
            total += 1
    return total
