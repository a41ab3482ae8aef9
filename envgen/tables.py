"""Tables on the terminal."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from envgen.axes import Balance
from envgen.plural import many
from envgen.terminal import printed

if TYPE_CHECKING:
    from envgen.doctor import Finding
    from envgen.ledger.attempts import Spent
    from envgen.letters import Letter
    from envgen.report import Report


STEPS = 20
"""Steps of a training run that the terminal shows."""
CURVES = ("solved", "held_out_solved", "reward", "entropy", "gap_fresh", "masked_rollouts", "lag")
"""Of a training run, on the terminal; its metrics.jsonl has all."""


def balance_table(found: Mapping[str, Balance]) -> None:
    """Balance per axis and pair, beside the best that the compatibility table allows."""
    rows = [
        (name, f"{b.score:.4f}", f"{b.reachable:.4f}", f"{b.seen} of {b.values}")
        for name, b in found.items()
    ]
    printed("balance, exp(H)/N", ("axis", "score", "reachable", "values"), rows)


def funnel_table(found: "Report") -> None:
    """What was left after each step."""
    rows = [(row.step, str(row.lost), str(row.left)) for row in found.funnel]
    printed(f"run {found.run}", ("step", "lost", "left"), rows)


def report_tables(found: "Report") -> None:
    """The whole report; of a run of rounds, what those came to."""
    if found.rounds:
        rounds_table(found.rounds)
        if found.training:
            training_table(found.training)
        return
    funnel_table(found)
    if found.rejections:
        rejected = [(r.task, r.code, r.detail[:120]) for r in found.rejections]
        printed("rejected", ("task", "code", "detail"), rejected)
    before, after = found.balance.before, found.balance.after
    balance = [(name, f"{v:.4f}", f"{after.get(name, 0):.4f}") for name, v in before.items()]
    printed("balance before and after attrition", ("axis", "before", "after"), balance)
    _soundness(found)
    times = [(r.kind, r.step, str(r.times), f"{r.total:.1f}") for r in found.seconds]
    printed("engine time", ("kind", "step", "times", "seconds"), times)
    spread = found.image_bytes
    if spread:
        row = tuple(f"{value:.0f}" for value in (spread.median, spread.most, spread.total))
        printed("bytes that tasks add to their bases", ("median", "most", "total"), [row])
    played = [
        (e["model"], e["settings"], str(e["attempts"]), *_ends(e["pass_at"]), _figure(e["reward"]),
         " ".join(f"{code} {n['episodes']}" for code, n in e["flags"].items()))
        for e in found.evaluations
    ]  # fmt: skip
    if played:
        columns = ("model", "settings", "attempts", "pass@1", "pass@k", "reward", "flags")
        printed("evaluations", columns, played)
    if found.training:
        training_table(found.training)


def _soundness(found: "Report") -> None:
    """Labels, attacks and repairs, where there are any."""
    if found.audit:
        labels = [
            (m.label, str(m.tasks), str(m.proven), str(m.suspected)) for m in found.audit.labels
        ]
        printed(f"audit, policy {found.audit.policy}", ("label", "tasks", "proven", "suspected"),
                labels)  # fmt: skip
        rows = [(p.probe, str(p.trials), str(p.paid), str(p.passed)) for p in found.audit.probes]
        printed("attacks", ("probe", "trials", "earned something", "passed"), rows)
    if found.repairs:
        done = [(o.name, str(o.tasks), str(o.accepted)) for o in found.repairs.labels]
        printed("repairs", ("label", "tasks", "accepted"), done)


def rounds_table(rows: Sequence[Mapping[str, Any]]) -> None:
    """Rounds of self-generation, one a row: what was written, what it cost, what came of it."""
    cells = [
        (
            *(str(r[name]) for name in ("round", "specs", "built", "repaired", "kept")),
            f"{r['yield']:.2f}",
            ", ".join(f"{label} {n}" for label, n in r["labels"].items()),
            _passed(r["pass_rate"]),
            *(str(r[name]) for name in ("tokens_in", "tokens_out", "tokens_trained")),
            *(f"{r[f'seconds_{name}']:.0f}" for name in ("asked", "containers", "training")),
            str(r["steps"]),
            _passed(r["held_out_before"]),
            _passed(r["held_out_after"]),
        )
        for r in rows
    ]
    columns = ("round", "specs", "built", "repaired", "kept", "yield", "labels", "pass rate")
    cost = ("tokens in", "out", "trained", "s asked", "s boxes", "s training", "steps")
    printed("self-generation", (*columns, *cost, "held out before", "after"), cells)


def _passed(found: Mapping[str, Any] | None) -> str:
    """Passes of attempts."""
    return f"{found['passes']}/{found['attempts']}" if found else ""


def training_table(steps: Sequence[Mapping[str, float]]) -> None:
    """A training run in at most STEPS rows, the first and the last among them."""
    last = len(steps) - 1
    places = sorted({round(n * last / max(1, STEPS - 1)) for n in range(STEPS)})
    rows = [
        (str(steps[p]["step"]), *(f"{steps[p][n]:.4g}" if n in steps[p] else "" for n in CURVES))
        for p in places
    ]
    printed("training", ("step", *(name.replace("_", " ") for name in CURVES)), rows)


def audit_tables(found: Mapping[str, Any]) -> None:
    """Labels of a run's tasks, and what was found."""
    labels = [(name, str(n)) for name, n in found["labels"].items()]
    printed(f"audit of run {found['run']}, policy {found['policy']}", ("label", "tasks"), labels)
    if found["mutants"]:
        rate, left = found["kill_rate"], found["survivors"]
        printed("mutants of the references", ("mutants", "kill rate", "survivors"),
               [(str(found["mutants"]), f"{rate:.4f}", "; ".join(left))])  # fmt: skip
    if found["critic"]:
        _critic_tables(found["critic"])
    rows = [
        (f["finding"], f["task"], "proven" if f["proven"] else "suspected",
         f"{f['label']} {f['code']}")
        for f in found["findings"]
    ]  # fmt: skip
    if rows:
        printed("findings", ("finding", "task", "", "what"), rows)
    refused = [
        (r["task"], r["code"], " ".join(r["detail"].split())[:200]) for r in found["refused"]
    ]
    if refused:
        printed("not audited", ("task", "code", "detail"), refused)


