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
