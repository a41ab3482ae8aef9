"""`produce` on the scripted engine: every way in which a task can end."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from envgen.build import GATES
from envgen.errors import BudgetSpent, EngineDown, Fault, HostDiskFull, ImageMissing, Misconfigured
from envgen.files import FileTree
from envgen.kit import Kit
from envgen.ledger import Blobs
from envgen.pipeline import GIVE_UP, Stop, Unfinished, bounded, produce, proven, run
from envgen.records import (
    BuiltTask,
    Environment,
    Image,
    ImageRequest,
    Job,
    JobResult,
    Rejection,
    TaskDraft,
    TaskSpec,
)
from envgen.sandbox.scripted import Scripted, verdict

Do = Callable[[Awaitable[Any]], Any]
MakeKit = Callable[..., Kit]


def result(reward: float | None = None, code: int = 0, output: str = "") -> JobResult:
    collected = () if reward is None else verdict(reward)
    return JobResult(status="done", exit_code=code, output=output, collected=collected)


def asked(kit: Kit) -> dict[str, int]:
    engine = kit.sandbox.engine
    assert isinstance(engine, Scripted)
    return dict(engine.asked)


def test_kept(make_kit: MakeKit, specs: list[TaskSpec], do: Do) -> None:
    kit = make_kit()
    task = do(produce(specs[0], kit))
    assert isinstance(task, BuiltTask)
    assert task.draft.spec == specs[0]
    assert tuple(e.gate for e in task.evidence) == GATES
    assert (task.baseline, task.repeats) == (0.0, 2)
    keys = [key for e in task.evidence for key in e.keys]
    assert all(kit.sandbox.ledger.knows(key) for key in keys)
    assert {e.gate: len(e.keys) for e in task.evidence} == {
        "lint": 0, "build": 1, "initial": 1, "noop": 1, "reference": 2, "determinism": 2, "leak": 1,
    }  # fmt: skip
    assert asked(kit) == {"base": 1, "build": 1, "run": 6}


def test_every_receipt_is_used_by_its_task_and_step(
    make_kit: MakeKit, specs: list[TaskSpec], do: Do
) -> None:
    kit = make_kit()
    do(produce(specs[0], kit))
    uses = kit.sandbox.ledger._db.execute("SELECT DISTINCT task, step FROM uses").fetchall()
    steps = ("build", "determinism", "initial", "noop", "reference")
    assert sorted(uses) == [(specs[0].slug, step) for step in steps]


def test_the_number_of_repeats_is_configured(
    make_kit: MakeKit, specs: list[TaskSpec], do: Do
) -> None:
    kit = make_kit(sets=("gates.repeats=4",))
    task = do(produce(specs[0], kit))
    assert task.repeats == 4
    assert asked(kit)["run"] == 8


# step that answers otherwise: (that answer, code, part of the detail, receipts)
GATE_CASES: dict[str, tuple[str, JobResult, str, str, int]] = {
    "initial": ("initial", result(code=1, output="missing: /x"), "initial:fails", "missing: /x", 1),
    "no-op passes": ("noop", result(1.0), "noop:passes", "untouched container passes", 1),
    "no-op without verdict": ("noop", result(), "noop:invalid", "no_reward: exit 0", 1),
    "reference fails": ("reference", result(0.5), "reference:fails", "reward 0.5; scripted 0.5", 2),
    "reference without verdict": ("reference", result(), "reference:invalid", "no_reward", 2),
    "flaky": ("determinism", result(0.9), "determinism:differs", "reward 0.9", 1),
    "no verdict again": ("determinism", result(), "determinism:differs", "no verdict", 1),
}


@pytest.mark.parametrize("name", GATE_CASES)
def test_rejected_by_a_gate(make_kit: MakeKit, specs: list[TaskSpec], do: Do, name: str) -> None:
    step, answer, code, detail, receipts = GATE_CASES[name]
    kit = make_kit(lambda at, base: answer if at == step else None)
    task = do(produce(specs[0], kit))
    assert isinstance(task, Rejection)
    assert (task.spec, task.slug, task.code) == (specs[0], specs[0].slug, code)
    assert task.step == code.partition(":")[0]
    assert task.step in GATES
    assert detail in task.detail
    assert len(task.proof) == receipts
    assert all(kit.sandbox.ledger.knows(key) for key in task.proof)
    assert not any("task:" in tag for tag in kit.sandbox.engine.images)  # type: ignore[attr-defined]


def test_the_first_gate_that_fails_is_the_last_that_runs(
    make_kit: MakeKit, specs: list[TaskSpec], do: Do
) -> None:
    seen: list[str] = []

    def judge(step: str, base: str) -> JobResult | None:
        seen.append(step)
        return result(1.0) if step == "noop" else None

    do(produce(specs[0], make_kit(judge)))
    assert seen == ["initial", "noop"]


def test_rejected_by_lint_without_asking_the_engine(
    make_kit: MakeKit, golden: TaskDraft, do: Do
) -> None:
    kit = make_kit()
    task = do(proven(golden.model_copy(update={"title": ""}), kit))
    assert isinstance(task, Rejection)
    assert (task.step, task.code) == ("lint", "lint:text")
    assert asked(kit) == {}


def test_rejected_by_the_leak_scan(make_kit: MakeKit, golden: TaskDraft, do: Do) -> None:
    leaky = Environment(
        base="data_querying", files=FileTree({"opt/x": f"key={golden.secrets[0]}\n"})
    )
    task = do(proven(golden.model_copy(update={"environment": leaky}), make_kit()))
    assert isinstance(task, Rejection)
    assert (task.code, task.detail) == ("leak:found", "build context root/opt/x holds a secret")


def test_rejected_by_the_author(make_kit: MakeKit, specs: list[TaskSpec], do: Do) -> None:
    kit = make_kit()
    spec = specs[0].model_copy(update={"domain": "elsewhere"})
    task = do(produce(spec, kit))
    assert isinstance(task, Rejection)
    assert (task.step, task.code) == ("author", "author:unsupported")
    assert asked(kit) == {}


class Builder(Scripted):
    """Builds end as they are told to, one after another."""

    def __init__(self, blobs: Blobs, *endings: Exception) -> None:
        super().__init__(blobs)
        self.endings = list(endings)

    async def build(self, request: ImageRequest) -> Image:
        image = await super().build(request)
        if self.endings:
            await self.discard(image)
            raise self.endings.pop(0)
        return image


def test_rejected_when_the_image_does_not_build(
    make_kit: MakeKit, specs: list[TaskSpec], do: Do
) -> None:
    kit = make_kit()
    kit.sandbox.engine = Builder(kit.sandbox.blobs, Fault("build:failed", "exit 1\nlog"))
    kit.bases.engine = kit.sandbox.engine
    task = do(produce(specs[0], kit))
    assert isinstance(task, Rejection)
    assert (task.step, task.code, task.detail) == ("build", "build:failed", "exit 1\nlog")


# -- images that go missing --------------------------------------------------------------------


def test_an_image_that_was_lost_is_built_once_more_and_nothing_else_runs(
    make_kit: MakeKit, specs: list[TaskSpec], do: Do
) -> None:
    kit = make_kit()
    engine = kit.sandbox.engine
    assert isinstance(engine, Scripted)
    first = do(produce(specs[0], kit))
    engine.images = {name for name in engine.images if "/base:" in name}
    engine.asked.clear()
    assert do(produce(specs[0], kit)) == first
    assert (engine.asked["build"], engine.asked["run"]) == (1, 0)


def test_an_image_that_is_lost_between_two_gates_is_built_again(
    make_kit: MakeKit, specs: list[TaskSpec], do: Do
) -> None:
    kit = make_kit()
    engine = kit.sandbox.engine
    assert isinstance(engine, Scripted)
    sound, lost = engine.sound, list[str]()

    def script(job: Job) -> JobResult:
        if job.capture and not lost:
            lost.append(job.image_ref)
            engine.images.discard(job.image_ref)
        return sound(job)

    engine.script = script
    assert isinstance(do(produce(specs[0], kit)), BuiltTask)
    assert (engine.asked["build"], len(lost)) == (2, 1)


class Forgetful(Scripted):
    """Never has what it has built."""

    def has(self, image: Image) -> bool:
        return False


def test_an_engine_that_keeps_losing_images_is_weather(
    make_kit: MakeKit, specs: list[TaskSpec], do: Do
) -> None:
    kit = make_kit()
    kit.sandbox.engine = kit.bases.engine = Forgetful(kit.sandbox.blobs)
    with pytest.raises(ImageMissing, match="keeps losing the image of"):
        do(produce(specs[0], kit))


# -- many of them ------------------------------------------------------------------------------


async def outcomes(specs: list[TaskSpec], kit: Kit, step: Any = produce, stop: Any = None) -> Any:
    return [pair async for pair in run(specs, kit, stop or Stop(), step)]


def test_weather_ends_a_task_and_not_the_run(
    make_kit: MakeKit, specs: list[TaskSpec], do: Do
) -> None:
    async def step(spec: TaskSpec, kit: Kit) -> Any:
        if spec.index == 1:
            raise HostDiskFull("no space")
        return await produce(spec, kit)

    found = dict(do(outcomes(specs[:3], make_kit(), step)))
    assert found[1] == Unfinished(specs[1].slug, "host_disk_full: no space")
    assert all(isinstance(found[number], BuiltTask) for number in (0, 2))


def test_a_bug_ends_its_task_with_a_traceback(
    make_kit: MakeKit, specs: list[TaskSpec], do: Do
) -> None:
    async def step(spec: TaskSpec, kit: Kit) -> Any:
        raise KeyError("surprise")

    ((_, outcome),) = do(outcomes(specs[:1], make_kit(), step))
    assert isinstance(outcome, Unfinished)
    assert (outcome.slug, outcome.bug) == (specs[0].slug, True)
    assert outcome.reason.startswith("Traceback")
    assert "KeyError: 'surprise'" in outcome.reason


def test_misconfigured_ends_the_run(make_kit: MakeKit, specs: list[TaskSpec], do: Do) -> None:
    async def step(spec: TaskSpec, kit: Kit) -> Any:
        raise Misconfigured("no such thing")

    with pytest.raises(Misconfigured, match="no such thing"):
        do(outcomes(specs, make_kit(), step))


def test_a_run_gives_up_when_everything_fails(
    make_kit: MakeKit, specs: list[TaskSpec], do: Do
) -> None:
    fed: list[int] = []

    async def step(spec: TaskSpec, kit: Kit) -> Any:
        fed.append(spec.index)
        raise EngineDown("gone")

    stop = Stop()
    found = do(outcomes(specs * 2, make_kit(sets=("engine.in_flight=1",)), step, stop))
    assert len(found) == len(fed) == GIVE_UP == 8
    assert stop.drain


def test_a_spent_budget_ends_the_feeding_at_once(
    make_kit: MakeKit, specs: list[TaskSpec], do: Do
) -> None:
    async def step(spec: TaskSpec, kit: Kit) -> Any:
        if spec.index == specs[2].index:
            raise BudgetSpent("the budget is spent")
        return Rejection(spec=spec, slug=spec.slug, step="noop", code="noop:x", detail="")

    stop = Stop()
    found = do(outcomes(specs, make_kit(sets=("engine.in_flight=1",)), step, stop))
    assert len(found) == 3
    reason = "budget_spent: the budget is spent"
    assert found[-1][1] == Unfinished(specs[2].slug, reason, stops=True)
    assert stop.drain


def test_one_good_task_in_between_keeps_the_run_going(
    make_kit: MakeKit, specs: list[TaskSpec], do: Do
) -> None:
    async def step(spec: TaskSpec, kit: Kit) -> Any:
        if spec.index % 4 == 3:
            return Rejection(spec=spec, slug=spec.slug, step="noop", code="noop:x", detail="")
        raise EngineDown("gone")

    found = do(outcomes(specs * 2, make_kit(sets=("engine.in_flight=1",)), step))
    assert len(found) == 24


# -- bounded -----------------------------------------------------------------------------------


async def gathered(call: Any, items: Any, limit: int, stop: Stop) -> list[Any]:
    return [value async for value in bounded(call, items, limit, stop)]


@pytest.mark.parametrize("limit", [1, 2, 5, 100])
def test_no_more_than_the_limit_runs_at_once_and_nothing_is_lost(limit: int, do: Do) -> None:
    running, most = 0, 0

    async def call(item: int) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001 * (item % 3))
        running -= 1
        return item

    found = do(gathered(call, range(20), limit, Stop()))
    assert sorted(found) == list(range(20))
    assert most == min(limit, 20)
    if limit == 1:
        assert found == list(range(20))


def test_results_come_in_order_of_completion(do: Do) -> None:
    async def scene() -> list[int]:
        gates = [asyncio.Event() for _ in range(3)]

        async def call(item: int) -> int:
            await gates[item].wait()
            return item

        found = []
        gates[2].set()
        async for value in bounded(call, range(3), 3, Stop()):
            found.append(value)
            gates[{2: 0, 0: 1, 1: 1}[value]].set()
        return found

    assert do(scene()) == [2, 0, 1]


def test_items_are_taken_only_when_there_is_room(do: Do) -> None:
    taken: list[int] = []

    def items() -> Any:
        for item in range(1000):
            taken.append(item)
            yield item

    async def call(item: int) -> int:
        return item

    async def scene() -> None:
        stop = Stop()
        async for value in bounded(call, items(), 4, stop):
            if value == 10:
                stop.drain = True

    do(scene())
    assert len(taken) < 20


def test_draining_finishes_what_is_in_work(do: Do) -> None:
    stop = Stop()

    async def call(item: int) -> int:
        stop.drain = True
        await asyncio.sleep(0.001)
        return item

    assert sorted(do(gathered(call, range(100), 3, stop))) == [0, 1, 2]


def test_an_error_cancels_the_rest_and_waits_for_them(
    do: Do, caplog: pytest.LogCaptureFixture
) -> None:
    ended: list[str] = []

    async def call(item: int) -> int:
        if item < 2:
            raise ValueError(str(item))
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("cancelled")
        return item

    with pytest.raises(ValueError, match=r"0|1"):
        do(gathered(call, range(9), 5, Stop()))
    assert ended == ["cancelled"] * 3
    import gc

    gc.collect()
    assert caplog.records == []  # no "exception was never retrieved" for the second one


def test_leaving_the_loop_leaves_nothing_running(
    make_kit: MakeKit, specs: list[TaskSpec], do: Do
) -> None:
    from contextlib import aclosing

    running = 0

    async def step(spec: TaskSpec, kit: Kit) -> Any:
        nonlocal running
        running += 1
        try:
            await asyncio.sleep(0 if spec.index == 0 else 60)
        finally:
            running -= 1
        return Rejection(spec=spec, slug=spec.slug, step="noop", code="noop:x", detail="")

    async def scene() -> None:
        with pytest.raises(OSError, match="disk"):
            async with aclosing(run(specs, make_kit(), Stop(), step)) as found:
                async for _ in found:
                    raise OSError("disk")
        assert running == 0

    do(scene())
