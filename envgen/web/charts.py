"""Charts as inline SVG that are read without colour: what differs has another pattern, dash or
marker, and every figure stands beside its bar as text."""

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

BAR, THICK = 160, 12
WIDE, HIGH, LEFT, BELOW, ABOVE = 340, 170, 46, 24, 10
FILLS = ("solid", "hatch", "blank")
"""Patterns of the parts of a bar; `_marks.html` defines them."""
DASHES = ("none", "7 3", "2 3", "8 3 2 3", "12 4", "4 2 1 2")


class Series(NamedTuple):
    """One line of a chart."""

    name: str
    points: Sequence[tuple[float, float]]


def bar(parts: Sequence[float], whole: float) -> Markup:
    """Parts of a whole, one behind the other: filled, hatched, empty."""
    x, shapes = 0.0, Markup("")
    for value, fill in zip(parts, FILLS, strict=False):
        width = BAR * value / whole if whole else 0
        if width > 0:
            shapes += Markup(
                '<rect class="{}" x="{:.1f}" y="1" width="{:.1f}" height="{}"/>'
            ).format(fill, x, max(width, 1.0), THICK - 2)
        x += width
    return _drawing("bar", BAR, THICK, shapes)


def pair(before: float, after: float, whole: float) -> Markup:
    """Two figures of one thing: the outline is before, what is filled is after."""
    shapes = Markup("")
    for value, fill, inset in ((before, "outline", 0.5), (after, "solid", 3)):
        width = (BAR - 1) * value / whole if whole else 0
        if width > 0:
            shapes += Markup('<rect class="{}" x="0.5" y="{}" width="{:.1f}" height="{}"/>').format(
                fill, inset, max(width, 1.0), THICK - 2 * inset
            )
    return _drawing("bar", BAR, THICK, shapes)


def lines(series: Sequence[Series], low: float | None = None, high: float | None = None) -> Markup:
    """Lines over common axes; the legend is in words beside it (`key`).

    Args:
        series: points in the order of x.
        low: of the y axis; by default the least value.
        high: of the y axis; by default the greatest.
    """
    points = [point for one in series for point in one.points]
    if not points:
        return Markup("")
    xs, ys = [x for x, _ in points], [y for _, y in points]
    low, high = min(ys) if low is None else low, max(ys) if high is None else high
    flat = high - low < 1e-12
    bottom, top = (low - 0.5, high + 0.5) if flat else (low, high)
    first, last = min(xs), max(xs)

    def at(x: float, y: float) -> tuple[float, float]:
        across = (x - first) / (last - first) if last > first else 0.5
        up = (y - bottom) / (top - bottom)
        return LEFT + across * (WIDE - LEFT - 10), HIGH - BELOW - up * (HIGH - BELOW - ABOVE)

    shapes = _frame(bottom, top, first, last)
    for number, one in enumerate(series):
        spots = [at(x, y) for x, y in one.points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
        dash = DASHES[number % len(DASHES)]
        shapes += Markup('<polyline class="line" stroke-dasharray="{}" points="{}"/>').format(
            dash, path
        )
        sparse = spots if len(spots) <= 16 else [spots[0], spots[-1]]
        for x, y in sparse:
            shapes += _marker(number, x, y)
    return _drawing("chart", WIDE, HIGH, shapes)


def key(number: int) -> Markup:
    """The line of a series as it looks, for its legend."""
    line = Markup('<polyline class="line" stroke-dasharray="{}" points="0,6 36,6"/>').format(
        DASHES[number % len(DASHES)]
    )
    return _drawing("key", 36, 12, line + _marker(number, 18, 6))


def _frame(bottom: float, top: float, first: float, last: float) -> Markup:
    floor, right = HIGH - BELOW, WIDE - 10
    shapes = Markup("")
    for y, value in ((floor, bottom), ((floor + ABOVE) / 2, (bottom + top) / 2), (ABOVE, top)):
        shapes += Markup(
            '<line class="grid" x1="{}" x2="{}" y1="{}" y2="{}"/>'
            '<text class="tick" x="{}" y="{}" text-anchor="end">{}</text>'
        ).format(LEFT, right, y, y, LEFT - 6, y + 4, f"{value:.3g}")
    for x, value, anchor in ((LEFT, first, "start"), (right, last, "end")):
        if anchor == "start" or last > first:
            shapes += Markup('<text class="tick" x="{}" y="{}" text-anchor="{}">{}</text>').format(
                x, HIGH - 6, anchor, f"{value:g}"
            )
    return shapes


def _marker(number: int, x: float, y: float) -> Markup:
    shape = number % 4
    if shape == 0:
        return Markup('<circle class="dot" cx="{:.1f}" cy="{:.1f}" r="2.6"/>').format(x, y)
    corners = {
        1: ((-2.6, -2.6), (2.6, -2.6), (2.6, 2.6), (-2.6, 2.6)),
        2: ((0, -3.4), (3.2, 2.6), (-3.2, 2.6)),
        3: ((0, -3.6), (3.6, 0), (0, 3.6), (-3.6, 0)),
    }[shape]
    path = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
    return Markup('<polygon class="dot" points="{}"/>').format(path)


def _drawing(kind: str, width: int, height: int, shapes: Markup) -> Markup:
    """Hidden from screen readers: the figures stand beside it, in a table."""
    return Markup(
        '<svg class="{}" width="{}" height="{}" viewBox="0 0 {} {}" aria-hidden="true" '
        'focusable="false">{}</svg>'
    ).format(kind, width, height, width, height, shapes)
