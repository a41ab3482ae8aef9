"""What the sorted collection must be, computed from the documents and never from the archives."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from envgen.authors.procedural.archive_recovery.handover import Document, Handover, digest
from envgen.authors.procedural.archive_recovery.rules import Rules


@dataclass(frozen=True)
class Result:
    """Files below the output folder without the lists, and the lines of each list."""

    files: dict[str, bytes]
    manifest: list[str]
    sums: list[str]
    groups: list[str]


@dataclass(frozen=True)
class _Row:
    status: int
    source: str
    target: str
    data: bytes | None
    place: int


def result(rules: Rules, handover: Handover, survivor: str) -> Result:
    """The right answer when `survivor` decides which of equal documents stays."""
    documents = handover.documents
    kept = _survivors(documents, survivor)
    numbers = _numbers(rules, documents, kept)
    rows = [
        _row(rules, document, place, place in kept, numbers.get(place, 0))
        for place, document in enumerate(documents)
    ]
    files = {row.target: row.data for row in rows if row.target and row.data is not None}
    placed = {row.target: row.data or b"" for row in rows if row.status == 0}
    return Result(files, _manifest(rules, rows), _sums(placed), _groups(placed))


def _survivors(documents: Sequence[Document], rule: str) -> set[int]:
    groups: dict[bytes, list[int]] = {}
    for place, document in enumerate(documents):
        if document.verified and document.data is not None:
            groups.setdefault(document.data, []).append(place)
    return {_survivor(group, documents, rule) for group in groups.values()}


def _survivor(group: Sequence[int], documents: Sequence[Document], rule: str) -> int:
    path = [documents[p].source.encode() for p in range(len(documents))]
    if rule == "listed_first":
        return min(group)
    if rule == "listed_last":
        return max(group)
    if rule == "path_first":
        return min(group, key=lambda p: path[p])
    if rule == "path_last":
        return max(group, key=lambda p: path[p])
    sign = 1 if rule == "shallowest" else -1
    return min(group, key=lambda p: (sign * path[p].count(b"/"), path[p]))


def _numbers(rules: Rules, documents: Sequence[Document], kept: set[int]) -> dict[int, int]:
    """Running numbers in byte order of the source path, per container or over all."""
    per_container = "{container}" in rules.pattern
    last: dict[str, int] = {}
    numbers = {}
    for place in sorted(kept, key=lambda p: documents[p].source.encode()):
        key = documents[place].source.split("/")[0] if per_container else ""
        numbers[place] = last[key] = last.get(key, 0) + 1
    return numbers


def _row(rules: Rules, document: Document, place: int, kept: bool, number: int) -> _Row:
    d = document
    if d.listed is None:
        status, target = 4, f"unlisted/{d.source}" if rules.extra_copied else ""
    elif d.data is None:
        status, target = 3, ""
    elif not d.verified:
        status, target = 2, f"quarantine/{d.source}" if rules.corrupt_copied else ""
    elif not kept:
        status, target = 1, ""
    else:
        status, target = 0, _target(rules, d, number)
    return _Row(status, d.source, target, d.data, place)


def _target(rules: Rules, document: Document, number: int) -> str:
    folders = document.source.split("/")[:-1]
    year, month, day = document.date.split("-")
    return rules.pattern.format(
        ref=document.ref.lower() if rules.ref_lower else document.ref,
        year=year,
        month=month,
        date=document.date if rules.date_out == "iso" else f"{year}{month}{day}",
        series=document.series.lower().replace(" ", rules.slug_sep),
        container=folders[0],
        folders="_".join(folders),
        name=re.sub(r"[ _]+", "-", document.base.lower()),
        n=f"{number:03d}",
        ext=rules.scenario.ext,
    )


def _manifest(rules: Rules, rows: Sequence[_Row]) -> list[str]:
    words = rules.words
    if rules.order == "source":
        rows = sorted(rows, key=lambda r: r.source.encode())
    elif rules.order == "status":
        rows = sorted(rows, key=lambda r: (r.status, r.source.encode()))
    else:
        listed = [r for r in rows if r.status != 4]
        rows = listed + sorted((r for r in rows if r.status == 4), key=lambda r: r.source.encode())
    lines = [rules.sep.join(_columns(rules, row)) for row in rows]
    if rules.header:
        lines.insert(0, rules.sep.join(rules.columns))
    if rules.totals:
        counts = [sum(row.status == s for row in rows) for s in range(5)]
        lines.append("# " + " ".join(f"{w}={n}" for w, n in zip(words, counts, strict=True)))
    return lines


def _columns(rules: Rules, row: _Row) -> list[str]:
    values = {
        "status": rules.words[row.status],
        "source": row.source,
        "target": row.target or "-",
        "bytes": "-" if row.data is None else str(len(row.data)),
        "digest": "-" if row.data is None else digest(rules.manifest_algo, row.data),
    }
    return [values[column] for column in rules.columns]


def _sums(placed: dict[str, bytes]) -> list[str]:
    return [
        f"{hashlib.sha256(placed[path]).hexdigest()}  {path}"
        for path in sorted(placed, key=str.encode)
    ]


def _groups(placed: dict[str, bytes]) -> list[str]:
    """First folder (or "." for none), number of documents, bytes."""
    found: dict[str, tuple[int, int]] = {}
    for path, data in placed.items():
        top = path.split("/")[0] if "/" in path else "."
        count, size = found.get(top, (0, 0))
        found[top] = (count + 1, size + len(data))
    return [f"{top} {found[top][0]} {found[top][1]}" for top in sorted(found, key=str.encode)]
