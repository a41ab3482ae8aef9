"""What `envgen train` refuses before it holds the run."""

from pathlib import Path

import pytest

from envgen.cli.training import train
from envgen.errors import Misconfigured
from tests.agent.conftest import Bench
from tests.train import tiny


@pytest.mark.parametrize("model", [None, "nowhere"])
def test_a_model_that_is_not_there_is_named_before_anything_is_opened(
    bench: Bench, tmp_path: Path, model: str | None
) -> None:
    wanted = f"^train.model: {model or 'none'} is no folder with a model.*--model"
    with pytest.raises(Misconfigured, match=wanted):
        train(run="eval", data=tmp_path, model=model)
    assert not (bench.folder.path / "train").exists()


@pytest.mark.parametrize(
    ("setting", "way_out"),
    [("agent.tools=calls", "agent.tools=blocks"), ("agent.thinking=strip", "agent.thinking=keep")],
)
def test_an_agent_that_cannot_be_trained_is_refused_before_anything_is_opened(
    bench: Bench, tmp_path: Path, setting: str, way_out: str
) -> None:
    model = str(tiny.model(tmp_path / "m"))
    with pytest.raises(Misconfigured, match=f"cannot be trained: .* --set {way_out}"):
        train(run="eval", data=tmp_path, model=model, sets=[setting])
    assert not (bench.folder.path / "train").exists()
