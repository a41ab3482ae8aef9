"""The documented recipe is a configuration, and the defaults are its numbers."""

import re
from pathlib import Path

from envgen.config import load

DOCS = Path(__file__).parents[2] / "docs" / "training.md"


def test_the_documented_recipe_loads_and_has_the_published_numbers(tmp_path: Path) -> None:
    block = re.search(r"^```yaml\n(.*?)^```", DOCS.read_text(), re.M | re.S)
    assert block
    (tmp_path / "tmax.yaml").write_text(block[1])
    settings = load(tmp_path / "tmax.yaml", [])
    train, default = settings.train, load(None, []).train
    assert (train.group, train.groups, train.steps) == (32, 8, 500)
    assert (train.loss, train.delta, train.cap, train.beta) == ("tv", 0.1, None, 0)
    assert (train.learning_rate, train.clip_norm, train.weight_decay) == (1e-6, 1.0, 0)
    assert (train.ahead, train.stale, train.temperature) == (4, 4, 1.0)
    assert (train.context, settings.agent.steps, settings.agent.tokens) == (67_584, 64, 65_536)
    machine = {"device", "gradient_checkpointing", "sampler", "server"}
    other = {name for name, value in train if value != getattr(default, name)}
    assert other == machine
