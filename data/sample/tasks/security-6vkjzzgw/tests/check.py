"""Asks the filter about hidden records, rule by rule, and compares the report on the old one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Sequence
from typing import Optional

from verifiers import Check, Task, adversarial_corpus, exact_text

SIZE_LIMIT = 200_000
SECONDS = 20
# What the instruction says is on the machine of a Bash filter.
TOOLS = [
    "bash",
    "awk",
    "sed",
    "grep",
    "tr",
    "cut",
    "sort",
    "uniq",
    "head",
    "tail",
    "cat",
    "od",
    "xxd",
    "jq",
    "paste",
    "rev",
    "fold",
    "printf",
    "echo",
    "expr",
    "wc",
    "tac",
    "seq",
    "env",
    "test",
    "true",
    "false",
    "mktemp",
    "rm",
    "tee",
    "xargs",
    "nl",
    "comm",
    "join",
    "sh",
    "mawk",
    "dirname",
    "basename",
]


def checks(task: Task) -> Iterable[Check]:
    truth = task.truth
    program = task.read(truth["gate"], limit=SIZE_LIMIT)
    why = "" if program else task.why(truth["gate"]) or "empty"
    yield Check("the filter is there", float(bool(program)), why, must=True)
    if program:
        answers = ask(task, program)
        for rule, corpus in sorted(truth["corpora"].items()):
            yield graded(rule, corpus, answers)
    yield from report(task)


def graded(rule: str, corpus: dict[str, list[str]], answers: dict[str, Optional[bool]]) -> Check:
    """The score of one rule; each has the same weight."""

    def verdicts(samples: Sequence[bytes]) -> list[Optional[bool]]:
        return [answers.get(sample.decode()) for sample in samples]

    clean = [line.encode() for line in corpus["clean"]]
    malicious = [line.encode() for line in corpus["malicious"]]
    return adversarial_corpus.grade_batch(rule, verdicts, clean, malicious, weight=2.0)[0]


def ask(task: Task, program: bytes) -> dict[str, Optional[bool]]:
    """The filter's answer to every hidden record, asked in one run and in a mixed order."""
    truth = task.truth
    records = [line for corpus in truth["corpora"].values() for side in corpus.values()
               for line in side]  # fmt: skip
    task.rng("order").shuffle(records)
    name = os.path.basename(truth["gate"])
    env = {} if truth["tool"] == "python3" else {"PATH": narrow_path(task)}
    stdin = "".join(line + "\n" for line in records).encode()
    outcome = task.run(
        [truth["tool"], name], stdin=stdin, timeout=SECONDS, files={name: program}, env=env
    )
    lines = outcome.text.split("\n")
    if not outcome.ok or lines.pop() != "" or len(lines) != len(records):
        return {}
    words = {truth["answers"][0]: True, truth["answers"][1]: False}
    return {record: words.get(line) for record, line in zip(records, lines)}  # noqa: B905


def narrow_path(task: Task) -> str:
    """A folder with links to the tools that a Bash filter may count on."""
    folder = task.scratch()
    for tool in TOOLS:
        found = shutil.which(tool, path="/usr/bin:/bin")
        if found:
            os.symlink(found, os.path.join(folder, tool))
    return folder


def report(task: Task) -> Iterable[Check]:
    """The table about the old filter: its head and order are asked for, so lines are compared."""
    text = task.read_text("report/old_filter.csv")
    expected = task.truth["report"]
    rows = [] if text is None else exact_text.normalised(text).split("\n")
    shape = [row.split(",")[0] for row in rows] == [row.split(",")[0] for row in expected]
    yield Check("report: head, rows and their order", float(shape), weight=0.5)
    right = sum(row in rows for row in expected[1:]) / (len(expected) - 1)
    if rows != expected:
        right = min(right, 0.99)
    yield Check("report: figures", right, f"{right:.0%} of the rows", weight=1.5)
