"""What the rounds of a self-generation run came to: rows, from the files that its flows wrote."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from envgen.audit import verdict
from envgen.export import audits, parquet, repairs, rollouts
from envgen.ledger import Ledger
from envgen.runs import RunFolder

Row = dict[str, Any]
FILE = "round.json"
"""In the run of a round that is done: its row."""


def rows_of(folder: Path) -> list[Row]:
    """The rounds of a run that are done, in their order."""
    found = [json.loads(path.read_text()) for path in (folder / "runs").glob(f"round-*/{FILE}")]
    return sorted(found, key=lambda row: int(row["round"]))


def written(folder: RunFolder, specs: int, policy: str) -> Row:
    """What was kept of the tasks that the model wrote, and what was wrong with the others."""
    labels = Counter(verdict.label(report, policy) for report in audits.read(folder.audits))
    mended = list(repairs.read(folder.repairs)) if folder.repairs.exists() else []
    kept = len(_rows(folder.manifest, ["task"]))
    codes = Counter(row["code"] for row in _rows(folder.rejections, ["code"]))
    return {
        "specs": specs,
        "built": labels.total(),
        "labels": dict(sorted(labels.items())),
        "repaired": sum(bool(row["label_after"]) for row in mended),
        "kept": kept,
        "yield": kept / specs,
        "rejections": dict(codes.most_common()),
    }


def paid(folder: RunFolder) -> Row:
    """What the round's model calls and containers took, added up: they run beside each other.

    Calls that a kill cut off are not in it.
    """
    ledger = Ledger(folder.path)
    try:
        asked = [row for row in ledger.attempts.table() if row.outcome != "unknown"]
        containers = ledger.spending.seconds("image", "job")
    finally:
        ledger.close()
    return {
        "calls": sum(row.attempts for row in asked),
        "tokens_in": sum(row.input for row in asked),
        "tokens_out": sum(row.output for row in asked),
        "seconds_asked": round(sum(row.seconds for row in asked), 1),
        "seconds_containers": round(containers, 1),
    }


def trained(metrics: Iterable[Mapping[str, float]], begun: int, version: int) -> Row:
    """The optimiser steps of a round, from the metrics of the whole training."""
    steps = [row for row in metrics if begun < row["step"] <= version]
    solved = [row["solved"] for row in steps if "solved" in row]
    return {
        "version": version,
        "steps": len(steps),
        "episodes": int(sum(row["rollouts"] for row in steps)),
        "tokens_trained": int(sum(row["tokens"] for row in steps)),
        "seconds_training": round(
            sum(s for row in steps for name, s in row.items() if name.startswith("seconds_")), 1
        ),
        "solved_first": solved[0] if solved else None,
        "solved_last": solved[-1] if solved else None,
    }


def solved(summary: Mapping[str, Any] | None) -> Row | None:
    """An evaluation in a few figures; None where nothing was played."""
    if summary is None or not summary["attempts"]:
        return None
    return {
        "tasks": summary["tasks_played"],
        "attempts": summary["attempts"],
        "passes": summary["passes"],
        "rate": summary["passes"] / summary["attempts"],
        "reward": summary["reward"],
    }


def mixed(episodes: Path, *, graded: bool) -> bool:
    """Whether two attempts at one task earned different rewards, so that a group of them can teach
    something."""
    if not episodes.exists():
        return False
    seen: dict[str, float] = {}
    for row in rollouts.read(episodes, ["task", "passed", "reward", "invalid", "fault"]):
        reward = float(row["reward"] or 0) if graded else float(row["passed"] or 0)
        if rollouts.valid(row) and seen.setdefault(row["task"], reward) != reward:
            return True
    return False


def _rows(path: Path, columns: list[str]) -> list[parquet.Row]:
    return list(parquet.read(path, columns)) if path.exists() else []
