"""What the tests of the verifier kit share: places the agent can reach, and a grader to start."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:  # the kit is files to copy, no installed package
    sys.path.insert(0, str(ROOT))

from verifiers import Task, files  # noqa: E402

# A uid that nobody has, nor a second run of these tests: the kit kills all that the agent has.
UNUSED_UID = 50_000 + os.getpid() % 10_000


@pytest.fixture
def agent_uid() -> int:
    return UNUSED_UID if os.geteuid() == 0 else os.geteuid()


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that another uid can enter, which pytest's own is not."""
    folder = Path(tempfile.mkdtemp(prefix="kit-test-"))
    folder.chmod(0o755)
    yield folder
    files.remove(str(folder))


@pytest.fixture
def work(place: Path, agent_uid: int) -> Path:
    """The agent's folder."""
    folder = place / "work"
    folder.mkdir()
    os.chown(folder, agent_uid, agent_uid if os.geteuid() == 0 else -1)
    return folder


@pytest.fixture
def task(work: Path, agent_uid: int) -> Iterator[Task]:
    with Task(str(work), {"seed": 7}, agent_uid=agent_uid, exclusive=True) as made:
        yield made


class Graded(NamedTuple):
    """What a grading left: exit code, text of reward.txt (None: no such file), report, stderr."""

    code: int
    reward: str | None
    report: dict[str, Any]
    stderr: str


@pytest.fixture
def grader(place: Path, work: Path, agent_uid: int) -> Callable[..., Graded]:
    """`grader(check_py, truth=..., settings=..., env=...)` runs run.py in its own process."""
    tests, logs = place / "tests", place / "logs" / "verifier"
    tests.mkdir()
    shutil.copytree(ROOT / "verifiers", tests / "verifiers")

    def grade(
        check: str | None,
        truth: Any = None,
        settings: dict[str, Any] | None = None,
        env: dict[str, str] | None = None,
    ) -> Graded:
        if check is not None:
            (tests / "check.py").write_text(check)
        (tests / "truth.json").write_text(json.dumps({} if truth is None else truth))
        (tests / "task.json").write_text(json.dumps({"workdir": str(work), **(settings or {})}))
        command = [sys.executable, "-I", "-B", str(tests / "verifiers" / "run.py")]
        command += ["--tests", str(tests), "--logs", str(logs), "--agent-uid", str(agent_uid)]
        command += ["--alone"]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=60, check=False, env=env
        )
        reward, report = logs / "reward.txt", logs / "report.json"
        return Graded(
            done.returncode,
            reward.read_text() if reward.is_file() else None,
            json.loads(report.read_text()) if report.is_file() else {},
            done.stderr,
        )

    return grade
