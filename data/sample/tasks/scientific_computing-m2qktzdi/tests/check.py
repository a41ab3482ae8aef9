"""Compares results, set by set: those that were asked for, and those of sets nobody has seen."""

import math
from collections.abc import Iterable
from typing import List, Optional

import model  # type: ignore[import-not-found]

from verifiers import Check, Task, metric_threshold

FLOOR, GOAL = 0.2, 0.001


def checks(task: Task) -> Iterable[Check]:
    truth = task.truth
    wanted = model.table(truth["sets"])
    yield _graded("results.csv", task.read(truth["results"]), wanted)
    fresh = model.table(truth["fresh"])
    argv = ["python3", truth["program"]]
    outcome = task.run(argv, stdin=truth["fresh"].encode(), timeout=60, memory_mb=0)
    yield _graded(
        f"{truth['program']} on other sets", outcome.stdout if outcome.ok else None, fresh
    )


def _graded(name: str, data: Optional[bytes], wanted: str) -> Check:
    """The mean over the sets of the largest relative error of a set, at most 1 each."""
    lines = wanted.splitlines()
    header, rows = lines[0].split(","), [line.split(",") for line in lines[1:]]
    given = [metric_threshold.parse_csv_column(data, column) for column in header]
    if None in given or given[0] != [row[0] for row in rows]:
        return metric_threshold.grade(name, None, FLOOR, GOAL)
    values = [metric_threshold.to_numbers(column) for column in given[1:]]
    errors: List[float] = []
    for place, row in enumerate(rows):
        worst = 0.0
        for column, true in zip(values, map(float, row[1:])):
            far = math.inf if column is None else abs(column[place] - true)
            worst = max(worst, far / max(abs(true), 0.05))
        errors.append(min(worst, 1.0))
    return metric_threshold.grade(name, math.fsum(errors) / len(errors), FLOOR, GOAL)
