"""Corpora in figures, and side by side."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from envgen.corpus.compare import compared, side_by_side
from envgen.corpus.figures import figures
from envgen.errors import Misconfigured
from envgen.export import parquet
from tests.corpora import HARBOR, written

SAMPLE = Path(__file__).parents[2] / "data" / "sample"


def measure(model: str, attempts: int, pass_at: list[float], reward: float | None) -> Any:
    return {"model": model, "settings": "s", "attempts": attempts, "pass_at": pass_at,
            "reward": reward}  # fmt: skip


def finding(label: str, proven: bool) -> dict[str, Any]:
    return {"label": label, "proven": proven}


def test_figures() -> None:
    leak, weak = "ANSWER-LEAK", "VERIFIER-TOO-WEAK"
    rows: list[dict[str, Any]] = [
        {"task": "a", "instruction": "one two", "author": "x", "domain": "d1", "label": "CLEAN",
         "skills": ["s1", "s2"], "kill_rate": 1.0, "findings": [finding(weak, True)],
         "pass_at_k": [measure("m", 2, [0.5, 1.0], 0.7)]},
        {"task": "b", "instruction": "one two three", "author": "x", "domain": "d1", "label": leak,
         "findings": [finding(leak, True)], "kill_rate": 0.5,
         "pass_at_k": [measure("m", 3, [1.0, 1.0, 1.0], 1.0), measure("n", 0, [], None)]},
        {"task": "c", "instruction": "one", "author": "y", "domain": "d2", "label": leak,
         "findings": [finding(leak, False), finding(weak, True)]},
        {"task": "d", "instruction": None, "author": None, "domain": None},
    ]  # fmt: skip
    found = figures(rows)
    assert found["tasks"] == 4
    assert found["axes"]["domain"]["values"] == {"d1": 2, "d2": 1}
    entropy = -(2 / 3 * math.log(2 / 3) + 1 / 3 * math.log(1 / 3))
    assert found["axes"]["domain"]["even"] == pytest.approx(math.exp(entropy) / 2)
    assert found["axes"]["skills"]["values"] == {"s1": 1, "s2": 1}
    assert found["axes"]["verifier"] == {"values": {}, "even": 0.0}
    assert found["labels"] == {
        "ANSWER-LEAK": {"tasks": 2, "proven": 1},
        "CLEAN": {"tasks": 1, "proven": 0},
        "not audited": {"tasks": 1, "proven": 0},
    }
    assert found["kill_rate"] == 0.75
    assert found["authors"] == {"x": 2, "": 1, "y": 1}
    assert found["words"] == {"least": 0, "median": 1, "most": 3}
    first, second = found["measures"]
    assert (first["model"], first["tasks"], first["attempts"]) == ("m", 2, 5)
    assert first["pass_at"] == {"1": 0.75, "2": 1.0, "3": 1.0}
    assert first["reward"] == pytest.approx(0.85)
    assert (second["tasks"], second["pass_at"], second["reward"]) == (0, {}, 0.0)
    assert figures([])["words"] == {}


def test_a_manifest_and_its_folders_have_the_same_figures() -> None:
    manifest = compared("a", SAMPLE / "manifest.parquet")
    folders = compared("b", SAMPLE / "tasks")
    assert manifest.figures == folders.figures
    assert manifest.near_duplicates == folders.near_duplicates == 0
    assert manifest.figures["axes"]["verifier"]["values"]["exact_text"] == 6
    tables = dict(side_by_side([manifest, folders]))
    assert ("tasks", "18", "18") in tables["corpora"]
    assert ("exact_text", "6 (33%)", "6 (33%)") in tables["verifier"]
    assert tables["labels: tasks, of these proven"] == [("not audited", "18, 0", "18, 0")]


def test_a_strangers_folders(tmp_path: Path) -> None:
    for name, more in (("one", ""), ("two", '[metadata]\ncategory = "games"\ndifficulty = ["x"]')):
        written(tmp_path / name, HARBOR)
        toml = (tmp_path / name / "task.toml").read_text()
        (tmp_path / name / "task.toml").write_text(f"{toml}\n{more}\n")
    (tmp_path / "three").mkdir()
    (tmp_path / "three" / "task.toml").write_text("= broken")
    (tmp_path / "three" / "instruction.md").write_text("Count.")
    (tmp_path / "three" / "envgen.json").write_text(
        '{"draft": {"author": "\\ud800x", "spec": {"domain": ["a", {"b": 1}], "language": 7}}}'
    )
    (tmp_path / "four").symlink_to(tmp_path / "one")
    (tmp_path / "five").mkdir()
    (tmp_path / "five" / "task.toml").write_text("")
    found = compared("theirs", tmp_path)
    assert found.figures["tasks"] == 3
    assert found.figures["axes"]["domain"]["values"] == {"games": 1, "a": 1, "{'b': 1}": 1}
    assert found.figures["axes"]["language"]["values"] == {"7": 1}
    assert found.figures["axes"]["verifier"]["values"] == {"pytest": 2}
    assert found.figures["authors"] == {"others": 2, "?x": 1}
    assert found.near_duplicates == pytest.approx(1 / 3)
    assert [told.rpartition(": ")[2] for told in found.left_out] == [
        "it has no instruction, no test and no solution", "it is a link"
    ]  # fmt: skip
    json.dumps(found._asdict(), ensure_ascii=False).encode()


def test_an_older_manifest_lacks_what_it_lacks(tmp_path: Path) -> None:
    from envgen.export import schema

    kept = [f for f in schema.manifest() if f.name not in ("pass_at_k", "label_before", "trail")]
    import pyarrow as pa

    old = pa.schema(kept, metadata={"envgen.schema_version": "2"})
    rows = [{n: row[n] for n in old.names} for row in parquet.read(SAMPLE / "manifest.parquet")]
    parquet.write_rows(tmp_path / "m.parquet", rows, old)
    assert compared("old", tmp_path / "m.parquet").figures["measures"] == []


def test_nothing_to_compare(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("plain text is no task")
    with pytest.raises(Misconfigured, match=f"^there is no task in {tmp_path}: name a manifest"):
        compared("nothing", tmp_path)
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "task.json").write_text('{"question": "another key"}')
    with pytest.raises(Misconfigured, match=r"\(1 left out, first .*/one: it has no instruction, "):
        compared("nothing", tmp_path)
