"""What evaluations came to: pass@k, reward, faults, budgets, reuse; of all tasks and by axis."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from envgen.agent.episode import settings_of
from envgen.agent.passes import over_tasks
from envgen.agent.prefix import Reuse, Shape, reuse
from envgen.axes import AXES
from envgen.config import AgentConfig
from envgen.errors import Misconfigured
from envgen.export import parquet, rollouts
from envgen.records import Episode, Flag

_COLUMNS = [name for name in rollouts.FLAT if name != "keys"]
BY = tuple(axis for axis in AXES if axis != "persona")
"""Axes whose values are told apart; personas are too many to say anything."""


class File(NamedTuple):
    """The episodes of one model and one way of playing."""

    model: str
    settings: str
    path: Path


def named(folder: Path, model: str | None) -> list[File]:
    """The files of a run, or those of a model. Misconfigured when there are none."""
    found = []
    for path in rollouts.files(folder):
        row = next(rollouts.read(path, ["model", "settings"]), None)
        if row and model in (None, row["model"], row["settings"]):
            found.append(File(row["model"], row["settings"], path))
    if not found:
        whose = f" of {model}" if model else ""
        raise Misconfigured(f"there are no episodes{whose} in {folder}: play some, `envgen eval`")
    return found


def file_of(folder: Path, agent: AgentConfig) -> File:
    """Where the episodes of a player are, if there are any."""
    model, way = str(agent.model), rollouts.way(settings_of(agent))
    return File(model, way, folder / rollouts.name_of(model, way))


def rows_of(file: File, task: str, sample: int) -> Iterator[tuple[Episode, tuple[Flag, ...]]]:
    """The episode that is a sample of a task, with its flags; at most one."""
    for row in rollouts.read(file.path, ["task", "sample", "flags", "episode"]):
        if (row["task"], row["sample"]) == (task, sample):
            flags = tuple(Flag(**flag) for flag in row["flags"])
            yield Episode.model_validate_json(row["episode"]), flags


def summary(file: File, shape: Shape | None = None) -> dict[str, Any]:
    """Everything about the episodes of a file, as JSON values."""
    rows = list(rollouts.read(file.path, _COLUMNS))
    played = [row for row in rows if not row["fault"]]
    total = _reuse(file, played, shape)
    flagged = [(flag["code"], row) for row in played for flag in row["flags"]]
    return {
        "model": file.model,
        "settings": file.settings,
        "file": str(file.path),
        **_scores(rows),
        "endings": dict(Counter(str(row["ending"]) for row in played).most_common()),
        "faults": dict(Counter(_code(row["fault"]) for row in rows if row["fault"]).most_common()),
        "per_episode": {
            name: round(mean(row[name] for row in played), 3) if played else None
            for name in ("turns", "mistakes", "seconds", "input_tokens", "output_tokens")
        },
        "prefix": {
            "served_tokens": total.served,
            "computed_tokens": total.computed,
            "served_flops": total.served_flops if shape else None,
            "computed_flops": total.computed_flops if shape else None,
        },
        "flags": {
            code: {
                "episodes": len({_name(row) for c, row in flagged if c == code}),
                "passed": len({_name(row) for c, row in flagged if c == code and row["passed"]}),
            }
            for code in sorted({code for code, _ in flagged})
        },
        "by_axis": {axis: found for axis in BY if (found := _by(axis, rows))},
        "tasks": [{"task": name, **_scores(own)} for name, own in _tasks(rows).items()],
    }


def overview(folder: Path) -> list[dict[str, Any]]:
    """What a report says of each evaluation of a run: the summary without its tasks."""
    found = [summary(file) for file in named(folder, None)] if rollouts.files(folder) else []
    return [{n: v for n, v in each.items() if n != "tasks"} for each in found]


def _reuse(file: File, played: Sequence[parquet.Row], shape: Shape | None) -> Reuse:
    """What a cache could serve of all prompts; a shape needs the episodes turn by turn."""
    if shape is None:
        served = sum(row["reused_tokens"] for row in played)
        return Reuse(served, sum(row["input_tokens"] for row in played) - served)
    each = [
        reuse(episode.trajectory.turns, shape)
        for episode in rollouts.episodes(file.path)
        if episode.trajectory is not None
    ]
    return Reuse(*map(sum, zip(*each, strict=True))) if each else Reuse(0, 0)


def _scores(rows: Sequence[parquet.Row]) -> dict[str, Any]:
    """Counts and estimates over the tasks of some rows."""
    tasks = [rollouts.measured(own) for own in _tasks(rows).values()]
    counted = [row for row in rows if rollouts.valid(row)]
    passing = over_tasks([task["pass_at"] for task in tasks])
    told = [row for row in rows if not row["fault"]]
    return {
        "tasks_played": len(tasks),
        "attempts": len(counted),
        "passes": sum(task["passes"] for task in tasks),
        "pass_at": [round(value, 6) for value in passing],
        "reward": round(mean(row["reward"] for row in counted), 6) if counted else None,
        "invalid": sum(bool(row["invalid"]) for row in rows),
        "invalid_rate": sum(bool(r["invalid"]) for r in told) / len(told) if told else None,
    }


def _tasks(rows: Iterable[parquet.Row]) -> dict[str, list[parquet.Row]]:
    found: dict[str, list[parquet.Row]] = {}
    for row in rows:
        found.setdefault(row["task"], []).append(row)
    return found


def _by(axis: str, rows: Sequence[parquet.Row]) -> Mapping[str, dict[str, Any]]:
    groups: dict[str, list[parquet.Row]] = {}
    for row in rows:
        values = row[axis] if isinstance(row[axis], list) else [row[axis]]
        for value in values:
            if value is not None:
                groups.setdefault(value, []).append(row)
    return {value: _scores(groups[value]) for value in sorted(groups)}


def _name(row: parquet.Row) -> tuple[str, int]:
    return row["task"], row["sample"]


def _code(fault: str) -> str:
    return fault.partition(":")[0]
