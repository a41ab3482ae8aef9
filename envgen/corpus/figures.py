"""A corpus in figures: what its tasks are, how they are spread, what was measured of them."""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from math import exp, fsum, log
from typing import Any, TypedDict

from envgen.axes import AXES
from envgen.corpus.words import words

Row = Mapping[str, Any]
COLUMNS = ("task", "instruction", "author", *AXES)
PERHAPS = ("label", "audit_policy", "kill_rate", "findings", "pass_at_k")
NOT_AUDITED = "not audited"


class Axis(TypedDict):
    """How an axis was used."""

    values: dict[str, int]
    """Tasks by value, the most frequent first."""
    even: float
    """exp(H) / seen values: 1 = each as often; 0 where no task has a value."""


class Label(TypedDict):
    """Tasks with a label of an audit."""

    tasks: int
    proven: int
    """Of these, with a finding of this label that was executed."""


class Measure(TypedDict):
    """What episodes of one model and way of playing came to, as a mean over its tasks."""

    model: str
    settings: str
    tasks: int
    attempts: int
    pass_at: dict[str, float]
    """By k, over the tasks with as many attempts."""
    reward: float


class Figures(TypedDict):
    """A corpus in figures."""

    tasks: int
    axes: dict[str, Axis]
    labels: dict[str, Label]
    kill_rate: float | None
    """Mean over the tasks where it was measured."""
    measures: list[Measure]
    authors: dict[str, int]
    words: dict[str, int]
    """Of instructions: least, median, most."""


def figures(rows: Iterable[Row]) -> Figures:
    """The figures of a manifest's rows (COLUMNS and PERHAPS), gone through once."""
    census: dict[str, Counter[str]] = {axis: Counter() for axis in AXES}
    authors: Counter[str] = Counter()
    labels: dict[str, Label] = {}
    kills: list[float] = []
    lengths: list[int] = []
    played: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        for axis in AXES:
            value = row.get(axis)
            census[axis].update(value if isinstance(value, list | tuple) else [value or ""])
        authors[str(row.get("author") or "")] += 1
        lengths.append(len(words(row.get("instruction") or "")))
        _label(row, labels)
        if row.get("kill_rate") is not None:
            kills.append(row["kill_rate"])
        for measure in row.get("pass_at_k") or ():
            played.setdefault((measure["model"], measure["settings"]), []).append(measure)
    return Figures(
        tasks=len(lengths),
        axes={axis: _axis(census[axis]) for axis in AXES},
        labels=dict(sorted(labels.items())),
        kill_rate=statistics.fmean(kills) if kills else None,
        measures=[_measure(key, found) for key, found in sorted(played.items())],
        authors=_sorted(authors),
        words=_spread(lengths),
    )


def _label(row: Row, labels: dict[str, Label]) -> None:
    label = row.get("label") or NOT_AUDITED
    found = labels.setdefault(label, Label(tasks=0, proven=0))
    found["tasks"] += 1
    found["proven"] += any(f["label"] == label and f["proven"] for f in row.get("findings") or ())


def _axis(census: Counter[str]) -> Axis:
    del census[""]
    total = census.total()
    entropy = -fsum(n / total * log(n / total) for n in census.values())
    return Axis(values=_sorted(census), even=exp(entropy) / len(census) if census else 0.0)


def _measure(key: tuple[str, str], found: list[Row]) -> Measure:
    curves = [m["pass_at"] or [] for m in found if m["attempts"]]
    rewards = [m["reward"] for m in found if m["reward"] is not None]
    ks = range(1, max(map(len, curves), default=0) + 1)
    return Measure(
        model=key[0],
        settings=key[1],
        tasks=len(curves),
        attempts=sum(m["attempts"] for m in found),
        pass_at={str(k): statistics.fmean(c[k - 1] for c in curves if len(c) >= k) for k in ks},
        reward=statistics.fmean(rewards) if rewards else 0.0,
    )


def _sorted(census: Counter[str]) -> dict[str, int]:
    return dict(sorted(census.items(), key=lambda item: (-item[1], item[0])))


def _spread(lengths: list[int]) -> dict[str, int]:
    if not lengths:
        return {}
    middle = int(statistics.median(lengths))
    return {"least": min(lengths), "median": middle, "most": max(lengths)}
