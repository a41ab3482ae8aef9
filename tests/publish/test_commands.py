"""`envgen export dataset` and `verify`, in processes of their own."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from envgen.publish import verify

Envgen = Callable[..., subprocess.CompletedProcess[str]]
SAMPLE = Path(__file__).parents[2] / "data" / "sample" / "manifest.parquet"


def test_a_data_set_is_written_and_verified(envgen: Envgen, tmp_path: Path) -> None:
    done = envgen("export", "dataset", "out", "--from", str(SAMPLE), "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["written"], told["refused"], told["shards"]) == (18, 0, 1)
    done = envgen("export", "verify", "out", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"checksum": told["checksum"], "trouble": []}
    done = envgen("export", "tasks", "--from", "out")
    assert "18 task folders in tasks" in done.stderr
    (path,) = verify.shards(tmp_path / "out")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    done = envgen("export", "verify", "out", "--rebuild", "1")
    assert done.returncode == 1
    assert "data/train-00000-of-00001.parquet: its bytes are others" in done.stderr


def test_wrong_folders_are_told(envgen: Envgen, tmp_path: Path) -> None:
    done = envgen("export", "verify", "nowhere")
    assert (done.returncode, done.stderr) == (
        2, "envgen: nowhere is not a folder: name the one that holds SHA256SUMS\n"
    )  # fmt: skip
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("")
    done = envgen("export", "dataset", "full", "--from", str(SAMPLE))
    assert done.returncode == 2
    assert "full holds something else: name a folder that is not there yet" in done.stderr


@pytest.mark.box
def test_a_sample_of_a_data_set_is_built_anew(
    envgen: Envgen, published: Path, tmp_path: Path
) -> None:
    shutil.copytree(published, tmp_path / "set")
    done = envgen("export", "verify", "set", "--rebuild", "1", "--json")
    (row,) = verify.sample(published, 1)
    assert done.returncode == 0, done.stderr
    assert f"1/1 {row['task']}: same" in done.stderr
    assert json.loads(done.stdout) == {"tasks": 1, "drifted": []}
