"""Grades what every stage of the close left, line by line.

The headers are in the instruction, so a file with nothing but its header earns nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from verifiers import Check, Task, exact_text

WEIGHTS = {"rated.csv": 3.0, "invoices.csv": 2.0}


def checks(task: Task) -> Iterable[Check]:
    for name, lines in task.truth["outputs"].items():
        text = task.read_text(f"out/{name}")
        head = "" if name == "balance.txt" else lines[0] + "\n"
        rest = None if text is None or not text.startswith(head) else text[len(head) :]
        expected = "\n".join(lines[1:] if head else lines)
        yield exact_text.lines(name, rest, expected, weight=WEIGHTS.get(name, 1.0))
