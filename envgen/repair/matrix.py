"""The acceptance matrix: what has to hold of a repaired task, each line of it executed.

All through the ordinary build and audit: a repair has no test of its own.
"""

from collections.abc import Iterator, Sequence

from envgen.audit import unpacking
from envgen.audit.target import target_of
from envgen.audit.verdict import counted
from envgen.audit.workbench import Workbench
from envgen.kit import Kit
from envgen.plural import many
from envgen.records import (
    AuditReport,
    BuiltTask,
    Criterion,
    Finding,
    Key,
    Label,
    Rejection,
    TaskDraft,
    Trial,
)
from envgen.repair.leaking import leaked

ACCEPTING: tuple[Label, ...] = ("VERIFIER-TOO-WEAK", "ANSWER-LEAK", "TASK-TRIVIAL")
"""Labels of work that is paid and should not be."""
HONEST = ("swapping", "repeating", "resolving")
"""Probes whose trials are no attacks."""


def refused_by_gate(rejection: Rejection) -> tuple[Criterion, ...]:
    """The matrix of a draft that a gate refused: nothing behind it was executed."""
    told = f"{rejection.code}: {' '.join(rejection.detail.split())[:300]}"
    return (Criterion(name="gates", holds=False, told=told, proof=rejection.proof),)


async def matrix(
    found: BuiltTask, before: AuditReport, repaired: BuiltTask, after: AuditReport, kit: Kit
) -> tuple[Criterion, ...]:
    """Every line, in the order in which a person would ask.

    Args:
        found: the task as it was found.
        before: its audit.
        repaired: the task after the repair, which passed its gates.
        after: its audit.
        kit: runs what worked before once more.
    """
    kept = [
        _gates(repaired),
        await _worked(before, repaired, kit),
        _others(after),
        _reference(found.draft, repaired),
        _alternatives(after),
        _kills(before, after),
        _leaks(found, before, repaired, kit),
        _findings(before, after),
        _baseline(found, repaired),
    ]
    return tuple(kept)


def failing(lines: Sequence[Criterion]) -> tuple[Criterion, ...]:
    """The lines that do not hold."""
    return tuple(line for line in lines if line.holds is False)


def wrong_way(lines: Sequence[Criterion]) -> bool:
    """Whether the change itself does harm, so that nothing can be built on it."""
    return any(line.name in HARM for line in failing(lines))


HARM = ("gates", "reference", "alternatives", "kill rate", "untouched container")


def _gates(task: BuiltTask) -> Criterion:
    keys = tuple(key for receipt in task.evidence for key in receipt.keys)
    told = ", ".join(receipt.gate for receipt in task.evidence)
    return Criterion(name="gates", holds=True, told=told, proof=keys)


async def _worked(before: AuditReport, repaired: BuiltTask, kit: Kit) -> Criterion:
    """Everything that earned something, or was denied something, once more on the new task."""
    noise = kit.config.audit.noise
    bench = Workbench(repaired, target_of(repaired, kit.sandbox.blobs, noise), kit)
    name, count = "what worked", 0
    still, keys = list[str](), list[Key]()
    for finding, trial in proofs(before):
        again = await _again(bench, finding, trial)
        if again is None:
            continue
        count += 1
        keys += again.keys
        bad = (
            not again.passed
            if finding.soundness == "rejects-right"
            else pays(again, finding, repaired, noise)
        )
        if bad:
            still.append(f"{trial.probe}:{trial.name} earns {again.reward}")
    if still:
        told = f"as before: {len(still)} of {count}: {'; '.join(still)[:300]}"
        return Criterion(name=name, holds=False, told=told, proof=tuple(keys))
    if not count:
        return Criterion(name=name, holds=None, told="nothing that was found can be run again")
    return Criterion(name=name, holds=True, told=f"none of {count} does", proof=tuple(keys))


def proofs(report: AuditReport) -> Iterator[tuple[Finding, Trial]]:
    """Proven findings that count, the worst first, with the trials that prove them."""
    trials = {f"{t.probe}:{t.name}": t for t in report.trials}
    for finding in counted(report, "proven"):
        if finding.trial in trials:
            yield finding, trials[finding.trial]


def paid(report: AuditReport) -> tuple[Finding, ...]:
    """Proven findings that count, of work that is paid and should not be."""
    return tuple(f for f in counted(report, "proven") if f.label in ACCEPTING)


def attacks(report: AuditReport) -> tuple[Trial, ...]:
    """The trials that should earn nothing."""
    return tuple(t for t in report.trials if t.probe not in HONEST)


