"""Checks that a repair adds: what they cannot read earns nothing, and is a verdict all the same."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from envgen.repair import watching

ROOT = Path(__file__).resolve().parents[2]
EARLIER = """\
from verifiers import Check


def checks(task):
    yield Check("is there", 1.0)
"""
MORE = """\
from verifiers import Check


def checks(task):
    yield Check("first", 1.0)
    {then}
"""
ASKED = """\
import json, check
print(json.dumps([[c.name, c.score, c.detail] for c in check.checks(None)]))
"""


@pytest.mark.parametrize(
    ("more", "found"),
    [
        (None, []),
        (MORE.format(then="yield Check('second', 0.5)"), [["first", 1.0, ""], ["second", 0.5, ""]]),
        (
            MORE.format(then="None.strip()"),
            [
                ["first", 1.0, ""],
                [
                    "more.py can read the results",
                    0.0,
                    "AttributeError: 'NoneType' object has no attribute 'strip'",
                ],
            ],
        ),
        (
            MORE.format(then="yield []"),
            [
                ["first", 1.0, ""],
                [
                    "more.py can read the results",
                    0.0,
                    "TypeError: checks gives a list, which is no Check",
                ],
            ],
        ),
        (
            "import inner\n",
            [["more.py can read the results", 0.0, "ModuleNotFoundError: No module named 'inner'"]],
        ),
    ],
)
def test_an_error_in_an_added_check_is_a_check_that_is_not_met(
    more: str | None, found: list[list[object]], tmp_path: Path
) -> None:
    for name in ("check.py", "pins.py", "still.py"):
        (tmp_path / name).write_text(watching.script(name))
    (tmp_path / "earlier.py").write_text(EARLIER)
    (tmp_path / "repaired.json").write_text('{"pins": "", "repealed": [], "still": false}')
    if more is not None:
        (tmp_path / "more.py").write_text(more)
    done = subprocess.run(
        [sys.executable, "-c", ASKED],
        cwd=tmp_path,
        env={"PYTHONPATH": f"{tmp_path}:{ROOT}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == [["is there", 1.0, ""], *found]
