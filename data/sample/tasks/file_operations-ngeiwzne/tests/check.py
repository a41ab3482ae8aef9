"""Grades the merged tree by the paths that were to be decided, and the report line by line."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from verifiers import Check, Task, exact_text


def checks(task: Task) -> Iterable[Check]:
    """A copy of either side decides nothing, so it earns nothing."""
    truth = task.truth
    out, wanted, kept = truth["out"], truth["files"], set(truth["kept"])
    found = {path for path in task.listing(out, deep=True) if not path.endswith("/")}
    decided = [path for path in wanted if path not in kept]
    right = {
        path for path in wanted if path in found and _sum(task, f"{out}/{path}") == wanted[path]
    }
    share = sum(path in right for path in decided) / len(decided)
    share *= len(right) / len(found | set(wanted))
    yield Check(
        "merged tree", share if found == right == set(wanted) else min(share, 0.9), weight=2
    )
    lines = "\n".join(truth["lines"])
    yield exact_text.lines("report", task.read_text(truth["report"]), lines, weight=2)
    same = all(_sum(task, path) == value for path, value in truth["given"].items())
    yield Check("both sides untouched", float(same and share > 0), weight=0.5)


def _sum(task: Task, path: str) -> str | None:
    data = task.read(path)
    return None if data is None else hashlib.sha256(data).hexdigest()
