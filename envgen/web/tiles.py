"""The few figures at the head of a report."""

from collections.abc import Iterator
from dataclasses import dataclass

from envgen.plural import many
from envgen.report.facts import KEPT, Report
from envgen.web.tables import Only, only
from envgen.web.visible import figure, size


@dataclass(frozen=True)
class Tile:
    """One figure, what it is, and what stands beside it."""

    name: str
    figure: str
    note: str = ""
    only: str = ""


def tiles(report: Report) -> list[Tile]:
    """What somebody wants to know first."""
    return [*_made(report), *_sound(report), *_spent(report)]


def _tile(name: str, value: str, note: str = "", choice: Only | None = None) -> Tile:
    return Tile(name, value, note, only(choice or {}))


def _made(report: Report) -> Iterator[Tile]:
    share = report.kept / report.total if report.total else 0
    yield _tile("kept", f"{report.kept:,}", f"{share:.1%} of {report.total:,}", {"step": KEPT})
    first = next(iter(report.reasons.items()), None)
    if first:
        code, n = first
        yield _tile("most frequent reason", f"{n:,}", code, {"code": code})


def _sound(report: Report) -> Iterator[Tile]:
    if audit := report.audit:
        clean = next(m.tasks for m in audit.labels if m.label == "CLEAN")
        note = f"of {audit.audited:,} audited, policy {audit.policy}"
        yield _tile("clean", f"{clean:,}", note, {"label": "CLEAN"})
        trials, paid = (sum(getattr(p, name) for p in audit.probes) for name in ("trials", "paid"))
        probes = [p.probe for p in audit.probes if p.paid]
        choice: Only | None = {"paid": probes} if probes else None
        yield _tile("attacks that earned", f"{paid:,}", f"of {trials:,}", choice)
        mutants = sum(k.mutants for k in audit.kills)
        if mutants:
            left = sum(k.survivors for k in audit.kills)
            rate = f"{1 - left / mutants:.1%}"
            yield _tile("kill rate", rate, f"of {many(mutants, 'mutant')}", {"survivors": "1.."})
    if repairs := report.repairs:
        total, done = (sum(getattr(o, n) for o in repairs.labels) for n in ("tasks", "accepted"))
        yield _tile("repaired", f"{done:,}", f"of {total:,} tried", {"repair": "accepted"})
    for found in report.evaluations[:3]:
        if found["pass_at"]:
            played = {"played": found["model"]}
            yield _tile("pass@1", f"{found['pass_at'][0]:.1%}", found["model"], played)


def _spent(report: Report) -> Iterator[Tile]:
    if report.kept and report.seconds:
        seconds = sum(effort.total for effort in report.seconds) / report.kept
        yield _tile("seconds per kept task", figure(seconds, 1), "of containers and models")
    if report.kept and report.spent_dollars:
        dollars = report.spent_dollars / report.kept
        yield _tile("dollars per kept task", figure(dollars, 4), f"${report.spent_dollars:,.2f}")
    if report.image_bytes:
        median, total = size(report.image_bytes.median), size(report.image_bytes.total)
        yield _tile("added to the base", median, f"median; {total} in all", {"step": KEPT})
