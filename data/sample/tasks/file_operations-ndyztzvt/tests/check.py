"""Grades the recordings that were laid out, and the list line by line.

The card lies outside of what the agent may change, so that its files are what they were.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from verifiers import Check, Task, exact_text


def checks(task: Task) -> Iterable[Check]:
    truth = task.truth
    out, wanted = truth["out"], truth["files"]
    found = {path for path in task.listing(out, deep=True) if not path.endswith("/")}
    found.discard(truth["manifest"])
    right = sum(
        path in found and task.read(f"{out}/{path}") == _given(truth["card"], source)
        for path, source in wanted.items()
    )
    share = right / len(found | set(wanted))
    yield Check("recordings in place", share, f"{right} right, {len(found)} there", weight=2.0)
    text = task.read_text(f"{out}/{truth['manifest']}")
    yield exact_text.lines("list", text, "\n".join(truth["lines"]), weight=2.0)


def _given(card: str, source: str) -> bytes:
    with open(os.path.join(card, source), "rb") as stream:
        return stream.read()
