"""Self-generation on scripted models and engines: rounds, their table, going on after a kill."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from envgen import axes, config, report, tables, web
from envgen.authors.llm.example import example_of
from envgen.authors.procedural import family_of
from envgen.errors import Misconfigured
from envgen.kit import Bases, Kit, _roles
from envgen.ledger import Ledger
from envgen.llm.opened import open_models
from envgen.pipeline import Stop
from envgen.records import Completion, Job, JobResult, Request, Usage
from envgen.rounds import Row
from envgen.runs import RunFolder
from envgen.sandbox import Recorded
from envgen.sandbox.scripted import Scripted, verdict
from envgen.selfgen import HELD_OUT, Learnt, RoundUnfinished, Selfgen, Tools, name_of
from envgen.tally import Tally
from tests.agent.conftest import Engine
from tests.pipeline.small_writer import filled

TASKS, HELD, STEPS, ATTEMPTS = 4, 3, 2, 4
SETS = (
    f"sample.n={TASKS}",
    "author.profile=small",
    "audit.probes=false",
    f"train.eval_attempts={ATTEMPTS}",
    f"train.steps={STEPS}",
)


class Killed(BaseException):
    """Nothing catches it, as nothing catches SIGKILL."""


class World:
    """What outlives a process: a folder, the engine's images; and what was asked of whom.

    A model of `level` n solves n of four attempts. Training raises the level by a step each.
    """

    def __init__(self, folder: Path, *sets: str) -> None:
        self.path = folder
        self.model = folder / "model"
        self.model.mkdir(parents=True)
        (self.model / "model.safetensors").write_text("1")
        self.folder = RunFolder(folder / "run")
        self.folder.path.mkdir()
        held = self.folder.path / "runs" / "held-out"
        held.mkdir(parents=True)
        (held / "engine.txt").write_text(Scripted.description)
        self.settings = config.load(None, [*SETS, f"train.model={self.model}", *sets])
        self.images: dict[Path, set[str]] = {}
        self.answers: Counter[str] = Counter()
        self.requests: list[tuple[str, Request]] = []
        self.begun: list[str] = []
        self.kill = ""
        """The phase before which the process dies."""

    def rounds(self, number: int) -> list[Row]:
        tools = Tools(self.kits, self.voice, self.learn, self.watch)
        run = Selfgen(self.folder, self.settings, HELD, tools, Stop())
        return asyncio.run(run.run(number))

    def phase(self, name: str) -> None:
        self.begun.append(name)
        if name == self.kill:
            self.kill = ""
            raise Killed(name)

    @asynccontextmanager
    async def kits(self, settings: Any, path: Path, own: Any) -> AsyncIterator[Kit]:
        ledger = Ledger(path)
        engine = Engine(ledger.blobs, lambda job: grade(engine, job))
        engine.images = self.images.get(path, set())
        try:
            async with open_models(_roles(settings), settings.llm, ledger, own=own) as models:
                yield Kit(settings, Recorded(engine, ledger), Bases(engine), models)
        finally:
            self.images[path] = engine.images
            ledger.close()

    @asynccontextmanager
    async def voice(self, weights: Path) -> AsyncIterator["Own"]:
        yield Own(self, int((weights / "model.safetensors").read_text()))

    async def learn(self, folder: RunFolder, settings: Any, target: int) -> Learnt:
        self.phase("training")
        assert settings.author.model is None  # nobody is asked while it trains
        train = self.folder.path / "train"
        (train / "weights").mkdir(parents=True, exist_ok=True)
        (train / "weights" / "model.safetensors").write_text(str(1 + target))
        rows = [
            {"step": s, "rollouts": 8, "tokens": 100, "solved": s / 10, "seconds_rollouts": 1.0}
            for s in range(1, target + 1)
        ]
        (train / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        self.phase("weights")
        return Learnt(target)

    @contextmanager
    def watch(self, title: str, total: int) -> Iterator[Callable[[Tally], None]]:
        self.phase(title.partition("@")[0])
        yield lambda tally: None


class Own:
    """A model of this process."""

    def __init__(self, world: World, level: int) -> None:
        self.world, self.level = world, level

    async def complete(self, request: Request) -> Completion:
        text = self.said(request)
        self.world.answers[f"{request.model} {request.digest}"] += 1
        self.world.requests.append((request.model, request))
        return Completion(
            text=text, finish="stop", usage=Usage(input=10, output=1), model=request.model
        )

    def said(self, request: Request) -> str:
        if request.as_is:
            if len(request.messages) > 2:
                return "```bash\nsubmit\n```"
            return f"```bash\n{'right' if request.sample < self.level else 'wrong'}\n```"
        if request.answer_schema:
            return filled(request)
        return "```\nexit\n```"


def grade(engine: Engine, job: Job) -> JobResult:
    """Work that says that it is wrong earns nothing; anything else is as a sound task has it."""
    if job.collect and job.restore and b"wrong" in engine.blobs.get(job.restore):
        return JobResult(status="done", exit_code=0, output="", collected=verdict(0.0))
    return engine.sound(job)


def facts(rows: list[Row]) -> list[Row]:
    """Without what the clock says."""
    return [
        {name: value for name, value in row.items() if not name.startswith("seconds")}
        for row in rows
    ]


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> tuple[World, list[Row]]:
    world = World(tmp_path_factory.mktemp("straight"))
    return world, world.rounds(2)


def test_two_rounds_write_play_and_train(straight: tuple[World, list[Row]]) -> None:
    _, rows = straight
    first, second = rows
    for row in rows:
        assert row["specs"] == TASKS
        assert row["built"] == sum(row["labels"].values())
        assert 0 < row["kept"] == row["built"] <= TASKS
        assert row["yield"] == row["kept"] / TASKS
        assert row["steps"] == STEPS
        assert row["episodes"] == 8 * STEPS
        assert row["tokens_trained"] == 100 * STEPS
        assert row["tokens_in"] == 10 * row["calls"]
        assert row["tokens_out"] == row["calls"] > 2 * ATTEMPTS * row["kept"]
        assert row["why_no_more"] == ""
    assert (first["version"], second["version"]) == (STEPS, 2 * STEPS)
    assert (first["solved_first"], first["solved_last"], second["solved_first"]) == (0.1, 0.2, 0.3)
    # the first weights solve one of four attempts, those after two steps three
    assert first["pass_rate"]["rate"] == first["held_out_before"]["rate"] == 1 / 4
    assert first["held_out_after"] == second["held_out_before"]
    assert second["pass_rate"]["rate"] == second["held_out_before"]["rate"] == 3 / 4
    assert second["held_out_after"]["rate"] == 1.0
    assert second["held_out_after"]["attempts"] == HELD * ATTEMPTS


def test_each_round_asks_the_weights_that_it_has(straight: tuple[World, list[Row]]) -> None:
    world, rows = straight
    assert max(world.answers.values()) == 1  # nothing is asked, or paid, twice
    first, second = rows[0]["weights"], rows[1]["weights"]
    assert first == name_of(world.model, str(world.model))
    assert first.startswith("own:model@")
    assert second not in (first, "")
    writers = [model for model, request in world.requests if not request.as_is]
    assert set(writers) == {first, second}
    assert len({model for model, _ in world.requests}) == 3  # the last weights only play
    ledger = Ledger(world.folder.path / "runs" / "round-1")
    steps = {s.step for s in ledger.spending.by_step() if s.kind == "completion"}
    ledger.close()
    assert steps == {"task", "solution", "verifier", "critic:review"}
    weights = sorted(path.name for path in (world.folder.path / "weights").iterdir())
    assert weights == ["round-2"]
    assert not (world.folder.path / "train" / "weights").exists()


def test_held_out_tasks_are_of_families_that_the_model_is_never_shown(
    straight: tuple[World, list[Row]],
) -> None:
    world, _ = straight
    runs = world.folder.path / "runs"
    held = axes.read_specs(runs / "held-out" / "specs.parquet")
    assert len(held) == HELD
    assert {family_of(spec, HELD_OUT).name for spec in held} <= set(HELD_OUT)
    for number in (1, 2):
        own = config.load(runs / f"round-{number}" / "config.yaml", [])
        assert set(own.author.families).isdisjoint(HELD_OUT)
        assert own.author.families
        for spec in axes.read_specs(runs / f"round-{number}" / "specs.parquet"):
            example = example_of(spec, own.author.families)
            assert example is None or example.family not in HELD_OUT
    first, second = (axes.read_specs(runs / f"round-{n}" / "specs.parquet") for n in (1, 2))
    assert {spec.digest for spec in first}.isdisjoint(spec.digest for spec in second)


def test_the_report_has_the_table(
    straight: tuple[World, list[Row]], capsys: pytest.CaptureFixture[str]
) -> None:
    world, rows = straight
    found = report.report(world.folder, world.settings)
    assert list(found.rounds) == rows
    assert [row["step"] for row in found.training] == [1, 2, 3, 4]
    capsys.readouterr()
    tables.report_tables(found)
    said = capsys.readouterr().out
    assert "self-generation" in said
    assert "training" in said
    assert "funnel" not in said
    page = web.report_page(found).html
    assert page.count("Self-generation") >= 1 and f"{rows[-1]['held_out_after']['passes']}/" in page


def test_a_run_that_is_done_asks_nothing_and_more_rounds_go_on(tmp_path: Path) -> None:
    world = World(tmp_path)
    rows = world.rounds(1)
    asked = len(world.requests)
    world.begun.clear()
    assert world.rounds(1) == rows
    assert world.begun == []
    assert len(world.requests) == asked
    again = world.rounds(2)
    assert again[:1] == rows
    assert len(again) == 2


PHASES = (
    "held-out tasks",
    "held-out tasks: own:model",
    "round 1: writes tasks",
    "round 1: plays them",
    "training",
    "weights",
    "round 2: writes tasks",
    "round 2: plays them",
)


@pytest.mark.parametrize("phase", PHASES)
def test_killed_before_any_phase_it_ends_in_the_same_table(
    tmp_path: Path, straight: tuple[World, list[Row]], phase: str
) -> None:
    before, rows = straight
    world = World(tmp_path)
    world.kill = phase
    with pytest.raises(Killed):
        world.rounds(2)
    assert facts(world.rounds(2)) == facts(rows)
    assert max(world.answers.values()) == 1
    assert world.answers.total() == before.answers.total()


def test_killed_before_a_round_is_noted_it_is_not_trained_twice(
    tmp_path: Path, straight: tuple[World, list[Row]]
) -> None:
    """The last evaluation of a round is its last phase: what follows is only noted."""
    world = World(tmp_path)
    seen: list[str] = []

    def watch(title: str, total: int) -> Any:
        seen.append(title)
        if len([t for t in seen if t.startswith("held-out tasks: ")]) == 2:
            raise Killed(title)
        return World.watch(world, title, total)

    world.watch = watch  # type: ignore[method-assign]
    with pytest.raises(Killed):
        world.rounds(1)
    assert (world.folder.path / "weights" / "round-1" / "model.safetensors").read_text() == "3"
    del world.watch  # type: ignore[attr-defined]
    assert facts(world.rounds(1)) == facts(straight[1][:1])
    assert world.begun.count("training") == 2  # asked again, which finds its steps done


def test_what_is_always_or_never_solved_trains_nothing(tmp_path: Path) -> None:
    world = World(tmp_path)
    (world.model / "model.safetensors").write_text("0")
    (row,) = world.rounds(1)
    assert "nothing to learn" in row["why_no_more"]
    assert (row["steps"], row["version"], row["solved_last"]) == (0, 0, None)
    assert row["pass_rate"]["passes"] == 0
    assert row["held_out_before"] == row["held_out_after"]
    assert "training" not in world.begun
    assert not (world.folder.path / "weights").exists()
    assert max(world.answers.values()) == 1  # the same weights are not measured twice


def test_a_round_without_a_task_is_a_row_all_the_same(tmp_path: Path) -> None:
    world = World(tmp_path, "author.mend_rounds=0")
    Own.said, said = (lambda self, r: said(self, r) if r.as_is else "nothing"), Own.said  # type: ignore[assignment,method-assign]
    try:
        (row,) = world.rounds(1)
    finally:
        Own.said = said  # type: ignore[method-assign]
    assert (row["kept"], row["built"], row["labels"], row["pass_rate"]) == (0, 0, {}, None)
    assert row["rejections"] == {"author:task": TASKS}
    assert row["held_out_before"]["attempts"] == HELD * ATTEMPTS


def test_a_training_that_was_stopped_leaves_its_round_open(tmp_path: Path) -> None:
    world = World(tmp_path)
    learn = world.learn

    async def stopped(*args: Any) -> Learnt:
        await learn(*args)
        return Learnt(1)

    world.learn = stopped  # type: ignore[method-assign]
    with pytest.raises(RoundUnfinished, match="training is not done: the same command goes on"):
        world.rounds(1)
    assert not (world.folder.path / "runs" / "round-1" / "round.json").exists()


def test_all_families_held_out_is_refused(tmp_path: Path) -> None:
    from envgen.authors.procedural import names

    world = World(tmp_path, f"author.families=[{','.join(names())}]")
    with pytest.raises(Misconfigured, match="holds all families out: leave one"):
        world.rounds(1)


def test_an_answer_of_other_weights_is_another_effect(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder, text in ((one, "a"), (two, "b")):
        folder.mkdir()
        (folder / "model.safetensors").write_text(text)
        (folder / "trainer.pt").write_text(text)
    assert name_of(one, "m") != name_of(two, "m")
    (two / "model.safetensors").write_text("a")
    assert name_of(one, "m") == name_of(two, "m")  # an optimiser's state is no part of a model
    (two / "chat_template.jinja").write_text("x")
    assert name_of(one, "m") != name_of(two, "m")
    assert name_of(one, "/a b/Qwen 2").startswith("own:Qwen-2@")
