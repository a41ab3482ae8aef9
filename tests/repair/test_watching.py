"""What programs are asked once a right solution is done."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

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
