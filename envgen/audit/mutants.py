"""Mutants: the reference's captured outputs with one thing wrong. Pure, and chosen by content.

Only files that the instruction asks for are changed: named by path or name, or below a folder
that it names. Whatever else a reference leaves (notes, caches, copies of inputs) may be anything,
so that changing it is no mistake and would be no mutant. A change of mode is one only where the
instruction speaks of it.

A mutant is destructive when it takes away the answer: such a survivor proves that the file is not
looked at. One small change that survives only shows that the checks are coarse.
"""

import hashlib
import json
import re
import tarfile
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from random import Random
from typing import NamedTuple

from envgen.audit import captured, naming, submissions
from envgen.audit.target import Target
from envgen.sandbox.archive import packed


class Mutant(NamedTuple):
    """One changed file of the reference's outputs."""

    name: str
    path: str
    """Absolute."""
    destructive: bool
    data: bytes
    """What the file holds then."""
    mode: int


class Change(NamedTuple):
    """A kind of mutation: None from `made` where it does not apply, or would change nothing."""

    name: str
    destructive: bool
    made: Callable[[str, bytes, Random], bytes | None]


def mutants(target: Target, outputs: bytes, most: int) -> tuple[Mutant, ...]:
    """At most so many mutants: file by file in turn, the destructive ones first."""
    entries = captured.entries(outputs)
    changed = _done(target, entries)
    turns = [
        list(_changes(path, entry, data, target)) for path, entry, data in _chosen(changed, most)
    ]
    made = [
        Mutant(f"{change}:{path}", path, destructive, new, mode)
        for place in range(max((len(t) for t in turns), default=0))
        for turn in turns
        if place < len(turn)
        for change, destructive, path, new, mode in [turn[place]]
    ]
    return tuple(made[:most])


def applied(mutant: Mutant, outputs: bytes) -> bytes:
    """The outputs with the mutant's file in them."""
    entries = captured.entries(outputs)
    return captured.replaced(entries, mutant.path, mutant.data, mutant.mode)


def done(target: Target, outputs: bytes) -> frozenset[str]:
    """Files that are asked for and that the reference made or changed."""
    return frozenset(path for path, _, _ in _done(target, captured.entries(outputs)))


def _done(target: Target, entries: captured.Entries) -> list[tuple[str, tarfile.TarInfo, bytes]]:
    known = {e.path: e.data for e in target.entries if not e.removed}
    return [f for f in captured.files(entries) if _asked(target, f[0]) and known.get(f[0]) != f[2]]


def rewritten(target: Target, outputs: bytes) -> bytes | None:
    """The same outputs with every JSON file that is asked for written in another way, or None.

    Not where the instruction speaks of its bytes or its layout.
    """
    if re.search(r"\b(byte for byte|indent|compact|sorted keys)\b", target.instruction):
        return None
    entries, changed = captured.entries(outputs), False
    rounded = bool(re.search(r"\b(decimals?|digits?|places|round(ed)?)\b", target.instruction))
    for path, entry, data in captured.files(entries):
        if path.endswith(".json") and path in target.outputs and (new := _respelt(data, rounded)):
            entries = captured.entries(captured.replaced(entries, path, new, entry.mode))
            changed = True
    return packed(entries) if changed else None


def _long_figures(text: str) -> str:
    """JSON text in which numbers with a point have all 17 digits: the same values for a reader."""

    def long(found: re.Match[str]) -> str:
        new = found[0] if found[0].startswith('"') else f"{float(found[0]):.17g}"
        return new if "." in new else found[0]

    return re.sub(r'"(?:[^"\\]|\\.)*"|-?\d+\.\d+(?![\deE])', long, text)


def _respelt(data: bytes, rounded: bool) -> bytes | None:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    backwards = dict(reversed(value.items()))
    text = json.dumps(backwards, indent=3, ensure_ascii=False)
    new = ((text if rounded else _long_figures(text)) + "\n\n").encode()
    return new if new != data else None


def _chosen(
    files: list[tuple[str, tarfile.TarInfo, bytes]], most: int
) -> list[tuple[str, tarfile.TarInfo, bytes]]:
    """Of very many files some, by their content."""
    if len(files) <= most:
        return files
    told = sorted(files, key=lambda f: hashlib.sha256(f[0].encode() + f[2]).digest())[:most]
    return sorted(told, key=lambda f: f[0])


def _changes(
    path: str, entry: tarfile.TarInfo, data: bytes, target: Target
) -> Iterator[tuple[str, bool, str, bytes, int]]:
    rng = Random(hashlib.sha256(path.encode() + data).digest())
    program = naming.is_program(path, target.instruction) or data.startswith((b"#!", b"\x7fELF"))
    for change in PROGRAM_CHANGES if program else DATA_CHANGES:
        new = change.made(path, data, rng)
        if new is not None and new != data:
            yield change.name, change.destructive, path, new, entry.mode
    if entry.mode & 0o100 and _speaks_of_mode(path, target.instruction):
        yield "not-executable", False, path, data, entry.mode & ~0o111