def _critic_tables(found: Mapping[str, Any]) -> None:
    """How good the critic is, and what came of what it said."""
    shares = [f"{found[n]:.2f}" if found["canaries"] else "" for n in ("right_label", "right_side")]
    printed(f"critic {found['model']} on canaries", ("canaries", "right label", "right side"),
           [(str(found["canaries"]), *shares)])  # fmt: skip
    names = ("tasks", "scripts_ran", "scripts_paid", "proven", "suspected")
    printed("what it said about this run", tuple(n.replace("_", " ") for n in names),
           [tuple(str(found[n]) for n in names)])  # fmt: skip


def evaluation_tables(found: Mapping[str, Any]) -> None:
    """What a policy's episodes came to, of all tasks and by axis."""
    played, attempts = many(found["tasks_played"], "task"), many(found["attempts"], "attempt")
    title = f"{found['model']}, {played}, {attempts}"
    rows = [(f"pass@{n}", f"{value:.4f}") for n, value in enumerate(found["pass_at"], 1)]
    rows += [("reward", _figure(found["reward"])), ("invalid", str(found["invalid"]))]
    rows += [(f"{name}, mean", _figure(v)) for name, v in found["per_episode"].items()]
    rows += [(f"ended: {name}", str(n)) for name, n in found["endings"].items()]
    rows += [(f"fault: {name}", str(n)) for name, n in found["faults"].items()]
    prefix = found["prefix"]
    read = prefix["served_tokens"] + prefix["computed_tokens"]
    if read:
        share = prefix["served_tokens"] / read
        rows.append(("prompt tokens that a prefix cache could serve", f"{share:.4f} of {read}"))
    if prefix["computed_flops"]:
        saved, paid = prefix["served_flops"], prefix["computed_flops"]
        rows.append(("FLOPs of prompts: served, computed", f"{saved:.3g}, {paid:.3g}"))
    printed(title, ("", ""), rows)
    by = [
        (axis, value, str(s["tasks_played"]), *_ends(s["pass_at"]), _figure(s["reward"]))
        for axis, values in found["by_axis"].items()
        for value, s in values.items()
    ]
    most = len(found["pass_at"])
    columns = ("axis", "value", "tasks", "pass@1", f"pass@{most}", "reward")
    printed("by axis", columns, by)
    flags = [(code, str(n["episodes"]), str(n["passed"])) for code, n in found["flags"].items()]
    if flags:
        printed("worth a look", ("flag", "episodes", "of them passed"), flags)


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _ends(values: Sequence[float]) -> tuple[str, str]:
    return (f"{values[0]:.4f}", f"{values[-1]:.4f}") if values else ("", "")


