"""What a report's page shows of difficulty, training, time, money and bytes."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from envgen.report.facts import KEPT, Report, Task
from envgen.web import charts
from envgen.web.sections import Chart, Section
from envgen.web.tables import Cell, Table, decimal, heads, in_bytes, number
from envgen.web.visible import figure, size

CURVES = (
    ("solved", "solved"),
    ("held_out_solved", "solved, held out"),
    ("reward", "reward"),
    ("entropy", "entropy"),
    ("gap_fresh", "gap of fresh samples"),
    ("masked_rollouts", "masked rollouts"),
    ("lag", "lag"),
)
LARGEST = 20


def difficulty(report: Report) -> Section:
    """pass@k of each way of playing, and by axis."""
    if not report.evaluations:
        about = f"No policy has played these tasks: `envgen eval --run {report.run}` lets one."
        return Section("difficulty", "Difficulty", about)
    models, series = [], []
    for e in report.evaluations:
        played = {"played": e["model"]}
        ends = (e["pass_at"] or [None])[0], (e["pass_at"] or [None])[-1]
        models.append(
            (
                Cell(e["model"]),
                Cell(e["settings"], code=True),
                number(e["tasks_played"], played),
                number(e["attempts"]),
                *(decimal(value, 4) for value in (*ends, e["reward"])),
                number(e["invalid"]),
                number(sum(e["faults"].values())),
            )
        )
        series.append(charts.Series(e["model"], list(enumerate(e["pass_at"], 1))))
    legend = [(charts.key(n), one.name) for n, one in enumerate(series)]
    return Section(
        "difficulty",
        "Difficulty",
        "pass@k is estimated without bias, and means every check right. Faults of the "
        "infrastructure are in no figure but their own count.",
        [
            Table(
                "Policies",
                heads("model", "settings", "#tasks", "#attempts", "#pass@1", "#pass@k", "#reward",
                      "#invalid", "#faults"),
                models,
            ),
            *_seen(report.evaluations),
        ],
        [Chart("pass@k", charts.lines(series, 0, 1), legend, "over k")],
        [_by_axis(e) for e in report.evaluations],
    )  # fmt: skip


def _by_axis(found: dict[str, Any]) -> Table:
    rows = [
        (
            Cell(axis.replace("_", " ")),
            Cell(value),
            number(s["tasks_played"], _choice(found["model"], axis, value)),
            *(decimal(p, 4) for p in ((s["pass_at"] or [None])[0], (s["pass_at"] or [None])[-1])),
            decimal(s["reward"], 4),
            Cell(drawing=charts.bar((s["pass_at"][0] if s["pass_at"] else 0,), 1)),
        )
        for axis, values in found["by_axis"].items()
        for value, s in values.items()
    ]
    columns = heads("axis", "value", "#tasks", "#pass@1", "#pass@k", "#reward", "")
    return Table(f"{found['model']} by axis", columns, rows, "bars: pass@1")


def _choice(model: str, axis: str, value: str) -> dict[str, str] | None:
    """Skills are no field of the task list: a task has several, with names by domain."""
    return None if axis == "skills" else {"played": model, axis: value}


def _seen(found: Sequence[dict[str, Any]]) -> list[Table]:
    endings = [
        (Cell(e["model"]), Cell(code), Cell(told), number(n))
        for e in found
        for kind, told in (("endings", ""), ("faults", "fault of the infrastructure"))
        for code, n in e[kind].items()
    ]
    flags = [
        (Cell(e["model"]), Cell(code), number(n["episodes"], {"flags": code, "played": e["model"]}),
         number(n["passed"]))
        for e in found
        for code, n in e["flags"].items()
    ]  # fmt: skip
    tables = [Table("How episodes ended", heads("model", "ending", "", "#episodes"), endings)]
    if flags:
        columns = heads("model", "flag", "#episodes", "#of them passed")
        tables.append(Table("Worth a look in trajectories", columns, flags))
    return tables


def rounds(report: Report) -> Section | None:
    """What rounds of self-generation came to; nothing where there were none."""
    if not report.rounds:
        return None
    rows = [
        (
            *(number(r[name]) for name in ("round", "specs", "built", "repaired", "kept")),
            decimal(r["yield"]),
            Cell(", ".join(f"{label} {n}" for label, n in r["labels"].items())),
            *(_passed(r[name]) for name in ("pass_rate", "held_out_before", "held_out_after")),
            number(r["steps"]),
            number(r["tokens_in"] + r["tokens_out"]),
            number(r["tokens_trained"]),
            *(decimal(r[f"seconds_{name}"], 0) for name in ("asked", "containers", "training")),
        )
        for r in report.rounds
    ]
    written = ("#round", "#specs", "#built", "#repaired", "#kept", "#yield", "labels")
    solved = ("solved, own", "held out before", "held out after")
    cost = ("#steps", "#tokens asked", "#trained", "#s asked", "#s in boxes", "#s training")
    about = "Each round is a run of its own below this one; solved are passes of attempts."
    table = Table("Rounds", heads(*written, *solved, *cost), rows)
    return Section("rounds", "Self-generation", about, [table])


def _passed(found: dict[str, Any] | None) -> Cell:
    return Cell(f"{found['passes']}/{found['attempts']}", found["rate"]) if found else Cell()


def training(report: Report) -> Section | None:
    """Curves of a training run; nothing where there was none."""
    steps = report.training
    if not steps:
        return None
    drawn, rows = [], []
    for name, title in CURVES:
        points = [(row["step"], row[name]) for row in steps if name in row]
        if points:
            drawn.append(
                Chart(title, charts.lines([charts.Series(title, points)]), note="over steps")
            )
            values = [value for _, value in points]
            last = (values[0], min(values), max(values), values[-1])
            rows.append((Cell(title), number(len(points)), *(decimal(v, 4) for v in last)))
    columns = heads("figure", "#steps", "#first", "#least", "#most", "#last")
    return Section("training", "Training", charts=drawn, tables=[Table("Figures", columns, rows)])


def spending(report: Report) -> Section:
    """Seconds and dollars by step and for each kept task; the slowest builds."""
    own = [task for task in report.tasks if task.step == KEPT]
    known = {task.task for task in report.tasks}  # the ledger may know of others
    slow = [
        (Cell(s.task, task=s.task if s.task in known else ""), decimal(s.seconds, 1))
        for s in report.slowest
    ]
    tables = [
        _efforts(report),
        _spread("Seconds of kept tasks", "seconds", own, lambda v: f"{figure(v, 0)} s"),
        Table("Slowest builds of images", heads("task", "#seconds"), slow),
    ]
    about = "Seconds are those of containers and models when they were executed, not wall clock."
    return Section("spending", "Time and money", about, [t for t in tables if t.rows])


def _efforts(report: Report) -> Table:
    """Columns of tokens and dollars only where a model was asked."""
    kept = max(report.kept, 1)
    asked = any(effort.tokens for effort in report.seconds)
    titles: tuple[str, ...] = ("step", "effect", "#times", "#seconds", "#per kept task")
    rows: list[tuple[Cell, ...]] = []
    for e in report.seconds:
        row: tuple[Cell, ...] = (Cell(e.step), Cell(e.kind), number(e.times))
        row += (decimal(e.total, 1), decimal(e.total / kept, 2))
        if asked:
            row += (number(e.tokens), decimal(e.dollars, 4), decimal(e.dollars / kept, 4))
        rows.append(row)
    if asked:
        titles += ("#tokens", "#dollars", "#per kept task")
    return Table("What was executed", heads(*titles), rows, "lost tasks are paid by the kept ones")


def weight(report: Report) -> Section:
    """Bytes that tasks add to their bases."""
    own = [task for task in report.tasks if task.image_bytes is not None]
    own.sort(key=lambda task: (-(task.image_bytes or 0), task.task))
    largest = [
        (Cell(t.task, task=t.task), Cell(t.title), in_bytes(t.image_bytes)) for t in own[:LARGEST]
    ]
    tables = [
        _spread("Bytes that a task adds to its base", "image_bytes", own, size),
        Table("Largest images", heads("task", "title", "#bytes"), largest),
    ]
    return Section("weight", "Images", tables=[t for t in tables if t.rows])


def _spread(caption: str, name: str, tasks: Sequence[Task], told: Any) -> Table:
    """A histogram over steps of 1, 2, 5, 10, 20, ..."""
    values = [value for task in tasks if (value := getattr(task, name)) is not None]
    edges = [0.0] + [n * 10.0**power for power in range(13) for n in (1, 2, 5)]
    counts = [0] * len(edges)
    for value in values:
        counts[bisect_right(edges, value) - 1] += 1
    filled = [n for n, found in enumerate(counts) if found]
    span = range(filled[0], filled[-1] + 1) if filled else range(0)
    rows = [
        (
            Cell(f"{told(edges[n])} to {told(edges[n + 1])}", edges[n]),
            number(counts[n], {name: f"{edges[n]:.0f}..{edges[n + 1]:.0f}", "step": KEPT}),
            Cell(drawing=charts.bar((counts[n],), max(counts))),
        )
        for n in span
    ]
    return Table(caption, heads("from, to", "#tasks", ""), rows)
