"""A filter task: which records are acceptable, and hidden ones of both kinds."""

import re
from collections.abc import Callable
from datetime import date
from random import Random

from envgen.authors.llm.small.data import NAMES, Column, Data, Table, draw

WRONG_WORDS = ("null", "unknown", "admin'--", "../etc", "$(id)", "N/A", "-")
MOST = 40


def words(column: Column) -> str:
    """What a value of the column must be, as a sentence of the instruction."""
    if column.holds == "choice":
        return "exactly one of " + ", ".join(f"`{choice}`" for choice in column.choices)
    if column.holds == "integer":
        return f"digits only, a whole number from {column.low} to {column.high}"
    if column.holds == "amount":
        return (
            f"digits, a point and exactly two more digits, a number from {column.low}.00 to "
            f"{column.high}.00"
        )
    if column.holds == "date":
        return "a day of 2024 written `2024-MM-DD`, with a month from 01 to 12 and a day of it"
    return "small letters `a` to `z` only, 3 to 12 of them"


def corpora(data: Data, count: int, rng: Random) -> tuple[list[str], list[str]]:
    """`count` acceptable lines, and as many with one fault each; no line is in both."""
    clean = draw(data, "log", count * 2, "", rng)
    lines = [line.split(" ", 1)[1] for line in clean.text().splitlines()]
    rows = clean.rows[count:]
    bad = []
    for number, row in enumerate(rows):
        at = number % len(data.columns)
        spoiled = _spoiled(data.columns[at], row[at], rng)
        bad.append(_line(clean, (*row[:at], spoiled, *row[at + 1 :])))
    for number in range(0, count, 7):  # faults of the line, not of a value
        pairs = bad[number].split(" ")
        bad[number] = rng.choice([" ".join(pairs[1:]), " ".join([*pairs, "extra=1"])])
    return lines[:count], bad


def _line(table: Table, row: tuple[str, ...]) -> str:
    return " ".join(f"{c.name}={v}" for c, v in zip(table.columns, row, strict=True))


def _spoiled(column: Column, value: str, rng: Random) -> str:
    if column.holds == "choice":
        return rng.choice([*WRONG_WORDS, value + "x", value.swapcase(), ""])
    if column.holds == "integer":
        return rng.choice([str(column.high + 1 + rng.randrange(50)), f"-{value}", f"{value}x", ""])
    if column.holds == "amount":
        return rng.choice([f"{column.high + 1}.00", f"-{value}", value[:-1], f"{value}0", ""])
    if column.holds == "date":
        return rng.choice(["2024-13-01", "2023" + value[4:], value.replace("-", "/"), "2024-00-10"])
    return rng.choice([rng.choice(NAMES).upper(), value + "1", f"{value};id", "ab", value * 3])


def accepts(data: Data, line: str) -> bool:
    """The rule itself, for tests: one line without its end."""
    pairs = [pair.partition("=") for pair in line.split(" ")]
    if [name for name, _, _ in pairs] != [column.name for column in data.columns]:
        return False
    return all(
        _fits(column, value) for column, (_, _, value) in zip(data.columns, pairs, strict=True)
    )


def _fits(column: Column, value: str) -> bool:
    tests: dict[str, Callable[[], bool]] = {
        "choice": lambda: value in column.choices,
        "integer": lambda: (
            bool(re.fullmatch(r"[0-9]+", value)) and column.low <= int(value) <= column.high
        ),
        "amount": lambda: (
            bool(re.fullmatch(r"[0-9]+\.[0-9]{2}", value))
            and column.low * 100 <= int(value.replace(".", "")) <= column.high * 100
        ),
        "name": lambda: bool(re.fullmatch(r"[a-z]{3,12}", value)),
    }
    if column.holds == "date":
        try:
            return bool(re.fullmatch(r"2024-..-..", value)) and bool(date.fromisoformat(value))
        except ValueError:
            return False
    return tests[column.holds]()
