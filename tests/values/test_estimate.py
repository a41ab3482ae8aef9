"""The estimate follows the prompts, and the mended share is in it."""

import pytest

from envgen import axes, config
from envgen.authors.llm.estimate import AGAIN, ANSWERS, CHARS_PER_TOKEN, estimate
from envgen.authors.llm.full.open import asked_of
from envgen.authors.llm.small import plan
from envgen.prompts import render
from envgen.share import share

CATALOGUE = axes.load(None)


@pytest.mark.parametrize("profile", ["full", "small"])
def test_every_step_is_estimated(profile: str) -> None:
    settings = config.load(None, [f"author.profile={profile}"])
    support = plan.support() if profile == "small" else None
    specs = [axes.spec_of(row) for row in axes.sample(CATALOGUE, 0, 40, support=support)]
    found = {call.step: call for call in estimate(specs, settings, CATALOGUE)}
    assert list(found) == list(ANSWERS[profile])
    for step, call in found.items():
        assert 0 < call.calls <= 40 * (1 + AGAIN)
        assert call.output == pytest.approx(call.calls * ANSWERS[profile][step], abs=2000)
        assert 100 < call.input / call.calls < 15_000
    twice = {call.step: call for call in estimate(specs * 2, settings, CATALOGUE)}
    assert all(twice[step].input == pytest.approx(2 * call.input, abs=2)
               for step, call in found.items())  # fmt: skip


def test_the_first_question_is_measured() -> None:
    spec = axes.spec_of(next(axes.sample(CATALOGUE, 0, 1)))
    (first, *_) = estimate([spec], config.load(None, []), CATALOGUE)
    text = render(share("prompts") / "task.md.j2", **asked_of(spec, CATALOGUE))
    text += render(share("prompts") / "system.md.j2")
    once = len(text) // CHARS_PER_TOKEN
    again = AGAIN * (once + (1 + AGAIN) * ANSWERS["full"]["brief"])
    assert first.input == pytest.approx(once + again, abs=2)


def test_a_filter_asks_for_no_items() -> None:
    support = [b for b in plan.support() if "adversarial_corpus" in b["verifier"]]
    specs = [axes.spec_of(row) for row in axes.sample(CATALOGUE, 0, 5, support=support)]
    settings = config.load(None, ["author.profile=small"])
    assert [call.step for call in estimate(specs, settings, CATALOGUE)] == ["data", "solution"]
