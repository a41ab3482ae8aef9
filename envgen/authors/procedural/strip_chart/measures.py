"""Derived quantities: computed from the samples, and kept only where they are well determined."""

import itertools
import math
import random
from dataclasses import dataclass

from .instruments import Channel

Samples = list[float]


@dataclass(frozen=True)
class Wanted:
    """One number that is asked for, with its tolerance."""

    key: str
    kind: str
    column: str
    level: float | None
    value: float
    tolerance: float


def measure(kind: str, times: Samples, values: Samples, level: float | None) -> float | None:
    """The quantity as the instruction defines it; None when it does not exist."""
    if kind in ("max", "min"):
        return max(values) if kind == "max" else min(values)
    if kind in ("max_at", "min_at"):
        best = max(values) if kind == "max_at" else min(values)
        return times[values.index(best)]
    if kind == "mean":
        return math.fsum(values) / len(values)
    assert level is not None
    ups, downs = crossings(times, values, level)
    if kind == "first_rise":
        return ups[0] if ups else None
    if kind == "first_fall":
        return downs[0] if downs else None
    if kind == "mean_cycle":
        return (ups[-1] - ups[0]) / (len(ups) - 1) if len(ups) > 1 else None
    return _time_above(times, values, level)


def crossings(times: Samples, values: Samples, level: float) -> tuple[Samples, Samples]:
    """Times of upward and of downward crossings, linear between samples."""
    ups: Samples = []
    downs: Samples = []
    for i in range(len(values) - 1):
        one, two = values[i], values[i + 1]
        if (one < level) != (two < level):
            at = times[i] + (times[i + 1] - times[i]) * (level - one) / (two - one)
            (ups if one < level else downs).append(at)
    return ups, downs


def _time_above(times: Samples, values: Samples, level: float) -> float:
    ups, downs = crossings(times, values, level)
    edges = [times[0], *sorted(ups + downs), times[-1]]
    above = values[0] >= level
    total = 0.0
    for start, end in itertools.pairwise(edges):
        total += (end - start) if above else 0.0
        above = not above
    return total


def choose_wanted(
    channels: list[tuple[Channel, Samples]], times: Samples, rng: random.Random
) -> tuple[Wanted, ...] | None:
    """All derived quantities of the pens, or None when one of them hangs by a thread."""
    out = []
    for channel, values in channels:
        extent = max(values) - min(values)
        accuracy = 0.025 if channel.steep else 0.015
        for kind in channel.derived:
            found = _well_determined(kind, times, values, extent, accuracy, rng)
            if found is None:
                return None
            level, value, tolerance = found
            out.append(
                Wanted(f"{channel.column}_{kind}", kind, channel.column, level, value, tolerance)
            )
    return tuple(out)


def _well_determined(
    kind: str, times: Samples, values: Samples, extent: float, accuracy: float, rng: random.Random
) -> tuple[float | None, float, float] | None:
    timed = kind not in ("max", "min", "mean")
    span = times[-1] - times[0]
    tolerance = 0.012 * span if timed else accuracy * extent
    if kind == "mean_cycle":
        tolerance = 0.004 * span
    tolerance = float(f"{tolerance:.2g}")
    for _ in range(12):
        level = _level(kind, values, extent, rng)
        value = measure(kind, times, values, level)
        if value is not None and _steady(kind, times, values, level, extent, value, tolerance):
            return level, value, tolerance
    return None


def _level(kind: str, values: Samples, extent: float, rng: random.Random) -> float | None:
    if kind in ("max", "min", "max_at", "min_at", "mean"):
        return None
    share = rng.uniform(0.35, 0.7)
    return float(f"{min(values) + share * extent:.3g}")


def _steady(
    kind: str,
    times: Samples,
    values: Samples,
    level: float | None,
    extent: float,
    value: float,
    tolerance: float,
) -> bool:
    """Small errors of reading must not move the answer by more than half of its tolerance."""
    size = 0.006 * extent
    for shift, wave in ((1, 0), (-1, 0), (0, 1), (0, -1), (0.5, 1), (-0.5, -1)):
        moved = [v + size * (shift + wave * math.sin(0.9 * i)) for i, v in enumerate(values)]
        other = measure(kind, times, moved, level)
        if other is None or abs(other - value) > 0.7 * tolerance:
            return False
    return True
