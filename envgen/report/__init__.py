"""The report of a run, as values: what was left and why, how sound and hard it is, what it took.

`facts` says what a report holds; every count can be found again in its list of tasks. Nothing here
knows how it is shown.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from envgen import axes, evaluated
from envgen.config import RunConfig
from envgen.export.parquet import Row
from envgen.ledger import Ledger
from envgen.records import TaskSpec
from envgen.report import attrition, found
from envgen.report import tasks as tasks_of
from envgen.report.facts import KEPT, Balance, Effort, Report, Slow, Spread, Task, as_json
from envgen.report.provenance import provenance
from envgen.rounds import rows_of
from envgen.runs import RunFolder, catalogue_of, support_of

__all__ = ["Report", "as_json", "curves", "report"]

SLOWEST = 20
"""Builds that are named."""


def report(folder: RunFolder, settings: RunConfig) -> Report:
    """Everything about a run that its files tell."""
    specs = axes.read_specs(folder.specs) if folder.specs.exists() else []
    files = tasks_of.read(folder)
    ledger = Ledger(folder.path)
    try:
        spending = ledger.spending
        costs = {cost.task: cost for cost in spending.by_task()}
        tasks = tuple(tasks_of.lines(specs, files, costs))
        kept = [task for task in tasks if task.step == KEPT]
        names = {task.found_as: task.task for task in tasks}
        return Report(
            run=folder.path.name,
            manifest=str(folder.manifest),
            funnel=attrition.funnel(tasks),
            reasons=attrition.reasons(tasks),
            rejections=attrition.rejections(tasks),
            balance=_balance(specs, files.kept, settings),
            audit=found.audit(list(files.audits.values()), tasks),
            repairs=found.repairs(files.repairs),
            evaluations=tuple(evaluated.overview(folder.rollouts)),
            rounds=tuple(rows_of(folder.path)),
            training=tuple(curves(folder.path / "train" / "metrics.jsonl")),
            seconds=tuple(
                Effort(s.kind, s.step, s.times, round(s.seconds, 2), s.tokens, round(s.dollars, 6))
                for s in spending.by_step()
            ),
            slowest=tuple(
                Slow(names.get(s.task, s.task), round(s.seconds, 2))
                for s in spending.slowest("image", "build", SLOWEST)
            ),
            image_bytes=_spread(kept, "image_bytes"),
            baseline=_spread(kept, "baseline"),
            spent_seconds=_spread(kept, "seconds"),
            spent_dollars=ledger.attempts.spent()[0],
            provenance=tuple(provenance(folder, settings, files.kept, ledger.attempts.table())),
            tasks=tasks,
        )
    finally:
        ledger.close()


def curves(path: Path) -> list[dict[str, float]]:
    """Every step of a training run, as `envgen.train.loop` wrote it; none where nothing was
    trained. A line that a kill cut off is left out."""
    if not path.exists():
        return []
    lines = path.read_text().splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def _balance(specs: Sequence[TaskSpec], kept: Sequence[Row], settings: RunConfig) -> Balance:
    after = [spec for row in kept if (spec := tasks_of.spec_of(row))]
    support = support_of(settings, settings.author.name)
    preset = settings.sample.preset
    return attrition.balance(specs, after, catalogue_of(settings), preset, support)


def _spread(kept: Sequence[Task], name: str) -> Spread | None:
    values = [value for task in kept if (value := getattr(task, name)) is not None]
    if not values:
        return None
    return Spread(median(values), max(values), round(sum(values), 4))
