"""Sessions: forty and more nasty cases, each of which ends in a defined way."""

import asyncio
import time
from typing import Any, NamedTuple

import pytest

from envgen.records import Observation, Opening
from envgen.sandbox.pool import Pool
from tests.box.conftest import Bench
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
