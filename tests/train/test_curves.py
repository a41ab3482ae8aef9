"""What the report says of a training run."""

import json
from pathlib import Path

import pytest

from envgen.report import curves
from envgen.tables import STEPS, training_table


def test_curves_are_the_whole_lines_of_the_metrics(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    assert curves(path) == []
    rows = [{"step": n, "solved": n / 100, "entropy": 2.0} for n in range(1, 101)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + '{"step": 101, "so')
    assert curves(path) == rows


def test_the_table_has_the_first_and_the_last_step(capsys: pytest.CaptureFixture[str]) -> None:
    training_table([{"step": n, "solved": n / 1000} for n in range(1, 501)])
    shown = capsys.readouterr().out
    steps = [
        int(line.split()[1])
        for line in shown.splitlines()
        if line.split()[1:2] and line.split()[1].isdecimal()
    ]
    assert len(steps) == STEPS and (steps[0], steps[-1]) == (1, 500)
    assert "0.001" in shown and "0.5" in shown
    training_table([{"step": 1, "held_out_solved": 0.25}])
    assert "0.25" in capsys.readouterr().out
