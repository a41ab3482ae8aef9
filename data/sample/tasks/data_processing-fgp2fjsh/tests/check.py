"""Grades the tables by how many of their rows are right, among all that are wanted or there."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any, Optional

from verifiers import Check, Task, metric_threshold

SLACK = 0.101
FLOOR = 0.2
MOST = 2000
TIMES = ("start", "end", "seconds", "longest")


def checks(task: Task) -> Iterable[Check]:
    for name, table in task.truth["tables"].items():
        data = task.read(f"{name}.csv", limit=1 << 20)
        given = _rows(data, table["columns"])
        value = None if given is None else _agreement(given, table)
        weight = 3.0 if name == "sessions" else 1.0
        yield metric_threshold.grade(f"{name}: agreement of rows", value, FLOOR, 1.0, weight=weight)


def _rows(data: Optional[bytes], columns: list[str]) -> Optional[list[list[str]]]:
    """The rows under the right header; None where there is none."""
    try:
        rows = list(csv.reader(io.StringIO((data or b"").decode())))[:MOST]
    except (UnicodeDecodeError, csv.Error):
        return None
    rows = [[cell.strip() for cell in row] for row in rows if row]
    return rows[1:] if rows and rows[0] == columns else None


def _agreement(given: list[list[str]], table: dict[str, Any]) -> float:
    """F1 of rows, each matched at most once. Without any wanted row: nothing may be there."""
    left = list(given)
    right = 0
    for wanted in table["rows"]:
        match = next((row for row in left if _same(row, wanted, table["columns"])), None)
        if match is not None:
            left.remove(match)
            right += 1
    total = len(given) + len(table["rows"])
    return 2 * right / total if total else 1.0


def _same(row: list[str], wanted: list[str], columns: list[str]) -> bool:
    if len(row) != len(wanted):
        return False
    for name, one, other in zip(columns, row, wanted):
        if name in TIMES:
            a, b = _seconds(one), _seconds(other)
            if a is None or b is None or abs(a - b) > SLACK:
                return False
        elif one != other:
            return False
    return True


def _seconds(text: str) -> Optional[float]:
    """Seconds of a number or of a time of day."""
    parts = text.split(":")
    numbers = metric_threshold.to_numbers(parts) if len(parts) in (1, 3) else None
    if numbers is None:
        return None
    pairs = zip(reversed(numbers), (1, 60, 3600))
    return sum(number * scale for number, scale in pairs)
