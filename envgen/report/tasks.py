"""What became of each task of a run: one line of facts each, from the run's Parquet files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import mean
from typing import Any

from envgen.export import audits, parquet, repairs, rollouts
from envgen.ledger.spending import TaskCost
from envgen.records import TaskSpec
from envgen.report import found
from envgen.report.attrition import AXES
from envgen.report.facts import KEPT, Task
from envgen.runs import RunFolder
from envgen.terminal import clean

_KEPT = [
    *("task", "seed", "index", "skills", "catalogue", *AXES),
    *("title", "author", "base", "base_content", "image_bytes", "baseline"),
]
_AUDIT = ["task", "policy", "label", "baseline", "mutants", "survivors", "findings", "trials"]
_PLAYED = ["task", "model", "settings", "passed", "reward", "invalid", "fault", "flags"]


@dataclass(frozen=True)
class Files:
    """The rows of a run's files, as far as a report looks at them."""

    kept: Sequence[parquet.Row]
    rejected: Sequence[parquet.Row]
    audits: Mapping[str, found.Audited]
    repairs: Sequence[parquet.Row]
    played: Mapping[str, Sequence[parquet.Row]] = field(default_factory=dict)


def read(folder: RunFolder) -> Files:
    """What is there of a run; nothing where a file is missing."""
    wanted = ["index", "task", "step", "code", "detail", *AXES]
    return Files(
        kept=_rows(folder, "manifest", _KEPT),
        rejected=_rows(folder, "rejections", wanted),
        audits={
            row["task"]: found.audited(row)
            for row in (audits.rows(folder.audits, _AUDIT) if folder.audits.exists() else ())
        },
        repairs=list(repairs.read(folder.repairs)) if folder.repairs.exists() else [],
        played=_played(folder),
    )


def _rows(folder: RunFolder, name: str, columns: list[str]) -> list[parquet.Row]:
    path = getattr(folder, name)
    return list(parquet.read(path, columns)) if path.exists() else []


def _played(folder: RunFolder) -> dict[str, list[parquet.Row]]:
    tasks: dict[str, list[parquet.Row]] = {}
    for path in rollouts.files(folder.rollouts):
        for row in rollouts.read(path, _PLAYED):
            tasks.setdefault(row["task"], []).append(row)
    return tasks


def spec_of(row: parquet.Row) -> TaskSpec | None:
    """The spec that a kept row was made from; None of an import."""
    if row["index"] is None:
        return None
    fields = {name: row[name] for name in ("seed", "index", "catalogue", *AXES)}
    return TaskSpec(**fields, skills=tuple(row["skills"]), slug=row["task"])


def lines(specs: Sequence[TaskSpec], files: Files, costs: Mapping[str, TaskCost]) -> Iterator[Task]:
    """All tasks in the order of the specs; of an import the kept ones first."""
    mended = {row["repaired"] if row["label_after"] else row["task"]: row for row in files.repairs}
    known = {row["task"]: _kept(row) for row in files.kept}
    known |= {row["task"]: _rejected(row) for row in files.rejected}
    for spec in specs:
        axes = tuple((axis, getattr(spec, axis)) for axis in AXES)
        known.setdefault(spec.slug, Task(task=spec.slug, axes=axes))
    order = dict.fromkeys([*(spec.slug for spec in specs), *known])
    for name in order:
        repair = mended.get(name)
        before = repair["task"] if repair else name
        own = [cost for slug in {before, name} if (cost := costs.get(slug))]
        yield replace(
            known[name],
            before=before if before != name else "",
            **_audit(files.audits.get(before)),
            **_repair(repair),
            **_play(files.played.get(name, ())),
            seconds=sum(cost.seconds for cost in own) if own else None,
            dollars=sum(cost.dollars for cost in own) if own else None,
        )


def _kept(row: parquet.Row) -> Task:
    return Task(
        task=row["task"],
        title=row["title"],
        step=KEPT,
        axes=_axes(row),
        **{name: row[name] for name in ("author", "base", "image_bytes", "baseline")},
        base_content=row["base_content"],
    )


def _rejected(row: parquet.Row) -> Task:
    detail = clean(" ".join(str(row["detail"]).split()))[:400]
    named = {name: row[name] for name in ("task", "step", "code")}
    return Task(**named, detail=detail, axes=_axes(row))


def _axes(row: parquet.Row) -> tuple[tuple[str, str], ...]:
    return tuple((axis, row[axis]) for axis in AXES if row[axis] is not None)


def _audit(audit: found.Audited | None) -> dict[str, Any]:
    if audit is None:
        return {}
    names = ("label", "proven", "suspected", "attacked", "paid", "mutants", "survivors")
    return {name: getattr(audit, name) for name in names}


def _repair(row: parquet.Row | None) -> dict[str, Any]:
    if row is None:
        return {}
    return {
        "repair": "accepted" if row["label_after"] else "refused",
        "ways": tuple(row["ways"]),
        "label_before": row["label_before"],
        "label_after": row["label_after"] or "",
        "refusal": found.refusal(row),
    }


def _play(rows: Sequence[parquet.Row]) -> dict[str, Any]:
    """pass@1 is that of each way of playing, averaged."""
    ways: dict[tuple[str, str], list[parquet.Row]] = {}
    for row in rows:
        ways.setdefault((row["model"], row["settings"]), []).append(row)
    firsts = [m["pass_at"][0] for own in ways.values() if (m := rollouts.measured(own))["pass_at"]]
    return {
        "played": tuple(dict.fromkeys(row["model"] for row in rows)),
        "flags": tuple(dict.fromkeys(flag["code"] for row in rows for flag in row["flags"])),
        "pass_at_1": mean(firsts) if firsts else None,
    }
