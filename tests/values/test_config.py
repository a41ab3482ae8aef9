"""One configuration: defaults, file, --set, flags; and what every mistake is told."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from envgen.config import RunConfig, load, save
from envgen.errors import Misconfigured


def written(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "settings.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_defaults() -> None:
    config = load(None, [])
    assert config == RunConfig()
    assert (config.sample.n, config.sample.seed, config.gates.repeats) == (12, 0, 2)
    assert config.author.name == "procedural"


def test_flags_beat_sets_and_sets_beat_the_file(tmp_path: Path) -> None:
    file = written(tmp_path, "sample: {n: 1, seed: 1, preset: a}\n")
    config = load(file, ["sample.seed=2", "sample.n=2"], sample={"n": 3, "seed": None})
    assert (config.sample.n, config.sample.seed, config.sample.preset) == (3, 2, "a")


def test_values_of_set_are_yaml() -> None:
    config = load(None, ["author.families=[a, b]", "sample.axes=null", "engine.url='unix://x=y'"])
    assert config.author.families == ("a", "b")
    assert config.sample.axes is None
    assert config.engine.url == "unix://x=y"
    assert load(None, ["sample.n=3", "sample.n=4"]).sample.n == 4


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n"])
def test_an_empty_file_is_the_defaults(tmp_path: Path, text: str) -> None:
    assert load(written(tmp_path, text), []) == RunConfig()


WRONG_SETS = {
    "unknown group": ("smaple.n=3", "unknown key smaple; known here: sample, author, engine"),
    "unknown key": ("sample.m=3", "unknown key sample.m; known here: n, seed, preset, axes"),
    "unknown key below a value": ("sample.n.x=3", "sample.n: Input should be a valid integer"),
    "wrong type": ("sample.n=many", "sample.n: Input should be a valid integer"),
    "too small": ("sample.n=0", "sample.n: Input should be greater than or equal to 1, got 0"),
    "negative seed": ("sample.seed=-1", "sample.seed: Input should be greater than or equal to 0"),
    "seed too large": (f"sample.seed={2**63}", "sample.seed: Input should be less than"),
    "huge n": ("sample.n=10000001", "sample.n: Input should be less than or equal to 10000000"),
    "no such choice": ("author.name=nobody", "author.name: Input should be 'procedural'"),
    "bad pattern": ("export.org=A B", "export.org: String should match pattern"),
    "no equals": ("sample.n", "--set 'sample.n': write it as group.key=value"),
    "no yaml": ("sample.n=[", "--set 'sample.n=[': the value is not YAML"),
    "a value for a group": ("sample=3", "sample: Input should be a valid dictionary"),
    "no name": ("=3", "unknown key"),
}


@pytest.mark.parametrize(("item", "message"), WRONG_SETS.values(), ids=WRONG_SETS)
def test_a_wrong_set_is_named(item: str, message: str) -> None:
    with pytest.raises(Misconfigured) as caught:
        load(None, [item])
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


WRONG_FILES: dict[str, tuple[str | bytes, str]] = {
    "unknown key": ("sample: {m: 3}", "unknown key sample.m (file "),
    "syntax": ("sample: [", "cannot be read: while parsing a flow"),
    "a list": ("- a\n", "the top level must be a mapping of groups"),
    "a word": ("hello\n", "the top level must be a mapping of groups"),
    "not UTF-8": (b"sample: \xff\xfe", "cannot be read: "),
    "control characters": (b"sample: \x01", "cannot be read: "),
    "two documents": ("a: 1\n---\nb: 2\n", "cannot be read: "),
    "a tag of Python": ("sample: !!python/object/apply:os.system [id]", "cannot be read: "),
    "a number as a key": ("1: 2\n", "1"),
    "a group that is a list": ("sample: [1]\n", "sample: Input should be a valid dictionary"),
    "nested too deep": ("[" * 1500, "cannot be read"),
}


@pytest.mark.parametrize(("text", "message"), WRONG_FILES.values(), ids=WRONG_FILES)
def test_a_wrong_file_is_named(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(Misconfigured) as caught:
        load(written(tmp_path, text), [])
    assert message in str(caught.value)
    assert str(tmp_path / "settings.yaml") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_set_below_a_value_of_the_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="sample is a value, not a group"):
        load(written(tmp_path, "sample: 3\n"), ["sample.n=2"])


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=r"nowhere.yaml does not exist"):
        load(tmp_path / "nowhere.yaml", [])
    with pytest.raises(Misconfigured, match=r"cannot be read: .*directory"):
        load(tmp_path, [])


def test_the_resolved_copy_gives_the_same_configuration(tmp_path: Path) -> None:
    config = load(
        None, ["sample.n=5", "author.families=[a]", "engine.url=tcp://é", "gates.repeats=3"]
    )
    save(config, tmp_path / "config.yaml")
    assert load(tmp_path / "config.yaml", []) == config
    assert [path.name for path in tmp_path.iterdir()] == ["config.yaml"]
    saved = yaml.safe_load((tmp_path / "config.yaml").read_text())
    assert {group: set(values) for group, values in saved.items()} == {
        name: set(field.annotation.model_fields)  # type: ignore[union-attr]
        for name, field in RunConfig.model_fields.items()
    }


def test_the_configuration_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load(None, []).sample.n = 3  # type: ignore[misc]


def knobs() -> dict[str, Any]:
    return {
        f"{group}.{key}": knob
        for group, field in RunConfig.model_fields.items()
        for key, knob in field.annotation.model_fields.items()  # type: ignore[union-attr]
    }


def test_knobs_are_few_and_each_is_described() -> None:
    of_training = [name for name in knobs() if name.startswith("train.")]
    assert len(of_training) <= 38  # a published recipe has about as many numbers
    assert len(knobs()) - len(of_training) <= 48
    assert len(RunConfig.model_fields) <= 10
    assert [name for name, knob in knobs().items() if not knob.description] == []
