"""The report of a run: funnel, reasons, balance before and after attrition, times, bytes."""

import json
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any

from envgen import axes, evaluated
from envgen.build import GATES
from envgen.config import RunConfig
from envgen.export import parquet
from envgen.ledger import Ledger
from envgen.records import TaskSpec
from envgen.rounds import rows_of
from envgen.runs import RunFolder, catalogue_of
from envgen.terminal import clean


def report(folder: RunFolder, settings: RunConfig) -> dict[str, Any]:
    """Everything about a run that its files tell, as JSON values."""
    specs = axes.read_specs(folder.specs) if folder.specs.exists() else []
    kept = _rows(folder.manifest, ["index", "image_bytes", "baseline"])
    rejected = _rows(folder.rejections, ["index", "task", "step", "code", "detail"])
    total = len(specs) or len(kept) + len(rejected)
    left = {row["index"] for row in kept}
    catalogue = catalogue_of(settings)
    survivors = [spec for spec in specs if spec.index in left]
    return {
        "run": folder.path.name,
        "manifest": str(folder.manifest),
        "funnel": _funnel(total, rejected, len(kept)),
        "reasons": dict(Counter(str(row["code"]) for row in rejected).most_common()),
        "rejections": [_short(row) for row in rejected],
        "balance": {
            "before": _balance(specs, catalogue),
            "after": _balance(survivors, catalogue),
        },
        "seconds": _seconds(folder),
        "image_bytes": _spread([int(row["image_bytes"]) for row in kept]),
        "baseline": _spread([float(row["baseline"]) for row in kept]),
        "evaluations": evaluated.overview(folder.rollouts),
        "rounds": rows_of(folder.path),
        "training": curves(folder.path / "train" / "metrics.jsonl"),
    }


def curves(path: Path) -> list[dict[str, float]]:
    """Every step of a training run, as `envgen.train.loop` wrote it; none where nothing was
    trained. A line that a kill cut off is left out."""
    if not path.exists():
        return []
    lines = path.read_text().splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def _rows(path: Any, columns: list[str]) -> list[parquet.Row]:
    return list(parquet.read(path, columns)) if path.exists() else []


def _funnel(total: int, rejected: list[parquet.Row], kept: int) -> list[dict[str, Any]]:
    """How many were left of the specs, or of the tasks that an import found, after each step."""
    lost = Counter(str(row["step"]) for row in rejected)
    first = "import" if lost["import"] else "author"
    left, rows = total, [{"step": "specs", "lost": 0, "left": total}]
    for step in (first, *GATES, *(["repair"] if lost["repair"] else [])):
        left -= lost[step]
        rows.append({"step": step, "lost": lost[step], "left": left})
    unfinished = left - kept
    return [*rows, {"step": "kept", "lost": unfinished, "left": kept}]


def _short(row: parquet.Row) -> dict[str, str]:
    detail = clean(" ".join(str(row["detail"]).split()))
    return {"task": str(row["task"]), "code": str(row["code"]), "detail": detail[:400]}


def _balance(specs: list[TaskSpec], catalogue: axes.Catalogue) -> dict[str, float]:
    if not specs:
        return {}
    return {name: round(b.score, 4) for name, b in axes.balance(specs, catalogue).items()}


def _seconds(folder: RunFolder) -> list[dict[str, Any]]:
    ledger = Ledger(folder.path)
    try:
        return [
            {"kind": kind, "step": step, "times": n, "total": round(total, 2)}
            for kind, step, n, total in ledger.summary()
        ]
    finally:
        ledger.close()


def _spread(values: list[Any]) -> dict[str, Any]:
    if not values:
        return {}
    return {"median": median(values), "most": max(values), "total": round(sum(values), 4)}
