"""The audits of a run: every kept task, `audit.parquet`, and findings executed once more."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import Any, NamedTuple

from envgen.audit import verdict
from envgen.audit.critic.proving import NAME as CRITIC
from envgen.audit.defects import canaries
from envgen.audit.repeating import alone, clock, regraded
from envgen.audit.resolving import resolved
from envgen.audit.target import target_of
from envgen.audit.workbench import Workbench, workbench
from envgen.errors import Misconfigured
from envgen.export import audits, parquet
from envgen.grade import grade
from envgen.kit import Kit
from envgen.ledger import Blobs, Use
from envgen.pipeline import Items, Stop, Unfinished, audited
from envgen.pipeline import run as run_all
from envgen.records import AuditReport, BuiltTask, Finding, Trial
from envgen.runs import RunFolder, crash
from envgen.spool import Spool
from envgen.tally import Tally
from envgen.writing import write_whole


async def audit_all(
    folder: RunFolder,
    items: Items,
    kit: Kit,
    stop: Stop,
    watch: Callable[[Tally], None] = lambda tally: None,
) -> Tally:
    """Audit every task that passes its gates; write `audit.parquet`, `rejections.parquet`, and
    labels in the manifest. Where there is a critic, it is asked about canaries as well, which
    `critic.json` tells.

    Called again, it recalls what was executed. In the tally, kept are the tasks that the policy
    does not reject; the others are counted by label, and as `gates` where they never got here.
    """
    tally, policy = Tally(len(items)), kit.config.audit.policy
    rows, refused = Spool(folder.path), Spool(folder.path)
    try:
        async with aclosing(run_all(items, kit, stop, audited)) as outcomes:
            async for number, outcome in outcomes:
                if isinstance(outcome, AuditReport):
                    rows.add(number, audits.row(outcome, policy))
                    if verdict.rejected(outcome, policy):
                        tally.rejected[verdict.label(outcome, policy)] += 1
                    else:
                        tally.kept += 1
                elif isinstance(outcome, Unfinished):
                    tally.count(outcome)
                    crash(folder, outcome)
                else:
                    refused.add(number, parquet.rejection_row(outcome))
                    tally.rejected["gates"] += 1
                watch(tally)
                await asyncio.sleep(0)
        audits.write(folder.audits, rows.rows())
        parquet.write_rejections(folder.rejections, refused.rows())
        if folder.manifest.exists():
            audits.label_manifest(folder.manifest, folder.audits)
        await _measured(folder, kit, stop)
    finally:
        rows.close()
        refused.close()
    return tally


async def _measured(folder: RunFolder, kit: Kit, stop: Stop) -> None:
    """The critic's canaries, put to it like any other task."""
    if kit.config.audit.critic is None:
        folder.critic.unlink(missing_ok=True)
    elif not stop.drain:
        found = canaries.summary(await canaries.measured(kit), kit)
        write_whole(folder.critic, json.dumps(found, indent=1) + "\n")


def _critic(folder: RunFolder, reports: Sequence[AuditReport]) -> dict[str, Any] | None:
    """The critic's accuracy on canaries, and what came of its scripts; None without a critic."""
    if not folder.critic.exists():
        return None
    ran = [t for r in reports for t in r.trials if t.probe == CRITIC and len(t.tree)]
    found = [f for r in reports for f in r.findings if f.code.startswith(f"{CRITIC}:")]
    return {
        **json.loads(folder.critic.read_text()),
        "tasks": sum(tier.name == CRITIC and tier.ran for r in reports for tier in r.tiers),
        "scripts_ran": len(ran),
        "scripts_paid": sum(bool(t.reward) for t in ran),
        "proven": sum(f.proven for f in found),
        "proven_with_hidden_knowledge": sum(
            f.proven and f.exploitability == "privileged" for f in found
        ),
        "suspected": sum(not f.proven for f in found),
    }


