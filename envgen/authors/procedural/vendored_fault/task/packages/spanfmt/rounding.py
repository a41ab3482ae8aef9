"""Spans cut to whole units."""

from .reading import unit_of


def rounded(seconds, unit):
    """The nearest multiple of a unit; halves go away from zero."""
    size = unit_of(unit)
    sign = -1 if seconds < 0 else 1
    whole, rest = divmod(abs(seconds), size)
    if rest * 2 >= size:
        whole += 1
    return sign * whole * size
