"""Compares the answers that were read, line by line, and what was computed from them."""

from collections.abc import Iterable
from typing import List, Optional

from verifiers import Check, Task, exact_text, metric_threshold

SLACK = 0.0011


def checks(task: Task) -> Iterable[Check]:
    truth = task.truth
    given = task.read("answers.csv")
    rows = exact_text.normalised((given or b"").decode("utf-8", "replace")).split("\n")
    wanted = truth["answers"][1:]
    right = sum(row in rows for row in wanted) / max(len(wanted), len(rows) - 1)
    yield Check("answers.csv: sheets", right, f"{right:.0%} of the sheets", weight=3)
    yield exact_text.match("answers.csv", given, "\n".join(truth["answers"]))
    data = task.read("compare.csv")
    names = metric_threshold.parse_csv_column(data, "question")
    whole = names == [row[0] for row in truth["compare"]]
    for place, column in enumerate(truth["header"].split(",")[1:], start=1):
        values = metric_threshold.to_numbers(metric_threshold.parse_csv_column(data, column))
        yield Check(
            f"compare.csv: {column}", _close(values if whole else None, truth["compare"], place)
        )


def _close(values: Optional[List[float]], rows: "list[list[float]]", place: int) -> float:
    """All of a column or nothing: means of the scale alone come close to many."""
    if values is None or len(values) != len(rows):
        return 0.0
    pairs = zip(values, rows)
    return float(all(abs(value - row[place]) <= SLACK for value, row in pairs))
