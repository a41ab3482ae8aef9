"""`envgen overlap`, `duplicates` and `compare`, in processes of their own."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from envgen.export import parquet

Envgen = Callable[..., subprocess.CompletedProcess[str]]
SAMPLE = Path(__file__).parents[2] / "data" / "sample" / "manifest.parquet"


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    """A benchmark that says 13 words of one task, and 8 of another."""
    first, second, *_ = parquet.read(SAMPLE, ["instruction"])
    (tmp_path / "bench").mkdir()
    for name, row, n in (("long.txt", first, 13), ("short.txt", second, 8)):
        said = row["instruction"].split()[20 : 20 + n]
        (tmp_path / "bench" / name).write_text("\n".join(said).upper())
    return tmp_path / "bench"


def test_overlap_is_found_and_rejected(envgen: Envgen, bench: Path) -> None:
    words = ("overlap", "--from", str(SAMPLE), "--against", "bench", "--part", "instruction")
    done = envgen(*words, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["tasks"] == 18
    names = {row["task"] for row in parquet.read(SAMPLE, ["task"])}
    assert all(o["task"] in names and o["file"] == "instruction.md" for o in told["overlaps"])
    assert {(o["n"], o["against"]) for o in told["overlaps"]} >= {
        (13, "bench: long.txt"), (8, "bench: long.txt"), (8, "bench: short.txt")
    }  # fmt: skip
    assert envgen(*words, "--reject").returncode == 1
    assert envgen(*words, "--n", "40", "--reject").returncode == 0


def test_duplicates_are_found_and_rejected(envgen: Envgen, tmp_path: Path) -> None:
    rows = list(parquet.read(SAMPLE))
    rows.append(rows[0] | {"task": "again", "instruction": rows[0]["instruction"].lower()})
    parquet.write_manifest(tmp_path / "m.parquet", rows)
    done = envgen("duplicates", "--from", "m.parquet", "--reject", "--json", "--threshold", "0.95")
    assert done.returncode == 1
    told = json.loads(done.stdout)
    assert told["pairs"] == [{"task": "again", "of": rows[0]["task"], "alike": 1.0}]
    assert (told["tasks"], told["rate"]) == (19, 1 / 19)
    done = envgen("duplicates", "--from", "m.parquet", "--threshold", "0.95")
    assert done.returncode == 0
    assert "again" in done.stdout


WRONG = {
    "a part": (["overlap", "--against", ".", "--part", "title"], "--part title: there are"),
    "a size": (["overlap", "--against", ".", "--n", "1"], "--n: words in a row, from 2 to 100"),
    "no benchmark": (["overlap", "--from", str(SAMPLE), "--against", "no"], "no: No such file"),
    "no run": (["duplicates", "--run", "none"], "there is no run 'none'"),
    "no corpus": (["duplicates", "--from", "no"], "no: No such file or directory: name a manifest"),
    "no corpus to search": (["overlap", "--from", __file__, "--against", __file__], "but no mani"),
    "no corpus to compare": (["compare", str(SAMPLE), __file__], "is a file, but no manifest: "),
    "no name": (["compare", "n" * 300], "nor a path (File name too long): name a "),
    "a device": (["compare", "/dev/zero"], "/dev/zero is neither a file nor a folder: "),
    "a threshold": (
        ["duplicates", "--from", str(SAMPLE), "--threshold", "0.2"], "a number from 0.5 to 1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("words", [case[0] for case in WRONG.values()], ids=WRONG)
def test_wrong_use_is_told(envgen: Envgen, words: list[str]) -> None:
    expected = next(message for case, message in WRONG.values() if case == words)
    done = envgen(*words)
    assert done.returncode == 2, done.stderr
    assert expected in done.stderr
    assert "Traceback" not in done.stderr


def test_corpora_are_compared(envgen: Envgen, tmp_path: Path) -> None:
    (tmp_path / "data" / "runs" / "mine").mkdir(parents=True)
    parquet.write_manifest(
        tmp_path / "data" / "runs" / "mine" / "manifest.parquet",
        [row | {"domain": "[red]\x1b[31mx"} for row in parquet.read(SAMPLE)],
    )
    done = envgen("compare", "mine", str(SAMPLE.parent / "tasks"), "--json")
    assert done.returncode == 0, done.stderr
    mine, theirs = json.loads(done.stdout)
    assert (mine["name"], mine["figures"]["tasks"], theirs["figures"]["tasks"]) == ("mine", 18, 18)
    done = envgen("compare", "mine", COLUMNS="120")
    assert "[red][31mx" in done.stdout
    assert "\x1b" not in done.stdout
    done = envgen("compare", "mine", "other")
    assert done.returncode == 2
    assert "other is neither a run with a manifest in data, nor a path" in done.stderr
