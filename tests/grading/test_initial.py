"""The initial-state check."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "verifiers" / "initial.py"


def initial(place: Path, work: Path, uid: int, state: Any) -> tuple[int, dict[str, Any]]:
    settings = {"workdir": str(work), "initial": state}
    (place / "task.json").write_text(json.dumps(settings))
    command = [sys.executable, "-I", "-B", str(SCRIPT), str(place), str(uid)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stdout.count("\n") == 1 and done.stderr == ""
    return done.returncode, json.loads(done.stdout)


def test_all_holds(place: Path, work: Path, agent_uid: int) -> None:
    (work / "in").touch()
    state = {
        "present": ["in", "/etc/passwd"],
        "absent": ["out", "/nothing/here"],
        "tools": ["bash", "python3"],
        "commands": [["sh", "-c", "touch made-as-agent"], ["test", "-f", "in"]],
    }
    assert initial(place, work, agent_uid, state) == (0, {"ok": True, "failures": []})
    assert (work / "made-as-agent").stat().st_uid == agent_uid


@pytest.mark.parametrize(
    ("state", "failure"),
    [
        ({"present": ["in"]}, "missing: in"),
        ({"absent": ["link"]}, "already there: link"),
        ({"tools": ["no-such-tool"]}, "no such tool: no-such-tool"),
        ({"tools": ["mine"]}, "no such tool: mine"),
        ({"commands": [["sh", "-c", "echo why >&2; exit 3"]]},
         "command failed (code 3): sh -c echo why >&2; exit 3 why"),
        ({"commands": [["./mine"]]}, "command failed (PermissionError: Permission denied): ./mine"),
        ({"presnet": []}, "task.json: unknown key presnet"),
    ],
)  # fmt: skip
def test_what_does_not_hold(
    place: Path, work: Path, agent_uid: int, state: dict[str, Any], failure: str
) -> None:
    (work / "link").symlink_to("nowhere")
    (work / "mine").touch()
    assert initial(place, work, agent_uid, state) == (1, {"ok": False, "failures": [failure]})


@pytest.mark.parametrize("state", [3, {"present": 3}, {"commands": [3]}])
def test_a_malformed_task_file_fails(place: Path, work: Path, agent_uid: int, state: Any) -> None:
    code, document = initial(place, work, agent_uid, state)
    assert (code, document["ok"]) == (1, False)
