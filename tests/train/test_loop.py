"""The loop on a scripted player: it steps, measures, keeps, and goes on exactly where it was."""

import asyncio
import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch

from envgen.config import TrainConfig
from envgen.errors import SamplerDown, TooManyFaults
from envgen.train.batch import OBSERVED, Rollout
from envgen.train.checkpoints import latest
from envgen.train.inference import Engine
from envgen.train.loop import CHECKPOINTS, METRICS, Training
from envgen.train.policy import Learner
from envgen.train.rollouts import NoBatch, Play
from tests.train import tiny

torch.set_num_threads(1)
Do = Callable[[Coroutine[Any, Any, Any]], Any]
TASKS = tuple("abcdefgh")
KILLS = os.environ.get("ENVGEN_KILLS", "") != ""


def scripted(engine: Engine) -> Play:
    """Episodes that depend on their names alone, so that two runs can be compared."""

    async def play(task: str, number: int, member: int) -> Rollout:
        await asyncio.sleep(0)
        draw = Random(f"{task}:{number}:{member}")
        ids = tuple(draw.randrange(64) for _ in range(6))
        anchor = (0.0, 0.0, *(-math.log(64) + draw.uniform(-1, 1) for _ in range(4)))
        if draw.random() < 0.1:
            return Rollout(ids, anchor, (OBSERVED,) * 2 + (0,) * 4, None, "sandbox_lost: gone")
        versions = (OBSERVED,) * 2 + (1000,) * 4
        return Rollout(
            ids, anchor, versions, float(draw.random() < 0.5), ended="submitted", turns=1
        )

    return play


def training(folder: Path, **changes: Any) -> Training:
    fields = {
        "model": str(folder / "model"),
        "dtype": "float32",
        "sampler": "transformers",
        "steps": 4,
        "group": 4,
        "groups": 2,
        "ahead": 2,
        "learning_rate": 1e-3,
        "save_every": 2,
        "eval_every": 2,
        "eval_attempts": 3,
    }
    settings = TrainConfig(**(fields | changes))
    if not (folder / "model").exists():
        tiny.model(folder / "model")
    return Training(settings, folder / "out", TASKS[:6], TASKS[6:], scripted, [(1, 2, 3)])


def trained(folder: Path) -> list[torch.Tensor]:
    found = latest(folder / "out" / CHECKPOINTS)
    assert found is not None
    state = torch.load(found / "trainer.pt", weights_only=True)
    return [*state["trained"], *(v["exp_avg"] for v in state["optimiser"]["state"].values())]


def metrics(folder: Path) -> list[dict[str, float]]:
    rows = [json.loads(line) for line in (folder / "out" / METRICS).read_text().splitlines()]
    return [{k: v for k, v in row.items() if not k.startswith("seconds_")} for row in rows]


def same(one: Path, other: Path) -> bool:
    pairs = zip(trained(one), trained(other), strict=True)
    return metrics(one) == metrics(other) and all(torch.equal(a, b) for a, b in pairs)


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory, do: Do) -> Path:
    """Four steps without a break."""
    folder = tmp_path_factory.mktemp("straight")
    assert do(training(folder).run()) == 4
    return folder


def test_what_a_run_leaves(straight: Path) -> None:
    rows = metrics(straight)
    assert [row["step"] for row in rows] == [0, 1, 2, 3, 4]
    assert [row["step"] for row in rows if "held_out_solved" in row] == [0, 2, 4]
    held = rows[0]
    assert held["held_out_episodes"] + held["held_out_faults"] == 2 * 3
    for row in rows[1:]:
        assert row["groups_useful"] == 2
        assert row["stepped"] == 1
        assert 0 < row["tokens"] <= 2 * 4 * 4
        assert row["masked_rollouts"] == row.get("fault_sandbox_lost", 0)
        assert row["ended_submitted"] == row["rollouts"] - row["masked_rollouts"]
        assert row["rollouts"] % 4 == 0
        assert 3 < row["entropy"] <= math.log(64)
        assert row["turns"] == 1
    kept = sorted(p.name for p in (straight / "out" / CHECKPOINTS).iterdir())
    assert kept == ["step-2", "step-4"]
    assert list((straight / "out" / "tensorboard").glob("events.*"))
    raw = (straight / "out" / METRICS).read_text().splitlines()[-1]
    assert {"seconds_rollouts", "seconds_optimiser", "seconds_weights"} <= json.loads(raw).keys()


def test_a_run_that_was_stopped_ends_the_same(tmp_path: Path, straight: Path, do: Do) -> None:
    first = training(tmp_path)
    first.stop = lambda: len(metrics(tmp_path)) >= 4  # after step 3
    assert do(first.run()) == 3
    assert do(training(tmp_path).run()) == 4
    assert same(tmp_path, straight)
    assert do(training(tmp_path).run()) == 4  # nothing is left to do
    assert same(tmp_path, straight)


