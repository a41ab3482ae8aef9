"""Grading a number: 0 at the floor, 1 at the target, a straight line between.

Metrics take what the agent wrote, already parsed or not, and give None for anything that cannot be
measured: the wrong count, a missing value, a NaN. None grades as 0.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from typing import Optional

from .checks import Check, VerifierError

MAX_VALUES = 1_000_000
MAX_CHARS = 50_000

Numbers = Optional[Sequence[float]]
Labels = Optional[Sequence[str]]


def grade(
    name: str,
    value: float | None,
    floor: float,
    target: float,
    *,
    weight: float = 1.0,
    must: bool = False,
) -> Check:
    """`floor` > `target` means that lower is better. Equal ones are a step."""
    if not (math.isfinite(floor) and math.isfinite(target)):
        raise VerifierError(f"{name}: floor or target is not finite")
    if not _finite(value):
        return Check(name, 0.0, "no usable value", weight, must)
    assert value is not None
    if value == target or (value > target) == (target >= floor):
        score = 1.0
    elif target == floor:
        score = 0.0
    else:
        # Rounding must not turn almost there into there.
        score = min(max(0.0, (value - floor) / (target - floor)), 1 - 1e-9)
    return Check(name, score, f"measured {value:.6g}", weight, must)


# -- parsing ------------------------------------------------------------------------------------


def parse_number(data: bytes | str | None) -> float | None:
    """The one number in a text (blanks around it are fine)."""
    numbers = parse_numbers(data)
    return numbers[0] if numbers is not None and len(numbers) == 1 else None


def parse_numbers(data: bytes | str | None) -> list[float] | None:
    """Numbers between blanks, commas or semicolons; None if anything else is among them."""
    text = _text(data)
    if text is None:
        return None
    words = text.replace(",", " ").replace(";", " ").split()
    if len(words) > MAX_VALUES:
        return None
    numbers = [_number(word) for word in words]
    return None if None in numbers else [number for number in numbers if number is not None]


def parse_csv_column(
    data: bytes | str | None, column: str | int, delimiter: str = ","
) -> list[str] | None:
    """Cells of one column. A name needs a header row; an index (from 0) reads every row."""
    text = _text(data)
    if text is None:
        return None
    try:
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if row]
        if isinstance(column, str):
            header = [cell.strip() for cell in rows[0]]
            place, rows = header.index(column), rows[1:]
        else:
            place = column
        return [row[place].strip() for row in rows] if len(rows) <= MAX_VALUES else None
    except (csv.Error, IndexError, ValueError):
        return None


def to_numbers(cells: Labels) -> list[float] | None:
    """Cells as finite numbers; None if one is not."""
    if cells is None:
        return None
    numbers = [_number(cell) for cell in cells]
    return None if None in numbers else [number for number in numbers if number is not None]


def _text(data: bytes | str | None) -> str | None:
    if isinstance(data, bytes):
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return None
    return data


def _number(word: str) -> float | None:
    # Not float() alone: it takes "1_0", "nan", "infinity" and digits of any script.
    if not word.isascii() or "_" in word or len(word) > 400:
        return None
    try:
        value = float(word)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _finite(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond every float
        return False


# -- metrics ------------------------------------------------------------------------------------


def accuracy(given: Labels, truth: Sequence[str]) -> float | None:
    """Share of equal labels."""
    if given is None or len(given) != len(truth) or not truth:
        return None
    return sum(one == other for one, other in zip(given, truth)) / len(truth)


def macro_f1(given: Labels, truth: Sequence[str]) -> float | None:
    """F1 averaged over the classes of the truth: a majority answer gains little."""
    if given is None or len(given) != len(truth) or not truth:
        return None
    scores = []
    for label in sorted(set(truth)):
        hit = sum(one == other == label for one, other in zip(given, truth))
        total = sum(one == label for one in given) + sum(one == label for one in truth)
        scores.append(2 * hit / total)
    return math.fsum(scores) / len(scores)


def mae(given: Numbers, truth: Sequence[float]) -> float | None:
    """Mean absolute error."""
    errors = _errors(given, truth)
    return None if errors is None else _mean([abs(error) for error in errors])


def rmse(given: Numbers, truth: Sequence[float]) -> float | None:
    """Root of the mean squared error."""
    errors = _errors(given, truth)
    squares = None if errors is None else _mean([error * error for error in errors])
    return None if squares is None else math.sqrt(squares)


def r2(given: Numbers, truth: Sequence[float]) -> float | None:
    """Share of the truth's variance that is explained: 0 for its mean, 1 for itself."""
    errors = _errors(given, truth)
    middle = math.fsum(truth) / len(truth) if truth else 0.0
    spread = math.fsum((value - middle) ** 2 for value in truth)
    if errors is None or spread == 0:
        return None
    total = _mean([error * error for error in errors])
    return None if total is None else 1 - total * len(truth) / spread


def char_accuracy(given: bytes | str | None, truth: str) -> float | None:
    """1 - edit distance / length of the longer text; for transcripts and recognised text."""
    text = _text(given)
    if text is None or not truth or len(text) > MAX_CHARS or len(truth) > MAX_CHARS:
        return None
    return 1 - distance(text, truth) / max(len(text), len(truth))


def word_accuracy(given: bytes | str | None, truth: str) -> float | None:
    """The same over words, case and punctuation at their ends aside."""
    text = _text(given)
    if text is None or len(text) > MAX_CHARS or not _words(truth):
        return None
    words, wanted = _words(text), _words(truth)
    return 1 - distance(words, wanted) / max(len(words), len(wanted))


def distance(first: Sequence[object], second: Sequence[object]) -> int:
    """Edit distance (Myers 1999 in Hyyrö's form: one big integer holds a column)."""
    if not first:
        return len(second)
    where: dict[object, int] = {}
    for place, item in enumerate(first):
        where[item] = where.get(item, 0) | 1 << place
    full, last = (1 << len(first)) - 1, 1 << (len(first) - 1)
    up, down, score = full, 0, len(first)
    for item in second:
        match = where.get(item, 0) | down
        diagonal = (((where.get(item, 0) & up) + up) ^ up) | match
        right_up = down | ~(diagonal | up) & full
        right_down = up & diagonal
        score += bool(right_up & last) - bool(right_down & last)
        right_up, right_down = (right_up << 1 | 1) & full, (right_down << 1) & full
        up = right_down | ~(diagonal | right_up) & full
        down = right_up & diagonal
    return score


def _errors(given: Numbers, truth: Sequence[float]) -> list[float] | None:
    if given is None or len(given) != len(truth) or not truth:
        return None
    if not all(_finite(value) for value in given):
        return None
    return [one - other for one, other in zip(given, truth)]


def _mean(values: Sequence[float]) -> float | None:
    try:
        mean = math.fsum(values) / len(values)
    except OverflowError:
        return None
    return mean if math.isfinite(mean) else None


def _words(text: str) -> list[str]:
    stripped = (word.strip(".,;:!?\"'()[]").lower() for word in text.split())
    return [word for word in stripped if word]
