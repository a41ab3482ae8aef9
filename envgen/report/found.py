"""What audits and repairs came to, over a whole run."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, get_args

from envgen.audit import verdict
from envgen.audit.probes import PROBES
from envgen.export import parquet
from envgen.records import Label
from envgen.report.facts import KEPT, Audit, Kills, Mix, Outcome, Probe, Refusal, Repairs, Task
from envgen.terminal import clean

ATTACKS = (*(probe.name for probe in PROBES), "critic")
"""Probes whose submissions must earn nothing."""


class Audited(NamedTuple):
    """One task's audit, as far as a report looks at it."""

    policy: str
    label: str
    proven: tuple[str, ...]
    suspected: tuple[str, ...]
    trials: tuple[tuple[str, bool, bool], ...]
    """Of attacks: the probe, whether it earned anything, whether it passed."""
    mutants: int
    survivors: int

    @property
    def attacked(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(probe for probe, _, _ in self.trials))

    @property
    def paid(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(probe for probe, earned, _ in self.trials if earned))


def audited(row: parquet.Row) -> Audited:
    """A row of `audit.parquet`, read."""
    proven = dict.fromkeys(f["label"] for f in row["findings"] if f["proven"])
    others = dict.fromkeys(f["label"] for f in row["findings"] if not f["proven"])
    return Audited(
        policy=row["policy"],
        label=row["label"],
        proven=tuple(proven),
        suspected=tuple(label for label in others if label not in proven),
        trials=tuple(
            (t["probe"], (t["reward"] or 0.0) > row["baseline"], bool(t["passed"]))
            for t in row["trials"]
            if t["probe"] in ATTACKS
        ),
        mutants=row["mutants"],
        survivors=len(row["survivors"]),
    )


def audit(audits: Sequence[Audited], tasks: Sequence[Task]) -> Audit | None:
    """Labels, attacks and mutants of all audits; None where there was none."""
    if not audits:
        return None
    policy = audits[0].policy
    return Audit(
        policy=policy,
        audited=len(audits),
        refused=sum(t.step == KEPT and verdict.refuses(policy, _label(t)) for t in tasks),
        labels=_labels(audits),
        probes=_probes(audits),
        kills=_kills(tasks),
    )


def _label(task: Task) -> str:
    return task.label_after or task.label or "CLEAN"


def _labels(audits: Sequence[Audited]) -> tuple[Mix, ...]:
    labels = Counter(a.label for a in audits)
    proven = Counter(label for a in audits for label in a.proven)
    suspected = Counter(label for a in audits for label in a.suspected)
    return tuple(Mix(n, labels[n], proven[n], suspected[n]) for n in get_args(Label))


def _probes(audits: Sequence[Audited]) -> tuple[Probe, ...]:
    trials = [trial for a in audits for trial in a.trials]
    each = Counter(probe for probe, _, _ in trials)
    earned = Counter(probe for probe, paid, _ in trials if paid)
    passed = Counter(probe for probe, _, passed in trials if passed)
    tasks = Counter(probe for a in audits for probe in a.attacked)
    paid = Counter(probe for a in audits for probe in a.paid)
    return tuple(
        Probe(n, each[n], earned[n], passed[n], tasks[n], paid[n]) for n in ATTACKS if each[n]
    )


def _kills(tasks: Sequence[Task]) -> tuple[Kills, ...]:
    groups: dict[str, list[Task]] = {}
    for task in tasks:
        if task.mutants:
            groups.setdefault(dict(task.axes).get("verifier", ""), []).append(task)
    return tuple(
        Kills(
            verifier=verifier,
            tasks=len(own),
            mutants=sum(t.mutants for t in own),
            survivors=sum(t.survivors for t in own),
            tasks_survived=sum(t.survivors > 0 for t in own),
        )
        for verifier, own in sorted(groups.items())
    )


def repairs(rows: Sequence[dict[str, Any]]) -> Repairs | None:
    """What repairs came to, from rows of `repair.parquet`; None where none was tried."""
    if not rows:
        return None
    ways = [(way, row) for row in rows for way in row["ways"]]
    return Repairs(
        labels=_outcomes((row["label_before"], row) for row in rows),
        ways=_outcomes(ways),
        attempts=sum(row["attempts"] for row in rows),
        refusals=tuple(
            Refusal(reason, n)
            for reason, n in Counter(
                refusal(row) for row in rows if not row["label_after"]
            ).most_common(20)
        ),
    )


def refusal(row: dict[str, Any]) -> str:
    """Why a repair was refused: its first reason, with `N` for the figures that differ from task to
    task."""
    first = "" if row["label_after"] else clean(" ".join(row["reason"].split(";")[0].split()))
    return re.sub(r"\d+(\.\d+)?", "N", first)[:120]


def _outcomes(pairs: Iterable[tuple[str, dict[str, Any]]]) -> tuple[Outcome, ...]:
    tasks, accepted = Counter[str](), Counter[str]()
    for name, row in pairs:
        tasks[name] += 1
        accepted[name] += bool(row["label_after"])
    return tuple(Outcome(name, n, accepted[name]) for name, n in sorted(tasks.items()))
