"""Predictors that have learned nothing: the mean of what is known, for everybody.

Covers: tolerances that a constant meets, majority classes. For tasks that ask for a table with an
id and a predicted column, where the data at hand have that column.
"""

import csv
import json
from pathlib import PurePosixPath
from statistics import fmean

from envgen.audit import naming, submissions
from envgen.audit.probes.gain import gained
from envgen.audit.target import Target
from envgen.files import File
from envgen.records import Attack

judge = gained

_PROGRAM = """\
import csv, sys
rows = csv.reader(sys.stdin)
head = next(rows, [])
place = head.index({id!r}) if {id!r} in head else 0
print({header!r})
for row in rows:
    if row:
        print(row[place] + "," + {value!r})
"""


def attacks(target: Target) -> tuple[Attack, ...]:
    """One attack for the first header of two columns whose second one can be learned about."""
    for header in naming.headers(target.instruction):
        name, _, wanted = header.partition(",")
        tables = _tables(target)
        known = [v for head, rows in tables for v in _numbers(head, rows, wanted)]
        asked = [(h, rows) for h, rows in tables if name in h and wanted not in h]
        if known and asked and "," not in wanted:
            return (_attack(target, header, f"{fmean(known):.6g}", asked[0]),)
    return ()


def _attack(
    target: Target, header: str, value: str, asked: tuple[list[str], list[list[str]]]
) -> Attack:
    name = header.partition(",")[0]
    head, rows = asked
    place = head.index(name)
    table = "\n".join([header, *(f"{row[place]},{value}" for row in rows)]) + "\n"
    text = _PROGRAM.format(id=name, header=header, value=value)
    files = {
        p: File(text.encode(), 0o755) for p in target.programs if PurePosixPath(p).suffix == ".py"
    }
    files |= {
        p: File(table.encode()) if p.endswith(".csv") else submissions.shaped(p, target.instruction)
        for p in target.data
    }
    return Attack(
        probe="predicting",
        name="mean",
        label="VERIFIER-TOO-WEAK",
        exploitability="rollout",
        does=f"{json.dumps(value)} as {header.partition(',')[2]} of every row",
        tree=submissions.placing(files),
    )


def _tables(target: Target) -> list[tuple[list[str], list[list[str]]]]:
    found = []
    for entry in target.entries:
        if entry.path.endswith(".csv") and not entry.removed and target.told(entry.path):
            lines = list(csv.reader(entry.data.decode(errors="replace").splitlines()))
            if len(lines) > 1:
                width = len(lines[0])
                found.append((lines[0], [line for line in lines[1:] if len(line) == width]))
    return found


def _numbers(head: list[str], rows: list[list[str]], wanted: str) -> list[float]:
    """What can be read as a number in a column."""
    if wanted not in head:
        return []
    place, found = head.index(wanted), []
    for row in rows:
        try:
            found.append(float(row[place]))
        except ValueError:
            continue
    return found
