"""Runs the program on the given and on unseen streams, and once on a very long one.

Every output is compared line by line. The long stream is an unseen one with megabytes of lines
that are to be skipped behind it, run with little memory: a program that holds it all cannot end.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from typing import Any

from verifiers import Check, Task, exact_text

MEMORY_MB = 64
QUIET_BYTES = 80 << 20
EXTRA_FILES = ("rejects.txt", "stats.txt")


def checks(task: Task) -> Iterable[Check]:
    """One check for each output of each run; the language and the memory beside."""
    truth = task.truth
    source = task.read(truth["program"], limit=1 << 20)
    if truth["language"] == "bash":
        yield Check("written in Bash", float(_is_bash(task, source)))
    for nth, run in enumerate(truth["runs"]):
        found = _outputs(task, source, base64.b64decode(run["stream"]))
        weight = 3.0 if nth else 1.0  # the first stream was given: its answer can be recorded
        for name, expected in run["outputs"].items():
            text = "\n".join(expected)
            yield exact_text.lines(f"stream {nth}: {name}", found.get(name), text, weight=weight)
    run = truth["runs"][-1]
    long = base64.b64decode(run["stream"]) + _quiet(truth["quiet"])
    found = _outputs(task, source, long)
    right = [found.get(name) == "\n".join(text) + "\n" for name, text in run["outputs"].items()]
    yield Check("very long stream in little memory", float(all(right)), weight=2.0)


def _quiet(first: str) -> bytes:
    line = (first + " nothing to report" + " ." * 90).encode() + b"\n"
    return line * (QUIET_BYTES // len(line))


def _is_bash(task: Task, source: bytes | None) -> bool:
    """As the instruction says: executable, the first line, and two words that do not occur."""
    found = task.stat(task.truth["program"])
    if source is None or found is None or not found.st_mode & 0o100:
        return False
    if re.search(rb"python|perl", source, re.IGNORECASE):
        return False
    first = source.split(b"\n", 1)[0].strip()
    return re.fullmatch(rb"#! ?(/usr/bin/env bash|(/usr)?/bin/bash)( .*)?", first) is not None


def _outputs(task: Task, source: bytes | None, stream: bytes) -> dict[str, str | None]:
    """What one run leaves, by name; nothing unless it ended well."""
    if source is None:
        return {}
    program = str(task.truth["program"])
    # One file that needs no other: run away from the home folder.
    folder = task.scratch({program: source})
    names = EXTRA_FILES[: len(task.truth["runs"][0]["outputs"]) - 1]
    start = [f"{folder}/{program}"] if task.truth["language"] == "bash" else ["python3", program]
    outcome: Any = task.run([*start, *names], stdin=stream, cwd=folder, memory_mb=MEMORY_MB)
    if not outcome.ok:
        return {}
    found: dict[str, str | None] = {name: task.read_text(f"{folder}/{name}") for name in names}
    try:
        return found | {"records": outcome.stdout.decode()}
    except UnicodeDecodeError:
        return found
