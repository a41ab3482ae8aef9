"""Grading text that has one right answer. Details never quote what was expected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Union

from .checks import Check

NORMALISE = ("newlines", "trailing_space", "final_newline")
MAX_LINES = 20_000

Text = Union[bytes, str, None]


def normalised(text: str, rules: Sequence[str] = NORMALISE) -> str:
    """`newlines`: CRLF and CR become LF. `trailing_space`: blanks at line ends go.
    `final_newline`: newlines at the end go. `case`: lower case. `blank_lines`: empty lines go.
    `inner_space`: runs of blanks become one. `order`: lines are sorted."""
    unknown = set(rules) - set(_RULES)
    if unknown:
        raise ValueError(f"unknown normalisation {sorted(unknown)}; known: {sorted(_RULES)}")
    for name, rule in _RULES.items():  # in our order, whatever order they were asked in
        if name in rules:
            text = rule(text)
    return text


_RULES: dict[str, Callable[[str], str]] = {
    "newlines": lambda text: text.replace("\r\n", "\n").replace("\r", "\n"),
    "case": lambda text: text.lower(),
    "inner_space": lambda text: "\n".join(
        " ".join(line.split()) if line.strip() else line for line in text.split("\n")
    ),
    "trailing_space": lambda text: "\n".join(line.rstrip(" \t") for line in text.split("\n")),
    "blank_lines": lambda text: "\n".join(line for line in text.split("\n") if line.strip()),
    "order": lambda text: "\n".join(sorted(text.rstrip("\n").split("\n"))),
    "final_newline": lambda text: text.rstrip("\n"),
}


def match(
    name: str,
    actual: Text,
    expected: str,
    *,
    normalise: Sequence[str] = NORMALISE,
    weight: float = 1.0,
    must: bool = False,
) -> Check:
    """1 when `actual` equals `expected` after normalisation, else 0."""
    same, said = False, "no output"
    text = _decoded(actual)
    if text is not None:
        same = normalised(text, normalise) == normalised(expected, normalise)
        said = ("equal" if same else "not equal") + _stated(normalise)
    elif actual is not None:
        said = "not UTF-8"
    return Check(name, float(same), said, weight, must)


def lines(
    name: str,
    actual: Text,
    expected: str,
    *,
    normalise: Sequence[str] = NORMALISE,
    weight: float = 1.0,
    must: bool = False,
) -> Check:
    """The share of lines that are right and in order: longest common subsequence over the longer
    of the two texts, so that printing everything earns little."""
    text = _decoded(actual)
    if text is None:
        return Check(name, 0.0, "no output" if actual is None else "not UTF-8", weight, must)
    wanted = normalised(expected, normalise).split("\n")
    given = normalised(text, normalise).split("\n")
    if given == wanted:
        return Check(name, 1.0, "equal" + _stated(normalise), weight, must)
    longest = max(len(wanted), len(given))
    share = common(wanted[:MAX_LINES], given[:MAX_LINES]) / longest
    if given == [""]:
        share = 0.0  # an empty answer is no line at all
    said = f"{share:.0%} of the lines are right and in order{_stated(normalise)}"
    return Check(name, min(share, 1 - 1e-6), said, weight, must)


def common(first: Sequence[object], second: Sequence[object]) -> int:
    """Length of the longest common subsequence (Hyyrö 2004: one big integer holds a column)."""
    where: dict[object, int] = {}
    for place, item in enumerate(first):
        where[item] = where.get(item, 0) | 1 << place
    full = (1 << len(first)) - 1
    column = full
    for item in second:
        hits = column & where.get(item, 0)
        column = ((column + hits) | (column - hits)) & full
    return len(first) - bin(column).count("1")


def _decoded(actual: Text) -> str | None:
    if isinstance(actual, bytes):
        try:
            return actual.decode("utf-8")
        except UnicodeDecodeError:
            return None
    return actual


def _stated(normalise: Sequence[str]) -> str:
    rules = ", ".join(name.replace("_", " ") for name in _RULES if name in normalise)
    return f" (normalised: {rules})" if rules else " (byte for byte)"
