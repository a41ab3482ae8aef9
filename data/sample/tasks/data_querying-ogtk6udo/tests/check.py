"""Runs the rewritten queries on a database that nobody has seen, beside the slow ones.

The slow ones say what the rows must be, and how much work there was; the grade of each query is
how much of that work is gone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Optional

from rows import dump  # type: ignore[import-not-found]

from verifiers import Check, Task, VerifierError, metric_threshold

FLOOR = 0.5
LIMIT = 200_000_000


def checks(task: Task) -> Iterable[Check]:
    truth = task.truth
    names = sorted(truth["queries"])
    data = dump(truth["words"], truth["seed"], *truth["sizes"]).encode()
    slow = {name: text.encode() for name, text in truth["queries"].items()}
    before = _measured(task, data, b"", slow, LIMIT)
    if any(not before.get(name) for name in names):
        raise VerifierError("an original query does not run")
    indexes = task.read("fast/indexes.sql", limit=20_000)
    why = "missing" if indexes is None else _refused(indexes, truth["most"])
    fast = {name: task.read(f"fast/{name}.sql", limit=20_000) for name in names}
    there = {name: text for name, text in fast.items() if text and b"\0" not in text}
    limit = max(before[name]["steps"] for name in names)
    after = _measured(task, data, b"" if why else indexes or b"", there, limit)
    if "indexes" in after:
        why, after = "they cannot be created", {}
    gained = 0.0
    for name in names:
        done = after.get(name)
        right = done is not None and done["rows"] == before[name]["rows"]
        share = done["steps"] / before[name]["steps"] if done and right else None
        check = metric_threshold.grade(
            f"{name}: share of the work", share, FLOOR, truth["targets"][name], weight=2.0
        )
        gained = max(gained, check.score)
        yield check._replace(detail=check.detail if right else "not the same rows")
    yield Check("indexes", float(not why and gained > 0), why or "as many as allowed", weight=0.5)


def _refused(data: bytes, most: int) -> str:
    """Why a list of indexes is not taken; "" where it is."""
    text = re.sub(rb"--[^\n]*", b"", data)
    found = [one.strip() for one in text.split(b";") if one.strip()]
    if any(not re.match(rb"CREATE\s+(UNIQUE\s+)?INDEX\b", one, re.IGNORECASE) for one in found):
        return "something else than CREATE INDEX"
    return f"more than {most}" if len(found) > most else ""


def _measured(
    task: Task, data: bytes, indexes: bytes, queries: dict[str, bytes], limit: int
) -> dict[str, Any]:
    files = {f"{name}.sql": text for name, text in queries.items()}
    files |= {"data.sql": data, "indexes.sql": indexes, "measure.py": _SCRIPT}
    command = ["python3", "-I", "measure.py", str(limit), "data", "indexes", *queries]
    outcome = task.run(command, files=files, timeout=60, output_limit=8 << 20)
    value = _json(outcome.stdout) if outcome.ok else None
    return value if isinstance(value, dict) else {}


def _json(data: bytes) -> Optional[Any]:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


with open(__file__.replace("check.py", "measure.py"), "rb") as _stream:
    _SCRIPT = _stream.read()
