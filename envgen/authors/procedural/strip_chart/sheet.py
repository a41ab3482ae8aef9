"""Draws a sheet: which pens, how the paper lies on the scanner, what the card must remark."""

import math
import random
from dataclasses import dataclass
from typing import Any

from .instruments import Channel, Instrument
from .measures import Wanted, choose_wanted
from .signals import Signal

DIVISIONS = 10
"""Scale divisions of every paper, bottom 0 to top 10."""

INKS = {
    "blue": (32, 58, 160),
    "red": (186, 28, 44),
    "violet": (104, 36, 138),
    "black": (34, 34, 38),
    "green": (14, 104, 62),
}
PAPERS = (
    ((247, 241, 224), (222, 188, 140)),
    ((238, 243, 234), (176, 204, 178)),
    ((246, 243, 240), (226, 186, 180)),
    ((240, 241, 243), (186, 192, 204)),
)
STAMPS = ("RECEIVED", "ARCHIVE", "CHECKED", "COPY NO. 2", "FILED", "REDUCED", "DUPLICATE")


@dataclass(frozen=True)
class Pen:
    """One trace: the channel, its ink, and how divisions become the card's unit."""

    channel: Channel
    ink: str
    signal: Signal
    scale: float
    offset: float
    zero: float
    """Reading at division `rest`."""
    rest: float
    gain: float
    factors: tuple[float, float]
    """Multipliers of the gain before and after the range switch."""
    lead: float
    """Divisions along the time axis by which the pen writes too far right."""

    def card_value(self, share: float) -> float:
        """In the card's unit, at a share of the true span."""
        return self.offset + self.scale * self.signal(share)


@dataclass(frozen=True)
class Sheet:
    """Everything about one page; the picture and the truth both come from it."""

    instrument: Instrument
    span: float
    pens: tuple[Pen, ...]
    stretch: float
    """Chart time = true time * stretch."""
    switch: float | None
    """Chart time at which the range was switched."""
    per_division: float
    time_divisions: int
    affine: tuple[float, float, float, float, float, float]
    paper: int
    doodle: bool
    wanted: tuple[Wanted, ...]

    def times(self) -> list[float]:
        """The sample times that are asked for, as the instruction gives them."""
        step, origin = self.instrument.step, self.instrument.origin
        return [round(origin + i * step, 6) for i in range(round(self.span / step) + 1)]

    def truth(self, pen: Pen) -> list[float]:
        """The wanted values at the sample times."""
        return [
            pen.channel.convert(pen.card_value((t - self.instrument.origin) / self.span))
            for t in self.times()
        ]

    def naive(self, pen: Pen) -> list[float]:
        """What comes out when the card's remarks on clock, range and pen are not heeded."""
        out = []
        for time in self.times():
            chart = time - self.instrument.origin - pen.lead * self.per_division
            share = min(max(chart / self.stretch / self.span, -0.02), 1.02)
            value = pen.card_value(share)
            factor = self._factor(pen, chart)
            value = pen.zero + (value - pen.zero) / factor
            out.append(
                pen.channel.convert(max(value, 1e-3) if pen.channel.law != "linear" else value)
            )
        return out

    def _factor(self, pen: Pen, chart: float) -> float:
        return pen.factors[self.switch is not None and chart >= self.switch]

    def trace(self, pen: Pen, points: int = 1700) -> list[tuple[float, float]]:
        """The pen's path in divisions, a little beyond both ends of the span."""
        path = []
        for i in range(points + 1):
            share = -0.015 + 1.03 * i / points
            chart = share * self.span * self.stretch
            reading = (pen.card_value(share) - pen.zero) / (pen.gain * self._factor(pen, chart))
            path.append((chart / self.per_division + pen.lead, pen.rest + reading))
        return path

    def pixel(self, x: float, y: float) -> tuple[float, float]:
        """Where a point of the paper (in divisions) lies on the scan."""
        ox, oy, ax, ay, bx, by = self.affine
        return ox + ax * x + bx * y, oy + ay * x + by * y


def draw_sheet(instrument: Instrument, two_pens: bool, rng: random.Random) -> Sheet:
    """A sheet whose wanted quantities are well determined; draws again until they are."""
    for _ in range(200):
        sheet = _draw(instrument, two_pens, rng)
        wanted = choose_wanted(
            [(pen.channel, sheet.truth(pen)) for pen in sheet.pens], sheet.times(), rng
        )
        if wanted is not None:
            return Sheet(**{**sheet.__dict__, "wanted": wanted})
    raise RuntimeError(f"no well determined sheet for {instrument.key}")


