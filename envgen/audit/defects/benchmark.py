"""Measuring the auditor: planted defects and clean tasks, each audited like any other task.

Cases are the same for the same seed. A planted task that a gate refuses has been found as well, but
not by the audit: it is counted apart.
"""

from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Iterator
from typing import NamedTuple

from envgen import axes
from envgen.audit import alternatives_of, audit
from envgen.audit.defects import ALL, KINDS, Kind
from envgen.audit.verdict import label
from envgen.authors import procedural
from envgen.kit import Kit
from envgen.pipeline import Stop, bounded, proven
from envgen.records import AuditReport, Label, Rejection, TaskDraft, TaskSpec

CLEAN: Label = "CLEAN"
TRIES = 6
"""Specs that are looked at for one case: not every task of a family has room for every plant."""


class Case(NamedTuple):
    """One task of the benchmark."""

    kind: str
    """The planted kind, or CLEAN."""
    truth: Label
    family: str
    spec: TaskSpec
    planted: Kind | None


class Result(NamedTuple):
    """What the auditor said about a case."""

    case: Case
    label: Label
    """The primary label; the gate's refusal counts as none."""
    gate: str
    """The code of the gate that refused the planted task; then there is no report."""
    report: AuditReport | None


def cases(each: int, clean: int, seed: int = 0, kinds: tuple[str, ...] = ()) -> Iterator[Case]:
    """`each` cases of every kind (or the named ones) and `clean` clean ones, spread over
    the families."""
    for place, kind in enumerate(KINDS):
        if kinds and kind.name not in kinds:
            continue
        for number in range(each):
            family = kind.families[(place + number) % len(kind.families)]
            for spec in _specs(family, seed + place, number // len(kind.families)):
                draft = sketch(spec, family)
                if kind.plant(draft) is not None:
                    yield Case(kind.name, kind.label, family, spec, kind)
                    break
    for number in range(clean):
        family = ALL[number % len(ALL)]
        spec = next(_specs(family, seed + len(KINDS), number // len(ALL)))
        yield Case(CLEAN, CLEAN, family, spec, None)


async def measured(wanted: Iterable[Case], kit: Kit, stop: Stop) -> AsyncGenerator[Result, None]:
    """Build and audit every case, as they get done."""

    async def one(case: Case) -> Result:
        return await _result(case, kit)

    async for result in bounded(one, wanted, kit.config.engine.in_flight, stop):
        yield result


class Figures(NamedTuple):
    """How good the auditor is at telling defective tasks from clean ones, and at naming why."""

    precision: float
    recall: float
    labels: float
    """Share of the detected that have the right primary label."""
    clean: int
    defective: int
    gated: int
    """Planted tasks that a gate refused; they are in no other figure."""
    mutants: int
    """Spoilt outputs of the references of clean tasks."""
    kill_rate: float
    """Share of the mutants that do not pass."""


def figures(results: Iterable[Result]) -> Figures:
    """The figures of a benchmark; 1 where there is nothing to measure."""
    seen = [r for r in results if not r.gate]
    defective = [r for r in seen if r.case.truth != CLEAN]
    clean = [r for r in seen if r.case.truth == CLEAN]
    found = [r for r in defective if r.label != CLEAN]
    accused = [r for r in clean if r.label != CLEAN]
    right = [r for r in found if r.label == r.case.truth]
    mutants = sum(r.report.mutants for r in clean if r.report)
    survivors = sum(len(r.report.survivors) for r in clean if r.report)
    return Figures(
        precision=_share(len(found), len(found) + len(accused)),
        recall=_share(len(found), len(defective)),
        labels=_share(len(right), len(found)),
        clean=len(clean),
        defective=len(defective),
        gated=sum(bool(r.gate) for r in results),
        mutants=mutants,
        kill_rate=_share(mutants - survivors, mutants),
    )


PROMISED = {"precision": 0.97, "recall": 0.95, "labels": 0.9, "kill_rate": 0.95}


def kept(found: Figures) -> bool:
    """Whether the figures are at least what is promised."""
    return all(getattr(found, name) >= least for name, least in PROMISED.items())


def noted(results: Iterable[Result]) -> Iterator[tuple[str, str]]:
    """What a person has to judge of the clean tasks: (task, finding), suspicions included, and
    (task, survivor)."""
    for result in results:
        if result.case.truth == CLEAN and result.report:
            slug = result.case.spec.slug
            for finding in result.report.findings:
                yield slug, f"{'proven' if finding.proven else 'suspected'} {finding.code}"
            yield from ((slug, f"survives {name}") for name in result.report.survivors)


def confusion(results: Iterable[Result]) -> dict[str, Counter[str]]:
    """Per planted kind, how often which label was given, or which gate refused."""
    table: dict[str, Counter[str]] = {}
    for result in results:
        row = table.setdefault(result.case.kind, Counter())
        row[f"gate {result.gate}" if result.gate else result.label] += 1
    return table


async def _result(case: Case, kit: Kit) -> Result:
    draft = await procedural.realised(
        case.spec,
        case.family,
        procedural.composition(case.spec, procedural.chosen((case.family,))[0]),
        kit,
    )
    planted = case.planted.plant(draft) if case.planted else draft
    if planted is None:
        raise AssertionError(f"{case.kind} fits the sketch of {case.spec.slug} but not its draft")
    task = await proven(planted, kit)
    if isinstance(task, Rejection):
        return Result(case, CLEAN, task.code, None)
    own = case.planted is not None and case.planted.own_task
    report = await audit(task, kit, {} if own else alternatives_of(task))
    return Result(case, label(report, "proven"), "", report)


def _specs(family: str, seed: int, skip: int) -> Iterator[TaskSpec]:
    support = [procedural.chosen((family,))[0].realises]
    rows = axes.sample(axes.load(), seed, (skip + 1) * TRIES, support=support)
    yield from [axes.spec_of(row) for row in rows][skip * TRIES :]


def sketch(spec: TaskSpec, family: str) -> TaskDraft:
    """The draft without the fixtures that tools make: enough to see whether a plant fits."""
    made = procedural.composition(spec, procedural.chosen((family,))[0])
    return procedural.drafted(spec, family, made, made.files)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
