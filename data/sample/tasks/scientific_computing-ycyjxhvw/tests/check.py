"""Grades tracks by their distance from the true paths, and what was measured by its tolerance."""

from collections.abc import Iterable
from typing import Any, Dict, List, Optional

from verifiers import Check, Task, metric_threshold

FLOOR, GOAL, WORST = 0.2, 0.012, 0.04
"""Shares of the path's extent: root mean square for nothing and for all, and for any one row."""


def checks(task: Task) -> Iterable[Check]:
    truth = task.truth
    data = task.read("film/track.csv")
    columns = {name: _column(data, name) for name in ("t_s", "x_mm", "y_mm")}
    films = metric_threshold.parse_csv_column(data, "film")
    order = [film["name"] for film in truth["films"] for _ in film["t_s"]]
    whole = films == order and None not in columns.values()
    yield Check("track.csv: its rows", float(whole), weight=0.5)
    at = 0
    for film in truth["films"]:
        end = at + len(film["t_s"])
        part = {k: (v or [])[at:end] for k, v in columns.items()} if whole else None
        yield from _followed(film, part)
        at = end
    runs = task.read("film/runs.csv")
    names = metric_threshold.parse_csv_column(runs, "film")
    inside = names == [film["name"] for film in truth["films"]]
    settings = _column(runs, truth["setting"]) if inside else None
    right = settings is not None and all(
        abs(a - f["setting"]) < 1e-6 for a, f in zip(settings, truth["films"])
    )
    measured = _column(runs, truth["measured"]) if right else None
    for n, film in enumerate(truth["films"]):
        value = measured[n] if measured else None
        yield Check(f"measured in {film['name']}", _near(value, film["measured"], 0.02), weight=1.5)
    law = task.read_json("film/law.json") if truth["law"] else {}
    for key, value in truth["law"].items():
        given = law.get(key) if isinstance(law, dict) else None
        yield Check(f"law: {key}", _near(given, value["value"], value["tolerance"]), weight=2)


def _followed(film: Dict[str, Any], part: Optional[Dict[str, List[float]]]) -> Iterable[Check]:
    name, extent = film["name"], film["extent"]
    timed = part is not None and all(abs(a - b) < 0.002 for a, b in zip(part["t_s"], film["t_s"]))
    far = None
    if timed and part is not None:
        near = zip(part["x_mm"], film["x_mm"], part["y_mm"], film["y_mm"])
        far = [((a - b) ** 2 + (c - d) ** 2) ** 0.5 / extent for a, b, c, d in near]
    rms = metric_threshold.rmse(far, [0.0] * len(far)) if far else None
    yield metric_threshold.grade(f"{name}: distance over extent", rms, FLOOR, GOAL, weight=2)
    yield Check(f"{name}: no row is far off", float(far is not None and max(far) <= WORST))


def _column(data: Optional[bytes], name: str) -> Optional[List[float]]:
    return metric_threshold.to_numbers(metric_threshold.parse_csv_column(data, name))


def _near(value: Any, wanted: float, tolerance: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0.0
    return float(abs(value - wanted) <= tolerance * abs(wanted) * (1 + 1e-9))
