"""What version 1 did."""

import re
from decimal import ROUND_HALF_UP, Decimal


def wrap(text, width=20):
    lines, line = [], ""
    for word in text.split():
        pieces = [word[n : n + width] for n in range(0, len(word), width)]
        if len(pieces) > 1:
            lines += [line] if line else []
            lines += pieces[:-1]
            line = ""
        word = pieces[-1]
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = line + " " + word if line else word
    return "\n".join(lines + ([line] if line else []))


def pad(text, width, fill=" ", side="left"):
    missing = fill * (width - len(text))
    return missing + text if side == "left" else text + missing


def minutes(text):
    worth = {"d": 1440, "h": 60, "m": 1}
    return sum(int(count) * worth[unit] for count, unit in re.findall(r"(\d+)([dhm])", text))


def chunk(items, size, pad=None):
    parts = [list(items[n : n + size]) for n in range(0, len(items), size)]
    if parts:
        parts[-1] += [pad] * (size - len(parts[-1]))
    return parts


def merge(one, other):
    both = dict(one)
    for key, value in other.items():
        if isinstance(both.get(key), dict) and isinstance(value, dict):
            both[key] = merge(both[key], value)
        elif isinstance(both.get(key), list) and isinstance(value, list):
            both[key] = both[key] + value
        else:
            both[key] = value
    return both


def dig(data, path, default=None):
    for step in path.split("."):
        if isinstance(data, list) and step.isdigit() and int(step) < len(data):
            data = data[int(step)]
        elif isinstance(data, dict) and step in data:
            data = data[step]
        else:
            return default
    return data


def nearest(value, digits=0):
    return str(Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))
