"""Grading a program against a hidden oracle on fresh inputs.

The score is the share of equal answers above what the best trivial program would get on the same
inputs (one constant answer, or its input echoed): those programs score 0, the oracle's equal 1.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Union

from . import exact_text
from .checks import Check, VerifierError
from .process import Outcome
from .task import Task

# No equal answer in that many: not a candidate any more.
PATIENCE = 25
# A program that hangs costs its whole timeout each time.
TIMEOUTS = 3

Answer = Union[Outcome, bytes, None]


def rng(task: Task, label: str) -> random.Random:
    """A generator for inputs, seeded from the hidden truth."""
    return task.rng(label)


def grade(
    name: str,
    candidate: Callable[[bytes], Answer],
    oracle: Callable[[bytes], bytes],
    inputs: Sequence[bytes],
    *,
    normalise: Sequence[str] = (),
    weight: float = 1.0,
    must: bool = False,
) -> Check:
    """Share of `inputs` on which the candidate's standard output equals the oracle's bytes.

    An `Outcome` counts when the program returned 0 within its limits. `normalise` names rules of
    `exact_text` applied to both sides (text only); by default bytes must be equal.
    """
    expected = [_normalised(oracle(one), normalise) for one in inputs]
    base = trivial([_normalised(one, normalise) for one in inputs], expected)
    if base >= 1:
        raise VerifierError(f"{name}: a constant or echoing program would be right on every input")
    equal = timeouts = 0
    for asked, (one, wanted) in enumerate(zip(inputs, expected), start=1):
        answer = _asked(candidate, one)
        timeouts += isinstance(answer, Outcome) and answer.timed_out
        equal += _is(answer, wanted, normalise)
        possible = (equal + len(inputs) - asked) / len(inputs)
        if possible <= base or (asked >= PATIENCE and not equal):
            return Check(name, 0.0, "no better than a constant or an echo", weight, must)
        if timeouts >= TIMEOUTS:
            break  # what was not asked counts as wrong
    share = equal / len(inputs)
    said = f"equal on {share:.1%} of the inputs, {base:.1%} of which a trivial program gets"
    if timeouts >= TIMEOUTS:
        said += "; stopped after repeated timeouts"
    return Check(name, max(0.0, (share - base) / (1 - base)), said, weight, must)


def trivial(inputs: Sequence[bytes], expected: Sequence[bytes]) -> float:
    """The share that the best constant answer, or an echo of the input, would get."""
    if not inputs:
        raise VerifierError("no inputs to compare on")
    constant = Counter(expected).most_common(1)[0][1]
    echo = sum(given == wanted for given, wanted in zip(inputs, expected))
    return max(constant, echo) / len(inputs)


def _asked(candidate: Callable[[bytes], Answer], one: bytes) -> Answer:
    try:
        return candidate(one)
    except Exception:  # noqa: BLE001  what it reads is the agent's output
        return None


def _is(answer: Answer, wanted: bytes, normalise: Sequence[str]) -> bool:
    given: bytes | None = answer if isinstance(answer, bytes) else None
    if isinstance(answer, Outcome) and answer.ok:
        given = answer.stdout
    return given is not None and _normalised(given, normalise) == wanted


def _normalised(data: bytes, rules: Sequence[str]) -> bytes:
    if not rules:
        return data
    try:
        return exact_text.normalised(data.decode("utf-8"), rules).encode()
    except UnicodeDecodeError:
        return data