def curve(folder: Path, name: str) -> list[int]:
    """Steps of a curve, as TensorBoard shows it."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder / "out" / "tensorboard")).Reload()
    return [event.step for event in events.Scalars(name)]


@pytest.mark.parametrize("killed", [True, False])
def test_the_beginning_is_noted_once(tmp_path: Path, straight: Path, do: Do, killed: bool) -> None:
    """Killed before there is any checkpoint, or stopped before the first step."""
    first = training(tmp_path)
    if killed:

        def dying(phase: str, row: dict[str, float]) -> None:
            if phase == "optimiser" and len(metrics(tmp_path)) == 2:
                raise SamplerDown("the engine is gone")

        first.watch = dying
        with pytest.raises(SamplerDown):
            do(first.run())
        assert [row["step"] for row in metrics(tmp_path)] == [0, 1]
    else:
        first.stop = lambda: True
        assert do(first.run()) == 0
        assert [row["step"] for row in metrics(tmp_path)] == [0]
    assert (latest(tmp_path / "out" / CHECKPOINTS) is None) == killed
    assert do(training(tmp_path).run()) == 4
    assert same(tmp_path, straight)
    assert curve(tmp_path, "held/out_solved") == [0, 2, 4]
    assert curve(tmp_path, "solved") == [1, 2, 3, 4]


def test_a_checkpoint_is_written_once(
    tmp_path: Path, do: Do, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the last step is one at which it is saved, and when the run is called again."""
    written, checkpoint = [], Learner.checkpoint

    def counted(learner: Learner, folder: Path, extra: dict[str, Any]) -> None:
        written.append(folder.name)
        checkpoint(learner, folder, extra)

    monkeypatch.setattr(Learner, "checkpoint", counted)
    for _ in range(2):
        assert do(training(tmp_path, steps=2).run()) == 2
        assert written == ["step-2"]
    assert do(training(tmp_path, steps=3).run()) == 3
    assert written == ["step-2", "step-3"]


PHASES = ("rollouts", "optimiser", "weights", "evaluation", "metrics", "checkpoint")


@pytest.mark.parametrize("phase", PHASES if KILLS else ("optimiser", "checkpoint"))
def test_a_run_that_was_killed_ends_the_same(
    tmp_path: Path, straight: Path, do: Do, phase: str
) -> None:
    """Killed before a phase of step 4 (the evaluation's and the checkpoint's step, as step 2)."""
    script = (
        "import asyncio, os, signal, sys; from pathlib import Path\n"
        "from tests.train.test_loop import training\n"
        "run, left = training(Path(sys.argv[1])), [2 if sys.argv[2] in "
        "('evaluation', 'checkpoint') else 4]\n"
        "def watch(phase, row):\n"
        "    left[0] -= phase == sys.argv[2]\n"
        "    if left[0] == 0: os.kill(os.getpid(), signal.SIGKILL)\n"
        "run.watch = watch\n"
        "asyncio.run(run.run())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path), phase], capture_output=True, text=True
    )
    assert done.returncode == -signal.SIGKILL, done.stderr[-2000:]
    assert do(training(tmp_path).run()) == 4
    assert same(tmp_path, straight)


def test_when_most_sandboxes_fail_it_stops_and_goes_on_later(
    tmp_path: Path, straight: Path, do: Do
) -> None:
    """60 % of the sandboxes fail from step 3 on: no step is taken on what is left."""
    broken = training(tmp_path)
    steps: list[int] = []
    broken.watch = lambda phase, row: steps.append(1) if phase == "metrics" else None

    def failing(engine: Engine) -> Play:
        play = scripted(engine)

        async def one(task: str, number: int, member: int) -> Rollout:
            done = await play(task, number, member)
            if len(steps) >= 3 and number >= 0 and Random(f"{number}:{member}").random() < 0.6:
                return Rollout(done.ids, done.logprobs, done.versions, None, "engine_down: refused")
            return done

        return one

    broken.play = failing
    with pytest.raises(TooManyFaults, match=r"engine_down \d"):
        do(broken.run())
    assert do(training(tmp_path).run()) == 4
    assert same(tmp_path, straight)


def test_when_nothing_is_left_to_learn_the_steps_are_kept(tmp_path: Path, do: Do) -> None:
    """From step 2 on every task is always solved: the run ends, and what was done stays."""
    run = training(tmp_path, save_every=100, alarm_seconds=2)

    def easy(engine: Engine) -> Play:
        play = scripted(engine)

        async def one(task: str, number: int, member: int) -> Rollout:
            if number >= 0 and len(metrics(tmp_path)) >= 2:
                await asyncio.sleep(0.01)
                return replace(await play(task, number, member), reward=1.0, fault="")
            return await play(task, number, member)

        return one

    run.play = easy
    with pytest.raises(NoBatch, match="all_one"):
        do(run.run())
    found = latest(tmp_path / "out" / CHECKPOINTS)
    assert found is not None
    assert found.name == f"step-{len(metrics(tmp_path)) - 1}" != "step-0"


def test_a_sampler_that_dies_ends_the_run(tmp_path: Path, do: Do) -> None:
    run = training(tmp_path)

    def dying(engine: Engine) -> Play:
        play = scripted(engine)

        async def one(task: str, number: int, member: int) -> Rollout:
            if number == 9:
                raise SamplerDown("the engine is gone")
            return await play(task, number, member)

        return one

    run.play = dying
    with pytest.raises(SamplerDown, match="gone"):
        do(run.run())
