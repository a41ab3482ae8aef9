"""Results that right solutions agree on, and how far another result is from them.

A pin is met (1), or earns the cube of its share of right parts: what has merely the right form
gets next to nothing. No detail says what was expected.
"""

import base64
import csv
import hashlib
import io
import json
import math
import os
import zlib

from verifiers import Check

SECONDS = 20
EXACT = 1e-6


def checks(task, packed):
    pinned = json.loads(zlib.decompress(base64.b64decode(packed)))
    for pin in pinned["files"]:
        yield graded(f"{pin['path']} says what was asked for", COMPARED[pin["kind"]](task, pin))
    for program in pinned["programs"]:
        right = [answers(task, program, case) for case in program["cases"]]
        said = f"{sum(right)} of {len(right)} runs"
        yield graded(f"{program['path']} answers as asked", sum(right) / len(right), said)


def graded(name, share, detail=""):
    return Check(name, 1.0 if share == 1 else min(share, 1.0) ** 3, detail)


# -- files -------------------------------------------------------------------------------------


def same_bytes(task, pin):
    data = task.read(pin["path"])
    return float(data is not None and hashlib.sha256(data).hexdigest() == pin["sha256"])


def same_lines(task, pin):
    text = task.read_text(pin["path"])
    return share(None if text is None else lines_of(text), pin["lines"])


def same_values(task, pin):
    found = leaves(task.read_json(pin["path"]))
    right = sum(key in found and near(found[key], value, off) for key, value, off in pin["leaves"])
    return right / len(pin["leaves"])


def same_table(task, pin):
    return table_share(task.read_text(pin["path"]), pin)


def table_share(text, pin):
    """Of the worst column; rows in any order where right solutions differ in it."""
    try:
        rows = list(csv.reader(io.StringIO(text or ""), delimiter=pin["delimiter"]))
    except csv.Error:
        return 0.0
    while rows and not rows[-1]:
        rows.pop()
    width = len(pin["columns"])
    if len(rows) != pin["rows"] or any(len(row) != width for row in rows):
        return 0.0
    if pin["keyed"]:
        rows = [rows[0], *sorted(rows[1:])]
    columns = zip(*rows)
    return min(same_column(list(c), wanted) for c, wanted in zip(columns, pin["columns"]))


def same_column(cells, wanted):
    """Share of right cells; of measured columns, what the error over the range leaves."""
    if not wanted["off"]:
        right = sum(near(cell, value, 0) for cell, value in zip(cells, wanted["cells"]))
        return right / len(cells) if cells else 1.0
    pairs = [(number(c), number(v)) for c, v in zip(cells, wanted["cells"])]
    pairs = [(c, v) for c, v in pairs if v is not None]
    if any(c is None for c, _ in pairs):
        return 0.0
    values = [v for _, v in pairs]
    spread = (max(values) - min(values)) or 1.0
    error = math.sqrt(sum((c - v) ** 2 for c, v in pairs) / len(pairs)) / spread
    return 1.0 if error <= wanted["off"] else max(0.0, 0.5 - error / (4 * wanted["off"]))


def leaves(value, place=""):
    if isinstance(value, dict):
        return {
            k: v for key, one in value.items() for k, v in leaves(one, f"{place}/{key}").items()
        }
    if isinstance(value, list):
        return {k: v for n, one in enumerate(value) for k, v in leaves(one, f"{place}/{n}").items()}
    return {place: value}


def near(one, other, off):
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    a, b = number(one), number(other)
    if a is None or b is None:
        return str(one).strip() == str(other).strip()
    return abs(a - b) <= max(off, EXACT * max(1.0, abs(b)))


def number(value):
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def lines_of(text):
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def share(lines, wanted):
    if lines is None or not wanted:
        return float(lines == wanted)
    right = sum(one == other for one, other in zip(lines, wanted))
    return right / max(len(lines), len(wanted))


# -- programs ----------------------------------------------------------------------------------


def answers(task, program, case):
    """Whether a run gives the output and the files that right programs give."""
    path = task.path(program["path"])
    source = task.read(program["path"])
    if source is None:
        return False
    start = ["python3", path] if path.endswith(".py") else ["bash", path]
    found = task.stat(program["path"])
    if not path.endswith(".py") and found is not None and found.st_mode & 0o100:
        start = [path]
    folder = task.scratch()
    words = [f"{folder}/{a}" if a.isupper() else a for a in case["arguments"]]
    done = task.run(
        [*start, *words], stdin=base64.b64decode(case["stdin"]), timeout=SECONDS, cwd=folder
    )
    if not done.ok or not said_right(done, case):
        return False
    for place, wanted in case["files"]:
        data = task.read(os.path.join(folder, case["arguments"][place]))
        if data is None or same(data) != same(base64.b64decode(wanted)):
            return False
    return True


def said_right(done, case):
    table = case.get("table")
    if table:
        return table_share(done.text, table) == 1.0
    return same(done.stdout) == same(base64.b64decode(case["out"]))


def same(data):
    return data.replace(b"\r\n", b"\n").rstrip(b"\n")


COMPARED = {"bytes": same_bytes, "lines": same_lines, "values": same_values, "table": same_table}
