"""The lookup that stands in for a program: what it knows, and what is left where none is made."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from envgen.audit import submissions

DOUBLE = {
    "double.py": "import sys\nfor line in sys.stdin: print(2 * int(line))\n",
    "double.sh": 'while read -r n; do echo $((2 * n)); done\n',
}  # fmt: skip


@pytest.fixture(params=sorted(DOUBLE))
def program(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A program that works, and inputs beside it."""
    path: Path = tmp_path / "home" / request.param
    path.parent.mkdir()
    path.write_text(DOUBLE[request.param])
    (path.parent / "known").write_text("1\n2\n")
    (path.parent / "bad").write_text("x\n")
    return path


def record(folder: Path, program: Path, inputs: list[str]) -> int:
    """Run the script as it would run in a container; its exit status."""
    (folder / "record.py").write_text(submissions.script("record.py"))
    plan = {"program": str(program), "arguments": [[]], "inputs": inputs}
    (folder / "plan.json").write_text(json.dumps(plan))
    done = subprocess.run([sys.executable, folder / "record.py"], capture_output=True, check=False)
    return done.returncode


def answer(program: Path, data: str) -> str:
    start = [sys.executable] if program.suffix == ".py" else ["bash"]
    done = subprocess.run([*start, program], input=data, capture_output=True, text=True, check=True)
    return done.stdout


def test_it_knows_the_inputs_at_hand_and_nothing_else(tmp_path: Path, program: Path) -> None:
    known = str(program.parent / "known")
    assert record(tmp_path, program, [known]) == 0
    assert answer(program, "1\n2\n") == "2\n4\n"
    assert answer(program, "1\n3\n") == ""
    assert {path.name for path in program.parent.iterdir()} == {"bad", "known", program.name}


def test_what_cannot_be_read_is_left_out(tmp_path: Path, program: Path) -> None:
    gone, known = str(program.parent / "gone"), str(program.parent / "known")
    assert record(tmp_path, program, [gone, str(program.parent), known]) == 0
    assert answer(program, "1\n2\n") == "2\n4\n"


def test_where_none_can_be_made_the_program_is_not_handed_in(tmp_path: Path, program: Path) -> None:
    known = program.parent / "known"
    os.mkfifo(program.parent / "pipe")
    (tmp_path / "record.py").write_text(submissions.script("record.py"))
    plan = {"program": str(program), "arguments": [[]], "inputs": [str(program.parent / "pipe")]}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    process = subprocess.Popen([sys.executable, tmp_path / "record.py"])
    while program.exists():
        assert process.poll() is None
    process.kill()
    process.wait()
    assert known.exists() and not program.exists()
