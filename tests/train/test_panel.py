"""What is seen of a training: a panel on a terminal, a line a step elsewhere."""

import io
import sys

import pytest
from rich.console import Console

from envgen.cli.panel import RECENT, Board, watching


def drawn(board: Board) -> str:
    out = io.StringIO()
    Console(file=out, width=100, force_terminal=False).print(board)
    return out.getvalue()


def cells(board: Board, title: str) -> list[str]:
    """The figures beside a title."""
    (line,) = [row for row in drawn(board).splitlines() if row.strip("│ ").startswith(title)]
    return line.strip("│ ").removeprefix(title).split()


def test_elsewhere_each_step_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with watching(2) as watch:
        watch("start", {"gap_start": 1.25e-5})
        watch("rollouts", {})
        watch("a phase in words", {})
        watch("metrics", {"step": 1, "solved": 0.5, "rollouts": 8.0, "seconds_rollouts": 1.25})
    said = "".join(capsys.readouterr()).splitlines()
    assert said == ["gap_start 1.25e-05", "solved 0.5, rollouts 1.2 s"]


def test_on_a_terminal_there_is_a_panel(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with watching(2) as watch:
        watch("metrics", {"step": 1, "solved": 0.5})
    assert "step 1 of 2" in "".join(capsys.readouterr())


def test_the_panel_has_the_last_step_and_the_mean_of_the_recent() -> None:
    board = Board(40)
    assert "step 0 of 40: start" in drawn(board)
    for step in range(1, RECENT + 3):
        board.told("optimiser", {})
        board.told(
            "metrics",
            {
                "step": step,
                "reward": step,
                "masked_up": 0.125,
                "masked_down": 0.25,
                "tokens": 100,
                "seconds_rollouts": 2.0,
            },
        )
    board.told("rollouts", {})
    assert f"step {RECENT + 2} of 40: rollouts, 0 s" in drawn(board)
    assert f"mean of {RECENT}" in drawn(board)
    recent = range(3, RECENT + 3)
    assert cells(board, "reward") == [str(RECENT + 2), f"{sum(recent) / RECENT:g}"]
    assert cells(board, "tokens masked") == ["0.375", "0.375"]
    assert cells(board, "tokens in all") == ["100", str(100 * (RECENT + 2))]
    assert cells(board, "rollouts ") == ["2", "s", str(2 * (RECENT + 2)), "s"]
    assert "entropy" not in drawn(board)


def test_a_held_out_rate_stays_in_sight() -> None:
    board = Board(9)
    board.told("metrics", {"step": 1, "held_out_solved": 0.25, "seconds_evaluation": 3.0})
    board.told("metrics", {"step": 2, "reward": 1.0})
    assert cells(board, "solved, held out") == ["0.25", "0.25"]
    assert cells(board, "evaluation") == ["3", "s"]
