"""Groups in work: what a batch is filled with, bounds, what dies, what is asked again."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envgen.config import TrainConfig
from envgen.errors import TooManyFaults
from envgen.train.batch import Rollout
from envgen.train.rollouts import CHANCES, NoBatch, Rollouts, Source

Do = Callable[[Coroutine[Any, Any, Any]], Any]
TASKS = tuple("abcdefgh")


def settings(**changes: Any) -> TrainConfig:
    fields = {"group": 4, "groups": 2, "ahead": 2, "alarm_seconds": 5}
    return TrainConfig(**(fields | changes))


def rollout(reward: float | None, version: int = 0) -> Rollout:
    fault = "sandbox_lost: gone" if reward is None else ""
    return Rollout((1, 2), (0.0, -1.0), (-1, version), reward, fault)


async def mixed(task: str, number: int, member: int) -> Rollout:
    await asyncio.sleep(0)
    return rollout(float(member % 2))


# -- the order of tasks ------------------------------------------------------------------------


def test_every_pass_has_all_tasks_in_another_order() -> None:
    source = Source(TASKS, 3)
    drawn = [source.next() for _ in range(16)]
    assert [number for number, _ in drawn] == list(range(16))
    first, second = [t for _, t in drawn[:8]], [t for _, t in drawn[8:]]
    assert sorted(first) == sorted(second) == sorted(TASKS)
    assert first != second
    again = Source(TASKS, 3)
    assert [again.next() for _ in range(16)] == drawn
    other = Source(TASKS, 4)
    assert [other.next()[1] for _ in range(8)] != first
    plain = Source(TASKS, 3, shuffled=False)
    assert "".join(plain.next()[1] for _ in range(10)) == "abcdefghab"


def test_a_masked_task_comes_again_a_bounded_number_of_times() -> None:
    source = Source(("a", "b"), 0, shuffled=False)
    drawn = []
    for _ in range(CHANCES + 3):
        number, task = source.next()
        drawn.append(task)
        source.done(number, again=task == "a")
    assert drawn == ["a"] * (CHANCES + 1) + ["b", "a"]


@given(st.lists(st.sampled_from(["next", "done", "again", "resume"]), max_size=60))
def test_a_resumed_source_loses_and_doubles_nothing(moves: list[str]) -> None:
    """Whenever it is stopped: every group that was not consumed is begun anew, before others."""
    source = Source(TASKS, 1)
    for move in moves:
        if move == "next":
            source.next()
        elif move == "resume":
            state = source.state()
            unfinished = [(n, *source.open[n]) for n in sorted(source.open)] + source.again
            source = Source(TASKS, 1)
            source.restore(state)
            assert source.again == unfinished
            assert source.state() == state
        elif source.open:
            source.done(min(source.open), again=move == "again")
    reference = Source(TASKS, 1)
    everything = [reference.next()[1] for _ in range(source.taken)]
    assert len(source.open) + len(source.again) <= len(everything)


def test_a_resumed_source_draws_only_what_it_may() -> None:
    """A task was removed, or is held out, since the state was kept."""
    source = Source(("a", "b", "c"), 0, shuffled=False)
    for number, _ in [source.next() for _ in range(4)]:
        if number in (1, 2):
            source.done(number, again=True)
    state = source.state()
    assert state["again"] == [(0, "a", 0), (3, "a", 0), (None, "b", 1), (None, "c", 1)]
    fewer = Source(("b", "d"), 0, shuffled=False)
    fewer.restore(state)
    assert [fewer.next() for _ in range(3)] == [(4, "b"), (5, "b"), (6, "d")]


# -- batches -----------------------------------------------------------------------------------


def test_a_batch_is_full_of_useful_groups(do: Do) -> None:
    rewards = {0: 0.0, 2: 1.0}  # every third group is all zero, every fifth all one

    async def play(task: str, number: int, member: int) -> Rollout:
        if number % 3 == 0:
            return rollout(rewards[0])
        if number % 5 == 0:
            return rollout(rewards[2])
        return rollout(float(member == 0))

    async def main() -> None:
        async with Rollouts(Source(TASKS, 0), play, settings()) as rollouts:
            for _ in range(5):
                batch = await rollouts.batch(0)
                assert len(batch.rows) == 2 * 4
                assert batch.counts["useful"] == 2
                assert sum(batch.counts.values()) == len(batch.groups)
                assert sorted({row.advantage for row in batch.rows}) == [-0.25, 0.75]

    do(main())


def test_no_lost_rollout_and_no_fake_zero_is_in_a_batch(do: Do) -> None:
    async def play(task: str, number: int, member: int) -> Rollout:
        if (number + member) % 3 == 0:
            return rollout(None)
        return rollout(float(member % 2))

    async def main() -> None:
        async with Rollouts(Source(TASKS, 0), play, settings()) as rollouts:
            for _ in range(20):
                batch = await rollouts.batch(0)
                assert all(row.rollout.reward is not None for row in batch.rows)
                kept = [r for g in batch.groups for r in g.rollouts if not r.fault]
                assert {id(row.rollout) for row in batch.rows} <= {id(r) for r in kept}
                assert batch.faults.keys() == {"sandbox_lost"}

    do(main())


def test_groups_in_work_are_bounded_and_go_on_while_the_trainer_steps(do: Do) -> None:
    running = most = ended = 0

    async def play(task: str, number: int, member: int) -> Rollout:
        nonlocal running, most, ended
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001)
        running -= 1
        ended += 1
        return rollout(float(member % 2))

    async def main() -> None:
        nonlocal ended
        async with Rollouts(Source(TASKS, 0), play, settings()) as rollouts:
            await rollouts.batch(0)
            ended = 0
            await asyncio.sleep(0.1)  # the trainer steps
            assert ended >= 8
            assert rollouts.source.begun <= 2 + 2 * 2  # consumed, and two batches ahead
            await rollouts.batch(1)
        assert most <= 4 * 2 * 2
        assert running == 0 or all(t.done() for t in rollouts._running)

    do(main())


def test_what_is_too_old_is_dropped_and_its_task_asked_again(do: Do) -> None:
    now = 0

    async def play(task: str, number: int, member: int) -> Rollout:
        return rollout(float(member % 2), version=now)

    async def main() -> None:
        nonlocal now
        async with Rollouts(Source(TASKS, 0), play, settings(stale=1)) as rollouts:
            await rollouts.batch(0)
            await asyncio.sleep(0.01)
            now = 5
            batch = await rollouts.batch(5)
            assert batch.counts["stale"] == 4
            assert all(5 - (row.rollout.oldest or 0) <= 1 for row in batch.rows)
            old = [
                g.task for g, o in zip(batch.groups, batch.outcomes, strict=True) if o == "stale"
            ]
            assert set(old) <= {g.task for g in batch.groups[4:]} | {
                task for task, _ in rollouts.source.open.values()
            }

    do(main())


def test_a_death_in_the_background_ends_the_run_with_its_reason(do: Do) -> None:
    async def play(task: str, number: int, member: int) -> Rollout:
        if number == 3 and member == 2:
            raise ZeroDivisionError("a bug")
        await asyncio.sleep(0.01)
        return rollout(1.0)

    async def main() -> None:
        async with Rollouts(Source(TASKS, 0), play, settings()) as rollouts:
            await rollouts.batch(0)

    with pytest.raises(ZeroDivisionError, match="a bug"):
        do(main())


def test_when_most_is_lost_the_run_stops_and_says_why(do: Do) -> None:
    lost = 0

    async def play(task: str, number: int, member: int) -> Rollout:
        nonlocal lost
        await asyncio.sleep(0)
        if number >= 4 and member != 0:
            lost += 1
            return rollout(None)
        return rollout(float(member % 2))

    async def main() -> None:
        async with Rollouts(Source(TASKS, 0), play, settings()) as rollouts:
            for _ in range(50):
                await rollouts.batch(0)

    with pytest.raises(TooManyFaults, match=r"of the last 8 .*\(sandbox_lost \d\)"):
        do(main())
    assert lost <= 4 * 2 * 2 * 2


def test_a_while_of_trouble_below_the_half_is_survived(do: Do) -> None:
    async def play(task: str, number: int, member: int) -> Rollout:
        await asyncio.sleep(0)
        return rollout(None if 6 <= number < 12 and member < 2 else float(member % 2))

    async def main() -> int:
        async with Rollouts(Source(TASKS, 0), play, settings()) as rollouts:
            batches = [await rollouts.batch(0) for _ in range(12)]
        assert all(len(batch.rows) in (4, 6, 8) for batch in batches)
        return sum(batch.faults.get("sandbox_lost", 0) for batch in batches)

    assert do(main()) == 12


def test_an_alarm_when_nothing_comes_together(do: Do) -> None:
    async def play(task: str, number: int, member: int) -> Rollout:
        if number == 2:
            await asyncio.sleep(3600)  # a poisoned task
        await asyncio.sleep(0.001)
        return rollout(0.0)

    async def main() -> None:
        async with Rollouts(Source(TASKS, 0), play, settings(alarm_seconds=0.2)) as rollouts:
            await rollouts.batch(0)

    with pytest.raises(NoBatch, match=r"0 useful groups of 2; groups that ended: \d+ all_zero"):
        do(main())


def test_one_task_that_hangs_holds_up_no_batch(do: Do) -> None:
    async def play(task: str, number: int, member: int) -> Rollout:
        if number == 1 and member == 0:
            await asyncio.sleep(3600)
        return await mixed(task, number, member)

    async def main() -> None:
        async with Rollouts(Source(TASKS, 0), play, settings()) as rollouts:
            for _ in range(10):
                assert len((await rollouts.batch(0)).rows) == 8
            assert 1 in rollouts.source.open

    do(main())
