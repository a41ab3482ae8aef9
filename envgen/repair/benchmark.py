"""Measuring the repairer: planted defects, and attacks that it never saw.

Of every planted task a third of the attacks and mutants that work on it, and a third of those that
do not, is held out, drawn by their names: neither the audit that the repairer works from nor the
matrix that accepts its work tries them. They are tried on what was accepted, together with the
family's known-wrong solutions, which no probe knows. Where one attack alone works it is shown:
nobody repairs what was not found.
"""

from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from typing import Any, NamedTuple

from envgen.audit import alternatives_of, audit
from envgen.audit.defects import KINDS, Kind
from envgen.audit.defects import benchmark as planted
from envgen.audit.defects.benchmark import Case
from envgen.audit.target import target_of
from envgen.audit.verdict import label
from envgen.audit.workbench import workbench
from envgen.authors import procedural
from envgen.authors.procedural.family import Composition
from envgen.config import RunConfig
from envgen.digest import digest, short
from envgen.errors import Misconfigured
from envgen.kit import Kit
from envgen.pipeline import Stop, bounded, proven
from envgen.records import AuditReport, BuiltTask, Label, Mended, Rejection
from envgen.repair import Means, asking, matrix, mechanical, modelled, repair
from envgen.repair.ways import REPAIRABLE

HELD_OUT = 3
"""One of so many is held out."""


class Result(NamedTuple):
    """What the repairer made of a planted task."""

    case: Case
    label: Label | str
    """What the audit said with the attacks that it was allowed; a gate's code where one refused."""
    mended: Mended | None
    broken: tuple[str, ...] = ()
    """Held-out attacks and mutants that work on what was accepted."""
    fooled: tuple[str, ...] = ()
    """Known-wrong solutions that pass on it."""
    tried: int = 0
    """Held-out attacks, mutants and wrong solutions that were tried."""

    @property
    def accepted(self) -> bool:
        return self.mended is not None and self.mended.after is not None


def cases(config: RunConfig, each: int, kinds: tuple[str, ...] = ()) -> Iterator[Case]:
    """`each` cases of every kind that the measured repairer is for, or of the named ones.

    Raises Misconfigured when a named one is not among them.
    """
    meant = tuple(kind.name for kind in KINDS if _meant(kind, config))
    if strange := [name for name in kinds if name not in meant]:
        raise Misconfigured(
            f"--kind {strange[0]}: kinds that this repairer is for are {', '.join(meant)}"
        )
    return planted.cases(each, 0, 0, kinds or meant)


def _meant(kind: Kind, config: RunConfig) -> bool:
    if config.repair.model:
        return asking.able(config, kind.label, foreign=False)
    return kind.label in REPAIRABLE


Attack = tuple[str, str]
"""A probe, and what it tries: its variants are one attack, for to see one is to know the others."""


def attack_of(probe: str, name: str) -> Attack:
    """The attack that a trial belongs to."""
    return probe, name.partition(":")[0].removesuffix("-data").removesuffix("-programs")


