"""Verifiers that are too weak, held to the results that right solutions agree on.

What the instruction asks for is compared with what the reference leaves, and programs with what it
answers to inputs that nobody has seen. Only that is pinned in which the reference and every valid
alternative agree; where they measure something differently, twice their distance is allowed.
Without an alternative it cannot be told what the instruction leaves open, so nothing is pinned.
"""

import base64
import csv
import hashlib
import io
import json
import math
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from envgen.records import Finding, TaskDraft
from envgen.repair.seen import Seen
from envgen.repair.verifier import facts_of, wrapped
from envgen.repair.watching import Answer, Case, shared

MOST_FILES, MOST_BYTES = 60, 1 << 20
WIDER = 2.0
"""Of the distance between right measurements, what is allowed to others."""
MOST_OFF = 0.35
"""Right measurements farther apart than this share of their range pin nothing."""
MOST_CASES = 16
"""Runs of one program that are compared."""
LEAST_CASES = 3
"""Cases that nobody has seen, without which a program could be replaced by its answers."""


def pinned(draft: TaskDraft, finding: Finding, seen: Seen) -> TaskDraft | str:
    """The draft with pins, or why there can be none."""
    if facts_of(draft)["pins"]:
        return "what right solutions agree on is pinned already"
    if not seen.reference:
        return "there is no reference whose results could be pinned"
    if not seen.others:
        return "no valid alternative is known: nobody can say what the instruction leaves open"
    files, programs = list(_files(seen)), list(_programs(seen))
    if not files and not programs:
        return "right solutions agree on nothing that could be pinned"
    held = {program["path"] for program in programs}
    if loose := [path for path in seen.programs if path not in held]:
        return f"{loose[0]} gives no answers that could be pinned"
    text = json.dumps({"files": files, "programs": programs}, sort_keys=True).encode()
    return wrapped(draft, pins=base64.b64encode(zlib.compress(text, 9)).decode())


# -- files -------------------------------------------------------------------------------------


def _files(seen: Seen) -> Iterator[dict[str, Any]]:
    for path, _ in islice(seen.files, MOST_FILES):
        runs = [seen.reference, *seen.others.values()]
        found = [run[path] for run in runs if path in run]
        if len(found) == len(runs) and max(map(len, found)) <= MOST_BYTES:
            pin = _pin(path, found)
            if pin is not None:
                yield {"path": path, **pin}


def _pin(path: str, found: list[bytes]) -> dict[str, Any] | None:
    """How a file is compared; None where right ones have nothing in common."""
    try:
        texts = [data.decode() for data in found]
    except UnicodeDecodeError:
        same = len(set(found)) == 1
        return {"kind": "bytes", "sha256": hashlib.sha256(found[0]).hexdigest()} if same else None
    ending = PurePosixPath(path).suffix
    if ending == ".json" and (pin := _values(texts)) is not None:
        return pin
    if ending in (".csv", ".tsv") and (pin := _table(texts)) is not None:
        return pin
    lines = [_lines(text) for text in texts]
    same = bool(lines[0]) and all(other == lines[0] for other in lines[1:])
    return {"kind": "lines", "lines": lines[0]} if same else None


def _lines(text: str) -> list[str]:
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _values(texts: list[str]) -> dict[str, Any] | None:
    """Leaves of JSON by their place, each with the distance that is allowed."""
    try:
        first, *others = (_leaves(json.loads(text)) for text in texts)
    except (ValueError, RecursionError):
        return None
    leaves = []
    for place, value in first.items():
        given = [other.get(place) for other in others]
        off = _off(value, given)
        if off is not None:
            leaves.append([place, value, off])
    return {"kind": "values", "leaves": leaves} if leaves else None


def _leaves(value: Any, place: str = "") -> dict[str, Any]:
    if isinstance(value, dict):
        return {
            k: v for key, one in value.items() for k, v in _leaves(one, f"{place}/{key}").items()
        }
    if isinstance(value, list):
        return {
            k: v for n, one in enumerate(value) for k, v in _leaves(one, f"{place}/{n}").items()
        }
    return {place: value}


