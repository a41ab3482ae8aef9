"""`envgen eval` from the command line, on real containers: killed, continued, shown, handed on."""

import json
import sqlite3
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import COMMAND, Done

pytestmark = pytest.mark.box

K = 3
REFERENCE = ("eval", "--model", "scripted:reference", "--k", str(K), "--concurrency", "1")


def played(data: Path) -> dict[str, str]:
    """Key and time of the episodes that are recorded."""
    with sqlite3.connect(data / "ledger.sqlite", timeout=30) as db:
        rows = db.execute("SELECT key, made_at FROM effects WHERE kind = 'episode'").fetchall()
    return dict(rows)


def killed_after_one(folder: Path, data: Path) -> dict[str, str]:
    """Start the evaluation, kill it when an episode is recorded; what is recorded then."""
    process = subprocess.Popen([*COMMAND, *REFERENCE], cwd=folder, stderr=subprocess.DEVNULL)
    try:
        for _ in range(1200):
            if played(data) or process.poll() is not None:
                break
            time.sleep(0.1)
    finally:
        process.kill()
        process.wait()
    return played(data)


def test_an_evaluation_from_start_to_end(
    tmp_path: Path, envgen: Callable[..., Done], engine_passed: Callable[[Path], None]
) -> None:
    data = tmp_path / "data" / "runs" / "default"
    engine_passed(data)
    made = envgen("run", "--n", "1", "--seed", "77", "--set", "author.families=[ledger_reports]")
    assert made.returncode == 0, made.stderr
    (task,) = (p.name for p in (data / "tasks").iterdir() if p.is_dir())

    before = killed_after_one(tmp_path, data)
    assert 0 < len(before) < K
    done = envgen(*REFERENCE, "--json")
    assert done.returncode == 0, done.stderr
    after = played(data)
    assert len(after) == K and before.items() <= after.items()
    found = json.loads(done.stdout)
    assert (found["pass_at"], found["attempts"], found["invalid"]) == ([1.0] * K, K, 0)
    assert found["endings"] == {"submitted": K} and found["flags"] == {}

    nothing = envgen("eval", "--model", "scripted:nothing", "--where", f"domain={task[:13]}")
    assert nothing.returncode == 0, nothing.stderr
    assert "pass@1" in nothing.stdout and "0.0000" in nothing.stdout

    several = envgen("rollout", "show", task)
    assert several.returncode == 2 and "add --model" in several.stderr
    page = envgen("rollout", "show", task, "--model", "scripted:reference", "--sample", "2").stdout
    assert "/bin/bash /tmp/solution/solve.sh" in page and "submitted ; reward 1" in page
    shown = envgen("rollout", "show", task, "--model", "scripted:reference", "--atif").stdout
    assert json.loads(shown)["schema_version"].startswith("ATIF-v1")

    sft = envgen("export", "sft", "new/sft.jsonl", "--model", "scripted:reference")
    assert "1 conversation " in sft.stderr and f"{K - 1} duplicate" in sft.stderr
    assert len((tmp_path / "new/sft.jsonl").read_text().splitlines()) == 1
    assert envgen("export", "atif", "trajectories").returncode == 0
    assert len(list((tmp_path / "trajectories").glob("*.json"))) == K + 1
    assert envgen("export", "folders").returncode == 0
    assert (tmp_path / "folders" / task / "task.toml").exists()
    report = json.loads(envgen("report", "--json").stdout)
    assert [e["model"] for e in report["evaluations"]] == ["scripted:nothing", "scripted:reference"]
