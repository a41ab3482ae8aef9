"""Grades the list of what drifted, and each mended line; nothing else may have changed."""

from __future__ import annotations

from collections.abc import Iterable

from verifiers import Check, Task, exact_text


def checks(task: Task) -> Iterable[Check]:
    truth = task.truth
    text = task.read_text("drift.csv")
    head = (text or "").split("\n")[0].strip()
    rest = text.split("\n", 1)[-1] if text and head == truth["header"] else None
    yield exact_text.lines("drift.csv", rest, "\n".join(truth["rows"]), weight=2.0)
    wanted = {(path, line): (key, meant) for key, meant, path, line in truth["drift"]}
    mended = kept = 0
    total = 0
    for path, before in truth["files"].items():
        was = before.split("\n")
        now = (task.read_text(f"{truth['service']}/{path}") or "").split("\n")
        total += 1
        same = len(was) == len(now)
        for number, (old, new) in enumerate(zip(was, now), start=1):
            if (path, number) in wanted:
                mended += _sets(new, *wanted[path, number])
            else:
                same = same and old == new
        kept += same
    share = mended / len(wanted)
    yield Check("mended lines", share, f"{mended} of {len(wanted)}", weight=2.0)
    yield Check("nothing else changed", (kept / total) * share if kept == total else 0.0)


def _sets(line: str, key: str, value: str) -> bool:
    """Whether a line sets the key to the value, as the loader reads it."""
    name, equals, given = line.split("#")[0].partition("=")
    return bool(equals) and name.strip().lower() == key and given.strip() == value
