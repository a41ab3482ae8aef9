"""Two processes that share a model in shards do what one does: gloo, on a CPU."""

import asyncio
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from envgen.cli.training import _followed
from envgen.config import RunConfig, TrainConfig
from envgen.errors import Misconfigured
from envgen.train.batch import OBSERVED, Rollout, Row
from envgen.train.checkpoints import STATE, latest
from envgen.train.loop import CHECKPOINTS, METRICS
from envgen.train.policy import Learner, follow
from tests.train import tiny
from tests.train.test_loop import training

torch.set_num_threads(1)
MORE = os.environ.get("ENVGEN_KILLS", "") != ""
SCRIPT = "import sys; from tests.train.test_ranks import {0}; {0}(*sys.argv[1:])"


def settings(model: Path, **changes: Any) -> TrainConfig:
    fields = {"model": str(model), "dtype": "float32", "learning_rate": 1e-3, "micro_tokens": 40}
    return TrainConfig(**(fields | {"beta": 0.01} | changes))


def rows(step: int, number: int = 7) -> list[Row]:
    """Of unlike lengths, so that ranks have unlike numbers of micro-batches."""
    draw = Random(step)
    found = []
    for place in range(number):
        ids = tuple(draw.randrange(64) for _ in range(4 + 3 * place))
        told = len(ids) // 2
        anchor = (0.0,) * told + tuple(-4 + draw.random() for _ in ids[told:])
        versions = (OBSERVED,) * told + (step,) * (len(ids) - told)
        found.append(Row(Rollout(ids, anchor, versions, 1.0), draw.uniform(-1, 1)))
    return found


def work(folder: str, checkpoint: str = "") -> None:
    """Three steps, measured and kept, in as many processes as there are; one row only in the last,
    so that a rank has nothing of its own."""
    out = Path(folder)
    learner = Learner(settings(out.parent / "model"))
    if learner.ranks.rank:
        return follow(learner)
    extra = learner.restore(Path(checkpoint)) if checkpoint else {}
    told: list[Any] = [extra, learner.gap(rows(0))]
    for step in range(3):
        done = learner.step(rows(step, 1 if step == 2 else 7))
        told.append([done.loss, done.norm, done.entropy, done.gap_fresh, *vars(done.sums).values()])
    learner.save(out / "weights")
    learner.checkpoint(out / "kept", {"taken": 3})
    (out / "told.json").write_text(json.dumps(told))
    learner.close()


def trained(folder: str, checkpoint: str = "") -> None:
    """The whole loop on rank 0, with scripted episodes; the command's way on the others."""
    run = training(Path(folder).parent, steps=2)
    run.folder = Path(folder)
    if not _followed(RunConfig(train=run.settings)):
        asyncio.run(run.run())


def started(what: str, folder: Path, ranks: int, checkpoint: str = "") -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    found = {"WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", SCRIPT.format(what), str(folder), checkpoint],
            env=os.environ | found | {"RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        for rank in range(ranks)
    ]  # fmt: skip
    for process in running:
        said, _ = process.communicate(timeout=150)
        assert process.returncode == 0, said[-3000:]


def ran(folder: Path, ranks: int, checkpoint: str = "") -> tuple[list[Any], dict[str, Any]]:
    folder.mkdir()
    if ranks == 1:
        work(str(folder), checkpoint)
    else:
        started("work", folder, ranks, checkpoint)
    return found_in(folder)


def found_in(folder: Path) -> tuple[list[Any], dict[str, Any]]:
    told = json.loads((folder / "told.json").read_text())
    return told, load_file(folder / "weights" / "model.safetensors")


def flat(told: list[Any]) -> torch.Tensor:
    return torch.tensor([x for part in told[1:] for x in part], dtype=torch.float64)


def same(one: tuple[list[Any], Any], other: tuple[list[Any], Any]) -> None:
    assert one[0][0] == other[0][0]
    torch.testing.assert_close(flat(one[0]), flat(other[0]), rtol=1e-5, atol=1e-6, equal_nan=True)
    for step in range(3):  # the losses
        assert one[0][2 + step][0] == pytest.approx(other[0][2 + step][0], abs=1e-6)
    assert one[1].keys() == other[1].keys()
    for name, value in one[1].items():
        torch.testing.assert_close(value, other[1][name], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("tied", [True, False] if MORE else [True])
def test_two_ranks_do_what_one_does(tmp_path: Path, tied: bool) -> None:
    """From the checkpoint of one process on; what they keep is the same."""
    tiny.model(tmp_path / "model", tied=tied)
    ran(tmp_path / "begun", 1)
    kept = str(tmp_path / "begun" / "kept")
    one, two = ran(tmp_path / "one", 1, kept), ran(tmp_path / "two", 2, kept)
    assert one[0][0] == {"taken": 3}
    same(one, two)
    mine, theirs = (
        torch.load(tmp_path / name / "kept" / STATE, weights_only=True) for name in ("one", "two")
    )
    assert theirs["version"] == mine["version"] == 6
    torch.testing.assert_close(theirs["trained"], mine["trained"], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(
        theirs["optimiser"]["state"], mine["optimiser"]["state"], rtol=1e-3, atol=1e-4
    )


@pytest.mark.skipif(not MORE, reason="ENVGEN_KILLS is not set")
def test_the_whole_loop_with_two_ranks(tmp_path: Path) -> None:
    tiny.model(tmp_path / "model")
    trained(str(tmp_path / "one"))
    started("trained", tmp_path / "two", 2)
    one, two = (
        [json.loads(line) for line in (tmp_path / name / METRICS).read_text().splitlines()]
        for name in ("one", "two")
    )
    assert [row["step"] for row in two] == [0, 1, 2]
    for mine, theirs in zip(one, two, strict=True):
        assert mine.keys() == theirs.keys()
        for name in {"loss", "gradient_norm", "entropy", "tokens", "solved"} & mine.keys():
            assert theirs[name] == pytest.approx(mine[name], rel=1e-4, abs=1e-6)
    assert latest(tmp_path / "two" / CHECKPOINTS).name == "step-2"  # type: ignore[union-attr]


def test_adapters_are_for_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from envgen.train import policy
    from envgen.train.ranks import Ranks

    monkeypatch.setattr(policy, "joined", lambda device: (Ranks(0, 2), torch.device("cpu")))
    with pytest.raises(Misconfigured, match=r"train\.lora_rank: adapters are for one process"):
        Learner(settings(tiny.model(tmp_path / "m"), lora_rank=4))
