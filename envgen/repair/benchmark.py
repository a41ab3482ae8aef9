"""Measuring the repairer: planted defects, and attacks that it never saw.

Of every planted kind a third of the attacks and mutants, drawn by their names, is held out: neither
the audit that the repairer works from nor the matrix that accepts its work tries them. They are
tried on what was accepted, together with the family's known-wrong solutions, which no probe knows.
"""

from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from typing import NamedTuple

from envgen.audit import alternatives_of, audit
from envgen.audit.defects import KINDS
from envgen.audit.defects import benchmark as planted
from envgen.audit.defects.benchmark import Case
from envgen.audit.target import target_of
from envgen.audit.verdict import label
from envgen.audit.workbench import workbench
from envgen.authors import procedural
from envgen.authors.procedural.family import Composition
from envgen.digest import digest, short
from envgen.kit import Kit
from envgen.pipeline import Stop, bounded, proven
from envgen.records import BuiltTask, Label, Mended, Rejection
from envgen.repair import matrix, repair
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


def cases(each: int, kinds: tuple[str, ...] = (), seed: int = 0) -> Iterator[Case]:
    """`each` cases of every kind whose label can be repaired, or of the named ones."""
    able = tuple(kind.name for kind in KINDS if kind.label in REPAIRABLE)
    yield from planted.cases(each, 0, seed, kinds or able)


def seen_of(kind: str) -> Callable[[str, str], bool]:
    """Which attacks a repairer of this kind may see."""

    def seen(probe: str, name: str) -> bool:
        plain = name.partition(":")[0].removesuffix("-data").removesuffix("-programs")
        return int(short(digest([kind, probe, plain]), 8), 16) % HELD_OUT != 0

    return seen


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
    seen, valid = seen_of(case.kind), alternatives_of(task)
    report = await audit(task, kit, valid, seen)
    mended = await repair(task, report, kit, valid, seen)
    found = label(report, kit.config.audit.policy)
    if mended.after is None:
        return Result(case, found, mended)
    held = await audit(mended.task, kit, valid, lambda probe, name: not seen(probe, name))
    broken = tuple(f.code for f in matrix.paid(held))
    fooled = await _fooled(mended.task, made, kit)
    tried = len(matrix.attacks(held)) + len(made.wrong)
    return Result(case, found, mended, broken, fooled, tried)


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
    bad = [*result.broken, *(f"wrong:{fool}" for fool in result.fooled)]
    ways = "+".join(mended.trail[-1].ways)
    return f"{name}: {ways}, {f'BROKEN by {bad}' if bad else f'holds against {result.tried}'}"
