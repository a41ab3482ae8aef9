"""Runs the program on the given and on unseen databases and compares section by section.

The databases are built here from hidden dumps: nothing that the agent may have edited is read.
"""

from __future__ import annotations

import base64
import os
import re
import sqlite3
import tempfile
from collections.abc import Iterable
from typing import Any

from verifiers import Check, Task, exact_text


def checks(task: Task) -> Iterable[Check]:
    """Each section over all runs, and the whole text of each run."""
    truth = task.truth
    source = _program(task)
    if truth["language"] == "bash":
        yield Check("written in Bash", float(_is_bash(source)))
    outputs, unchanged = [], source is not None
    for run in truth["runs"]:
        text, same = _run(task, source, run)
        outputs.append(text)
        unchanged = unchanged and same and text is not None
    yield Check("databases unchanged", float(unchanged), weight=0.5)
    for place, heading in enumerate(truth["headings"]):
        yield _section(truth, place, heading, outputs)
    for nth, run in enumerate(truth["runs"]):
        name = f"whole report, database {run['dump']}"
        yield exact_text.match(name, outputs[nth], _whole(truth, run["sections"]))


def _program(task: Task) -> bytes | None:
    """The program's bytes if it is there and executable."""
    program = task.truth["program"]
    found = task.stat(program)
    if found is None or not found.st_mode & 0o100:
        return None
    return task.read(program, limit=8 << 20)


def _is_bash(source: bytes | None) -> bool:
    """As the instruction says: the first line, and two words that do not occur."""
    if source is None or re.search(rb"python|perl", source, re.IGNORECASE):
        return False
    first = source.split(b"\n", 1)[0].strip()
    return re.fullmatch(rb"#! ?(/usr/bin/env bash|(/usr)?/bin/bash)( .*)?", first) is not None


def _database(dump: bytes) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "ledger.db")
        connection = sqlite3.connect(path)
        connection.executescript(dump.decode())
        connection.close()
        with open(path, "rb") as file:
            return file.read()


def _run(task: Task, source: bytes | None, run: dict[str, Any]) -> tuple[str | None, bool]:
    """What one run prints, and whether the database stayed as it was."""
    program = task.truth["program"]
    if source is None:
        return None, False
    database = _database(base64.b64decode(task.truth["dumps"][run["dump"]]))
    files = {"ledger.db": database}
    if task.truth["language"] == "bash":
        files[program] = source  # one file that needs no other: run it away from the home folder
    folder = task.scratch(files)
    path = f"{folder}/{program}" if program in files else f"./{program}"
    outcome = task.run([path, "ledger.db", *run["argv"]], cwd=folder)
    same = task.read(f"{folder}/ledger.db", limit=8 << 20) == database
    return outcome.text if outcome.ok else None, same


def _section(truth: dict[str, Any], place: int, heading: str, outputs: list[str | None]) -> Check:
    """Share of right rows; a run counts by its rows, so that empty sections earn little."""
    right = rows = 0.0
    for nth, run in enumerate(truth["runs"]):
        expected = run["sections"][place][truth["header_lines"] :]
        body = _body(truth["headings"], heading, outputs[nth])
        if body is not None:
            body = body[truth["header_lines"] :]
        got = None if body is None else "\n".join(body)
        right += len(expected) * exact_text.lines("", got, "\n".join(expected)).score
        rows += len(expected)
    return Check(f"section {place + 1}", min(1.0, right / rows), weight=3.0)


def _body(headings: list[str], heading: str, text: str | None) -> list[str] | None:
    """Lines between a heading and the next one."""
    lines = (text or "").split("\n")
    if heading not in lines:
        return None
    start = lines.index(heading) + 1
    end = start
    while end < len(lines) and lines[end] not in headings:
        end += 1
    return lines[start:end]


def _whole(truth: dict[str, Any], sections: list[list[str]]) -> str:
    headings = truth["headings"]
    parts = ["\n".join([headings[place], *rows]) for place, rows in enumerate(sections)]
    return ("\n\n" if truth["blank_between"] else "\n").join(parts) + "\n"
