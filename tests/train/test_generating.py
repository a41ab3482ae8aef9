"""`envgen selfgen` as it is typed: a model that knows nothing, the trainer's sampler, containers.

That something is learnt from what is kept is shown on scripted models (tests/pipeline).
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from envgen.cli.selfgen import selfgen
from envgen.errors import Misconfigured
from envgen.ledger import Ledger
from tests.pipeline.conftest import engine_passed
from tests.train import tiny

__all__ = ["engine_passed"]
torch.set_num_threads(1)
SETS = [
    *("author.mend_rounds=0", "author.families=[archive_recovery]", "train.dtype=float32"),
    *("train.context=4096", "train.eval_attempts=2", "agent.steps=1", "agent.turn_tokens=8"),
]


def asked(folder: Path, model: str | None, **options: Any) -> None:
    selfgen(
        run="own",
        data=folder,
        model=model,
        n=1,
        held_out=1,
        profile="small",
        sampler="transformers",
        **{"sets": SETS, "as_json": True} | options,
    )


@pytest.mark.box
def test_a_round_of_a_model_that_knows_nothing(
    tmp_path: Path,
    engine_passed: Callable[[Path], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "runs" / "own"
    engine_passed(folder / "runs" / "held-out")
    model = tiny.tokenizer(tiny.model(tmp_path / "tiny", 320))
    asked(tmp_path, str(model))
    (row,) = json.loads(capsys.readouterr().out)
    assert row["weights"].startswith("own:tiny@")
    assert (row["specs"], row["kept"], row["steps"]) == (1, 0, 0)
    assert row["rejections"] == {"author:task": 1}
    assert "nothing to learn" in row["why_no_more"]
    assert row["held_out_before"]["attempts"] == 2
    assert row["held_out_before"]["passes"] == 0
    assert row["calls"] == 4  # the form, and three times anew
    ledger = Ledger(folder / "runs" / "round-1")
    spent = {each.model: each for each in ledger.attempts.table()}
    ledger.close()
    assert list(spent) == [row["weights"]]
    assert spent[row["weights"]].output == row["tokens_out"] > 0
    asked(tmp_path, None)  # the model, too, is in the run's configuration
    assert json.loads(capsys.readouterr().out) == [row]


@pytest.mark.parametrize(
    ("sets", "wanted"),
    [
        (["agent.tools=calls"], "cannot be trained"),
        (["train.model=nowhere"], "train.model: nowhere is no folder with a model"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_anything_is_written(
    tmp_path: Path, sets: list[str], wanted: str
) -> None:
    model = None if "model" in sets[0] else str(tiny.tokenizer(tiny.model(tmp_path / "tiny", 320)))
    with pytest.raises(Misconfigured, match=wanted):
        asked(tmp_path, model, sets=sets)
    assert not (tmp_path / "runs").exists()


def test_a_run_with_tasks_of_its_own_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "own"
    folder.mkdir(parents=True)
    (folder / "specs.parquet").write_bytes(b"")
    with pytest.raises(Misconfigured, match="'own' has tasks of its own: use another --run"):
        asked(tmp_path, "m")
