"""Grades labels by macro F1: of the new clips, and of clips that are made here and now."""

from collections.abc import Iterable
from typing import List, Optional

import synth  # type: ignore[import-not-found]

from verifiers import Check, Task, metric_threshold

FRESH = "fresh"


def checks(task: Task) -> Iterable[Check]:
    truth = task.truth
    given = _labels(task.read("predictions.csv"), [one["file"] for one in truth["new"]])
    yield _graded("predictions.csv", given, truth["new"], truth["goal"])
    if truth["fresh"]:
        yield _graded(
            "classify.py on other clips", _classified(task), truth["fresh"], truth["goal"]
        )


def _graded(
    name: str, given: Optional[List[str]], clips: "list[dict[str, str]]", goal: float
) -> Check:
    value = metric_threshold.macro_f1(given, [one["label"] for one in clips])
    return metric_threshold.grade(name, value, 0.5, goal)


def _classified(task: Task) -> Optional[List[str]]:
    truth = task.truth
    table = "".join(f"{one['file']},{one['rpm']}\n" for one in truth["fresh"])
    files = {f"{FRESH}/clips.csv": f"file,rpm\n{table}".encode()}
    for one in truth["fresh"]:
        files[f"{FRESH}/{one['file']}"] = synth.wav(synth.clip(truth["machine"], one))
    folder = task.scratch(files)
    argv = ["python3", "classify.py", f"{folder}/{FRESH}"]
    outcome = task.run(argv, timeout=60, cwd=task.workdir, memory_mb=0)
    return _labels(outcome.stdout, [o["file"] for o in truth["fresh"]]) if outcome.ok else None


def _labels(data: Optional[bytes], names: List[str]) -> Optional[List[str]]:
    """Labels in the order of `names`; None unless every name is there exactly once."""
    files = metric_threshold.parse_csv_column(data, "file")
    labels = metric_threshold.parse_csv_column(data, "label")
    if files is None or labels is None or sorted(files) != sorted(names):
        return None
    found = dict(zip(files, labels))
    return [found[name] for name in names]
