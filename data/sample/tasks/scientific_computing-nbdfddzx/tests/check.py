"""Grades a digitised record: error of each column, and the derived numbers by their tolerances."""

from collections.abc import Iterable
from typing import Any, Dict, List, Optional

from verifiers import Check, Task, metric_threshold


def checks(task: Task) -> Iterable[Check]:
    """The curve weighs as much as all derived numbers together."""
    truth = task.truth
    data = task.read("trace.csv")
    in_time = _on_time(data, truth)
    for column in truth["columns"]:
        given = _column(data, column["name"]) if in_time else None
        yield metric_threshold.grade(
            f"{column['name']}: error over range",
            _relative_error(given, column["values"]),
            column["floor"],
            column["goal"],
            weight=len(truth["derived"]) / len(truth["columns"]),
        )
    derived = task.read_json("derived.json")
    for wanted in truth["derived"]:
        yield Check(f"derived {wanted['key']}", _close(derived, wanted))


def _on_time(data: Optional[bytes], truth: Dict[str, Any]) -> bool:
    """The rows are those that were asked for, in order."""
    given = _column(data, truth["time_column"])
    times = truth["times"]
    if given is None or len(given) != len(times):
        return False
    step = times[1] - times[0]
    pairs = zip(given, times)  # noqa: B905  Python 3.9
    return all(abs(one - other) <= 0.01 * step for one, other in pairs)


def _column(data: Optional[bytes], name: str) -> Optional[List[float]]:
    return metric_threshold.to_numbers(metric_threshold.parse_csv_column(data, name))


def _relative_error(given: Optional[List[float]], wanted: List[float]) -> Optional[float]:
    error = metric_threshold.rmse(given, wanted)
    return None if error is None else error / (max(wanted) - min(wanted))


def _close(derived: Any, wanted: Dict[str, Any]) -> float:
    value = derived.get(wanted["key"]) if isinstance(derived, dict) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0.0
    return float(abs(value - wanted["value"]) <= wanted["tolerance"] * (1 + 1e-9))
