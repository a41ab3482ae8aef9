"""From what the model said to a task: instruction, files, hidden truth. Pure; nothing is asked.

Three shapes: a report on given data, a program that makes such reports, a filter of records.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from envgen.authors.llm.small import rules
from envgen.authors.llm.small.data import Column, Data, Layout, Table, Wanted, draw
from envgen.authors.llm.small.items import Item, Need
from envgen.authors.llm.small.meaning import Ambiguous, lines, words
from envgen.files import FileTree
from envgen.prompts import render
from envgen.records import HOME, InitialState, TaskSpec
from envgen.share import share

CHECKS = Path(__file__).parent / "task"
ROWS, RUN_ROWS, RUNS = 60, (15, 40), 24
TRIES = 60
MOST_EQUAL = 0.4
"""Share of hidden runs on which one constant answer may be right."""
ENDINGS = {"csv": "csv", "tsv": "tsv", "log": "log", "nested": "jsonl"}
HEAD_LINES = 4


@dataclass(frozen=True)
class Shape:
    """What a spec asks of a small task, before any model is asked."""

    kind: str
    """`report`, `program` or `filter`."""
    language: str
    layout: Layout
    wanted: tuple[Wanted, ...]
    """What the columns of the data are asked for as."""
    gappy: bool
    """Some numbers are missing."""
    needs: tuple[Need, ...]
    """What each item of a report must be."""

    @property
    def program(self) -> str:
        """The file that the agent has to write; empty when only a report is asked for."""
        if self.kind == "report" and self.language == "bash":
            return ""
        stem = "screen" if self.kind == "filter" else "summary"
        return f"{stem}.{'sh' if self.language == 'bash' else 'py'}"

    @property
    def report(self) -> str:
        return "report.txt" if self.kind == "report" else ""


@dataclass(frozen=True)
class Composed:
    """A task but for its solution."""

    title: str
    instruction: str
    files: FileTree
    tests: FileTree
    file: str
    head: str
    initial: InitialState = field(default_factory=InitialState)


def compose(spec: TaskSpec, shape: Shape, data: Data, items: Sequence[Item]) -> Composed:
    """The task. Raises ValueError, in words for the model, for items that no data decide."""
    rng = Random(f"{spec.digest}:{data.model_dump_json()}")
    file = f"{data.file}.{ENDINGS[shape.layout]}"
    if not items:
        clean, _ = rules.corpora(data, 12, rng)
        text, truth = "".join(f"{line}\n" for line in clean), _filter(shape, data, rng)
        told: dict[str, Any] = {"rules": [(c.name, rules.words(c)) for c in data.columns]}
    else:
        table, truth = _decided(shape, data, items, rng)
        text = table.text()
        truth |= {"data": text, "file": file} if shape.kind == "report" else {}
        told = _told(shape, data, table, items)
    values = {"rules": [], "columns": [], "form": "", "gaps": "", "missing": "", "sentences": []}
    instruction = render(
        share("prompts") / "small" / "instruction.md.j2",
        data=data,
        language=shape.language,
        program=shape.program,
        report=shape.report,
        starter="bash" if shape.language == "bash" else "python3",
        file=file,
        rows=ROWS,
        **(values | told),
    )
    check = (CHECKS / f"{shape.kind}.py").read_text()
    tests = FileTree({"check.py": check, "truth.json": json.dumps(truth, sort_keys=True) + "\n"})
    made = [name for name in (shape.program, shape.report) if name]
    return Composed(
        title=data.title,
        instruction=instruction,
        files=FileTree({f"{HOME[1:]}/{file}": text}),
        tests=tests,
        file=file,
        head="".join(text.splitlines(keepends=True)[:HEAD_LINES]),
        initial=InitialState(
            present=(f"{HOME}/{file}",),
            absent=tuple(f"{HOME}/{name}" for name in made),
            tools=("awk", "jq", "python3"),
        ),
    )


# -- truth -------------------------------------------------------------------------------------


def gaps_of(shape: Shape, data: Data) -> str:
    """The column of which some values are missing; empty for none."""
    return next((c.name for c in data.columns if c.number), "") if shape.gappy else ""


def _filter(shape: Shape, data: Data, rng: Random) -> dict[str, Any]:
    clean, malicious = rules.corpora(data, rules.MOST, rng)
    return {
        "program": shape.program,
        "language": shape.language,
        "clean": clean,
        "malicious": malicious,
    }


def _decided(
    shape: Shape, data: Data, items: Sequence[Item], rng: Random
) -> tuple[Table, dict[str, Any]]:
    """The data that are handed out, and the truth that goes with them."""
    rows = ROWS if shape.kind == "report" else 12
    table, results = _clear(shape, data, items, rows, rng)
    if shape.kind == "report":
        told = [{"label": i.label, "lines": r} for i, r in zip(items, results, strict=True)]
        return table, {"report": shape.report, "program": shape.program, "items": told}
    runs = []
    for _ in range(RUNS):
        hidden, results = _clear(shape, data, items, rng.randint(*RUN_ROWS), rng)
        runs.append({"input": hidden.text(), "items": results})
    for place, item in enumerate(items):
        counts = Counter("\n".join(run["items"][place]) for run in runs)
        if counts.most_common(1)[0][1] > RUNS * MOST_EQUAL:
            raise ValueError(f"item {item.label}: its result is nearly always the same")
    truth = {
        "program": shape.program,
        "language": shape.language,
        "labels": [item.label for item in items],
        "runs": runs,
    }
    return table, truth


def _clear(
    shape: Shape, data: Data, items: Sequence[Item], rows: int, rng: Random
) -> tuple[Table, list[list[str]]]:
    """A table that decides every item, and the lines of each."""
    reason = ""
    for _ in range(TRIES):
        table = draw(data, shape.layout, rows, gaps_of(shape, data), rng)
        try:
            return table, [lines(item, table) for item in items]
        except Ambiguous as error:
            reason = str(error)
    raise ValueError(f"no data decide item {reason}; ask for something else")


# -- words -------------------------------------------------------------------------------------

_FORMS = {
    "csv": "It is comma-separated, with a heading line and these columns:",
    "tsv": "It is tab-separated, with a heading line and these columns:",
    "log": "Each line has a number in brackets, then these `key=value` pairs:",
    "nested": "Each line is a JSON object with a running number `id` and these values:",
}


def _told(shape: Shape, data: Data, table: Table, items: Sequence[Item]) -> dict[str, Any]:
    gaps = gaps_of(shape, data)
    missing = "`null`" if shape.layout == "nested" else "the value is empty"
    return {
        "form": _FORMS[shape.layout],
        "columns": [_described(shape, number, c) for number, c in enumerate(data.columns)],
        "gaps": gaps,
        "missing": missing,
        "sentences": [words(item, data) for item in items],
    }


def _described(shape: Shape, number: int, column: Column) -> dict[str, str]:
    path = column.name
    if shape.layout == "nested":
        path = f".{column.name}" if number == 0 else f".detail.{column.name}"
    told = {
        "choice": "one of " + ", ".join(column.choices),
        "integer": f"a whole number from {column.low} to {column.high}",
        "amount": f"a number with two decimals from {column.low} to {column.high}",
        "date": "a day, `YYYY-MM-DD`",
        "name": "a name in small letters",
    }[column.holds]
    return {"path": path, "told": told}
