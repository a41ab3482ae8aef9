"""How checks become a reward."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifiers import Check, VerifierError, combine

scores = st.floats(0, 1)
checks = st.lists(
    st.builds(
        Check,
        name=st.text(max_size=20),
        score=scores,
        detail=st.text(max_size=20),
        weight=st.floats(0.01, 100),
        must=st.booleans(),
    ),
    min_size=1,
    max_size=8,
)


@pytest.mark.parametrize(
    ("given_checks", "reward", "passed", "line"),
    [
        ([Check("a", 1)], 1.0, True, "1.0\n"),
        ([Check("a", 1, must=True)], 1.0, True, "1.0\n"),
        ([Check("a", 0)], 0.0, False, "0.0000\n"),
        ([Check("a", 1), Check("b", 0.5)], 0.75, False, "0.7500\n"),
        ([Check("a", 1, weight=3), Check("b", 0)], 0.75, False, "0.7500\n"),
        ([Check("gate", 0.99, must=True), Check("b", 1)], 0.0, False, "0.0000\n"),
        ([Check("gate", 1, must=True), Check("b", 0.25)], 0.25, False, "0.2500\n"),
        ([Check("a", 1 - 1e-12)], 0.9999, False, "0.9999\n"),
        ([Check("a", 1), Check("b", 0.99999)], 0.9999, False, "0.9999\n"),
        ([Check("a", 1 / 3)] * 3, 0.3333, False, "0.3333\n"),
    ],
)
def test_reward(given_checks: list[Check], reward: float, passed: bool, line: str) -> None:
    verdict = combine(given_checks)
    assert (verdict.reward, verdict.passed, verdict.line()) == (reward, passed, line)


@pytest.mark.parametrize(
    "bad",
    [
        [],
        [Check("a", math.nan)],
        [Check("a", math.inf)],
        [Check("a", -0.1)],
        [Check("a", 1.1)],
        [Check("a", 0.5, weight=0)],
        [Check("a", 0.5, weight=math.nan)],
        [Check("a", None)],  # type: ignore[arg-type]
        [("a", 1.0)],
        ["a"],
    ],
)
def test_a_broken_verifier_is_no_verdict(bad: list[Check]) -> None:
    with pytest.raises(VerifierError):
        combine(bad)


@given(checks)
def test_bounded_and_pass_is_strict(given_checks: list[Check]) -> None:
    verdict = combine(given_checks)
    assert 0 <= verdict.reward <= 1
    assert verdict.passed == all(check.score == 1 for check in given_checks)
    assert (float(verdict.line()) == 1.0) == verdict.passed
    assert combine(given_checks) == verdict


@given(checks, st.integers(0, 7), scores)
def test_monotone(given_checks: list[Check], place: int, better: float) -> None:
    place %= len(given_checks)
    old = given_checks[place]
    improved = list(given_checks)
    improved[place] = old._replace(score=max(old.score, better))
    assert combine(improved).reward >= combine(given_checks).reward


def test_names_and_details_are_made_printable_and_short() -> None:
    (check,) = combine([Check("a\x1b[2J", 1, "b\nc\u202e" + "x" * 9999)]).checks
    assert check.name == "a?[2J"
    assert check.detail.startswith("b?c?x") and len(check.detail) == 400
