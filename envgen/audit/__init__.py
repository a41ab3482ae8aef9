"""The auditor: eight labels, each proven by something that was executed, or only suspected.

Rules look first and suspect. Then, in fresh containers at the agent's own privilege: attacks that
must earn nothing, valid alternatives that must pass, mutants of the reference's outputs that must
fail, circumstances that must change nothing, and names that must exist. A critic, where one is
configured, reads the task, and what it claims is executed too.
"""

import asyncio
from collections.abc import Callable, Mapping

from envgen.audit import static
from envgen.audit.attacking import attacked
from envgen.audit.critic import criticised
from envgen.audit.mutating import mutated
from envgen.audit.repeating import repeated
from envgen.audit.resolving import resolved
from envgen.audit.swapping import swapped
from envgen.audit.target import target_of
from envgen.audit.workbench import noop_keys, workbench
from envgen.authors import procedural
from envgen.files import FileTree
from envgen.kit import Kit
from envgen.plural import many
from envgen.records import AuditReport, BuiltTask, Finding, Place, TaskDraft, Tier, Trial

TRIVIAL = 0.5
"""A task whose untouched container earns as much is trivial."""


async def audit(
    task: BuiltTask,
    kit: Kit,
    alternatives: Mapping[str, FileTree] | None = None,
    only: Callable[[str, str], bool] = lambda probe, name: True,
) -> AuditReport:
    """What is wrong with a built task, as far as the configured tiers can show it.

    Args:
        task: a task that passed its gates.
        kit: whose ledger makes sure that nothing runs twice on the same bytes.
        alternatives: known-valid solutions by name; by default those of the task's family.
        only: which attacks and mutants are tried, by probe and name; by default all.

    Raises:
        Weather: the engine is in trouble; the audit is unfinished.
    """
    suspicions = static.look(task.draft)
    findings, trials = (*suspicions, *_trivial(task)), tuple[Trial, ...]()
    settings = kit.config.audit
    if settings.probes or settings.critic:
        target = target_of(task, kit.sandbox.blobs, settings.noise)
        bench = await workbench(task, target, kit)
    if settings.probes:
        valid = alternatives_of(task) if alternatives is None else alternatives
        parts = await asyncio.gather(
            attacked(bench, suspicions, only),
            mutated(bench, only),
            swapped(bench, valid),
            repeated(bench),
            resolved(bench),
        )
        findings += tuple(f for found, _ in parts for f in found)
        trials = tuple(t for _, ran in parts for t in ran)
    tiers = _tiers(task.draft, kit, trials)
    if settings.critic:
        found, ran, tier = await criticised(bench)
        findings, trials, tiers = (*findings, *found), (*trials, *ran), (*tiers, tier)
    mutants = [t for t in trials if t.probe == "mutating"]
    return AuditReport(
        task=task.draft.digest,
        image=task.image.content,
        slug=task.draft.slug,
        baseline=task.baseline,
        tiers=tiers,
        findings=findings,
        trials=trials,
        mutants=len(mutants),
        survivors=tuple(t.name for t in mutants if t.passed),
    )


def alternatives_of(task: BuiltTask) -> Mapping[str, FileTree]:
    """The valid solutions that a procedural family knows for its task; none for other authors."""
    kind, _, name = task.draft.author.partition("/")
    if kind != "procedural" or task.draft.spec is None:
        return {}
    (family,) = procedural.chosen((name,))
    return procedural.composition(task.draft.spec, family).valid


def _trivial(task: BuiltTask) -> tuple[Finding, ...]:
    """A task that pays much for nothing at all."""
    if task.baseline < TRIVIAL:
        return ()
    return (
        Finding(
            label="TASK-TRIVIAL",
            code="noop:paid",
            severity=2,
            message=f"the untouched container earns {task.baseline:g}",
            soundness="accepts-wrong",
            exploitability="rollout",
            places=(Place(file="tests/test.sh" if task.draft.foreign else "tests/check.py"),),
            proof=noop_keys(task),
        ),
    )


def _tiers(draft: TaskDraft, kit: Kit, trials: tuple[Trial, ...]) -> tuple[Tier, ...]:
    probes = kit.config.audit.probes
    note = many(len(trials), "trial") if probes else "switched off"
    found = [Tier(name="static", ran=True), Tier(name="probes", ran=probes, note=note)]
    if probes and not draft.solution:
        found += [
            Tier(name=name, ran=False, note="not possible: no reference")
            for name in ("mutating", "swapping", "repeating", "resolving of paths")
        ]
    elif probes and draft.foreign is not None and draft.foreign.grading == "shared":
        note = "not possible: graded where the agent worked"
        found.append(Tier(name="mutating", ran=False, note=note))
    return tuple(found)