def _speaks_of_mode(path: str, text: str) -> bool:
    name = re.escape(PurePosixPath(path).name)
    return (
        re.search(rf"executable[^.\n]{{0,60}}{name}|{name}[^.\n]{{0,60}}executable", text)
        is not None
    )


# -- data --------------------------------------------------------------------------------------


def _emptied(path: str, data: bytes, rng: Random) -> bytes | None:
    return b""


def _flattened(path: str, data: bytes, rng: Random) -> bytes | None:
    """The right form with one value everywhere, as of a program that has understood nothing."""
    if PurePosixPath(path).suffix == ".json":
        return _json(data, lambda value, n: 0 if isinstance(value, int | float) else "x")
    lines = _lines(data)
    if lines is None or len(lines) < 3:
        return None
    separator = next((c for c in (",", ";", "\t", "|") if c in lines[0]), None)
    if separator is None:
        return "".join(f"{lines[0]}\n" for _ in lines).encode()
    first = lines[1].split(separator)
    rows = (line.split(separator) for line in lines[1:])
    flat = [separator.join([row[0], *first[1 : len(row)]]) for row in rows]
    return "".join(f"{line}\n" for line in [lines[0], *flat]).encode()


def _value_changed(path: str, data: bytes, rng: Random) -> bytes | None:
    """One figure, or one letter where there is none, in the middle of the text."""
    if PurePosixPath(path).suffix == ".json" and (changed := _json_value(data, rng)) is not None:
        return changed
    lines = _lines(data)
    if lines is None:
        return data[:-1] + bytes([data[-1] ^ 1]) if data else None
    places = [n for n, line in enumerate(lines) if re.search(r"\w", line)]
    if not places:
        return None
    place = places[rng.randrange(len(places) // 2, len(places))]
    lines[place] = _other(lines[place])
    return "".join(f"{line}\n" for line in lines).encode()


def _row_dropped(path: str, data: bytes, rng: Random) -> bytes | None:
    lines = _lines(data)
    if lines is None or len(lines) < 3 or PurePosixPath(path).suffix == ".json":
        return None
    del lines[rng.randrange(1, len(lines))]
    return "".join(f"{line}\n" for line in lines).encode()


def _other(line: str) -> str:
    """The line with its last number clearly another one, or its last letter another."""
    numbers = list(re.finditer(r"\d+", line))
    if numbers:
        last = max(numbers, key=lambda m: (len(m[0]), m.start()))
        digit = (int(last[0][0]) + 4) % 9 + 1
        return f"{line[: last.start()]}{digit}{last[0][1:]}{line[last.end() :]}"
    last = list(re.finditer(r"[A-Za-z]", line))[-1]
    return f"{line[: last.start()]}{'q' if last[0] != 'q' else 'z'}{line[last.end() :]}"


def _json(data: bytes, change: Callable[[object, int], object]) -> bytes | None:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return (json.dumps(_mapped(value, change, [0])) + "\n").encode()


def _mapped(value: object, change: Callable[[object, int], object], count: list[int]) -> object:
    if isinstance(value, dict):
        return {key: _mapped(one, change, count) for key, one in value.items()}
    if isinstance(value, list):
        return [_mapped(one, change, count) for one in value]
    count[0] += 1
    return change(value, count[0] - 1)


def _json_value(data: bytes, rng: Random) -> bytes | None:
    count = [0]
    try:
        _mapped(json.loads(data), lambda value, n: value, count)
    except (ValueError, RecursionError):
        return None
    if not count[0]:
        return None
    chosen = rng.randrange(count[0])

    def change(value: object, n: int) -> object:
        if n != chosen:
            return value
        if isinstance(value, bool) or value is None:
            return not value
        return value * 2 + 7 if isinstance(value, int | float) else f"{value}q"

    return _json(data, change)


def _lines(data: bytes) -> list[str] | None:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return text.removesuffix("\n").split("\n") if "\0" not in text and text else None


# -- programs ----------------------------------------------------------------------------------


def _silent(path: str, data: bytes, rng: Random) -> bytes | None:
    """Also a service that does not run: its start script ends without starting anything."""
    return submissions.silent(path).data


def _constant(path: str, data: bytes, rng: Random) -> bytes | None:
    return submissions.constant(path, "0").data


def _echo(path: str, data: bytes, rng: Random) -> bytes | None:
    return submissions.echo(path).data


def _broken(path: str, data: bytes, rng: Random) -> bytes | None:
    return submissions.broken(path).data


DATA_CHANGES = (
    Change("emptied", True, _emptied),
    Change("flattened", True, _flattened),
    Change("value-changed", False, _value_changed),
    Change("row-dropped", False, _row_dropped),
)
PROGRAM_CHANGES = (
    Change("silent", True, _silent),
    Change("constant", True, _constant),
    Change("echo", True, _echo),
    Change("broken", True, _broken),
)


def _asked(target: Target, path: str) -> bool:
    return path in target.outputs or path in target.changed or target.told(path)
