"""Grades a forecast: accuracy on two hidden sets of targets, and the books about the data."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Dict, List, Optional

from verifiers import Check, Task, metric_threshold

METRICS = {
    "MAE": metric_threshold.mae,
    "RMSE": metric_threshold.rmse,
    "R2": metric_threshold.r2,
}


def checks(task: Task) -> Iterable[Check]:
    """Accuracy weighs most; a program that cannot repeat its own file loses that point."""
    truth = task.truth
    delivered = _predictions(task.read("predictions.csv"), truth["holdout_ids"], truth["target"])
    yield _graded("predictions.csv", delivered, truth["holdout_truth"], truth)
    fresh_rows = [",".join(truth["columns"]), *truth["fresh"]]
    fresh = _predict(task, "\n".join(fresh_rows) + "\n", truth["fresh_ids"])
    yield _graded("predict.py on other rows", fresh, truth["fresh_truth"], truth)
    again = _predict(task, Path(truth["holdout"]).read_text("utf-8"), truth["holdout_ids"])
    yield Check("predictions.csv comes from predict.py", _agreement(delivered, again))
    yield _cleaning(task.read_json("cleaning.json"), truth["cleaning"])
    yield _validation(task.read_json("validation.json"), truth["validation"])


def _graded(
    name: str, values: Optional[List[float]], wanted: List[float], truth: Dict[str, Any]
) -> Check:
    value = METRICS[truth["metric"]](values, wanted)
    return metric_threshold.grade(name, value, truth["floor"], truth["goal"], weight=3)


def _predict(task: Task, rows: str, ids: List[str]) -> Optional[List[float]]:
    outcome = task.run(
        ["python3", "predict.py"], stdin=rows.encode(), timeout=40, cwd=task.workdir, memory_mb=0
    )
    return _predictions(outcome.stdout, ids, task.truth["target"]) if outcome.ok else None


def _predictions(data: Optional[bytes], ids: List[str], target: str) -> Optional[List[float]]:
    """Values in the order of `ids`; None unless every id is there exactly once."""
    names = metric_threshold.parse_csv_column(data, "row_id")
    values = metric_threshold.to_numbers(metric_threshold.parse_csv_column(data, target))
    if names is None or values is None or sorted(names) != sorted(ids):
        return None
    found = dict(zip(names, values))  # noqa: B905  Python 3.9
    return [found[name] for name in ids]


def _agreement(one: Optional[List[float]], other: Optional[List[float]]) -> float:
    if one is None or other is None:
        return 0.0
    pairs = zip(one, other)  # noqa: B905  Python 3.9
    return float(all(math.isclose(a, b, rel_tol=1.1e-3, abs_tol=1e-6) for a, b in pairs))


def _cleaning(given: Any, wanted: Dict[str, Any]) -> Check:
    given = given if isinstance(given, dict) else {}
    cells = given.get("missing_cells")
    pairs = [(given.get(key), value) for key, value in wanted.items() if key != "missing_cells"]
    pairs += [
        (cells.get(key) if isinstance(cells, dict) else None, value)
        for key, value in wanted["missing_cells"].items()
    ]
    right = sum(_same_count(one, other) for one, other in pairs)
    return Check("cleaning.json", right / len(pairs), f"{right} of {len(pairs)} counts")


def _validation(given: Any, wanted: Dict[str, Any]) -> Check:
    given = given if isinstance(given, dict) else {}
    right = [
        given.get("cutoff") == wanted["cutoff"],
        _same_count(given.get("fit_rows"), wanted["fit_rows"]),
        _same_count(given.get("validation_rows"), wanted["validation_rows"]),
    ]
    value = given.get("baseline")
    usable = isinstance(value, (int, float)) and not isinstance(value, bool)
    close = usable and math.isclose(float(value), wanted["baseline"], rel_tol=1.05e-3, abs_tol=1e-4)
    # The cutoff is given in the instruction: alone it earns nothing.
    score = (sum(right[1:]) + 2 * close) / 4 if right[0] else 0.0
    return Check("validation.json", score, f"{sum(right)} of 3 facts, benchmark {close}")


def _same_count(one: Any, other: int) -> bool:
    return isinstance(one, (int, float)) and not isinstance(one, bool) and one == other
