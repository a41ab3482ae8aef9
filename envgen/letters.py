"""Dead letters: what a model answered for tasks that were given up, and another chance for them.

Nothing is kept beside the ledger. A task is dead when the run rejected it; its answers are the
completions that it used. Another chance asks for another sample of everything, so what was answered
before stays where it is, and a run is still a function of its ledger.
"""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envgen.authors.llm.ask import Role, chances
from envgen.errors import Misconfigured
from envgen.export import parquet
from envgen.ledger import Ledger
from envgen.llm import KIND
from envgen.records import Completion, Key


@dataclass(frozen=True)
class Answer:
    """One answer of a model: for which step, its receipt, and what it said."""

    step: str
    key: Key
    completion: Completion


@dataclass(frozen=True)
class Letter:
    """A rejected task that a model wrote, with all its answers in the order of asking."""

    task: str
    step: str
    code: str
    detail: str
    retries: int
    answers: tuple[Answer, ...]


def told(letter: Letter) -> dict[str, Any]:
    """A letter as JSON values."""
    answers = [
        {"step": a.step, "key": a.key, "finish": a.completion.finish, "text": a.completion.text}
        for a in letter.answers
    ]
    return {**vars(letter), "answers": answers}


def dead(rejections: Path, ledger: Ledger, task: str = "") -> list[Letter]:
    """The dead letters of a run, in the order of its specs.

    Args:
        rejections: the run's `rejections.parquet`.
        ledger: the run's ledger.
        task: only this one; empty for all.

    Raises:
        Misconfigured: the run has no rejections yet, or none of that name.
    """
    if not rejections.exists():
        raise Misconfigured(f"{rejections} is not there: dead letters are known once a run ended")
    found = []
    for row in parquet.read(rejections, ["task", "step", "code", "detail"]):
        if task and row["task"] != task:
            continue
        answers = tuple(
            Answer(step, key, Completion.model_validate_json(response))
            for step, key, response in ledger.used(row["task"], KIND)
        )
        if answers:
            retries = ledger.retries(row["task"])
            found.append(
                Letter(row["task"], row["step"], row["code"], row["detail"], retries, answers)
            )
    if task and not found:
        raise Misconfigured(f"{task!r} is no dead letter: see `envgen ledger dead` for their names")
    return found


def retry(letters: Collection[Letter], ledger: Ledger) -> int:
    """Give each task another chance at the next run; returns how many."""
    for letter in letters:
        role: Role = "repairer" if letter.step == "repair" else "author"
        ledger.retry(chances(letter.task, role))
    return len(letters)
