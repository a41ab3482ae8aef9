"""What programs are asked once a right solution is done."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from envgen.audit import static
from envgen.files import FileTree
from envgen.records import TaskDraft
from envgen.repair import watching

DOUBLES = "import sys\nfor line in sys.stdin:\n    print(2 * int(line), 'is twice', int(line))\n"


@pytest.fixture(scope="module")
def watch() -> Any:
    spec = importlib.util.spec_from_file_location("watch_of_repairs", watching.TASK / "watch.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_inputs_that_the_solution_took_away_are_passed_over(watch: Any, tmp_path: Path) -> None:
    program, given = tmp_path / "double.py", tmp_path / "given.txt"
    program.write_text(DOUBLES)
    given.write_text("1\n22\n333\n")
    gone = [str(tmp_path / "moved.log"), str(tmp_path)]
    (answer,) = watch.watched(str(program), [[]], [*gone, str(given)])
    assert answer["stdin"] == "MQoyMgozMzMK"
    assert answer["out"] == "MiBpcyB0d2ljZSAxCjQ0IGlzIHR3aWNlIDIyCjY2NiBpcyB0d2ljZSAzMzMK"


def test_records_are_found_behind_what_is_said_about_them(watch: Any) -> None:
    lines = [b"a%d\tstop\tok\tid=%d\tkind=x" % (n, n) for n in range(4)]
    made = [data for _, data in watch.variants(watch.joined(lines))]
    records = b"".join(b"id=%d\tkind=x\n" % n for n in range(4))
    assert records in made
    assert b"id=5\tkind=x\nid=7\tkind=x\n" in made  # other figures


@pytest.mark.parametrize(
    ("out", "says"),
    [
        (b"refused\n" * 40, False),  # as a filter does that refuses everything
        (b"", False),
        (b"ok\n", False),
        (b"1\n2\n", False),  # what it was asked
        (b"2\n1\n", True),
        (b"refused\naccepted\nrefused\n", True),
        (b"mean 4.25 of 119 rows\n", True),
    ],
)
def test_an_answer_that_a_program_could_give_that_does_nothing_says_nothing(
    watch: Any, out: bytes, says: bool
) -> None:
    assert watch.says(out, b"1\n2\n") is says


def test_what_repairs_bring_along_looks_for_no_word_of_the_solution(golden: TaskDraft) -> None:
    brought = {path.name: path.read_text() for path in watching.TASK.glob("*.py")}
    words = FileTree({"solve.sh": "\n".join(brought.values())})
    draft = golden.model_copy(update={"tests": FileTree(brought), "solution": words})
    assert [f.code for f in static.look(draft) if f.code == "static:spelling"] == []
