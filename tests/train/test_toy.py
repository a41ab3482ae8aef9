"""The tiny task, learnt in real sandboxes under the real grader.

By default a few steps with the transformers sampler, which must move the solve rate. With
ENVGEN_TOY=SEED (or several: 0,1,2) until it is learnt, with ENVGEN_TOY_SAMPLER as the sampler.
"""

import json
import os
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import torch

from envgen.kit import Kit
from envgen.records import TaskDraft
from envgen.sandbox.pool import Pool
from envgen.train.episodes import playing
from envgen.train.inference import Engine
from envgen.train.loop import METRICS, Training
from envgen.train.rollouts import Play
from tests.train import toy

torch.set_num_threads(1)
Do = Callable[[Coroutine[Any, Any, Any]], Any]
SEEDS = tuple(map(int, filter(None, os.environ.get("ENVGEN_TOY", "").split(","))))
SAMPLER = os.environ.get("ENVGEN_TOY_SAMPLER", "transformers")
MINUTES = 10

pytestmark = pytest.mark.box


def metrics(folder: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (folder / METRICS).read_text().splitlines()]


def training(kit: Kit, do: Do, folder: Path, seed: int, **changes: Any) -> Training:
    model = toy.warm(folder / "model", seed)
    config = toy.settings(model, seed=seed, **changes)
    known: dict[str, tuple[TaskDraft, Any]] = do(toy.tasks(kit))
    own = Kit(config, kit.sandbox, kit.bases)
    pool = Pool(kit.sandbox.engine, 8)

    def play(engine: Engine) -> Play:
        return playing(known, own, pool, toy.WordChat(), engine)

    return Training(
        settings=config.train,
        folder=folder / "out",
        training=tuple(known),
        held_out=(),
        play=play,
        probes=[(toy.TASK, toy.FIRST_FILE + n, toy.ASK) for n in range(4)],
    )


def solved(rows: list[dict[str, float]], last: int = 3) -> float:
    recent = rows[-last:]
    return sum(row["solved"] for row in recent) / max(len(recent), 1)


def test_a_few_steps_in_real_sandboxes(kit: Kit, do: Do, tmp_path: Path) -> None:
    run = training(kit, do, tmp_path, 0, steps=2, group=4, groups=2, ahead=1)
    do(run.run())
    first, last = metrics(tmp_path / "out")
    assert 0 < first["solved"] < 0.8
    assert first["gap_fresh"] < 1e-4
    for row in (first, last):
        assert row["groups_useful"] == 2
        assert row["stepped"] == 1
        assert row["masked_rollouts"] == 0
        assert row["ended_submitted"] > 0


@pytest.mark.skipif(not SEEDS, reason="ENVGEN_TOY names no seed")
@pytest.mark.parametrize("seed", SEEDS)
def test_it_is_learnt(kit: Kit, do: Do, tmp_path: Path, seed: int) -> None:
    began = time.monotonic()
    run = training(kit, do, tmp_path, seed, steps=200, sampler=SAMPLER)
    out = tmp_path / "out"

    def told(phase: str, row: dict[str, float]) -> None:
        if phase == "metrics":
            names = ("solved", "entropy", "lag", "gap_fresh", "seconds_rollouts", "tokens")
            line = " ".join(f"{n}={row[n]:.3g}" for n in names if n in row)
            print(f"{time.monotonic() - began:6.1f} s {line}", flush=True)

    run.watch = told
    run.stop = lambda: (
        (solved(metrics(out)) >= 0.95 and len(metrics(out)) >= 3)
        or time.monotonic() - began > MINUTES * 60
    )
    steps = do(run.run())
    rows = metrics(out)
    print(
        f"seed {seed}: {rows[0]['solved']:.3f} -> {solved(rows):.3f}, {steps} steps, "
        f"{time.monotonic() - began:.0f} s, {sum(r['rollouts'] for r in rows):.0f} episodes"
    )
    assert rows[0]["solved"] <= 0.4
    assert solved(rows) >= 0.95
    assert time.monotonic() - began < MINUTES * 60