async def _again(bench: Workbench, finding: Finding, trial: Trial) -> Trial | None:
    """The trial on the new task; None where its outputs belong to the old one's circumstances.

    What was dug out of a layer came with the attack: it is right wherever it is brought to, and
    `_leaks` says whether a layer still holds it.
    """
    if finding.exploitability == "layers":
        return None
    if len(trial.tree):
        return await bench.tried(trial.probe, trial.name, trial.does, trial.tree)
    if trial.outputs and trial.probe in ("mutating", "swapping") and not bench.target.together:
        return await bench.graded(trial.probe, trial.name, trial.does, trial.outputs)
    return None


def pays(trial: Trial, finding: Finding, task: BuiltTask, noise: float) -> bool:
    """Whether wrong work is paid. A grader that gave no verdict has paid nothing."""
    if trial.probe == "mutating":
        return trial.passed
    return trial.reward is not None and trial.reward > task.baseline + noise


def _others(after: AuditReport) -> Criterion:
    """No other attack pays, and none that is tried leaves more than noise."""
    bad, tried = paid(after), len(attacks(after))
    keys = tuple(key for f in bad for key in f.proof)
    if bad:
        told = f"earning: {len(bad)} of {tried}: {'; '.join(f.code for f in bad)[:300]}"
        return Criterion(name="other attacks", holds=False, told=told, proof=keys)
    return Criterion(name="other attacks", holds=True, told=f"none of {tried} pays")


def _reference(found: TaskDraft, repaired: BuiltTask) -> Criterion:
    """It is the one that it was, unless the instruction is another, and passes each time."""
    draft = repaired.draft
    if draft.solution != found.solution and draft.instruction == found.instruction:
        told = "it was changed, and the instruction was not"
        return Criterion(name="reference", holds=False, told=told)
    if not draft.solution:
        return Criterion(name="reference", holds=None, told="the task has none")
    keys = tuple(
        key for e in repaired.evidence if e.gate in ("reference", "determinism") for key in e.keys
    )
    told = f"passes {many(repaired.repeats + 1, 'time')}"
    return Criterion(name="reference", holds=True, told=told, proof=keys)


def _alternatives(after: AuditReport) -> Criterion:
    trials = [t for t in after.trials if t.probe == "swapping"]
    denied = [t.name for t in trials if not t.passed]
    keys = tuple(key for t in trials for key in t.keys)
    if not trials:
        return Criterion(name="alternatives", holds=None, told="none is known")
    told = f"denied: {', '.join(denied)}" if denied else many(len(trials), "passes", "pass")
    return Criterion(name="alternatives", holds=not denied, told=told, proof=keys)


def _kills(before: AuditReport, after: AuditReport) -> Criterion:
    old, new = before.kill_rate, after.kill_rate
    if new is None:
        return Criterion(name="kill rate", holds=None, told="no mutants can be made")
    told = f"{'none' if old is None else f'{old:.2f}'} before, {new:.2f} after"
    return Criterion(name="kill rate", holds=old is None or new >= old, told=told)


def _leaks(found: BuiltTask, before: AuditReport, repaired: BuiltTask, kit: Kit) -> Criterion:
    """The contents that gave the answer are in no layer, packed or not."""
    blobs, noise = kit.sandbox.blobs, kit.config.audit.noise
    target = target_of(found, blobs, noise)
    leaks = [f for f in counted(before, "proven") if f.label == "ANSWER-LEAK"]
    data = {one.strip() for finding in leaks for one in leaked(target, before, finding)}
    if not data:
        return Criterion(name="leaked bytes", holds=None, told="nothing leaked that has bytes")
    new = target_of(repaired, blobs, noise)
    held = sorted(
        entry.path
        for entry in new.entries
        if not new.told(entry.path)
        and any(one in view for one in data for view in unpacking.views(entry.data).values())
    )
    if any(one in repaired.image.config.encode() for one in data):
        held.append("the image's configuration")
    gone = many(len(data), "content is", "contents are") + " in no layer"
    told = f"still in {', '.join(held)[:300]}" if held else gone
    return Criterion(name="leaked bytes", holds=not held, told=told)


def _findings(before: AuditReport, after: AuditReport) -> Criterion:
    """Nothing new that counts and is as bad as the worst of what was found."""
    worst = max((f.severity for f in counted(before, "proven")), default=1)
    known = {(f.label, f.code) for f in counted(before, "strict")}
    new = [
        f
        for f in counted(after, "strict")
        if (f.label, f.code) not in known and (f.severity >= worst or f.proven)
    ]
    told = "; ".join(f"{f.label} {f.code}" for f in new)[:300] or "none"
    return Criterion(name="new findings", holds=not new, told=told)


def _baseline(found: BuiltTask, repaired: BuiltTask) -> Criterion:
    """Nothing done earns no more than before: the task has not become easier to begin with."""
    told = f"earned {found.baseline:g}, earns {repaired.baseline:g}"
    holds = repaired.baseline <= found.baseline + 1e-9
    return Criterion(name="untouched container", holds=holds, told=told)
