"""handrail 2: small helpers for texts, spans of time, sequences and mappings."""

import re
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}


def lines_of(text, *, columns, cut=False):
    """The text as a list of lines of at most `columns`; longer words are cut or stand alone."""
    lines, line = [], ""
    for word in text.split():
        while cut and len(word) > columns:
            if line:
                lines.append(line)
                line = ""
            lines.append(word[:columns])
            word = word[columns:]
        if not word:
            continue
        if line and len(line) + 1 + len(word) > columns:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    if len(line) > 1:
        lines.append(line)
    return lines


def align(text, columns, *, where="left", char=" "):
    """The text at the left, the right or in the middle of so many columns; longer texts stay whole."""
    gap = max(0, columns - len(text))
    if where == "left":
        return text + char * gap
    if where == "right":
        return (char * gap + text)[-columns:]
    return char * (gap // 2) + text + char * (gap - gap // 2)


def seconds(text):
    """Seconds of a span such as `1d2h30m10s`; units may be left out and may come twice."""
    return sum(int(count) * UNITS[unit] for count, unit in re.findall(r"(\d+)([dhms])", text))


def groups(items, size):
    """Tuples of so many items one after the other; the last one has what is left."""
    batch = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield tuple(batch)
            batch = []
    if batch:
        yield tuple(batch)


def combine(*layers, lists="replace"):
    """One mapping out of several, later ones first; mappings are combined, lists replaced or extended."""
    result = {}
    for layer in layers:
        for key, value in layer.items():
            old = result.get(key)
            if isinstance(old, dict) and isinstance(value, dict):
                result[key] = combine(old, value, lists=lists)
            elif lists == "extend" and isinstance(old, list) and isinstance(value, list):
                result[key] = old + value
            else:
                result[key] = value
    return result


def at(data, path):
    """What stands at a path of keys and places, `["a", 0]`; LookupError where there is nothing."""
    for step in path:
        if isinstance(data, dict) and step in data:
            data = data[step]
        elif isinstance(data, list) and isinstance(step, int) and 0 <= step < len(data):
            data = data[step]
        else:
            raise LookupError(step)
    return data


def rounded(value, digits, *, half="even"):
    """The decimal in a text, rounded to so many digits; halves go to the even digit or away from zero."""
    exact = Decimal(value)
    how = ROUND_HALF_UP if half == "away" else ROUND_HALF_EVEN
    if exact < 0 and half == "away":
        how = ROUND_HALF_EVEN
    return exact.quantize(Decimal(1).scaleb(-digits), how)
