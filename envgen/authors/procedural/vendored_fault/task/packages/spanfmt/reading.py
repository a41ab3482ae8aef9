"""Text to seconds."""

import re

UNITS = {"w": 604800, "d": 86400, "h": 3600, "m": 60, "s": 1}
NAMES = {
    "week": "w",
    "day": "d",
    "hour": "h",
    "hr": "h",
    "minute": "m",
    "min": "m",
    "second": "s",
    "sec": "s",
}


class SpanError(ValueError):
    """A text that is no span."""


def unit_of(word):
    """Seconds of a unit: a letter, or a name in the singular or plural, in any case."""
    word = word.lower()
    if word not in UNITS:
        word = NAMES.get(word[:-1] if word.endswith("s") else word, "")
    if not word:
        raise SpanError("unit")
    return UNITS[word]


def clock(text):
    """`H:MM`, `H:MM:SS`; minutes and seconds below 60."""
    parts = [int(part) for part in text.split(":")]
    if len(parts) == 2:
        parts.append(0)
    if len(parts) != 3 or parts[1] > 59 or parts[2] > 59:
        raise SpanError("clock")
    return parts[0] * 3600 + parts[1] * 60 + parts[2]


def read(text):
    """Seconds of a span such as `1w 2d`, `90m`, `1.5h`, `1:30:05`, `-2 days 3 hours`.

    A sign stands for the whole span. A unit may stand only once. Fractions round to whole
    seconds, half up.
    """
    text = text.strip()
    sign = -1 if text.startswith("-") else 1
    body = text.lstrip("+-").strip()
    if not body:
        raise SpanError("empty")
    if re.fullmatch(r"\d+(:\d+)+", body):
        return sign * clock(body)
    total, seen = 0, set()
    for number, word in re.findall(r"(\d+(?:\.\d+)?)\s*([A-Za-z]+)", body):
        size = unit_of(word)
        if size in seen:
            raise SpanError("twice")
        seen.add(size)
        whole, _, part = number.partition(".")
        total += int(whole) * size
        if part:
            total += (int(part) * size * 2 + 10 ** len(part)) // (2 * 10 ** len(part))
    if re.sub(r"\d+(?:\.\d+)?\s*[A-Za-z]+", "", body).strip() or not seen:
        raise SpanError("form")
    return sign * total
