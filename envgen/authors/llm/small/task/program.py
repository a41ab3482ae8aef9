"""Runs the program on hidden data of the same form and compares item by item."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from verifiers import Check, Task, fuzz_equivalence


def checks(task: Task) -> Iterable[Check]:
    """One check an item, above what a constant answer gets; one for the whole output."""
    truth = task.truth
    source = task.read(truth["program"], limit=1 << 20)
    if truth["language"] == "bash":
        yield Check("written in Bash", float(is_bash(source)))
    inputs = [run["input"].encode() for run in truth["runs"]]
    found = {data: printed(task, truth, source, data) for data in inputs}
    for place, label in enumerate(truth["labels"]):
        wanted = {run["input"].encode(): answer(run["items"][place]) for run in truth["runs"]}
        given = {data: part(text, label) for data, text in found.items()}
        yield fuzz_equivalence.grade(label, given.get, wanted.__getitem__, inputs)
    whole = {
        run["input"].encode(): answer([line for item in run["items"] for line in item])
        for run in truth["runs"]
    }
    yield fuzz_equivalence.grade("whole output", found.get, whole.__getitem__, inputs)


def answer(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def printed(task: Task, truth: dict[str, Any], source: bytes | None, data: bytes) -> bytes | None:
    """What the program prints for one input; nothing unless it ended well."""
    if source is None:
        return None
    name = truth["program"]
    start = "/bin/bash" if truth["language"] == "bash" else "/usr/bin/python3"
    outcome: Any = task.run([start, name], stdin=data, files={name: source}, timeout=5)
    return outcome.stdout if outcome.ok else None


def part(text: bytes | None, label: str) -> bytes | None:
    """The lines of one item."""
    if text is None:
        return None
    starts = (f"{label}:".encode(), f"{label} ".encode())
    return b"".join(line for line in text.splitlines(keepends=True) if line.startswith(starts))


def is_bash(source: bytes | None) -> bool:
    """As the instruction says: no Python, no Perl."""
    return source is not None and not re.search(rb"python|perl", source, re.IGNORECASE)
