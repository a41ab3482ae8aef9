"""Compares the report with the results of the given data, item by item and as a whole."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from verifiers import Check, Task, exact_text


def checks(task: Task) -> Iterable[Check]:
    """One check an item, one for the whole report, and one for the program if one was asked for."""
    truth = task.truth
    text = task.read_text(truth["report"])
    for item in truth["items"]:
        expected = "\n".join(item["lines"])
        yield exact_text.match(item["label"], part(text, item["label"]), expected, weight=2.0)
    whole = "\n".join(line for item in truth["items"] for line in item["lines"])
    yield exact_text.match("whole report", text, whole)
    if truth["program"]:
        yield exact_text.match("what the program prints", printed(task, truth), whole)


def part(text: str | None, label: str) -> str | None:
    """The lines of one item."""
    if text is None:
        return None
    starts = (f"{label}:", f"{label} ")
    return "\n".join(line for line in text.splitlines() if line.startswith(starts))


def printed(task: Task, truth: dict[str, Any]) -> str | None:
    """The program's answer about the given data, as they were handed out."""
    source = task.read(truth["program"], limit=1 << 20)
    if source is None:
        return None
    files = {truth["program"]: source, truth["file"]: truth["data"].encode()}
    folder = task.scratch(files)
    outcome: Any = task.run(["/usr/bin/python3", truth["program"]], cwd=folder)
    return outcome.text if outcome.ok else None