def _off(value: Any, given: list[Any]) -> float | None:
    """The distance that is allowed from a value; None where right ones are not comparable."""
    if all(other == value for other in given):
        return 0.0
    numbers = [_number(one) for one in (value, *given)]
    if isinstance(value, bool) or any(n is None for n in numbers):
        return None
    first, *others = (n for n in numbers if n is not None)
    off = WIDER * max(abs(other - first) for other in others)
    return off if off <= MOST_OFF * max(abs(first), 1e-12) else None


def _table(texts: list[str]) -> dict[str, Any] | None:
    """Columns of a table, each with what its cells may be off, as a share of the range."""
    delimiter = max(",;\t|", key=texts[0].split("\n", 1)[0].count)
    tables = [list(csv.reader(io.StringIO(text), delimiter=delimiter)) for text in texts]
    tables = [[row for row in table if row] for table in tables]
    shapes = {(len(t), *{len(row) for row in t}) for t in tables}
    if len(shapes) != 1 or len(next(iter(shapes))) != 2 or len(tables[0]) < 2:
        return None
    keyed = len({tuple(row[0] for row in table) for table in tables}) > 1
    if keyed:
        tables = [[table[0], *sorted(table[1:])] for table in tables]
        if len({row[0] for row in tables[0]}) < len(tables[0]):
            return None
    columns = []
    for cells in zip(*(zip(*table, strict=True) for table in tables), strict=True):
        off = _column_off(cells)
        if off is None:
            return None
        columns.append({"cells": list(cells[0]), "off": off})
    rows = len(tables[0])
    made = {"kind": "table", "delimiter": delimiter, "rows": rows, "columns": columns}
    return made | {"keyed": keyed}


def _column_off(cells: tuple[tuple[str, ...], ...]) -> float | None:
    """0 where right columns are the same, as text or as numbers."""
    first, *others = cells
    if all(_same(a, b) for other in others for a, b in zip(first, other, strict=True)):
        return 0.0
    numbers = [[_number(cell) for cell in column[1:]] for column in cells]
    if any(n is None for column in numbers for n in column) or len({c[0] for c in cells}) > 1:
        return None
    first_ones, *rest = ([n for n in column if n is not None] for column in numbers)
    spread = max(first_ones) - min(first_ones)
    errors = [
        math.sqrt(
            math.fsum((a - b) ** 2 for a, b in zip(first_ones, other, strict=True)) / len(other)
        )
        for other in rest
    ]
    off = WIDER * max(errors) / spread if spread else math.inf
    return off if off <= MOST_OFF else None


def _same(one: str, other: str) -> bool:
    a, b = _number(one), _number(other)
    if a is None or b is None:
        return one.strip() == other.strip()
    return abs(a - b) <= 1e-6 * max(1.0, abs(b))


def _number(value: Any) -> float | None:
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


# -- programs ----------------------------------------------------------------------------------


def _programs(seen: Seen) -> Iterator[dict[str, Any]]:
    answered = shared(seen.answers)
    for program in seen.programs:
        cases = answered.get(program, [])
        pins = [(case, pin) for case, given in cases if (pin := _answer(case, given))][:MOST_CASES]
        if sum(case.made for case, _ in pins) >= LEAST_CASES:
            yield {"path": program, "cases": [pin for _, pin in pins]}


def _answer(case: Case, given: tuple[Answer, ...]) -> dict[str, Any] | None:
    """How the answer of a run is compared; None where right programs answer in unlike ways."""
    first, *others = given
    if any(other.files != first.files for other in others):
        return None
    pin: dict[str, Any] = {
        "arguments": list(case.arguments),
        "stdin": case.stdin,
        "files": [list(pair) for pair in first.files],
    }
    outs = [base64.b64decode(one.out) for one in given]
    if all(_plain(out) == _plain(outs[0]) for out in outs):
        return pin | {"out": first.out}
    try:
        table = _table([out.decode() for out in outs])
    except UnicodeDecodeError:
        return None
    return pin | {"table": table} if table else None


def _plain(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").rstrip(b"\n")
