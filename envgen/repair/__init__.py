"""The repairer: a task is repaired when what is wrong with it is shown to be gone.

Findings are taken to mechanical repairs, and then, where there is one, to a model. Whatever they
make is built and audited like any other task, and the acceptance matrix says whether it is kept.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from envgen.audit import alternatives_of, audit
from envgen.audit.target import target_of
from envgen.audit.verdict import counted, label
from envgen.audit.workbench import workbench
from envgen.files import FileTree
from envgen.kit import Kit
from envgen.pipeline import proven
from envgen.records import (
    AuditReport,
    BuiltTask,
    Criterion,
    Finding,
    Key,
    Mended,
    Rejection,
    Repair,
    TaskDraft,
)
from envgen.repair import asking, changes, matrix
from envgen.repair.seen import Seen, look
from envgen.repair.ways import REPAIRABLE, Way, fitting, hardening

Only = Callable[[str, str], bool]


@dataclass(frozen=True)
class Found:
    """A task as it was found, and all that a repairer may know of it."""

    task: BuiltTask
    report: AuditReport
    kit: Kit
    valid: Mapping[str, FileTree]
    only: Only

    @property
    def wrong(self) -> tuple[Finding, ...]:
        """What makes its label, the worst first."""
        return counted(self.report, self.kit.config.audit.policy)


@dataclass
class _State:
    """Where the search stands: the last draft that something can be built on."""

    task: BuiltTask
    report: AuditReport
    trail: list[Repair]
    spent: set[str] = field(default_factory=set)
    """Ways that did harm, or nothing."""
    used: tuple[str, ...] = ()
    """Ways that the draft went through."""


Means = Callable[[Found, list[Repair]], Awaitable[Mended | None]]
"""Tries to repair, adds what it tried to the trail, and gives what was accepted."""


async def repair(
    task: BuiltTask,
    report: AuditReport,
    kit: Kit,
    valid: Mapping[str, FileTree] | None = None,
    only: Only = lambda probe, name: True,
    means: Sequence[Means] | None = None,
) -> Mended:
    """Try to repair a task; the trail says what was tried.

    Args:
        task: as it was found.
        report: of its audit.
        kit: whose ledger makes sure that nothing runs twice.
        valid: known-valid solutions by name; by default those of the task's family.
        only: which attacks the repairer sees.
        means: by which means, in this order; by default mechanical ones, then the model.

    Raises:
        Weather: the engine or the model is in trouble; the repair is unfinished.
    """
    known = alternatives_of(task) if valid is None else valid
    found = Found(task, report, kit, known, only)
    before = label(report, kit.config.audit.policy)
    if before not in REPAIRABLE:
        return _ended(found, (), f"{before} is no label that can be repaired")
    trail: list[Repair] = []
    for tried in MEANS if means is None else means:
        done = await tried(found, trail)
        if done is not None:
            return done
    reason = trail[-1].refused if trail else "no mechanical repair fits"
    return _ended(found, trail, reason)


async def modelled(found: Found, trail: list[Repair]) -> Mended | None:
    """What a model makes of the task as it was found; None where nothing is accepted."""
    kit, first = found.kit, label(found.report, found.kit.config.audit.policy)
    foreign = found.task.draft.foreign is not None
    if "repairer" not in kit.llm or not asking.able(kit.config, first, foreign):
        return None
    seen = await seen_of(found, found.task, found.report)
    worst = next(f for f in found.wrong if f.label == first)
    outcome: list[tuple[BuiltTask, AuditReport]] = []

    async def tried(draft: TaskDraft, keys: tuple[Key, ...]) -> str:
        names = (asking.name_of(kit),)
        one, made = await attempted(found, draft, names, answers=keys)
        trail.append(one)
        if one.accepted and isinstance(made, tuple):
            outcome.append(made)
        return one.refused

    def refuse(reason: str, keys: tuple[Key, ...]) -> None:
        trail.append(_refused(found, (reason,), (asking.name_of(kit),), keys))

    talk = asking.Conversation(found.task.draft, first, worst, seen, kit)
    await asking.asked(talk, kit.config.repair.rounds, tried, refuse)
    return mended(found, trail, *outcome[0]) if outcome else None


async def mechanical(found: Found, trail: list[Repair]) -> Mended | None:
    """Rounds of mechanical repairs; each begins with what the last one left."""
    state = _State(found.task, found.report, trail)
    for _ in range(found.kit.config.repair.rounds):
        draft, ways, reasons = await _proposed(found, state)
        if draft is None:
            if reasons and not state.trail:
                state.trail.append(_refused(found, reasons))
            break
        tried, outcome = await attempted(found, draft, state.used + names_of(ways))
        state.trail.append(tried)
        if tried.accepted and isinstance(outcome, tuple):
            return mended(found, state.trail, *outcome)
        if isinstance(outcome, tuple) and not matrix.wrong_way(tried.matrix):
            state.task, state.report = outcome
            state.used += names_of(ways)
        else:
            state.spent |= {way.name for way in ways[-1:]}
    return None


MEANS: tuple[Means, ...] = (mechanical, modelled)


def names_of(ways: Sequence[Way]) -> tuple[str, ...]:
    """Names of ways, each once."""
    return tuple(dict.fromkeys(way.name for way in ways))


async def _proposed(
    found: Found, state: _State
) -> tuple[TaskDraft | None, tuple[Way, ...], tuple[str, ...]]:
    """The draft after the first way that helps with each finding, and those that are tried besides;
    ways, and reasons of others.

    What is only suspected is mended where a way names it: attacks that prove it may come later.
    """
    seen = await seen_of(found, state.task, state.report)
    draft, ways, reasons = state.task.draft, list[Way](), list[str]()
    wrong = counted(state.report, found.kit.config.audit.policy)
    meant = [(f, fitting(f)) for f in wrong]
    meant += [(f, hardening(f)) for f in counted(state.report, "strict") if f not in wrong]
    for finding, fit in meant:
        helped = False
        for way in fit:
            if way.name in state.spent or (helped and not way.besides):
                continue
            made = way.change(draft, finding, seen)
            if isinstance(made, str) or made == draft:
                reasons.append(f"{way.name}: {made if isinstance(made, str) else 'no change'}")
                continue
            draft, helped = made, True
            ways.append(way)
    known = tuple(dict.fromkeys(reasons))
    return (draft if ways else None), tuple(dict.fromkeys(ways)), known


async def seen_of(found: Found, task: BuiltTask, report: AuditReport) -> Seen:
    """What a repairer looks at, of a task on the way."""
    kit = found.kit
    target = target_of(task, kit.sandbox.blobs, kit.config.audit.noise)
    bench = await workbench(task, target, kit)
    return await look(bench, report, found.valid)


async def attempted(
    found: Found, draft: TaskDraft, ways: tuple[str, ...], **more: tuple[str, ...]
) -> tuple[Repair, tuple[BuiltTask, AuditReport] | Rejection]:
    """Build and audit a changed draft, and hold it to the matrix."""
    draft = draft.model_copy(
        update={"revision": found.task.draft.revision + 1, "parent": found.task.draft.digest}
    )
    built = await proven(draft, found.kit)
    if isinstance(built, Rejection):
        lines = matrix.refused_by_gate(built)
        return trial(found, draft, ways, lines, **more), built
    after = await audit(built, found.kit, found.valid, found.only)
    lines = await matrix.matrix(found.task, found.report, built, after, found.kit)
    lines += (_clean(after, found.kit),)
    return trial(found, draft, ways, lines, **more), (built, after)


def _clean(after: AuditReport, kit: Kit) -> Criterion:
    """The audit has the last word."""
    policy = kit.config.audit.policy
    found = label(after, policy)
    return Criterion(name="label", holds=found == "CLEAN", told=f"{found}, policy {policy}")


def trial(
    found: Found,
    draft: TaskDraft,
    ways: tuple[str, ...],
    lines: tuple[Criterion, ...],
    **more: tuple[str, ...],
) -> Repair:
    """An attempt as a record."""
    bad = matrix.failing(lines)
    return Repair(
        before=found.task.draft.digest,
        after=draft.digest,
        labels=tuple(dict.fromkeys(f.label for f in found.wrong)),
        ways=ways,
        diagnosis=_diagnosis(found),
        changed=changes.changed(found.task.draft, draft),
        diff=changes.diff(found.task.draft, draft),
        matrix=lines,
        refused="; ".join(f"{line.name}: {line.told}" for line in bad),
        **more,
    )


def _refused(
    found: Found,
    reasons: Sequence[str],
    ways: tuple[str, ...] = (),
    answers: tuple[Key, ...] = (),
) -> Repair:
    """An attempt that came to no draft."""
    return Repair(
        before=found.task.draft.digest,
        after="",
        labels=tuple(dict.fromkeys(f.label for f in found.wrong)),
        ways=ways,
        diagnosis=_diagnosis(found),
        changed=(),
        diff="",
        refused="; ".join(reasons),
        answers=answers,
    )


def _diagnosis(found: Found) -> tuple[str, ...]:
    return tuple(f"{f.label} {f.code}: {f.message}" for f in found.wrong)


def mended(found: Found, trail: Sequence[Repair], task: BuiltTask, report: AuditReport) -> Mended:
    """The end of a repair that was accepted."""
    policy = found.kit.config.audit.policy
    return Mended(
        slug=found.task.draft.slug,
        before=label(found.report, policy),
        after=label(report, policy),
        trail=tuple(trail),
        task=task,
        report=report,
    )


def _ended(found: Found, trail: Sequence[Repair], reason: str) -> Mended:
    """The end of one that was not."""
    return Mended(
        slug=found.task.draft.slug,
        before=label(found.report, found.kit.config.audit.policy),
        after=None,
        trail=tuple(trail),
        task=found.task,
        report=found.report,
        reason=reason,
    )
