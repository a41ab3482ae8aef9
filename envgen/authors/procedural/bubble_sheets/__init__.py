"""Scanned answer sheets of two groups: read the circles, then compare the groups.

Sheets lie askew or upside down, and some answers were rubbed out or given twice.
"""

import json
import math
import random
import statistics
from typing import Any

from envgen.authors.fixtures.recipe import Recipe
from envgen.authors.procedural.family import Composition, Family, Material, introduced
from envgen.files import FileTree
from envgen.records import InitialState, Limits, TaskSpec

MATERIAL = Material(__file__)
WRONG = ("upright", "smudges", "first_mark", "no_marks")
BITS, OPTIONS = 9, 5
GROUPS = (("old", "new"), ("day", "night"), ("north", "south"), ("trained", "control"), ("a", "b"))
OPENINGS = (
    "We asked the same questions before and after the change, on paper.",
    "The reading machine is broken, and the committee meets tomorrow.",
    "A field team sent its questionnaires as pictures.",
    "The agency that was to type these in has gone out of business.",
    "Visitors of two sites filled in our sheet with a soft pencil.",
)


def compose(spec: TaskSpec, rng: random.Random) -> Composition:
    """Twenty sheets of six questions (moderate), or thirty-two of ten (complex)."""
    complex_ = spec.task_complexity == "complex"
    questions, count = (10, 32) if complex_ else (6, 20)
    groups = rng.choice(GROUPS)
    plan = _layout(rng, questions)
    numbers = rng.sample(range(3, 1 << BITS), count)
    group = {n: groups[i % 2] for i, n in enumerate(numbers)}
    lean = [[rng.uniform(1.8, 4.2) for _ in range(questions)] for _ in groups]
    answers: dict[int, list[str]] = {}
    for place, number in enumerate(numbers):
        marks = [_marks(rng, lean[groups.index(group[number])][q]) for q in range(questions)]
        if place < 6:  # what a careless reader gets wrong is there in every task
            marks[place % questions] = _given(marks[place % questions], rng, place % 3)
        plan["sheets"].append(_sheet(rng, number, marks, upside_down=place % 4 == 1))
        answers[number] = [_answer(one) for one in marks]
    columns = [f"{what}_{name}" for name in groups for what in ("n", "mean")]
    header = ",".join(["question", *columns, "difference", "low", "high", "d"])
    lines = [",".join(["sheet", *(f"q{n + 1}" for n in range(questions))])]
    lines += [",".join([str(number), *answers[number]]) for number in sorted(numbers)]
    compare = [_compared(n, answers, group, groups) for n in range(questions)]
    words: dict[str, Any] = {
        "who": introduced(spec.persona),
        "complex": complex_, "questions": questions, "count": count, "bits": BITS,
        "groups": groups, "plan": plan, "header": header, "opening": rng.choice(OPENINGS),
        "folder": rng.choice(("survey", "sheets", "forms", "poll")),
        "first": min(one["file"] for one in plan["sheets"]),
        "lowest": min(numbers), "highest": max(numbers),
    }  # fmt: skip
    home = f"home/agent/{words['folder']}"
    table = "".join(f"{n},{group[n]}\n" for n in sorted(numbers))
    truth = {"answers": lines, "compare": compare, "header": header}
    files = FileTree({"draw.py": MATERIAL.text("draw.py"), "plan.json": json.dumps(plan)})
    return Composition(
        title=f"Answer sheets of two groups, {groups[0]} and {groups[1]}",
        instruction=MATERIAL.render("instruction.md.j2", **words),
        files=FileTree({
            f"{home}/LAYOUT.md": MATERIAL.render("layout.md.j2", **words),
            f"{home}/groups.csv": f"sheet,group\n{table}",
        }),
        recipes=(Recipe("tools", files, ("python3", "draw.py", "plan.json", "/out"),
                        f"{home}/scans"),),
        tests=FileTree({"check.py": MATERIAL.text("check.py"), "truth.json": json.dumps(truth)}),
        solution=_solution(words, ""),
        wrong={way: _solution(words, way) for way in WRONG},
        valid={"quad": _solution(words, "quad")},
        base="scientific_computing",
        initial=InitialState(
            present=tuple(f"/{home}/{p}" for p in ("LAYOUT.md", "groups.csv", "scans")),
            absent=("/home/agent/answers.csv", "/home/agent/compare.csv"),
            tools=("python3",),
            commands=(("python3", "-c", "import numpy, PIL"),),
        ),
        secrets=tuple(lines[1:4]),
        limits=Limits(memory_mb=2048),
    )  # fmt: skip


