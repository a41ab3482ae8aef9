"""A check, and how checks add up to one reward.

Anything wrong with the checks themselves is a `VerifierError`: it ends the grading without a
reward, because a grader that did not run must not look like a wrong answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

DETAIL_CHARS = 400
NAME_CHARS = 120


class VerifierError(Exception):
    """The verifier is broken or was given something it cannot grade with."""


class Check(NamedTuple):
    """One thing that was looked at; `score` in [0, 1]. A `must` below 1 makes the reward 0."""

    name: str
    score: float
    detail: str = ""
    weight: float = 1.0
    must: bool = False


class Verdict(NamedTuple):
    """The reward in [0, 1]; `passed` only when every check is exactly 1."""

    reward: float
    passed: bool
    checks: tuple[Check, ...]

    def line(self) -> str:
        """The text of reward.txt. Only a pass may read as 1."""
        return "1.0\n" if self.passed else f"{self.reward:.4f}\n"


def combine(checks: Iterable[Check]) -> Verdict:
    """Gate on the `must` checks, then the weighted mean of the others (1 if there are none)."""
    done = tuple(_valid(check) for check in checks)
    if not done:
        # No checks at all is the oldest way to pass: nothing was asked, nothing failed.
        raise VerifierError("check.py yielded no checks")
    if all(check.score == 1.0 for check in done):
        return Verdict(1.0, True, done)
    if any(check.must and check.score < 1.0 for check in done):
        return Verdict(0.0, False, done)
    graded = [check for check in done if not check.must]
    total = math.fsum(check.weight for check in graded)
    mean = math.fsum(check.weight * check.score for check in graded) / total
    # Rounded down, so that no almost-pass is printed as a pass.
    return Verdict(min(math.floor(mean * 10_000 + 1e-6) / 10_000, 0.9999), False, done)


def clean_text(text: str, limit: int) -> str:
    """Printable and short: names and details can carry bytes that the agent chose."""
    shown = "".join(char if char.isprintable() else "?" for char in text[: limit + 1])
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def _valid(check: Check) -> Check:
    if not isinstance(check, Check):
        raise VerifierError(f"check.py yielded a {type(check).__name__} where a Check belongs")
    try:
        score, weight = float(check.score), float(check.weight)
    except (TypeError, ValueError) as error:
        raise VerifierError(f"check {check.name!r}: score or weight is no number") from error
    if not -1e-9 <= score <= 1 + 1e-9:  # false for NaN too
        raise VerifierError(f"check {check.name!r}: score {score} is not in [0, 1]")
    if not (math.isfinite(weight) and weight > 0):
        raise VerifierError(f"check {check.name!r}: weight {weight} is not above 0")
    return Check(
        clean_text(str(check.name), NAME_CHARS),
        min(max(score, 0.0), 1.0),
        clean_text(str(check.detail), DETAIL_CHARS),
        weight,
        bool(check.must),
    )
