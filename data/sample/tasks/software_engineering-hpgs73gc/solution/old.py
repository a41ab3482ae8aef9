"""Version 1 of handrail on top of version 2."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "vendor"))
import handrail


def wrap(text, width=20):
    return "\n".join(handrail.lines_of(text, columns=width, cut=True))


def pad(text, width, fill=" ", side="left"):
    return handrail.align(text, width, where="right" if side == "left" else "left", char=fill)


def minutes(text):
    return handrail.seconds(text.split("s")[0] if "s" in text else text) // 60


def chunk(items, size, pad=None):
    parts = [list(batch) for batch in handrail.groups(items, size)]
    if parts:
        parts[-1] += [pad] * (size - len(parts[-1]))
    return parts


def merge(one, other):
    return handrail.combine(one, other, lists="extend")


def dig(data, path, default=None):
    here = data
    for step in path.split("."):
        try:
            here = handrail.at(here, [int(step) if isinstance(here, list) and step.isdigit() else step])
        except LookupError:
            return default
    return here


def nearest(value, digits=0):
    return str(handrail.rounded(value, digits, half="away"))
