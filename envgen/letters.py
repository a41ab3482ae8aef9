"""Dead letters: what a model answered for tasks that were given up, and another chance for them.

Nothing is kept beside the ledger. A task is dead when the run rejected it; its answers are the
completions that it used. A critic's letter is dead when nothing could be read of it; its task lives
on. Another chance asks for another sample of everything, so what was answered before stays where it
is, and a run is still a function of its ledger.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envgen.audit.critic.proving import NAME as CRITIC
from envgen.authors.llm.ask import Role, chances
from envgen.errors import Misconfigured
from envgen.export import audits, parquet
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
    """A rejected task that a model wrote, with all its answers in the order of asking; or a task
    whose critic could not be read (step `critic`)."""

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


def dead(
    rejections: Path, ledger: Ledger, task: str = "", audited: Path | None = None
) -> list[Letter]:
    """The dead letters of a run, in the order of its specs.

    Args:
        rejections: the run's `rejections.parquet`.
        ledger: the run's ledger.
        task: only this one; empty for all.
        audited: the run's `audit.parquet`, if it was audited.

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
    if audited is not None and audited.exists():
        found += [one for one in _unread(audited, ledger) if task in ("", one.task)]
    if task and not found:
        raise Misconfigured(f"{task!r} is no dead letter: see `envgen ledger dead` for their names")
    return found


def _unread(audited: Path, ledger: Ledger) -> Iterator[Letter]:
    """Tasks of which the critic said nothing that could be read."""
    for report in audits.read(audited):
        for tier in report.tiers:
            if tier.name != CRITIC or tier.ran:
                continue
            answers = tuple(
                Answer(step, key, Completion.model_validate_json(response))
                for step, key, response in ledger.used(report.slug, KIND)
                if step.startswith(f"{CRITIC}:")
            )
            retries = ledger.retries(chances(report.slug, "critic"))
            yield Letter(report.slug, CRITIC, "critic:unread", tier.note, retries, answers)


def retry(letters: Collection[Letter], ledger: Ledger) -> int:
    """Give each task another chance at the next run; returns how many."""
    for letter in letters:
        roles: dict[str, Role] = {CRITIC: "critic", "repair": "repairer"}
        role = roles.get(letter.step, "author")
        ledger.retry(chances(letter.task, role))
    return len(letters)
