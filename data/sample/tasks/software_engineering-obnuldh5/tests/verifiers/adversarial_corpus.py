"""Grading a filter by two hidden corpora: what it must let through and what it must stop.

The score is (rate kept) + (rate stopped) - 1, less what luck gives: accepting all, refusing all and
guessing earn nothing. Samples come in a shuffled order, so an answer by position fails too.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Callable, Sequence
from typing import Optional

from .checks import Check, VerifierError

# That many samples without any verdict at the start: the program is dead, not wrong.
DEAD_AFTER = 8

Answer = Optional[bool]  # True: let through; False: stopped; None: no verdict


def grade(
    name: str,
    verdict: Callable[[bytes], Answer],
    clean: Sequence[bytes],
    malicious: Sequence[bytes],
    *,
    weight: float = 1.0,
    must: bool = False,
) -> list[Check]:
    """Ask for one sample at a time: True = accept, False = reject, None (or raising) = wrong."""
    order = _shuffled(clean, malicious)
    wrong = {True: 0, False: 0}
    size = {True: len(clean), False: len(malicious)}
    silent = 0
    for place, (sample, is_clean) in enumerate(order):
        answer = _asked(verdict, sample)
        silent += answer is None
        wrong[is_clean] += answer is not is_clean
        if silent == place + 1 == min(DEAD_AFTER, len(order)):
            return [Check(name, 0.0, "no verdict on any of the first samples", weight, must)]
        if wrong[True] / size[True] + wrong[False] / size[False] >= 1:
            return [Check(name, 0.0, "no better than a constant answer", weight, must)]
    return [_check(name, wrong, size, weight, must)]


def grade_batch(
    name: str,
    verdicts: Callable[[Sequence[bytes]], Sequence[Answer]],
    clean: Sequence[bytes],
    malicious: Sequence[bytes],
    *,
    weight: float = 1.0,
    must: bool = False,
) -> list[Check]:
    """Ask for all samples at once; the answers come back in the order of the samples given."""
    order = _shuffled(clean, malicious)
    try:
        answers = list(verdicts([sample for sample, _ in order]))
    except Exception:  # noqa: BLE001  what it reads is the agent's output
        answers = []
    if len(answers) != len(order):
        return [Check(name, 0.0, "not one verdict per sample", weight, must)]
    wrong = {True: 0, False: 0}
    for (_, is_clean), answer in zip(order, answers):
        wrong[is_clean] += answer is not is_clean
    size = {True: len(clean), False: len(malicious)}
    return [_check(name, wrong, size, weight, must)]


def _check(
    name: str, wrong: dict[bool, int], size: dict[bool, int], weight: float, must: bool
) -> Check:
    kept, stopped = (1 - wrong[side] / size[side] for side in (True, False))
    score = above_luck(kept + stopped - 1, size[True], size[False])
    said = f"kept {kept:.0%} of the clean, stopped {stopped:.0%} of the malicious samples"
    return Check(name, score, said, weight, must)


def above_luck(margin: float, clean: int, malicious: int) -> float:
    """`margin` (kept + stopped - 1) with the standard deviation of a coin's taken off, as a share
    of what is left: 1 stays 1, and a guess is worth next to nothing."""
    luck = min(0.5, math.sqrt(0.25 / clean + 0.25 / malicious))
    return max(0.0, min(1.0, (margin - luck) / (1 - luck)))


def _asked(verdict: Callable[[bytes], Answer], sample: bytes) -> Answer:
    try:
        answer = verdict(sample)
    except Exception:  # noqa: BLE001  what it reads is the agent's output
        return None
    return answer if isinstance(answer, bool) else None


def _shuffled(clean: Sequence[bytes], malicious: Sequence[bytes]) -> list[tuple[bytes, bool]]:
    """Both corpora in an order that depends on the hidden samples alone."""
    if not clean or not malicious:
        raise VerifierError("a corpus is empty")
    if set(clean) & set(malicious):
        raise VerifierError("a sample is in both corpora")
    both = [(sample, True) for sample in clean] + [(sample, False) for sample in malicious]
    digest = hashlib.sha256()
    for sample, _ in both:
        digest.update(hashlib.sha256(sample).digest())
    random.Random(digest.digest()).shuffle(both)
    return both
