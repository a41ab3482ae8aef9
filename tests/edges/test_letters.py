"""Dead letters: which answers a rejected task had, and another chance that forgets nothing."""

import asyncio
from pathlib import Path

import pytest

from envgen.errors import Misconfigured
from envgen.export import parquet
from envgen.ledger import Ledger, Use
from envgen.letters import dead, retry
from envgen.llm import Asked
from envgen.llm.scripted import Scripted
from envgen.records import Message, Rejection, Request
from tests.pipeline.writer import spec_for

SPEC = spec_for()


def question(text: str) -> Request:
    return Request(model="openai:toy", messages=(Message(role="user", text=text),))


@pytest.fixture
def run(tmp_path: Path) -> tuple[Path, Ledger]:
    """A run with one dead task of two answers, one dead without any, and one that lives."""
    ledger = Ledger(tmp_path)
    asked = Asked(Scripted(lambda request: f"answer to {request.messages[0].text}"), ledger)
    for task, step in ((SPEC.slug, "task"), (SPEC.slug, "verifier"), ("alive", "task")):
        asyncio.run(asked.complete(question(f"{task} {step}"), Use(task, step)))
    rows = [
        Rejection(spec=SPEC, slug=slug, step="author", code="author:verifier", detail="not Python")
        for slug in (SPEC.slug, "procedural-one")
    ]
    rejections = tmp_path / "rejections.parquet"
    parquet.write_rejections(rejections, map(parquet.rejection_row, rows))
    return rejections, ledger


def test_a_dead_letter_has_all_its_answers(run: tuple[Path, Ledger]) -> None:
    rejections, ledger = run
    (letter,) = dead(rejections, ledger)
    assert (letter.task, letter.step, letter.code, letter.detail, letter.retries) == (
        SPEC.slug, "author", "author:verifier", "not Python", 0,
    )  # fmt: skip
    assert [(a.step, a.completion.text) for a in letter.answers] == [
        ("task", f"answer to {SPEC.slug} task"),
        ("verifier", f"answer to {SPEC.slug} verifier"),
    ]
    assert all(ledger.knows(answer.key) for answer in letter.answers)
    ledger.close()


def test_one_is_found_by_name_and_others_are_named_as_missing(run: tuple[Path, Ledger]) -> None:
    rejections, ledger = run
    assert [letter.task for letter in dead(rejections, ledger, SPEC.slug)] == [SPEC.slug]
    for name in ("alive", "procedural-one", "nobody"):
        with pytest.raises(Misconfigured, match="no dead letter"):
            dead(rejections, ledger, name)
    ledger.close()


def test_another_chance_keeps_what_was_answered(run: tuple[Path, Ledger]) -> None:
    rejections, ledger = run
    before = dead(rejections, ledger)
    assert retry(before, ledger) == 1
    assert (ledger.retries(SPEC.slug), ledger.retries("alive")) == (1, 0)
    (after,) = dead(rejections, ledger)
    assert (after.retries, after.answers) == (1, before[0].answers)
    retry([after], ledger)
    assert ledger.retries(SPEC.slug) == 2
    ledger.close()


def test_chances_are_merged(run: tuple[Path, Ledger], tmp_path: Path) -> None:
    _, ledger = run
    ledger.retry(SPEC.slug)
    ledger.retry(SPEC.slug)
    other = Ledger(tmp_path / "other")
    other.retry(SPEC.slug)
    other.retry("more")
    ledger.merge(other)
    assert (ledger.retries(SPEC.slug), ledger.retries("more")) == (2, 1)
    other.close()
    ledger.close()


def test_a_run_that_did_not_end_has_none_yet(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    with pytest.raises(Misconfigured, match="once a run ended"):
        dead(tmp_path / "rejections.parquet", ledger)
    ledger.close()
