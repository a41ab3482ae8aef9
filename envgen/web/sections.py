"""What a report's page shows of attrition, soundness and provenance: numbers to tables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from envgen.plural import many
from envgen.report.facts import KEPT, UNFINISHED, Outcome, Report, Value
from envgen.web import charts
from envgen.web.tables import Cell, Table, decimal, heads, number, only, share

REASONS = 100
"""That are listed."""


@dataclass(frozen=True)
class Chart:
    """A drawing with its caption; the legend names each line."""

    caption: str
    drawing: Markup
    legend: Sequence[tuple[Markup, str]] = ()
    note: str = ""


@dataclass(frozen=True)
class Section:
    """A part of the page.

    Attributes:
        folded: tables that are opened on demand.
    """

    name: str
    title: str
    about: str = ""
    tables: Sequence[Table] = ()
    charts: Sequence[Chart] = ()
    folded: Sequence[Table] = ()


def funnel(report: Report) -> Section:
    """How many tasks each step lost, and why."""
    rows = []
    for at, step in enumerate(report.funnel):
        later = [s.step for s in report.funnel[at + 1 :]] or [step.step]
        left = [KEPT] if step.step == KEPT else [*later, UNFINISHED]
        lost = UNFINISHED if step.step == KEPT else step.step
        drawing = charts.bar((step.left, step.lost), report.total)
        rows.append(
            (
                Cell(step.step),
                number(step.lost, {"step": lost}),
                number(step.left, {"step": left} if at else None),
                Cell(drawing=drawing),
            )
        )
    tables = [
        Table(
            "Tasks after each step",
            heads("step", "#lost", "#left", ""),
            rows,
            "filled: left; hatched: lost at this step; lost in the last line: unfinished",
        )
    ]
    if report.reasons:
        most = max(report.reasons.values())
        tables.append(
            Table(
                "Why tasks were lost",
                heads("reason", "#tasks", ""),
                [
                    (Cell(code), number(n, {"code": code}), Cell(drawing=charts.bar((n,), most)))
                    for code, n in list(report.reasons.items())[:REASONS]
                ],
                f"the {REASONS} most frequent" if len(report.reasons) > REASONS else "",
            )
        )
    return Section("funnel", "Funnel", tables=tables)


def balance(report: Report) -> Section:
    """How evenly axes and pairs of axes are used, before and after attrition."""
    found = report.balance
    names = found.before or found.after
    if not names:
        about = "Imported tasks have no axes, so there is no balance."
        return Section("balance", "Balance", about)
    rows = [
        (
            Cell(name.replace("/", " / ")),
            decimal(found.before.get(name), 4),
            decimal(found.after.get(name), 4),
            decimal(found.reachable.get(name), 4),
            Cell(drawing=charts.pair(found.before.get(name, 0), found.after.get(name, 0), 1)),
        )
        for name in names
    ]
    about = (
        "exp(H)/N of the shares of an axis, or pair of axes: 1 when all N values are used equally. "
        "Reachable is the most that the preset's shares and what the author realises allow; where "
        "the author realises too little for these shares it bounds nothing."
    )
    axes = dict.fromkeys(value.axis for value in found.values)
    return Section(
        "balance",
        "Balance",
        about,
        [
            Table(
                "Scores of axes and pairs",
                heads("axis", "#before", "#after", "#reachable", ""),
                rows,
                "outline: before attrition; filled: after",
            )
        ],
        folded=[_values(axis, [v for v in found.values if v.axis == axis]) for axis in axes],
    )


def _values(axis: str, values: Sequence[Value]) -> Table:
    names = axis.split("/")
    most = max(value.before for value in values)
    rows = []
    for value in values:
        chosen: dict[str, str] = dict(zip(names, value.value.split("/"), strict=True))
        rows.append(
            (
                *map(Cell, chosen.values()),
                number(value.before, chosen),
                number(value.after, chosen | {"step": KEPT}),
                Cell(drawing=charts.pair(value.before, value.after, most)),
            )
        )
    titles = [name.replace("_", " ") for name in names]
    return Table(" and ".join(titles), heads(*titles, "#before", "#after", ""), rows)


def soundness(report: Report) -> Section:
    """Labels, mutants and attacks."""
    audit = report.audit
    if audit is None:
        about = f"Nothing is known to be wrong: `envgen audit --run {report.run}` looks for it."
        return Section("soundness", "Soundness", f"Not audited. {about}")
    mix = [
        (
            Cell(m.label),
            number(m.tasks, {"label": m.label}),
            number(m.proven, {"proven": m.label}),
            number(m.suspected, {"suspected": m.label}),
            Cell(drawing=charts.bar((m.proven, m.suspected), audit.audited)),
        )
        for m in audit.labels
    ]
    probes = [
        (
            Cell(p.probe),
            number(p.tasks, {"attacked": p.probe}),
            number(p.tasks_paid, {"paid": p.probe}),
            number(p.trials),
            number(p.paid),
            number(p.passed),
            Cell(drawing=charts.bar((p.paid,), p.trials)),
        )
        for p in audit.probes
    ]
    about = many(audit.audited, "task was", "tasks were") + (
        f" audited under the policy {audit.policy}. Proven: something was executed that shows it. "
        "Suspected: nothing was, and it never rejects a task unless the policy is strict."
    )
    tables = [
        Table(
            "Labels",
            heads("label", "#tasks", "#proven", "#suspected", ""),
            mix,
            "tasks by their first label; filled: tasks with a proven finding; hatched: only "
            "suspected",
        ),
        Table(
            "Attacks",
            heads("probe", "#tasks", "#of them paid", "#trials", "#earned", "#passed", ""),
            probes,
            "work that does not do the task; earned: more than the untouched container",
        ),
    ]
    return Section("soundness", "Soundness", about, [*tables, *_kills(report)])


def _kills(report: Report) -> Iterator[Table]:
    kills = report.audit.kills if report.audit else ()
    if not kills:
        return
    rows = []
    for k in kills:
        own = {"verifier": k.verifier} if k.verifier else {}
        killed = k.mutants - k.survivors
        rows.append(
            (
                Cell(k.verifier or "imported"),
                number(k.tasks, {**own, "mutants": "1.."}),
                number(k.mutants),
                number(k.survivors),
                number(k.tasks_survived, {**own, "survivors": "1.."}),
                share(killed, k.mutants),
                Cell(drawing=charts.bar((killed, k.survivors), k.mutants)),
            )
        )
    yield Table(
        "Mutants of the references' outputs",
        heads("verifier", "#tasks", "#mutants", "#survived", "#tasks affected", "#kill rate", ""),
        rows,
        "each should fail; hatched: those that survived",
    )


def repairs(report: Report) -> Section:
    """What was mended, by label and by way, and why the rest was not."""
    found = report.repairs
    if found is None:
        return Section("repairs", "Repairs", "No repair was tried.")
    total, done = sum(o.tasks for o in found.labels), sum(o.accepted for o in found.labels)
    about = f"Repaired: {done:,} of {many(total, 'task')}, in {many(found.attempts, 'attempt')}."
    refusals = [
        (Cell(r.reason), number(r.tasks, {"refusal": r.reason, "repair": "refused"}))
        for r in found.refusals
    ]
    tables = [
        _outcomes("By label", "label", found.labels, "label_before"),
        _outcomes("By what was last tried", "way", found.ways, "ways"),
    ]
    if refusals:
        tables.append(Table("Why repairs were refused", heads("reason", "#tasks"), refusals))
    return Section("repairs", "Repairs", about, tables)


def _outcomes(caption: str, what: str, found: Sequence[Outcome], field: str) -> Table:
    rows = [
        (
            Cell(o.name),
            number(o.tasks, {field: o.name, "repair": ["accepted", "refused"]}),
            number(o.accepted, {field: o.name, "repair": "accepted"}),
            number(o.tasks - o.accepted, {field: o.name, "repair": "refused"}),
            Cell(drawing=charts.bar((o.accepted, o.tasks - o.accepted), o.tasks)),
        )
        for o in found
    ]
    columns = heads(what, "#tasks", "#accepted", "#refused", "")
    return Table(caption, columns, rows, "hatched: refused")


def provenance(report: Report) -> Section:
    """Where everything comes from."""
    fields = {"author": "author", "base, content": "base_content"}
    rows = []
    for p in report.provenance:
        field = fields.get(p.what)
        value = p.value.rpartition(" ")[2] if field == "base_content" else p.value
        chosen = only({field: value, "step": KEPT}) if field else only({"step": KEPT})
        told = Cell("") if p.tasks is None else Cell(f"{p.tasks:,}", p.tasks, chosen)
        rows.append((Cell(p.what), Cell(p.value, code=True), told))
    table = Table("Versions, seeds, models, digests", heads("what", "value", "#kept tasks"), rows)
    return Section("provenance", "Provenance", tables=[table])
