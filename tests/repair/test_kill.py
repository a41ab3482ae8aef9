"""SIGKILL while a run is repaired, then the same command: the same bytes as undisturbed.

The full measurement: ENVGEN_REPAIR_KILLS=6 pytest -s tests/repair/test_kill.py. With
ENVGEN_KEEP_REPAIRED=FOLDER the repaired corpus stays there, for a client that is not ours.
"""

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from envgen.export import parquet
from tests.pipeline.conftest import engine_passed
from tests.repair.tasks import linked, variable

__all__ = ["engine_passed"]

pytestmark = pytest.mark.box

KILLS = int(os.environ.get("ENVGEN_REPAIR_KILLS", "1"))
KEEP = os.environ.get("ENVGEN_KEEP_REPAIRED", "")
SEED, NAME = 20_000_000 + os.getpid(), "mended"
LONGEST = 12.0 if KILLS > 1 else 6.0


def command(data: Path, corpus: Path) -> list[str]:
    words = [sys.executable, "-m", "envgen.cli", "repair", "--run", NAME, "--data", str(data)]
    return [*words, "--import", f"harbor:{corpus}"]


def killed(data: Path, corpus: Path, moments: random.Random) -> list[float]:
    """Kill the command again and again; the seconds that each had."""
    lived = []
    for _ in range(KILLS):
        seconds = moments.uniform(2.0, LONGEST)
        process = subprocess.Popen(
            command(data, corpus), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            lived.append(round(seconds, 1))
    return lived


def finished(data: Path, corpus: Path) -> Path:
    done = subprocess.run(
        command(data, corpus), capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stderr
    return data / "runs" / NAME


def written(folder: Path) -> dict[str, bytes]:
    """Everything that is derived, byte by byte, but the engine's own ids."""
    names = ("rejections.parquet", "repair.parquet", "audit.parquet")
    paths = [*(folder / name for name in names), *(folder / "tasks").rglob("*")]
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in paths if p.is_file()}


def test_repairs_that_were_killed_end_in_the_same_bytes(
    tmp_path: Path, engine_passed: Callable[[Path], None]
) -> None:
    corpus = tmp_path / "corpus"
    made = (variable, linked) if KILLS > 1 else (variable,)
    for leak in made:
        leak(corpus)
    tasks = tmp_path / "tasks"
    tasks.mkdir()
    for place in corpus.glob("*/one"):
        shutil.copytree(place, tasks / place.parent.name)
    one, other = tmp_path / "killed", tmp_path / "undisturbed"
    for data in (one, other):
        engine_passed(data / "runs" / NAME)
    lived = killed(one, tasks, random.Random(SEED))
    print(f"seed {SEED}: killed after {lived} s")
    first, second = finished(one, tasks), finished(other, tasks)
    assert written(first) == written(second)
    rows = [list(parquet.read(folder / "manifest.parquet")) for folder in (first, second)]
    assert len(rows[0]) == len(rows[1]) == len(made)
    for row, twin in zip(*rows, strict=True):
        assert [name for name in row if row[name] != twin[name]] in ([], ["image_id"])
        assert (row["label_before"], row["label"]) == ("ANSWER-LEAK", "CLEAN")
        assert [attempt["refused"] for attempt in row["trail"]] == [""]
    if KEEP:
        shutil.copytree(first / "tasks", KEEP)
