"""Seconds to text."""

from .reading import UNITS


def write(seconds, parts):
    """At most so many units, from the largest one; what is below the last one is dropped.

    Zero is `0s`. Units that are zero are left out, and do not count.
    """
    if parts < 1:
        return "0s"
    out, rest = [], abs(seconds)
    for letter, size in UNITS.items():
        count, rest = divmod(rest, size)
        if count and len(out) < parts:
            out.append(f"{count}{letter}")
    text = " ".join(out) or "0s"
    return f"-{text}" if seconds < 0 and text != "0s" else text
