"""What two trees that both went on since their last common state become together."""

import fnmatch
import hashlib
from typing import Any

Row = tuple[str, str, "bytes | None"]
"""Status, path, and the file that stays."""


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def ignored(path: str, patterns: list[str]) -> bool:
    """Whether a pattern is the name of the file or of a folder above it."""
    return any(fnmatch.fnmatchcase(part, one) for part in path.split("/") for one in patterns)


def fate(
    rules: dict[str, Any], base: str | None, left: bytes | None, right: bytes | None
) -> tuple[str, str]:
    """Status of one path, and which side's file stays: "left", "right", "both" or "".

    Arguments are the contents on each side (None where there is none) and the listed digest.
    """
    a, b = (None if data is None else digest(data) for data in (left, right))
    if a == b == base:
        return "kept", "left"
    if a == b:
        return ("agreed", "left") if a else ("removed", "")
    if a == base or b == base:
        mine, other = ("right", b) if a == base else ("left", a)
        return (mine, mine) if other else ("removed", "")
    if a is None or b is None:
        if not rules["revive"]:
            return "removed", ""
        return "revived", "right" if a is None else "left"
    return "conflict", settled(rules["conflict"], left or b"", right or b"")


def settled(rule: str, left: bytes, right: bytes) -> str:
    """Which side's file stays where both were changed."""
    if rule == "larger":
        return "left" if len(left) >= len(right) else "right"
    if rule == "later":
        return "left" if revised(left) >= revised(right) else "right"
    return rule


def revised(data: bytes) -> bytes:
    """The date in the first line of a file, as text that sorts."""
    return data.split(b"\n", 1)[0].split(b": ", 1)[-1]


def aside(path: str, name: str) -> str:
    """Where the right side's file goes when both stay."""
    folder, slash, last = path.rpartition("/")
    stem, dot, ending = last.rpartition(".")
    return f"{folder}{slash}{stem}.{name}{dot}{ending}"


def merged(
    rules: dict[str, Any], base: dict[str, str], left: dict[str, bytes], right: dict[str, bytes]
) -> tuple[dict[str, bytes], list[Row]]:
    """(path -> content, report rows) of two trees and the digests of their last common state."""
    files: dict[str, bytes] = {}
    rows: list[Row] = []
    for path in sorted({*base, *left, *right}, key=str.encode):
        if ignored(path, rules["ignore"]):
            continue
        status, side = fate(rules, base.get(path), left.get(path), right.get(path))
        if side:
            files[path] = (right if side == "right" else left)[path]
        if side == "both":
            files[aside(path, rules["sides"][1])] = right[path]
        if status != "kept":
            rows.append((status, path, files[path] if side else None))
    return files, rows


def report(rules: dict[str, Any], rows: list[Row]) -> list[str]:
    """The lines of the report."""
    order = list(rules["words"])
    if rules["order"] == "status":
        rows = sorted(rows, key=lambda row: (order.index(row[0]), row[1].encode()))
    lines = []
    for status, path, data in rows:
        cells = {
            "status": rules["words"][status],
            "path": path,
            "bytes": "-" if data is None else str(len(data)),
            "digest": "-" if data is None else digest(data),
        }
        lines.append(rules["sep"].join(cells[column] for column in rules["columns"]))
    if rules["totals"]:
        counts = {status: sum(row[0] == status for row in rows) for status in order}
        lines.append(" ".join(f"{rules['words'][s]}={counts[s]}" for s in order))
    return lines
