"""Filters graded by two corpora."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifiers import VerifierError
from verifiers import adversarial_corpus as corpus

CLEAN = [b"clean %d" % n for n in range(20)]
BAD = [b"<script> %d" % n for n in range(20)]


def score(verdict: object, clean: Sequence[bytes] = CLEAN, bad: Sequence[bytes] = BAD) -> float:
    assert callable(verdict)
    (single,) = corpus.grade("c", verdict, clean, bad)
    (batch,) = corpus.grade_batch("c", lambda all_: [verdict(one) for one in all_], clean, bad)
    assert single.score == pytest.approx(batch.score)
    return single.score


def test_a_right_filter_scores_1() -> None:
    assert score(lambda sample: b"<script>" not in sample) == 1.0


@pytest.mark.parametrize("constant", [True, False, None, 1, 0, "yes"])
def test_constant_answers_score_0(constant: object) -> None:
    assert score(lambda sample: constant) == 0


def test_a_coin_scores_next_to_nothing() -> None:
    scores = []
    for seed in range(200):
        coin = random.Random(seed)
        answers = {sample: coin.random() < 0.5 for sample in CLEAN + BAD}
        scores.append(score(answers.__getitem__))
    assert sum(scores) / len(scores) < 0.03


def test_answers_by_position_score_next_to_nothing() -> None:
    halves = lambda samples: [n < 20 for n in range(len(samples))]  # noqa: E731
    turns = lambda samples: [n % 2 == 0 for n in range(len(samples))]  # noqa: E731
    for answer in (halves, turns):
        (check,) = corpus.grade_batch("c", answer, CLEAN, BAD)
        assert check.score < 0.2


def test_no_verdict_counts_as_wrong() -> None:
    half = score(lambda sample: None if sample == CLEAN[3] else b"<script>" not in sample)
    assert 0.9 < half < 1


def test_a_raising_filter_scores_0_and_stops_early() -> None:
    asked: list[bytes] = []

    def verdict(sample: bytes) -> bool:
        asked.append(sample)
        raise ValueError(sample)

    (check,) = corpus.grade("c", verdict, CLEAN, BAD)
    assert (check.score, len(asked)) == (0.0, corpus.DEAD_AFTER)


@pytest.mark.parametrize("answers", [[], [True], [True] * 41, None, 3])
def test_a_batch_of_the_wrong_shape_scores_0(answers: object) -> None:
    (check,) = corpus.grade_batch("c", lambda samples: answers, CLEAN, BAD)  # type: ignore[arg-type,return-value]
    assert check.score == 0


@pytest.mark.parametrize(("clean", "bad"), [([], BAD), (CLEAN, []), ([b"x"], [b"x"])])
def test_a_bad_corpus_is_the_verifiers_fault(clean: list[bytes], bad: list[bytes]) -> None:
    with pytest.raises(VerifierError):
        corpus.grade("c", lambda sample: True, clean, bad)


@given(st.lists(st.sampled_from([True, False, None]), min_size=40, max_size=40))
def test_bounded_deterministic_and_monotone(answers: list[bool | None]) -> None:
    table = dict(zip(CLEAN + BAD, answers))  # noqa: B905  (3.9 has no strict)
    base = score(table.get)
    assert 0 <= base <= 1 and base == score(table.get)
    table[CLEAN[0]] = True
    assert score(table.get) >= base


def test_the_order_does_not_tell_the_corpus() -> None:
    seen: list[bytes] = []
    corpus.grade("c", lambda sample: seen.append(sample) or b"<" not in sample, CLEAN, BAD)
    assert sorted(seen) == sorted(CLEAN + BAD) and seen[:20] != CLEAN and seen[20:] != CLEAN