def _draw(instrument: Instrument, two_pens: bool, rng: random.Random) -> Sheet:
    span = rng.choice(instrument.spans)
    channels = instrument.channels if two_pens else (rng.choice(instrument.channels),)
    remark = rng.choice(("clock", "range"))
    if not instrument.drifting or channels[0].steep:
        remark = "range"
    clock = remark == "clock" or (two_pens and instrument.drifting)
    stretch = 1 + rng.choice((-1, 1)) * rng.uniform(0.022, 0.045) if clock else 1.0
    per_division, count = _time_axis(span * stretch * 1.03, rng)
    inks = rng.sample(sorted(INKS), 2)
    pens = tuple(
        _pen(channel, place, two_pens, inks[place], remark == "range", rng)
        for place, channel in enumerate(channels)
    )
    switch = None
    if remark == "range":
        switch = _calm_moment(pens[-1], span * stretch, per_division, rng)
    return Sheet(
        instrument,
        span,
        pens,
        stretch,
        switch,
        per_division,
        count,
        _lie(count, rng),
        rng.randrange(len(PAPERS)),
        rng.random() < 0.5,
        (),
    )


def _calm_moment(pen: Pen, length: float, step: float, rng: random.Random) -> float:
    """A quarter of a division near the middle where the pen does next to nothing: a gap in a
    steep stroke or in a peak could not be closed again."""
    moments = [i * step / 4 for i in range(int(4 * length / step) + 1)]
    near = [m for m in moments if 0.36 < m / length < 0.64]

    def restless(moment: float) -> float:
        values = [pen.signal(moment / length + 0.002 * i) for i in range(-5, 6)]
        return max(values) - min(values)

    return rng.choice(sorted(near, key=restless)[:2])


def _time_axis(length: float, rng: random.Random) -> tuple[float, int]:
    """A round number of units per division, and enough divisions."""
    least = length / rng.uniform(11.0, 15.5)
    sizes = [m * 10.0**e for e in range(-2, 3) for m in (1, 2, 2.5, 4, 5, 6, 8)]
    size = min(s for s in sizes if s >= least)
    return size, math.ceil(length / size + 0.3)


def _pen(
    channel: Channel, place: int, two: bool, ink: str, switched: bool, rng: random.Random
) -> Pen:
    signal = channel.shape(rng)
    values = [signal(-0.02 + 1.04 * i / 400) for i in range(401)]
    low, high = min(values), max(values)
    extent = rng.uniform(0.82, 1.0) * (channel.high - channel.low)
    bottom, top = (0.8, 9.3) if not two else ((4.8, 9.4), (0.8, 5.0))[place]
    gain = _rounded(extent / (top - bottom))
    downwards = channel.law != "root" and rng.random() < 0.35
    scale = extent / (high - low)
    if channel.rest is None:
        offset = channel.low + rng.random() * (channel.high - channel.low - extent) - scale * low
        rest, zero = 0.0, offset + scale * low - gain * bottom
        if downwards:
            zero = offset + scale * high + gain * bottom
    else:
        share = (channel.rest - low) / (high - low)
        offset, zero = -scale * channel.rest, 0.0
        rest = top - share * (top - bottom) if downwards else bottom + share * (top - bottom)
    factors = (1.0, 1.0)
    if switched and (not two or place == 1):
        factors = rng.choice(((1.0, 2.0), (2.0, 1.0)))
    lead = rng.choice((-1, 1)) * round(rng.uniform(0.15, 0.3), 2) if place == 1 else 0.0
    return Pen(
        channel,
        ink,
        signal,
        scale,
        offset,
        _rounded(zero),
        round(rest, 1),
        -gain if downwards else gain,
        factors,
        lead,
    )


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


def _lie(count: int, rng: random.Random) -> tuple[float, float, float, float, float, float]:
    """Origin, and the pixel vectors of one division along and across: turned, a little sheared."""
    turn = rng.choice((-1, 1)) * math.radians(rng.uniform(0.35, 1.1))
    shear = math.radians(rng.uniform(-0.4, 0.4))
    wide, high = rng.uniform(1100, 1140) / count, rng.uniform(44.0, 47.0)
    return (
        122 + rng.uniform(0, 18),
        560 + rng.uniform(0, 14),
        wide * math.cos(turn),
        wide * math.sin(turn),
        high * math.sin(turn + shear),
        -high * math.cos(turn + shear),
    )


