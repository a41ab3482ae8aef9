"""SIGKILL while a run is audited, then the same command: same bytes, and nothing executed twice.

The full measurement:
ENVGEN_AUDIT_TASKS=12 ENVGEN_AUDIT_KILLS=10 pytest -s tests/pipeline/test_audit_kill.py
"""

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.pipeline.conftest import engine_passed

__all__ = ["engine_passed"]

pytestmark = pytest.mark.box

TASKS = int(os.environ.get("ENVGEN_AUDIT_TASKS", "1"))
KILLS = int(os.environ.get("ENVGEN_AUDIT_KILLS", "2"))
SEED, NAME = 30_000_000 + os.getpid(), "audited"
FAMILIES = "[archive_recovery,input_gate,broken_tool]" if TASKS > 1 else "[input_gate]"


def command(name: str, data: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "envgen.cli", name, "--run", NAME, "--data", str(data), *more]


def finished(words: list[str]) -> None:
    done = subprocess.run(words, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stderr


def executed(data: Path) -> set[tuple[str, str]]:
    """What the ledger holds, and when each of it was executed."""
    path = data / "runs" / NAME / "ledger.sqlite"
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as ledger:
        return set(ledger.execute("SELECT key, made_at FROM effects"))


def test_an_audit_that_is_killed_goes_on_and_executes_nothing_twice(
    tmp_path: Path, engine_passed: Callable[[Path], None]
) -> None:
    one, other = tmp_path / "killed", tmp_path / "undisturbed"
    engine_passed(one / "runs" / NAME)
    drawn = ("--n", str(TASKS), "--seed", str(SEED), "--set", f"author.families={FAMILIES}")
    finished(command("run", one, *drawn))
    shutil.copytree(one, other)
    begun, moments = executed(one), random.Random(SEED)
    known = begun
    for _ in range(KILLS):
        wanted = len(known) + moments.randint(1, 4 * TASKS)
        process = subprocess.Popen(
            command("audit", one), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while len(executed(one)) < wanted and process.poll() is None:
            time.sleep(0.1)
        process.kill()
        assert process.wait() == -signal.SIGKILL  # it was not done yet
        now = executed(one)
        assert known < now  # what was executed stays, with the time at which it was
        known = now
    print(f"seed {SEED}: killed {KILLS} times, {len(known - begun)} executed by then")
    finished(command("audit", one))
    finished(command("audit", other))
    assert known < executed(one)
    assert {key for key, _ in executed(one)} == {key for key, _ in executed(other)}
    for name in ("audit.parquet", "rejections.parquet"):
        paths = [data / "runs" / NAME / name for data in (one, other)]
        assert paths[0].read_bytes() == paths[1].read_bytes()
    last = executed(one)
    finished(command("audit", one))
    assert executed(one) == last
