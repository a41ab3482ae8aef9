"""Groups: what is left out, what is computed from the rest, and how it is cut."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envgen.agent import Sampled
from envgen.train.batch import (
    OBSERVED,
    Group,
    Rollout,
    Row,
    centred,
    judged,
    micro_batches,
    rollout_of,
    sampled_tokens,
)


def rollout(earned: float | None, version: int = 7, **changes: object) -> Rollout:
    fields: dict[str, object] = {
        "ids": (5, 6, 7, 8),
        "logprobs": (0.0, -0.5, 0.0, -1.5),
        "versions": (OBSERVED, version, OBSERVED, version + 1),
        "reward": earned,
        "fault": "sandbox_lost" if earned is None else "",
    }
    return Rollout(**(fields | changes))  # type: ignore[arg-type]


def group(*rollouts: Rollout) -> Group:
    return Group("task", 0, rollouts)


def rewards(*values: float | None) -> Group:
    return group(*map(rollout, values))


def test_an_infrastructure_failure_is_no_zero() -> None:
    outcome, rows = judged(rewards(1, 0, None, 0, 1), 8, 4)
    assert outcome == "useful"
    assert [row.advantage for row in rows] == [0.5, -0.5, -0.5, 0.5]  # with a zero: .6, -.4, ...
    assert all(row.rollout.reward is not None for row in rows)


def test_advantages_are_not_divided_by_their_deviation() -> None:
    solved = centred([1.0] * 5 + [0.0] * 27)
    assert (solved[0], solved[-1]) == (0.84375, -0.15625)
    some = [1.0] * 5 + [0.0] * 24 + [None] * 3
    _, rows = judged(rewards(*some), 7, 4)
    assert len(rows) == 29
    assert rows[0].advantage == pytest.approx(0.827586206897, abs=1e-12)
    assert rows[-1].advantage == pytest.approx(-0.172413793103, abs=1e-12)


def test_rewards_between_zero_and_one_are_centred_too() -> None:
    _, rows = judged(rewards(0.25, 0.5, 0.75, 0.5), 7, 4)
    assert [row.advantage for row in rows] == [-0.25, 0, 0.25, 0]


@pytest.mark.parametrize(
    ("values", "outcome"),
    [
        ((0, 0, 0), "all_zero"),
        ((1, 1, None), "all_one"),
        ((0.5, 0.5), "equal"),
        ((1, 0, None, None), "useful"),
        ((1, 0, None, None, None), "masked"),
        ((1, None), "masked"),
        ((None, None), "masked"),
    ],
)
def test_what_becomes_of_a_group(values: tuple[float | None, ...], outcome: str) -> None:
    found, rows = judged(rewards(*values), 7, 4)
    assert found == outcome
    assert bool(rows) == (outcome == "useful")


def test_the_oldest_token_counts_for_staleness() -> None:
    members = group(rollout(1, version=3), rollout(0, version=9))
    assert judged(members, 7, 4)[0] == "useful"
    assert judged(members, 8, 4) == ("stale", ())


def test_a_lost_rollout_makes_no_group_stale() -> None:
    members = group(rollout(1), rollout(0), rollout(None, version=0))
    assert judged(members, 8, 4)[0] == "useful"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"logprobs": (0.0, math.nan, 0.0, -1.0)}, "logprob_not_finite"),
        ({"logprobs": (0.0, -1.0, 0.0, -math.inf)}, "logprob_not_finite"),
        ({"logprobs": (0.0, 1.0, 0.0, -1.0)}, "logprob_not_finite"),
        ({"versions": (OBSERVED,) * 4}, "nothing_sampled"),
        ({"reward": math.nan}, "reward_not_finite"),
        ({"logprobs": (math.nan, -1.0, math.nan, -1.0)}, ""),
    ],
)
def test_what_cannot_be_trained_on_is_left_out(change: dict[str, object], why: str) -> None:
    bad = rollout(1, **change)
    assert bad.unusable == why
    _, rows = judged(group(bad, rollout(1), rollout(0)), 7, 4)
    assert len(rows) == (2 if why else 3)


def test_a_rollout_is_of_one_piece() -> None:
    with pytest.raises(ValueError, match="one logprob"):
        Rollout((1, 2), (0.0,), (0,), 1.0)
    with pytest.raises(ValueError, match="never both"):
        Rollout((1,), (0.0,), (0,), 0.0, "sandbox_lost")
    with pytest.raises(ValueError, match="never both"):
        Rollout((1,), (0.0,), (0,), None)


def row(length: int, sampled: int = 1) -> Row:
    versions = (OBSERVED,) * (length - sampled) + (0,) * sampled
    return Row(Rollout((1,) * length, (-1.0,) * length, versions, 1.0), 0.5)


def test_the_denominator_counts_sampled_tokens_only() -> None:
    assert sampled_tokens([row(10, 3), row(20, 4)]) == 7


@given(st.lists(st.integers(1, 60), max_size=30), st.integers(1, 100))
def test_micro_batches_hold_every_row_once_and_fit(lengths: list[int], most: int) -> None:
    rows = [row(length) for length in lengths]
    parts = list(micro_batches(rows, most))
    assert sorted(len(r.rollout.ids) for part in parts for r in part) == sorted(lengths)
    assert {id(r) for part in parts for r in part} == set(map(id, rows))
    for part in parts:
        assert len(part) == 1 or len(part) * max(len(r.rollout.ids) for r in part) <= most


@given(st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=1, max_size=12), st.data())
def test_lost_rollouts_and_order_change_nothing(values: list[float], data: st.DataObject) -> None:
    lost = data.draw(st.integers(0, len(values)))
    mixed = data.draw(st.permutations([*values, *[None] * lost]))
    plain, rows = judged(rewards(*values), 7, 4)
    found, others = judged(rewards(*mixed), 7, 4)
    assert found == plain
    assert sorted(r.advantage for r in rows) == sorted(r.advantage for r in others)


def test_turns_make_one_row() -> None:
    turns = [((1, 2), Sampled((3,), (-1.0,), (4,))), ((5,), Sampled((6, 7), (-2.0, -3.0), (4, 5)))]
    rollout = rollout_of(turns, 1.0, ended="submitted")
    assert rollout.ids == (1, 2, 3, 5, 6, 7)
    assert rollout.versions == (-1, -1, 4, -1, 4, 5)
    assert rollout.logprobs == (0, 0, -1, 0, -2, -3)
    assert (rollout.turns, rollout.oldest) == (2, 4)
    assert (rollout.reward, rollout.fault, rollout.ended) == (1.0, "", "submitted")