def picture(sheet: Sheet, rng: random.Random) -> dict[str, Any]:
    """The parameters of the drawing tool; nothing of them reaches the image but the picture."""
    inst = sheet.instrument
    paper, grid = PAPERS[sheet.paper]
    traces = [{"ink": INKS[p.ink], "path": _pixels(sheet, p, rng)} for p in sheet.pens]
    first = sheet.pens[0]
    steep = any(p.channel.steep for p in sheet.pens)
    return {
        "size": [1320, 690],
        "seed": rng.randrange(1 << 30),
        "paper": paper,
        "grid": grid,
        "lines": _grid(sheet),
        "labels": _labels(sheet, first),
        "title": f"{inst.name}   {inst.sheet} no. {rng.randrange(100, 9999)}",
        "marks": [[*sheet.pixel(x, y), name] for name, x, y in marks(sheet)],
        "traces": traces,
        "stamp": {
            "text": rng.choice(STAMPS),
            "below": steep,
            "angle": rng.uniform(-14, 14),
            "at": [rng.uniform(350, 900), rng.uniform(180, 400)],
            "size": rng.randrange(30, 40),
            "colour": rng.choice(
                [c for n, c in (("a", (150, 96, 40)), ("b", (70, 130, 140)), ("c", (128, 128, 60)))]
            ),
        },
        "ring": None
        if steep
        else [rng.uniform(250, 1050), rng.uniform(200, 450), rng.uniform(45, 75)],
        "doodle": _doodle(sheet, rng) if sheet.doodle else None,
        "grain": rng.randrange(5, 9),
        "shade": rng.uniform(0.05, 0.12),
    }


def marks(sheet: Sheet) -> list[tuple[str, float, float]]:
    """The crosses printed on the paper: name and position in divisions."""
    n = sheet.time_divisions
    return [("A", 0, 0), ("B", n, 0), ("C", n, DIVISIONS), ("D", 0, DIVISIONS)]


def _pixels(sheet: Sheet, pen: Pen, rng: random.Random) -> list[list[list[float]]]:
    """The path as strokes; the pen lifts once or twice for a few pixels."""
    points = [sheet.pixel(x, y) for x, y in sheet.trace(pen)]
    strokes: list[list[list[float]]] = [[]]
    lifts = (
        [] if pen.channel.steep else [rng.uniform(0.08, 0.92) for _ in range(rng.choice((1, 2)))]
    )
    lifts += _switch_lift(sheet, pen)
    for i, (x, y) in enumerate(points):
        if any(abs(i / len(points) - lift) < 0.0035 for lift in lifts):
            if strokes[-1]:
                strokes.append([])
            continue
        strokes[-1].append([round(x, 2), round(y, 2)])
    return [stroke for stroke in strokes if stroke]


def _switch_lift(sheet: Sheet, pen: Pen) -> list[float]:
    """The pen is off the paper while its range is switched."""
    if sheet.switch is None or pen.factors == (1.0, 1.0):
        return []
    return [(sheet.switch / (sheet.span * sheet.stretch) + 0.015) / 1.03]


def _grid(sheet: Sheet) -> list[list[float]]:
    lines = []
    for i in range(2 * sheet.time_divisions + 1):
        ends = (*sheet.pixel(i / 2, 0), *sheet.pixel(i / 2, DIVISIONS))
        lines.append([*ends, 2 if i % 2 == 0 else 1])
    for i in range(2 * DIVISIONS + 1):
        ends = (*sheet.pixel(0, i / 2), *sheet.pixel(sheet.time_divisions, i / 2))
        lines.append([*ends, 2 if i % 2 == 0 else 1])
    return lines


def _labels(sheet: Sheet, pen: Pen) -> list[list[Any]]:
    out: list[list[Any]] = []
    for i in range(0, sheet.time_divisions + 1, 2):
        x, y = sheet.pixel(i, 0)
        out.append([x - 12, y + 12, f"{sheet.instrument.origin + i * sheet.per_division:g}"])
    for i in range(0, DIVISIONS + 1, 2):
        x, y = sheet.pixel(0, i)
        value = pen.zero + pen.gain * pen.factors[0] * (i - pen.rest)
        out.append([x - 104, y - 9, f"{value:.4g}"])
    x, y = sheet.pixel(sheet.time_divisions / 2 - 1, 0)
    out.append([x, y + 36, f"{sheet.instrument.axis}, {sheet.instrument.time_unit}"])
    return out


def _doodle(sheet: Sheet, rng: random.Random) -> list[Any] | None:
    """The operator's initials in the ink of the first pen, clear of every trace."""
    paths = [sheet.pixel(x, y) for pen in sheet.pens for x, y in sheet.trace(pen, 200)]
    if sheet.switch is not None:  # not beside the gap, where it could be taken for the trace
        paths += [sheet.pixel(sheet.switch / sheet.per_division, 0.2 * y) for y in range(51)]
    for _ in range(60):
        x, y = rng.uniform(200, 1100), rng.uniform(130, 500)
        if all(abs(px - x - 22) > 60 or abs(py - y - 14) > 52 for px, py in paths):
            initials = "".join(rng.choice("ABDEHKLMNRSTVW") for _ in range(2))
            return [x, y, initials, list(INKS[sheet.pens[0].ink])]
    return None