def _layout(rng: random.Random, questions: int) -> dict[str, Any]:
    top = round(rng.uniform(0.16, 0.2), 3)
    return {
        "marks": ((40, 40), (440, 600)), "options": OPTIONS, "sheets": [],
        "code": {"u": round(rng.uniform(0.12, 0.25), 3), "du": round(rng.uniform(0.06, 0.075), 3),
                 "v": round(rng.uniform(0.04, 0.09), 3)},
        "grid": {"u": round(rng.uniform(0.2, 0.35), 3), "du": round(rng.uniform(0.1, 0.14), 3),
                 "v": top, "dv": round(rng.uniform(0.68, 0.78) / questions, 4)},
    }  # fmt: skip


def _marks(rng: random.Random, lean: float) -> dict[str, str]:
    """What is in the circles of one question: a dark one mostly, and what was rubbed out."""
    choice = min(OPTIONS - 1, max(0, round(rng.gauss(lean - 1, 1))))
    kind = rng.random()
    if kind < 0.05:
        return {}
    marks = {str(choice): "full"}
    other = str(rng.choice([o for o in range(OPTIONS) if o != choice]))
    if kind < 0.1:
        marks[other] = "full"
    elif kind < 0.25:
        marks[other] = "erased"
    return marks


def _given(marks: dict[str, str], rng: random.Random, kind: int) -> dict[str, str]:
    """Nothing, two circles, or one and one that was rubbed out."""
    one, other = rng.sample(range(OPTIONS), 2)
    return ({}, {str(one): "full", str(other): "full"},
            {str(one): "full", str(other): "erased"})[kind]  # fmt: skip


def _answer(marks: dict[str, str]) -> str:
    full = [option for option, kind in marks.items() if kind == "full"]
    return "" if not full else str(int(full[0]) + 1) if len(full) == 1 else "X"


def _sheet(
    rng: random.Random, number: int, marks: list[dict[str, str]], upside_down: bool
) -> dict[str, Any]:
    return {
        "file": f"scan_{rng.randrange(1000, 9999)}_{number % 7}{number}.png",
        "bits": [number >> (BITS - 1 - n) & 1 for n in range(BITS)], "marks": marks,
        "angle": round(rng.uniform(0.8, 2.2) * rng.choice((-1, 1)), 2), "upside_down": upside_down,
        "shift": (rng.randrange(-14, 15), rng.randrange(-14, 15)), "seed": rng.getrandbits(40),
    }  # fmt: skip


def _compared(
    n: int, answers: dict[int, list[str]], group: dict[int, str], groups: tuple[str, str]
) -> list[Any]:
    one, other = (
        [
            int(row[n])
            for number, row in answers.items()
            if group[number] == name and row[n].isdigit()
        ]
        for name in groups
    )
    means = statistics.fmean(one), statistics.fmean(other)
    spread = statistics.variance(one), statistics.variance(other)
    gap = means[0] - means[1]
    error = 1.96 * math.sqrt(spread[0] / len(one) + spread[1] / len(other))
    weights = len(one) - 1, len(other) - 1
    pooled = math.sqrt(sum(w * s for w, s in zip(weights, spread, strict=True)) / sum(weights))
    d = gap / pooled if pooled else 0.0
    return [f"q{n + 1}", len(one), means[0], len(other), means[1], gap, gap - error, gap + error, d]


def _solution(words: dict[str, Any], way: str) -> FileTree:
    return FileTree({
        "solve.sh": MATERIAL.render("solve.sh.j2", **words),
        "read.py": MATERIAL.render("read.py.j2", way=way, **words),
        "compare.py": MATERIAL.render("compare.py.j2", **words),
    })  # fmt: skip


FAMILY = Family(
    name="bubble_sheets",
    realises={
        "domain": frozenset({"data_science"}),
        "skill_type": frozenset({"statistical_inference"}),
        "skills": frozenset({
            "confidence_intervals", "effect_size_estimation", "group_comparison",
            "missing_value_handling", "distribution_summaries",
        }),
        "language": frozenset({"python", "any"}),
        "task_complexity": frozenset({"moderate", "complex"}),
        "command_complexity": frozenset({"bash_code"}),
        "verifier": frozenset({"exact_text"}),
        "fixture": frozenset({"image"}),
    },
    compose=compose,
)  # fmt: skip
