"""Sessions: forty and more nasty cases, each of which ends in a defined way."""

import asyncio
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from envgen.errors import HostDiskFull, ImageMissing, SandboxLost
from envgen.grade import graded
from envgen.records import Observation, Opening, Score
from envgen.sandbox.pool import Pool
from envgen.submission import opening
from tests.box.conftest import USE, Bench
from tests.box.nasty import CASES, Case, Step

pytestmark = pytest.mark.box

AT_ONCE = 6
"""Cases; most of their time is waiting."""


class Took(NamedTuple):
    """What a step came to, and the seconds that it took."""

    seen: Observation
    seconds: float


def opening_of(bench: Bench, **fields: Any) -> Opening:
    base = bench.do(bench.kit.bases.get("data_querying"))
    return Opening(image=base.content, image_ref=base.ref, **fields)


@pytest.fixture(scope="module")
def played(bench: Bench, request: pytest.FixtureRequest) -> dict[str, list[Took]]:
    """What the steps of the selected cases came to; each case on a sandbox of its own."""
    wanted = {
        getattr(item, "callspec", None) and item.callspec.id for item in request.session.items
    }
    pool = Pool(bench.kit.sandbox.engine, AT_ONCE)
    plain = opening_of(bench, seconds=900)

    async def play(case: Case) -> tuple[str, list[Took]]:
        done = []
        async with pool.lease(plain.model_copy(update=case.limits)) as session:
            for step in case.steps:
                started = time.monotonic()
                seen = await session.run(step.command, step.seconds)
                done.append(Took(seen, time.monotonic() - started))
        return case.name, done

    async def all_of_them() -> dict[str, list[Took]]:
        return dict(await asyncio.gather(*(play(c) for c in CASES if c.name in wanted)))

    return bench.do(all_of_them())


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_nasty_case_ends_as_defined(played: dict[str, list[Took]], case: Case) -> None:
    for step, took in zip(case.steps, played[case.name], strict=True):
        check(step, took)


def check(step: Step, took: Took) -> None:
    seen = took.seen
    shown = f"{step.command[:200]!r}: {seen!r}"[:2000]
    if step.end is not None:
        assert (seen.end, seen.exit_code) == (step.end, step.code), shown
    if step.says is not None:
        assert seen.output.removesuffix("\n") == step.says, shown
    for text in step.has:
        assert text in seen.output, shown
    assert took.seconds < step.within, shown
    assert len(seen.output) < 40_000


# -- what is not the agent's doing ---------------------------------------------------------------


def test_a_missing_image_opens_nothing(bench: Bench) -> None:
    wrong = opening_of(bench).model_copy(update={"image_ref": "envgen/none:1"})

    async def scene() -> None:
        with pytest.raises(ImageMissing):
            async with bench.kit.sandbox.engine.open(wrong):
                raise AssertionError("it opened")

    bench.do(scene())


@pytest.mark.parametrize(
    ("trouble", "said"),
    [("kill", "killed by somebody else"), ("remove", "removed by"), ("pause", "paused by")],
)
def test_a_sandbox_that_somebody_else_ends_is_lost(bench: Bench, trouble: str, said: str) -> None:
    engine: Any = bench.kit.sandbox.engine
    plain = opening_of(bench)

    async def scene() -> str:
        async with engine.open(plain) as session:
            await session.run("x=1", 20)
            name = session._box.name
            if trouble == "kill":
                engine.api.kill(name)
            elif trouble == "remove":
                engine.api.remove_container(name, force=True)
            else:
                engine.api.pause(name)
            with pytest.raises(SandboxLost, match=said):
                await session.run("echo $x", 20)
            return str(name)

    name = bench.do(scene())
    assert name not in [c["Id"] for c in engine.api.containers(all=True)]


def test_a_sandbox_killed_in_the_middle_of_a_command_is_lost(bench: Bench) -> None:
    engine: Any = bench.kit.sandbox.engine
    plain = opening_of(bench)

    async def scene() -> None:
        async with engine.open(plain) as session:
            running = asyncio.ensure_future(session.run("sleep 60", 60))
            await asyncio.sleep(2)
            engine.api.kill(session._box.name)
            with pytest.raises(SandboxLost, match="killed by somebody else"):
                await running

    bench.do(scene())


def test_what_a_killed_sandbox_holds_is_not_handed_in(bench: Bench) -> None:
    engine: Any = bench.kit.sandbox.engine
    plain = opening_of(bench)

    async def scene() -> None:
        async with engine.open(plain) as session:
            await session.run("echo half > work", 20)
            engine.api.kill(session._box.name)
            with pytest.raises(SandboxLost, match="killed by somebody else"):
                await session.capture(("/home/agent",))

    bench.do(scene())


def test_a_full_disk_of_the_engine_is_nobodys_score(bench: Bench) -> None:
    engine: Any = bench.kit.sandbox.engine
    plain = opening_of(bench)

    async def scene() -> None:
        async with engine.open(plain) as session:
            session._box._root = Path("/proc")  # a disk without a free byte
            with pytest.raises(HostDiskFull, match="free some space"):
                await session.run("echo x", 20)

    bench.do(scene())


def test_a_cancelled_command_ends_and_leaves_no_sandbox(bench: Bench) -> None:
    engine: Any = bench.kit.sandbox.engine
    plain = opening_of(bench)
    names = []

    async def scene() -> float:
        async with engine.open(plain) as session:
            names.append(session._box.name)
            started = time.monotonic()
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(1):
                    await session.run("sleep 300", 300)
            return time.monotonic() - started

    assert bench.do(scene()) < 60
    assert names[0] not in [c["Id"] for c in engine.api.containers(all=True)]


def test_an_opening_that_is_cancelled_leaves_no_sandbox(bench: Bench) -> None:
    engine: Any = bench.kit.sandbox.engine
    plain = opening_of(bench)

    def live() -> set[str]:
        names = {"name": [engine.owner.name]}
        return {c["Id"] for c in engine.api.containers(all=True, filters=names)}

    async def held() -> None:
        async with engine.open(plain):
            raise AssertionError("it was cancelled before")

    async def scene() -> None:
        before = live()
        task = asyncio.create_task(held())
        while not (task.done() or live() - before):
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await task
        assert live() == before
        assert caught.tb is not None  # kept until here, with all that its frames hold

    bench.do(scene())


def test_work_in_a_session_is_graded_like_every_other(bench: Bench) -> None:
    draft = bench.draft()
    image = bench.image(draft)
    engine: Any = bench.kit.sandbox.engine

    async def episode(command: str) -> Score:
        async with engine.open(opening(draft, image, 300)) as session:
            await session.run(command, 60)
            left = await session.capture(draft.outputs)
            _, score = await graded(draft, image, left, bench.kit, USE)
            with pytest.raises(SandboxLost, match="handed in before"):
                await session.run("echo more", 20)
            return score

    assert bench.do(episode(bench.SOLVE)).passed
    half = bench.do(episode(bench.ANSWER))
    assert half.reward == bench.attempt(bench.ANSWER).score.reward
    assert not half.passed
    too_much = bench.do(episode("for i in 1 2; do head -c 40000000 /dev/zero > b$i; done"))
    assert (too_much.reward, too_much.checks[0].name) == (0.0, "outputs")