def benchmark_table(
    found: Mapping[str, Mapping[str, int]], noted: Iterable[tuple[str, str]]
) -> None:
    """What was said about each kind of planted defect, and what was noted of clean tasks."""
    rows = [
        (kind, ", ".join(f"{name} {n}" for name, n in sorted(row.items())))
        for kind, row in found.items()
    ]
    printed("planted defects", ("kind", "labels given"), rows)
    if remarks := list(noted):
        printed("clean tasks, to be judged", ("task", "what"), remarks)


def repair_tables(found: Mapping[str, Any]) -> None:
    """What was repaired of each label, and what became of each task."""
    labels = [(name, str(n["tasks"]), str(n["repaired"])) for name, n in found["labels"].items()]
    printed(f"repairs of run {found['run']}", ("label", "tasks", "repaired"), labels)
    rows = [
        (t["task"], t["before"], t["after"] or "refused", "+".join(t["ways"]), t["reason"][:200])
        for t in found["tasks"]
    ]
    if rows:
        printed("tasks", ("task", "before", "after", "last tried", "why not"), rows)
    played_table(found["tasks"])


def played_table(tasks: Sequence[Mapping[str, Any]]) -> None:
    """What policies made of tasks before and after their repairs; nothing where none played."""
    if rows := [row for task in tasks for row in _played(task)]:
        columns = ("task", "", "model", "settings", "attempts", "pass@1", "pass@k", "reward")
        printed("played", columns, rows)


def _played(row: Mapping[str, Any]) -> list[tuple[str, ...]]:
    return [
        (row["task"], when, m["model"], m["settings"], str(m["attempts"]), *_ends(m["pass_at"]),
         _figure(m["reward"]))
        for when in ("before", "after")
        for m in row[f"played_{when}"]
    ]  # fmt: skip


def plan_table(rows: Sequence[Mapping[str, Any]]) -> None:
    """What would be tried on which task."""
    cells = [
        (r["task"], r["label"], ", ".join(r["findings"])[:200], ", ".join(r["ways"]) or "nothing")
        for r in rows
    ]
    printed("what would be tried", ("task", "label", "findings", "in this order"), cells)


def repaired_table(found: Mapping[str, Mapping[str, int]]) -> None:
    """How much of each planted kind was repaired, and holds."""
    names = ("tasks", "repaired", "holds", "gates")
    rows = [(kind, *(str(row[name]) for name in names)) for kind, row in found.items()]
    printed("planted defects, repaired", ("kind", *names), rows)


def letters_table(found: Sequence["Letter"]) -> None:
    """Dead letters, one a row."""
    rows = [
        (x.task, str(x.retries), str(len(x.answers)), x.code, " ".join(x.detail.split())[:200])
        for x in found
    ]
    printed("dead letters", ("task", "retries", "answers", "code", "detail"), rows)


def estimate_table(model: str, rows: Sequence[Mapping[str, Any]], priced: bool) -> None:
    """Calls, tokens and dollars by step, and all together."""
    names = ("calls", "input", "output", "dollars")
    total = {"step": "all", **{name: sum(row[name] for row in rows) for name in names}}
    cells = [
        (r["step"], *(str(r[n]) for n in names[:3]), f"{r['dollars']:.4f}" if priced else "?")
        for r in [*rows, total]
    ]
    printed(f"estimate for {model}", ("step", *names), cells)


def cost_table(rows: Sequence["Spent"]) -> None:
    """What was asked and paid, by model, lane and outcome."""
    cells = [
        (
            *(r.model, r.lane, r.outcome),
            *(str(n) for n in (r.attempts, r.input, r.cached, r.output, r.thinking)),
            *(f"{dollars:.4f}" for dollars in (r.cost, r.risk)),
        )
        for r in rows
    ]
    names = ("attempts", "input", "cached", "output", "thinking", "dollars", "perhaps")
    printed("asked and paid", ("model", "lane", "outcome", *names), cells)


def doctor_table(findings: Sequence["Finding"]) -> None:
    """What was checked, and how to mend what failed."""
    rows = [("ok" if f.ok else "FAILED", f.what, f.detail) for f in findings]
    printed("doctor", ("", "check", "detail"), rows)
