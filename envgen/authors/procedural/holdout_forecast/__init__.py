"""Tabular forecasts: a messy history, a documented schema, a later period without its target.

The agent delivers predictions for the later period and a program that makes them, which is then
run on rows nobody has seen. Sound cleaning and a sound regression reach the stated target; a
constant or a straight line through the raw columns does not.
"""

import json
import random
import statistics
from datetime import timedelta
from typing import Any

from envgen.authors.procedural.family import Composition, Family, Material, introduced
from envgen.files import FileTree
from envgen.records import InitialState, Limits, TaskSpec

from .observe import Dataset, baseline, observe, score
from .scenarios import SCENARIOS
from .simulate import World, simulate

MATERIAL = Material(__file__)
SLACK = {"MAE": 1.9, "RMSE": 1.9, "R2": 3.4}
"""How much worse than the true mean a prediction may be for full marks (R2: in 1 - R2)."""

METRIC_TEXT = {
    "MAE": "mean absolute error",
    "RMSE": "root mean squared error",
    "R2": "R2 (1 - sum of squared errors / sum of squared deviations of the true values from "
    "their mean)",
}


def compose(spec: TaskSpec, rng: random.Random) -> Composition:
    """One task: a business, a drawn world, its faults, and what is asked."""
    scenario = rng.choice(SCENARIOS)
    world = simulate(scenario, rng)
    data = observe(world, rng)
    words = _words(spec, world, data, rng)
    files = _environment(world, data, words)
    return Composition(
        title=f"Forecast {words['target']} for {scenario.operator}",
        instruction=MATERIAL.render("instruction.md.j2", **words),
        files=files,
        tests=FileTree(
            {
                "check.py": MATERIAL.text("check.py"),
                "truth.json": json.dumps(_truth(world, data, words), indent=1),
            }
        ),
        solution=_solution("solve.sh", words),
        wrong={
            name: _solution(f"wrong/{name}/solve.sh", words)
            for name in ("constant", "raw_linear", "lookup", "careless_cleaning")
        },
        valid={"separate_models": _solution("valid/separate_models/solve.sh", words)},
        base="data_science",
        initial=InitialState(
            present=tuple(f"/{path}" for path in files),
            absent=(
                "/home/agent/predictions.csv",
                "/home/agent/predict.py",
                "/home/agent/cleaning.json",
                "/home/agent/validation.json",
            ),
            tools=("python3",),
            commands=(("python3", "-c", "import numpy"),),
        ),
        secrets=tuple(",".join(row) for row in data.fresh[:3]),
        limits=Limits(agent_seconds=1200),
    )


def _words(spec: TaskSpec, world: World, data: Dataset, rng: random.Random) -> dict[str, Any]:
    """Everything that the texts and scripts of the task name."""
    scenario, faults = world.scenario, data.faults
    metric = rng.choice(("MAE", "RMSE", "R2"))
    floor, target = _bounds(data, metric)
    cutoff = world.start + timedelta(days=int(world.train_days * rng.uniform(0.72, 0.8)))
    later = world.start + timedelta(days=world.train_days)
    return {
        "who": introduced(spec.persona),
        "s": scenario,
        "target": scenario.target,
        "drivers": world.drivers,
        "faults": faults,
        "mixed": world.drivers[faults.mixed],
        "columns": data.columns,
        "root": f"/srv/{scenario.key}",
        "entities": list(zip(world.entities, world.kinds, world.sizes, strict=True)),
        "renamed": world.entities[0],
        "metric": metric,
        "metric_text": METRIC_TEXT[metric],
        "floor": floor,
        "goal": target,
        "cutoff": cutoff.isoformat(),
        "baseline": baseline(data.kept, cutoff, metric),
        "start": world.start.isoformat(),
        "later": later.isoformat(),
        "end": (later + timedelta(days=world.later_days - 1)).isoformat(),
        "holdout_rows": len(data.holdout),
        "train_rows": len(data.train),
    }


def _bounds(data: Dataset, metric: str) -> tuple[float, float]:
    """Floor: the best constant that there is. Target: noise and some room."""
    floors, targets = [], []
    for rows in (data.holdout_rows, data.fresh_rows):
        truth = [row.y for row in rows]
        best = score(metric, truth, [row.mean for row in rows])
        if metric == "R2":
            targets.append(1 - SLACK[metric] * (1 - best))
            continue
        constant = statistics.median(truth) if metric == "MAE" else statistics.fmean(truth)
        floors.append(score(metric, truth, [constant] * len(truth)))
        targets.append(SLACK[metric] * best)
    if metric == "R2":
        return 0.0, int(min(targets) * 1000) / 1000
    return _three_digits(min(floors)), _three_digits(max(targets))


