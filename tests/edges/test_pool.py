"""Leases, the gauge of faults, and the double's sessions."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from envgen.errors import (
    EngineDown,
    ImageMissing,
    LeaseExpired,
    SandboxLost,
    TooManyFaults,
)
from envgen.grade import graded
from envgen.kit import Kit
from envgen.ledger import Blobs, Use
from envgen.records import Image, Observation, Opening, TaskDraft
from envgen.sandbox.pool import Gauge, Pool
from envgen.sandbox.scripted import OUTPUTS, Scripted
from envgen.submission import opening

Do = Callable[[Awaitable[Any]], Any]
OPENING = Opening(image="x", image_ref="ref")


def engine_of(folder: Path, shell: Any = None) -> Scripted:
    engine = Scripted(Blobs(folder), shell=shell)
    engine.images.add("ref")
    return engine


def test_a_session_of_the_double_runs_and_ends(tmp_path: Path, do: Do) -> None:
    engine = engine_of(tmp_path, lambda o, c: Observation(output=c.upper(), exit_code=3, seconds=2))

    async def scene() -> None:
        async with engine.open(OPENING) as session:
            seen = await session.run("ls", 5)
            assert (seen.output, seen.exit_code, seen.end, session.age) == ("LS", 3, "done", 2)
            assert await session.capture(("/home/agent",)) == OUTPUTS
            with pytest.raises(SandboxLost):
                await session.run("more", 5)
        with pytest.raises(ImageMissing):
            async with engine.open(OPENING.model_copy(update={"image_ref": "gone"})):
                raise AssertionError("it opened")

    do(scene())
    assert engine.sessions[0].commands == ["ls"]


def test_what_a_session_leaves_is_graded_as_every_other_work(
    scripted: Kit, golden: TaskDraft, do: Do
) -> None:
    engine = scripted.sandbox.engine
    assert isinstance(engine, Scripted)
    engine.images.add("ref")
    image = Image(
        content="c", layers="l", ref="ref", engine_id="e", bytes_added=0, entries="", config=""
    )
    asked = opening(golden, image, 77)
    limits = golden.limits
    assert (asked.image_ref, asked.seconds, asked.cwd) == ("ref", 77, golden.workdir)
    assert (asked.memory_mb, asked.disk_mb, asked.pids) == (
        limits.memory_mb,
        limits.disk_mb,
        limits.pids,
    )

    async def scene() -> None:
        async with engine.open(asked) as session:
            left = await session.capture(golden.outputs)
            keys, score = await graded(golden, image, left, scripted, Use("t", "s"))
        assert len(keys) == 1 and scripted.sandbox.ledger.knows(keys[0])
        assert score.passed

    do(scene())


def test_a_pool_is_bounded_and_serves_in_order(tmp_path: Path, do: Do) -> None:
    pool = Pool(engine_of(tmp_path), 2)
    order: list[int] = []
    live = most = 0

    async def episode(number: int) -> None:
        nonlocal live, most
        async with pool.lease(OPENING) as session:
            live += 1
            most = max(most, live)
            order.append(number)
            await session.run("x", 1)
            await asyncio.sleep(0.001)
            live -= 1

    async def crowd() -> None:
        await asyncio.gather(*(episode(number) for number in range(20)))

    do(crowd())
    assert (order, most) == (list(range(20)), 2)


def test_a_lease_that_nobody_uses_is_taken_away_and_its_place_given_on(
    tmp_path: Path, do: Do
) -> None:
    engine = engine_of(tmp_path)
    pool = Pool(engine, 1, idle=0.1)

    async def scene() -> None:
        async with pool.lease(OPENING) as hung:
            await asyncio.sleep(0.3)
            assert hung.expired and engine.sessions[0].ended
            async with pool.lease(OPENING) as next_one:
                assert not next_one.expired
            with pytest.raises(LeaseExpired, match=r"not used for 0\.1 s"):
                await hung.run("x", 1)
            with pytest.raises(LeaseExpired):
                await hung.capture(("/home/agent",))
        async with pool.lease(OPENING), asyncio.timeout(1):  # its place was given back once
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05), pool.lease(OPENING):
                    raise AssertionError("two places in a pool of one")

    do(scene())


def test_a_lease_that_is_used_or_renewed_stays(tmp_path: Path, do: Do) -> None:
    pool = Pool(engine_of(tmp_path), 1, idle=0.2)

    async def scene() -> None:
        async with pool.lease(OPENING) as session:
            for _ in range(4):
                await asyncio.sleep(0.1)
                await session.run("x", 0)
            session.renew(0.3)
            await asyncio.sleep(0.4)
            assert not session.expired

    do(scene())


def test_the_gauge_stops_when_more_than_half_are_lost(tmp_path: Path, do: Do) -> None:
    gauge = Gauge(window=8, least=4)
    for trouble in ("engine_down", "sandbox_lost", "", "engine_down"):
        gauge.check()
        gauge.note(trouble)
    with pytest.raises(TooManyFaults) as caught:
        gauge.check()
    assert "3 of the last 4 episodes were lost" in str(caught.value)
    assert "engine_down 2, sandbox_lost 1" in str(caught.value)
    assert caught.value.stops
    for _ in range(2):
        gauge.note("")
    gauge.check()  # a half is not more than half
    assert gauge.faults == {"engine_down": 2, "sandbox_lost": 1}
    for _ in range(8):
        gauge.note("")
    assert gauge.faults == {}


def test_the_pool_tells_the_gauge_and_starts_no_more(tmp_path: Path, do: Do) -> None:
    def down(opening: Opening, command: str) -> Observation:
        raise EngineDown("gone")

    engine = engine_of(tmp_path, down)
    pool = Pool(engine, 2, gauge=Gauge(window=8, least=3))

    async def episode() -> None:
        async with pool.lease(OPENING) as session:
            await session.run("x", 1)

    for _ in range(3):
        with pytest.raises(EngineDown):
            do(episode())
    with pytest.raises(TooManyFaults, match="3 of the last 3"):
        do(episode())
    assert engine.asked["open"] == 3
    assert pool.gauge.faults == {"engine_down": 3}


def test_a_bug_in_an_episode_is_no_fault_of_the_infrastructure(tmp_path: Path, do: Do) -> None:
    pool = Pool(engine_of(tmp_path), 1)

    async def episode() -> None:
        async with pool.lease(OPENING):
            raise ValueError("bug")

    for _ in range(3):
        with pytest.raises(ValueError, match="bug"):
            do(episode())
    assert pool.gauge.faults == {}