def seen_of(kind: str, working: frozenset[Attack]) -> Callable[[str, str], bool]:
    """Which attacks a repairer of a task may see, from those that work on it as it was planted."""

    def drawn(attack: Attack) -> int:
        return int(short(digest([kind, *attack]), 8), 16)

    held = frozenset(sorted(working, key=drawn)[: (len(working) + 1) // HELD_OUT])

    def seen(probe: str, name: str) -> bool:
        attack = attack_of(probe, name)
        return attack not in held if attack in working else drawn(attack) % HELD_OUT != 0

    return seen


def working_on(report: AuditReport) -> frozenset[Attack]:
    """The attacks and mutants that an audit shows to work."""
    found = (trial for _, trial in matrix.proofs(report) if trial.probe not in matrix.HONEST)
    return frozenset(attack_of(trial.probe, trial.name) for trial in found)


async def measured(wanted: Iterable[Case], kit: Kit, stop: Stop) -> AsyncGenerator[Result, None]:
    """Plant, audit, repair and attack every case, as they get done."""

    async def one(case: Case) -> Result:
        return await _result(case, kit)

    async for result in bounded(one, wanted, kit.config.engine.in_flight, stop):
        yield result


async def _result(case: Case, kit: Kit) -> Result:
    (family,) = procedural.chosen((case.family,))
    made = procedural.composition(case.spec, family)
    draft = await procedural.realised(case.spec, case.family, made, kit)
    assert case.planted is not None
    changed = case.planted.plant(draft)
    if changed is None:
        raise AssertionError(f"{case.kind} fits the sketch of {case.spec.slug} but not its draft")
    task = await proven(changed, kit)
    if isinstance(task, Rejection):
        return Result(case, task.code, None)
    valid = alternatives_of(task)
    seen = seen_of(case.kind, working_on(await audit(task, kit, valid)))
    report = await audit(task, kit, valid, seen)
    mended = await repair(task, report, kit, valid, seen, means_of(kit))
    found = label(report, kit.config.audit.policy)
    if mended.after is None:
        return Result(case, found, mended)
    held = await audit(mended.task, kit, valid, lambda probe, name: not seen(probe, name))
    broken = tuple(f.code for f in matrix.paid(held))
    fooled = await _fooled(mended.task, made, kit)
    tried = len(matrix.attacks(held)) + len(made.wrong)
    return Result(case, found, mended, broken, fooled, tried)


def means_of(kit: Kit) -> tuple[Means, ...]:
    """The repairer that is measured: the model alone where there is one, else the mechanical."""
    return (modelled,) if "repairer" in kit.llm else (mechanical,)


async def _fooled(task: BuiltTask, made: Composition, kit: Kit) -> tuple[str, ...]:
    """Known-wrong solutions that pass."""
    target = target_of(task, kit.sandbox.blobs, kit.config.audit.noise)
    bench = await workbench(task, target, kit)
    trials = [
        await bench.tried("wrong", name, f"the wrong solution {name}", tree)
        for name, tree in sorted(made.wrong.items())
    ]
    return tuple(trial.name for trial in trials if trial.passed)


class Figures(NamedTuple):
    """How much is repaired, and what of it holds."""

    tasks: int
    """Planted tasks that passed the gates."""
    seen: int
    """Of those, the ones that are flagged by the attacks that the repairer may see."""
    repaired: float
    """Share of the tasks whose repair was accepted."""
    rounds: float
    """Attempts at a task, in the mean."""
    holds: float
    """Share of the accepted repairs that no held-out attack or mutant breaks."""
    unfooled: float
    """Share of them on which no known-wrong solution passes."""
    tried: int
    """Held-out attacks, mutants and wrong solutions."""


def figures(results: Iterable[Result]) -> Figures:
    """The figures of a benchmark; 1 where there is nothing to measure."""
    able = [r for r in results if r.mended is not None]
    done = [r for r in able if r.accepted]
    return Figures(
        tasks=len(able),
        seen=sum(r.label != "CLEAN" for r in able),
        repaired=len(done) / len(able) if able else 1.0,
        rounds=sum(len(r.mended.trail) for r in able if r.mended) / len(able) if able else 0.0,
        holds=sum(not r.broken for r in done) / len(done) if done else 1.0,
        unfooled=sum(not r.fooled for r in done) / len(done) if done else 1.0,
        tried=sum(r.tried for r in done),
    )


LEAST_REPAIRED = 0.6


def kept(found: Figures) -> bool:
    """Whether the figures are at least what is promised."""
    return found.repaired >= LEAST_REPAIRED and found.holds == 1.0


def by_kind(results: Iterable[Result]) -> dict[str, dict[str, int]]:
    """Per planted kind: tasks, accepted repairs, those that hold, and what gates refused."""
    table: dict[str, Counter[str]] = {}
    for result in results:
        row = table.setdefault(result.case.kind, Counter(tasks=0, repaired=0, holds=0, gates=0))
        row["tasks"] += result.mended is not None
        row["gates"] += result.mended is None
        row["repaired"] += result.accepted
        row["holds"] += result.accepted and not result.broken
    return {kind: dict(row) for kind, row in table.items()}


def told(result: Result) -> str:
    """A result in one line."""
    case, mended = result.case, result.mended
    name = f"{case.kind} in {case.family}"
    if mended is None:
        return f"{name}: gate {result.label}"
    if not result.accepted:
        return f"{name}: {result.label}, not repaired: {mended.reason[:200]}"
    ways = "+".join(mended.trail[-1].ways)
    holds = (
        f"BROKEN by {', '.join(result.broken)}"
        if result.broken
        else f"holds against {result.tried}"
    )
    fooled = f", passes wrong work: {', '.join(result.fooled)}" if result.fooled else ""
    return f"{name}: {ways}, {holds}{fooled}"


def written(result: Result) -> dict[str, Any]:
    """A result as plain values, with everything that was tried."""
    case, mended = result.case, result.mended
    return {
        "kind": case.kind,
        "family": case.family,
        "task": case.spec.slug,
        "label": result.label,
        "accepted": result.accepted,
        "broken": list(result.broken),
        "fooled": list(result.fooled),
        "tried": result.tried,
        "trail": [one.model_dump(mode="json") for one in mended.trail] if mended else [],
    }
