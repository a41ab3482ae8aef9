"""What people see: safe text, tables, progress while they wait.

Text of tasks is hostile: control characters are stripped before anything is printed, and rich gets
it as `Text`, never as markup.
"""

import sys
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from envgen.tally import Tally

PLAIN_SECONDS, BAR_SECONDS = 10, 0.25


def clean(text: str) -> str:
    """The text without control, bidi or other invisible characters; line ends and tabs stay."""
    return "".join(
        c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co")
    )


def say(text: str) -> None:
    """A line for people, on stderr, so that stdout stays for data."""
    sys.stderr.write(f"{clean(text)}\n")
    sys.stderr.flush()


def printed(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; a column of figures stands to the right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(clean(title)), title_justify="left")
    for number, column in enumerate(columns):
        numeric = bool(rows) and all(_numeric(row[number]) for row in rows)
        table.add_column(Text(column), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(clean(cell)) for cell in row))
    Console().print(table)


def _numeric(cell: str) -> bool:
    return cell.replace(".", "", 1).isdigit()


def counts(tally: "Tally") -> str:
    """Counts in one line."""
    parts = [f"{tally.done}/{tally.total}"]
    parts.append(f"drafts {tally.drafted}" if tally.drafted else f"{tally.good} {tally.kept}")
    parts += [f"{step} {n}" for step, n in sorted(tally.rejected.items())]
    if tally.unfinished:
        parts.append(f"unfinished {tally.unfinished}")
    if tally.bugs:
        parts.append(f"bugs {tally.bugs}")
    return ", ".join(parts)


@contextmanager
def progress(
    total: int, spent: Callable[[], float] | None = None
) -> Iterator[Callable[["Tally"], None]]:
    """A function to call with every new count: a bar on a terminal, plain lines elsewhere.

    Args:
        total: counts that will come.
        spent: dollars so far, for a run that costs some; asked for each line that is shown.
    """
    if sys.stderr.isatty():
        with _bar(total, spent) as update:
            yield update
    else:
        yield _plain(spent)


def _line(tally: "Tally", spent: Callable[[], float] | None) -> str:
    return counts(tally) + (f", ${spent():.4f}" if spent else "")


@contextmanager
def _bar(total: int, spent: Callable[[], float] | None) -> Iterator[Callable[["Tally"], None]]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        BarColumn(),
        TextColumn("{task.fields[counts]}", markup=False),
        TimeElapsedColumn(),
        TextColumn("left", markup=False),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task, last = bar.add_task("", total=total, counts=""), 0.0

        def update(tally: "Tally") -> None:
            nonlocal last
            if time.monotonic() - last > BAR_SECONDS or tally.done == tally.total:
                last = time.monotonic()
                bar.update(task, completed=tally.done, counts=_line(tally, spent))

        yield update


def _plain(spent: Callable[[], float] | None) -> Callable[["Tally"], None]:
    started = last = time.monotonic()

    def update(tally: "Tally") -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < PLAIN_SECONDS and tally.done < tally.total:
            return
        last = now
        rate = tally.done / max(now - started, 1e-9)
        left = (tally.total - tally.done) / max(rate, 1e-9)
        say(f"{_line(tally, spent)}; {rate * 60:.0f} a minute, {left:.0f} s left")

    return update