def summary(folder: RunFolder, policy: str) -> dict[str, Any]:
    """Labels, kill rate and findings of a run's audits, for tables and scripts."""
    reports = list(audits.read(folder.audits))
    labels = Counter(verdict.label(report, policy) for report in reports)
    mutants = sum(report.mutants for report in reports)
    survivors = [f"{r.slug} {name}" for r in reports for name in r.survivors]
    return {
        "run": folder.path.name,
        "policy": policy,
        "audited": len(reports),
        "refused": [
            {name: str(row[name]) for name in ("task", "code", "detail")}
            for row in parquet.read(folder.rejections, ["task", "code", "detail"])
        ],
        "labels": dict(sorted(labels.items())),
        "rejected": [r.slug for r in reports if verdict.rejected(r, policy)],
        "mutants": mutants,
        "kill_rate": 1 - len(survivors) / mutants if mutants else None,
        "survivors": survivors,
        "critic": _critic(folder, reports),
        "findings": [
            {
                "task": report.slug,
                "finding": audits.finding_id(report, finding),
                "label": finding.label,
                "proven": finding.proven,
                "code": finding.code,
                "message": finding.message,
            }
            for report in reports
            for finding in report.findings
        ],
    }


class Known(NamedTuple):
    """A finding, and the report that it stands in."""

    report: AuditReport
    finding: Finding

    @property
    def trial(self) -> Trial | None:
        """The trial that proves it, if one does."""
        name = self.finding.trial
        return next((t for t in self.report.trials if f"{t.probe}:{t.name}" == name), None)


def known(folder: RunFolder, wanted: str) -> Known:
    """The one finding whose name begins so. Misconfigured when there is none, or several."""
    found = [
        Known(report, finding)
        for report in audits.read(folder.audits)
        for finding in report.findings
        if audits.finding_id(report, finding).startswith(wanted)
    ]
    if len(found) != 1:
        raise Misconfigured(
            f"{len(found)} findings have a name that begins with {wanted!r}: `envgen audit show` "
            "lists those of a task"
        )
    return found[0]


async def replayed(task: BuiltTask, wanted: Known, blobs: Blobs, kit: Kit) -> Trial:
    """The receipt of a finding, executed once more with a kit that recalls nothing.

    Args:
        task: the task as it was audited; its image is in the engine.
        wanted: what is to be shown.
        blobs: of the run that audited it.
        kit: of an empty folder.

    Raises:
        Misconfigured: a suspicion has nothing that could be executed.
    """
    trial = wanted.trial
    for blob in (task.image.entries, task.image.extra, trial.outputs if trial else ""):
        if blob:
            kit.sandbox.blobs.put(blobs.get(blob))
    if trial is None:
        return await _untouched(task, wanted, kit)
    target = target_of(task, kit.sandbox.blobs, kit.config.audit.noise)
    if len(trial.tree):
        bench = Workbench(task, target, kit)
        return await bench.tried(trial.probe, trial.name, trial.does, trial.tree)
    if trial.probe == "repeating" or not trial.outputs:
        return await _by_reference(await workbench(task, target, kit), trial)
    bench = Workbench(task, target, kit)
    return await bench.graded(trial.probe, trial.name, trial.does, trial.outputs)


async def _by_reference(bench: Workbench, trial: Trial) -> Trial:
    """Trials that need what the reference leaves."""
    if trial.probe == "repeating":
        again, _ = await regraded(bench, trial.name, alone(await clock(bench))[trial.name])
        return again
    _, trials = await resolved(bench)
    return trials[0]


async def _untouched(task: BuiltTask, wanted: Known, kit: Kit) -> Trial:
    if not wanted.finding.proven:
        raise Misconfigured(
            f"{wanted.finding.code} is a suspicion: nothing was executed that could be replayed"
        )
    key, score = await grade(task.draft, task.image, None, kit, Use("replay", "noop"))
    return Trial(
        probe="noop",
        name="untouched",
        does="the untouched container",
        keys=(key,),
        reward=score.reward,
        passed=score.passed,
    )