def _three_digits(value: float) -> float:
    return float(f"{value:.3g}")


def _environment(world: World, data: Dataset, words: dict[str, Any]) -> FileTree:
    scenario = world.scenario
    root = words["root"].lstrip("/")
    sites = [[name, scenario.kinds[kind], str(size)] for name, kind, size in words["entities"]]
    days = [[day.isoformat(), event] for day, event in sorted(world.events.items())]
    return FileTree(
        {
            f"{root}/NOTES.md": MATERIAL.render("notes.md.j2", **words),
            f"{root}/train.csv": _csv([*data.columns, scenario.target], data.train),
            f"{root}/holdout.csv": _csv(data.columns, data.holdout),
            f"{root}/{scenario.entity}s.csv": _csv(
                [scenario.entity, scenario.kind_column, scenario.size_column], sites
            ),
            f"{root}/calendar.csv": _csv(["date", "event"], days),
        }
    )


def _csv(header: list[str], rows: list[list[str]]) -> str:
    return "".join(",".join(_quoted(cell) for cell in row) + "\n" for row in [header, *rows])


def _quoted(cell: str) -> str:
    return f'"{cell}"' if "," in cell else cell


def _truth(world: World, data: Dataset, words: dict[str, Any]) -> dict[str, Any]:
    return {
        "holdout": f"{words['root']}/holdout.csv",
        "target": words["target"],
        "metric": words["metric"],
        "floor": words["floor"],
        "goal": words["goal"],
        "cleaning": data.cleaning,
        "validation": words["baseline"],
        "holdout_ids": [row[0] for row in data.holdout],
        "holdout_truth": [row.y for row in data.holdout_rows],
        "columns": data.columns,
        "fresh": [_csv(row, []).strip() for row in data.fresh],
        "fresh_ids": [row[0] for row in data.fresh],
        "fresh_truth": [row.y for row in data.fresh_rows],
    }


def _solution(script: str, words: dict[str, Any]) -> FileTree:
    """A solution folder: its script, the shared model code and what the texts say, as settings."""
    code = {
        "valid/separate_models/solve.sh": {"separate.py": "valid/separate_models/separate.py"},
        "wrong/raw_linear/solve.sh": {"linear.py": "wrong/raw_linear/linear.py"},
    }.get(script, {})
    return FileTree(
        {
            "solve.sh": MATERIAL.render(script, **words),
            "predict.py": MATERIAL.text("predict.py"),
            "clean.py": MATERIAL.text("clean.py"),
            "settings.json": json.dumps(_settings(words), indent=1) + "\n",
            **{name: MATERIAL.text(path) for name, path in code.items()},
        }
    )


def _settings(words: dict[str, Any]) -> dict[str, Any]:
    """What NOTES.md and the instruction say, for the scripts of the solutions."""
    s, faults, mixed = words["s"], words["faults"], words["mixed"]
    return {
        "root": words["root"],
        "entity": s.entity,
        "kind": s.kind_column,
        "slot": s.slot_column,
        "target": s.target,
        "drivers": [d.column for d in words["drivers"]],
        "gaps": list(faults.gap_codes),
        "mixed": {
            "column": mixed.column,
            "factor": mixed.factor,
            "offset": mixed.offset,
            "rule": faults.unit_rule,
            "entities": list(faults.unit_entities),
            "until": faults.unit_until.isoformat(),
        },
        "old_code": faults.old_code if "old_code" in faults.extras else "",
        "renamed": words["renamed"],
        "metric": words["metric"],
        "cutoff": words["cutoff"],
        "slips": "slips" in faults.extras,
    }


FAMILY = Family(
    name="holdout_forecast",
    realises={
        "domain": frozenset({"data_science"}),
        "skill_type": frozenset({"predictive_modelling"}),
        "skills": frozenset(
            {
                "feature_engineering",
                "train_validation_split",
                "regression_modelling",
                "missing_value_handling",
                "model_selection",
                "prediction_export",
            }
        ),
        "language": frozenset({"python"}),
        "task_complexity": frozenset({"complex"}),
        "command_complexity": frozenset({"bash_code"}),
        "verifier": frozenset({"metric_threshold"}),
        "fixture": frozenset({"text_only"}),
    },
    compose=compose,
)
