"""The wrapper around every engine (recorded, retried), and the double's conformance."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from envgen import bases, grade
from envgen.errors import EngineDown, EngineRefused, Fault, HostDiskFull, ImageMissing
from envgen.kit import Kit
from envgen.ledger import Blobs, Ledger, Use
from envgen.records import BaseImage, Image, Job, JobResult, TaskDraft
from envgen.sandbox import ATTEMPTS, Engine, Recorded, tag_of
from envgen.sandbox.scripted import Scripted, verdict

USE = Use("task", "step")
Do = Callable[[Awaitable[Any]], Any]


class Stormy:
    """A script that raises what it is given, one after another, and then answers."""

    def __init__(self, *troubles: Exception) -> None:
        self.troubles, self.calls = list(troubles), 0

    def __call__(self, job: Job) -> JobResult:
        self.calls += 1
        if self.troubles:
            raise self.troubles.pop(0)
        return JobResult(status="done", exit_code=0, output="")


def recorded(folder: Path, script: Stormy) -> Recorded:
    ledger = Ledger(folder)
    engine = Scripted(ledger.blobs, script)
    engine.images.add("ref")
    return Recorded(engine, ledger)


def job(name: str = "x") -> Job:
    return Job(image=name, image_ref="ref", command=("true",))


def test_weather_is_retried_and_then_recorded_once(tmp_path: Path, do: Do) -> None:
    script = Stormy(EngineDown("gone"), EngineRefused("500"))
    sandbox = recorded(tmp_path, script)
    _, result = do(sandbox.run(job(), USE))
    do(sandbox.run(job(), USE))
    assert (script.calls, result.ok, sandbox.ledger.made) == (3, True, 1)
    sandbox.ledger.close()


def test_waiting_for_a_place_is_no_time_of_the_work(tmp_path: Path, do: Do) -> None:
    class Slow(Scripted):
        slots = 1
        at_once = most = 0

        async def run(self, job: Job) -> JobResult:
            self.at_once += 1
            self.most = max(self.most, self.at_once)
            await asyncio.sleep(0.1)
            self.at_once -= 1
            return JobResult(status="done", exit_code=0, output="")

    async def all_at_once() -> None:
        await asyncio.gather(*(sandbox.run(job(str(n)), Use("t", "s")) for n in range(6)))

    ledger = Ledger(tmp_path)
    engine = Slow(ledger.blobs)
    sandbox = Recorded(engine, ledger)
    do(all_at_once())
    (spent,) = ledger.spending.by_step()
    assert (engine.most, spent.times) == (1, 6)
    assert 0.6 <= spent.seconds < 6 * 0.2  # with the waiting it would be 2.1


def test_weather_that_stays_comes_through_after_the_last_attempt(tmp_path: Path, do: Do) -> None:
    script = Stormy(*(EngineDown(str(n)) for n in range(9)))
    sandbox = recorded(tmp_path, script)
    with pytest.raises(EngineDown):
        do(sandbox.run(job(), USE))
    assert script.calls == ATTEMPTS == 5
    assert (sandbox.ledger.made, sandbox.ledger.recalled) == (0, 0)
    sandbox.ledger.close()


@pytest.mark.parametrize(
    "trouble",
    [
        HostDiskFull("full"),
        ImageMissing("gone"),
        Fault("build:failed", "exit 1"),
        ValueError("bug"),
    ],
    ids=lambda trouble: type(trouble).__name__,
)
def test_what_trying_again_cannot_mend_is_tried_once(
    tmp_path: Path, do: Do, trouble: Exception
) -> None:
    script = Stormy(trouble)
    sandbox = recorded(tmp_path, script)
    with pytest.raises(type(trouble)):
        do(sandbox.run(job(), USE))
    assert (script.calls, sandbox.ledger.made) == (1, 0)
    sandbox.ledger.close()


def test_an_image_is_built_once_and_again_when_it_was_lost(
    scripted: Kit, golden: TaskDraft, do: Do
) -> None:
    sandbox, engine = scripted.sandbox, scripted.sandbox.engine
    assert isinstance(engine, Scripted)
    base = do(scripted.bases.get("data_querying", ("jq",)))
    request = grade.image_request(golden, base)
    for _ in range(2):
        key, image = do(sandbox.image(request, USE))
    assert engine.asked["build"] == 1
    engine.images.clear()
    assert not engine.has(image)
    sandbox.forget_image(request)
    assert do(sandbox.image(request, USE)) == (key, image)
    assert (engine.asked["build"], engine.has(image)) == (2, True)


def test_tags_are_names_that_engines_take() -> None:
    tag = tag_of("sha256:" + "0123456789abcdef" * 4)
    assert tag == "envgen/task:0123456789abcdef0123456789abcdef01234567"


# -- the double keeps the protocol -------------------------------------------------------------


def test_the_double_has_the_protocols_members_and_signatures(tmp_path: Path) -> None:
    engine = Scripted(Blobs(tmp_path))
    members = {n: m for n, m in inspect.getmembers(Engine, inspect.isfunction) if n[0] != "_"}
    assert set(members) == {
        *("base", "build", "run", "open", "publish", "discard", "has", "keep_only", "close")
    }
    for name, member in members.items():
        ours = getattr(Scripted, name)
        assert inspect.signature(ours) == inspect.signature(member), name
        assert inspect.iscoroutinefunction(ours) == inspect.iscoroutinefunction(member), name
    assert {name for name in inspect.get_annotations(Engine)} == {"description", "cpus", "slots"}
    assert (engine.description, engine.cpus, engine.slots) == ("scripted", 2, 1024)


def test_the_double_behaves_like_an_engine(tmp_path: Path, golden: TaskDraft, do: Do) -> None:
    engine = Scripted(Blobs(tmp_path))

    async def scene() -> None:
        recipe = bases.recipe("data_querying", ("jq",))
        base = await engine.base(recipe)
        assert isinstance(base, BaseImage)
        assert base == await engine.base(recipe)  # listed anew, the same content
        request = grade.image_request(golden, base)
        image, again = await engine.build(request), await engine.build(request)
        assert isinstance(image, Image)
        assert (image.content, image.layers) == (again.content, again.layers)
        assert image.ref == tag_of(request.digest)
        assert engine.has(image)
        ran = Job(image=image.content, image_ref=image.ref, command=("true",))
        assert (await engine.run(ran)).ok
        await engine.discard(image)
        assert not engine.has(image)
        with pytest.raises(ImageMissing):
            await engine.run(ran)
        await engine.build(request)
        engine.keep_only({image.ref})
        assert engine.has(image)
        engine.keep_only(set())
        assert not engine.has(image)
        assert (await engine.run(ran.model_copy(update={"image_ref": base.ref}))).ok
        engine.close()

    do(scene())
    assert engine.asked == {"base": 2, "build": 3, "run": 3}


@pytest.mark.parametrize(("reward", "passed"), [(0.0, False), (0.5, False), (1.0, True)])
def test_scripted_verdicts_are_what_a_grader_leaves(reward: float, passed: bool) -> None:
    result = JobResult(status="done", exit_code=0, output="", collected=verdict(reward))
    score = grade.score_of(result)
    assert (score.reward, score.passed, score.invalid) == (reward, passed, "")


# -- what a grading job left, as a verdict -----------------------------------------------------

LEFT: dict[str, tuple[dict[str, Any], str]] = {
    "nothing": ({}, "no_reward: exit 0"),
    "not a number": ({"reward.txt": "full"}, "reward_unreadable"),
    "NaN": ({"reward.txt": "nan"}, "reward_out_of_range"),
    "infinite": ({"reward.txt": "inf"}, "reward_out_of_range"),
    "too much": ({"reward.txt": "1.5"}, "reward_out_of_range"),
    "negative": ({"reward.txt": "-1"}, "reward_out_of_range"),
    "report is no JSON": ({"reward.txt": "1", "report.json": "{"}, "report_unreadable"),
    "report nests": ({"reward.txt": "1", "report.json": "[" * 100_000}, "report_unreadable"),
    "report is missing": ({"reward.txt": "1"}, "report_unreadable"),
    "report is a list": ({"reward.txt": "1", "report.json": "[]"}, "report_unreadable"),
    "checks are odd": (
        {"reward.txt": "1", "report.json": '{"checks": [{"name": "x", "score": 7}]}'},
        "report_unreadable",
    ),
    "reason is given": ({"report.json": '{"error": "check.py raised"}'}, "check.py raised"),
}


@pytest.mark.parametrize(("files", "reason"), LEFT.values(), ids=LEFT)
def test_a_grader_that_left_no_verdict_is_invalid(files: dict[str, str], reason: str) -> None:
    result = JobResult(status="done", exit_code=0, output="", collected=tuple(files.items()))
    score = grade.score_of(result)
    assert score.reward is None
    assert reason in score.invalid


@pytest.mark.parametrize(
    ("status", "code", "files", "verdict"),
    [
        ("memory", 137, {}, "memory"),
        ("memory", 137, {"report.json": ""}, "memory"),
        ("memory", 3, {"report.json": '{"error": "MemoryError: "}'}, "memory"),
        ("memory", 3, {"report.json": '{"error": "OSError: [Errno 12] no"}'}, "memory"),
        ("disk", 3, {"report.json": '{"error": "OSError: [Errno 28] no"}'}, "disk"),
        (
            "memory",
            3,
            {"report.json": '{"error": "KeyError: 7"}'},
            "no_reward: exit 3: KeyError: 7",
        ),
    ],
)
def test_a_grader_is_starved_or_broken(
    status: Any, code: int, files: dict[str, str], verdict: str
) -> None:
    left = tuple(files.items())
    score = grade.score_of(JobResult(status=status, exit_code=code, output="", collected=left))
    assert (score.invalid or score.checks[0].name) == verdict
    assert score.reward == (None if score.invalid else 0.0)


def test_a_grader_that_did_not_end_is_invalid() -> None:
    result = JobResult(status="timeout", exit_code=None, output="x", collected=verdict(1.0))
    assert grade.score_of(result).invalid == "verifier_timeout: x"


def test_a_base_is_made_once_however_many_ask(scripted: Kit, do: Do) -> None:
    async def crowd() -> list[BaseImage]:
        return await asyncio.gather(*(scripted.bases.get("security") for _ in range(20)))

    assert len({base.ref for base in do(crowd())}) == 1
    assert scripted.sandbox.engine.asked["base"] == 1  # type: ignore[attr-defined]
