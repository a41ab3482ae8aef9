"""Programs compared with an oracle on fresh inputs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifiers import Outcome, Task, VerifierError
from verifiers import fuzz_equivalence as fuzz

INPUTS = [b"%d\n" % n for n in range(100)]


def oracle(data: bytes) -> bytes:
    """Halves even numbers and echoes odd ones: an echo is right half of the time."""
    number = int(data)
    return b"%d\n" % (number if number % 2 else number // 2)


def test_the_oracle_itself_scores_1() -> None:
    assert fuzz.grade("f", oracle, oracle, INPUTS).score == 1.0
    assert fuzz.grade("f", lambda one: Outcome(oracle(one), code=0), oracle, INPUTS).score == 1.0


@pytest.mark.parametrize(
    "candidate",
    [
        lambda one: one,
        lambda one: b"",
        lambda one: b"1\n",
        lambda one: None,
        lambda one: {b"1\n": b"1\n", b"2\n": b"1\n"}.get(one),
        lambda one: Outcome(oracle(one), code=1),
        lambda one: Outcome(oracle(one), code=0, timed_out=True),
        lambda one: Outcome(oracle(one), code=0, truncated=True),
        lambda one: int("no"),
    ],
)
def test_trivial_programs_score_0(candidate: object) -> None:
    assert callable(candidate)
    assert fuzz.grade("f", candidate, oracle, INPUTS).score == 0.0


def test_the_best_constant_is_the_zero_of_the_scale() -> None:
    # 70 of 100 inputs have the same answer, so a constant is worth nothing and 85 are worth half.
    def mostly(data: bytes) -> bytes:
        return b"same" if int(data) < 70 else data

    assert fuzz.grade("f", lambda one: b"same", mostly, INPUTS).score == 0
    part = fuzz.grade("f", lambda one: mostly(one) if int(one) < 85 else b"?", mostly, INPUTS)
    assert part.score == pytest.approx(0.5)


def test_hopeless_programs_are_stopped_early() -> None:
    asked: list[bytes] = []
    fuzz.grade("f", lambda one: asked.append(one), oracle, INPUTS)  # type: ignore[func-returns-value]
    assert len(asked) == fuzz.PATIENCE
    asked.clear()

    def hangs_later(one: bytes) -> Outcome:
        asked.append(one)
        return Outcome(oracle(one), code=0, timed_out=int(one) > 80)

    check = fuzz.grade("f", hangs_later, oracle, INPUTS)
    assert (len(asked), check.score) == (84, pytest.approx((0.81 - 0.51) / (1 - 0.51)))


def test_inputs_that_cannot_tell_are_the_verifiers_fault() -> None:
    with pytest.raises(VerifierError):
        fuzz.grade("f", oracle, lambda one: one, INPUTS)
    with pytest.raises(VerifierError):
        fuzz.grade("f", oracle, lambda one: b"1", INPUTS)
    with pytest.raises(VerifierError):
        fuzz.grade("f", oracle, oracle, [])


def test_normalisation_applies_to_both_sides() -> None:
    loose = fuzz.grade(
        "f", lambda one: oracle(one).strip() + b" \r\n", oracle, INPUTS,
        normalise=("newlines", "trailing_space"),
    )  # fmt: skip
    assert loose.score == 1.0


@given(st.lists(st.booleans(), min_size=100, max_size=100), st.integers(0, 99))
def test_bounded_deterministic_and_monotone(right: list[bool], place: int) -> None:
    def graded(which: list[bool]) -> float:
        return fuzz.grade("f", lambda n: oracle(n) if which[int(n)] else b"?", oracle, INPUTS).score

    base = graded(right)
    assert 0 <= base <= 1 and base == graded(right)
    right[place] = True
    assert graded(right) >= base


def test_inputs_repeat_for_a_truth_and_differ_between_truths() -> None:
    def draws(truth: dict[str, int], label: str) -> list[int]:
        return [fuzz.rng(Task("/tmp", truth), label).randrange(10**9) for _ in range(2)]

    assert draws({"a": 1}, "x")[0] == draws({"a": 1}, "x")[1]
    assert len({draws({"a": n}, label)[0] for n in range(5) for label in "xy"}) == 10
    # A golden value: a new interpreter in a base must not change what a published task asks.
    assert fuzz.rng(Task("/tmp", {"a": 1}), "x").randrange(10**9) == 253185587
