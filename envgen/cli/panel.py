"""What is seen of a training while it goes on: a panel on a terminal, a line a step elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from envgen.cli.work import say

if TYPE_CHECKING:
    from rich.panel import Panel

Row = Mapping[str, float]
Watch = Callable[[str, Row], None]
LINE = (
    *("gap_start", "solved", "held_out_solved", "reward", "entropy", "gap_fresh", "lag"),
    "tokens",
)
"""Of the metrics, in a line."""
SHOWN = {
    "reward": ("reward",),
    "solved": ("solved",),
    "solved, held out": ("held_out_solved",),
    "entropy": ("entropy",),
    "logprob gap": ("gap_fresh",),
    "tokens masked": ("masked_up", "masked_down"),
    "rollouts masked": ("masked_rollouts",),
    "steps behind": ("lag",),
    "tokens": ("tokens",),
}
"""Of the metrics, in the panel, by name; several are added up."""
RECENT = 10
"""Steps that the panel's means are of."""


@contextmanager
def watching(steps: int) -> Iterator[Watch]:
    """A function that is told each phase before it begins, and each step's metrics.

    Args:
        steps: in all.
    """
    if not sys.stderr.isatty():
        yield told
        return
    from rich.console import Console
    from rich.live import Live

    board = Board(steps)
    with Live(board, console=Console(stderr=True), refresh_per_second=2):
        yield board.told


def told(phase: str, row: Row) -> None:
    """One line for the start check and for each step."""
    if row:
        parts = [f"{name} {row[name]:.3g}" for name in LINE if name in row]
        parts += [f"{n[8:]} {s:.1f} s" for n, s in row.items() if n.startswith("seconds_")]
        say(", ".join(parts))


@dataclass
class Board:
    """The panel, drawn anew whenever it is looked at.

    Attributes:
        steps: of the training, in all.
    """

    steps: int
    _phase: str = "start"
    _since: float = field(default_factory=time.monotonic)
    _step: int = 0
    _rows: list[Row] = field(default_factory=list)
    _spent: dict[str, float] = field(default_factory=dict)

    def told(self, phase: str, row: Row) -> None:
        """A phase begins, or a step's metrics are there."""
        if phase != "metrics":
            self._phase, self._since = phase, time.monotonic()
        if not row:
            return
        self._step = int(row.get("step", self._step))
        self._rows = [*self._rows[1 - RECENT :], row]
        for name, value in row.items():
            if name.startswith("seconds_") or name == "tokens":
                self._spent[name] = self._spent.get(name, 0) + value

    def __rich__(self) -> "Panel":
        from rich.panel import Panel
        from rich.table import Table

        lasting = time.monotonic() - self._since
        table = Table.grid(padding=(0, 3))
        table.add_row("", "last", f"mean of {len(self._rows)}")
        for title, names in SHOWN.items():
            seen = [sum(row[n] for n in names) for row in self._rows if names[0] in row]
            if seen:
                table.add_row(title, f"{seen[-1]:.4g}", f"{sum(seen) / len(seen):.4g}")
        for name, value in self._spent.items():
            last = self._rows[-1].get(name)
            unit = "" if name == "tokens" else " s"
            title = "tokens in all" if name == "tokens" else name.removeprefix("seconds_")
            table.add_row(title, "" if last is None else f"{last:.4g}{unit}", f"{value:.6g}{unit}")
        title = f"step {self._step} of {self.steps}: {self._phase}, {lasting:.0f} s"
        return Panel(table, title=title, title_align="left", expand=False)
