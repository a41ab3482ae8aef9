"""The repairs of a run: every task that the audit flags, and the manifest of what is left."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import aclosing
from typing import Any, NamedTuple

from envgen.audit import audit, verdict
from envgen.config import RunConfig
from envgen.errors import Misconfigured
from envgen.export import audits, harbor, parquet, repairs, rollouts, trails
from envgen.kit import Kit
from envgen.pipeline import Item, Items, Stop, Unfinished, produce
from envgen.pipeline import run as run_all
from envgen.records import AuditReport, BuiltTask, Label, Mended, Rejection
from envgen.repair import asking, repair, ways
from envgen.runs import RunFolder, crash, tidy
from envgen.spool import Spool
from envgen.tally import Tally


class Looked(NamedTuple):
    """A task as it was found, its audit, and what came of its repair; None where none was due."""

    found: BuiltTask
    report: AuditReport
    mended: Mended | None


async def repair_all(
    folder: RunFolder,
    items: Items,
    kit: Kit,
    stop: Stop,
    only: tuple[Label, ...] = (),
    watch: Callable[[Tally], None] = lambda tally: None,
) -> Tally:
    """Audit every task, repair what is flagged, and write what is left.

    The manifest and the task folders are then those of the tasks that the policy does not reject,
    repaired ones in place of what they were; `rejections.parquet` has the others with their trail,
    `repair.parquet` everything that was tried. Called again, it recalls what was executed.

    Args:
        only: labels that are repaired; empty for all that can be.
    """
    tally = Tally(len(items))
    written = _Written(folder, kit)

    async def step(item: Item, kit: Kit) -> Looked | Rejection:
        return await looked(item, kit, only)

    try:
        async with aclosing(run_all(items, kit, stop, step)) as outcomes:
            async for number, outcome in outcomes:
                if isinstance(outcome, Unfinished):
                    tally.count(outcome)
                    crash(folder, outcome)
                else:
                    written.add(number, outcome, tally)
                watch(tally)
                await asyncio.sleep(0)
        written.finish(tally)
    finally:
        written.close()
    return tally


async def looked(item: Item, kit: Kit, only: tuple[Label, ...] = ()) -> Looked | Rejection:
    """One task through gates, audit and, where it is due, repair."""
    found = await produce(item, kit)
    if isinstance(found, Rejection):
        return found
    report = await audit(found, kit)
    label = verdict.label(report, kit.config.audit.policy)
    due = label != "CLEAN" and (not only or label in only)
    return Looked(found, report, await repair(found, report, kit) if due else None)


class _Written:
    """The files of a run while they are written, in the order of its items."""

    def __init__(self, folder: RunFolder, kit: Kit) -> None:
        self.folder, self.kit, self.policy = folder, kit, kit.config.audit.policy
        self.spools = {name: Spool(folder.path) for name in ("kept", "refused", "audits", "tried")}
        self.tags, self.slugs = set[str](), set[str]()
        folder.tasks.mkdir(exist_ok=True)

    def add(self, number: int, outcome: Looked | Rejection, tally: Tally) -> None:
        if isinstance(outcome, Rejection):
            self.spools["refused"].add(number, parquet.rejection_row(outcome))
            tally.rejected["gates"] += 1
            return
        found, report, mended = outcome
        self.tags.add(found.image.ref)
        self.spools["audits"].add(number, audits.row(report, self.policy))
        if mended is not None:
            self.spools["tried"].add(number, repairs.row(mended))
        if (mended is None or mended.after is None) and verdict.rejected(report, self.policy):
            self._refuse(number, outcome, tally)
        else:
            self._keep(number, outcome, tally)

    def _refuse(self, number: int, outcome: Looked, tally: Tally) -> None:
        found, report, mended = outcome
        label = verdict.label(report, self.policy)
        rejection = Rejection(
            spec=found.draft.spec,
            slug=found.draft.slug,
            step="repair",
            code=label,
            detail=mended.reason if mended else "repairs of this label were not asked for",
            proof=tuple(key for f in verdict.counted(report, self.policy)[:3] for key in f.proof),
        )
        trail = trails.values(mended.trail) if mended else []
        self.spools["refused"].add(number, parquet.rejection_row(rejection) | {"trail": trail})
        tally.rejected[label] += 1

    def _keep(self, number: int, outcome: Looked, tally: Tally) -> None:
        found, report, mended = outcome
        repaired = mended is not None and mended.after is not None
        task, last = (mended.task, mended.report) if mended and repaired else (found, report)
        tree = harbor.folder(task, self.kit.config.export)
        harbor.write(tree, self.folder.tasks / task.draft.slug)
        row = parquet.manifest_row(task, tree) | audits.labels_of(audits.row(last, self.policy))
        if mended is not None:
            trail = trails.values(mended.trail)
            row |= {"label_before": mended.before, "trail": trail}
        self.spools["kept"].add(number, row)
        self.tags.add(task.image.ref)
        self.slugs.add(task.draft.slug)
        tally.kept += 1

    def finish(self, tally: Tally) -> None:
        folder, rows = self.folder, {name: spool.rows() for name, spool in self.spools.items()}
        parquet.write_manifest(folder.manifest, rows["kept"])
        parquet.write_rejections(folder.rejections, rows["refused"])
        audits.write(folder.audits, rows["audits"])
        repairs.write(folder.repairs, rows["tried"])
        if folder.rollouts.exists():
            rollouts.note_manifest(folder.manifest, folder.rollouts)
        if tally.done == tally.total and not (tally.unfinished or tally.bugs):
            tidy(folder, self.slugs, self.kit, self.tags)

    def close(self) -> None:
        for spool in self.spools.values():
            spool.close()


def summary(folder: RunFolder) -> dict[str, Any]:
    """What was repaired and what was not, for tables and scripts."""
    rows, episodes = list(repairs.read(folder.repairs)), rollouts.measures(folder.rollouts)
    kinds = Counter(row["label_before"] for row in rows)
    done = Counter(row["label_before"] for row in rows if row["label_after"])
    return {
        "run": folder.path.name,
        "labels": {name: {"tasks": n, "repaired": done[name]} for name, n in sorted(kinds.items())},
        "tasks": [
            {
                "task": row["task"],
                "repaired": row["repaired"] if row["label_after"] else "",
                "before": row["label_before"],
                "after": row["label_after"] or "",
                "attempts": row["attempts"],
                "ways": row["ways"],
                "reason": row["reason"],
                **_played(row, episodes),
            }
            for row in rows
        ],
    }


def _played(row: parquet.Row, episodes: rollouts.Played) -> dict[str, list[parquet.Row]]:
    """What policies made of a task, as it was found and as it was mended, where any played it."""
    trail = row["trail"]
    drafts = {
        "played_before": trail[0].before if trail else None,
        "played_after": trail[-1].after if row["label_after"] else None,
    }
    return {
        name: [one for (of, _), measures in episodes.items() if of == draft for one in measures]
        for name, draft in drafts.items()
    }


def planned(
    folder: RunFolder, config: RunConfig, only: tuple[Label, ...]
) -> Iterator[dict[str, Any]]:
    """What would be tried on the tasks that were audited: nothing is built, run or asked."""
    policy, model, foreign = config.audit.policy, config.repair.model, folder.imported.exists()
    for report in audits.read(folder.audits):
        label = verdict.label(report, policy)
        if label == "CLEAN" or (only and label not in only):
            continue
        found = verdict.counted(report, policy)
        tried = tuple(dict.fromkeys(way for f in found for way in ways.fitting(f)))
        names = [way.name for way in tried] if label in ways.REPAIRABLE else []
        asked = [model] if model and asking.able(config, label, foreign) else []
        yield {
            "task": report.slug,
            "label": label,
            "findings": [f.code for f in found],
            "ways": [*names, *asked],
        }


def shown(folder: RunFolder, task: str) -> parquet.Row:
    """The row of a task, by its name before or after, and what policies made of it then.
    Misconfigured when there is none."""
    rows = repairs.read(folder.repairs) if folder.repairs.exists() else ()
    for row in rows:
        if task in (row["task"], row["repaired"]):
            return row | _played(row, rollouts.measures(folder.rollouts))
    raise Misconfigured(
        f"no repair of a task {task!r} was tried in run {folder.path.name!r}: `envgen repair --run "
        f"{folder.path.name}` lists those that were"
    )
