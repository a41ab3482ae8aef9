"""Shapes of what recorders record: functions of the time share u in [0, 1], values about 0 to 1."""

import math
import random
from collections.abc import Callable

Signal = Callable[[float], float]


def _bell(u: float, centre: float, width: float) -> float:
    return math.exp(-0.5 * ((u - centre) / width) ** 2)


def tide(rng: random.Random) -> Signal:
    """Two main constituents with a daily inequality and a slow drift."""
    cycles, phase = rng.uniform(3.5, 4.4), rng.uniform(0, 2 * math.pi)
    spring, daily = rng.uniform(0.18, 0.3), rng.uniform(0.14, 0.24)
    shift, drift = rng.uniform(0, 2 * math.pi), rng.uniform(-0.12, 0.12)

    def level(u: float) -> float:
        angle = 2 * math.pi * cycles * u + phase
        value = 0.5 * math.cos(angle) + spring * 0.5 * math.cos(1.035 * angle + shift)
        return 0.5 + value + daily * math.cos(angle / 2 + shift) + drift * (u - 0.5)

    return level


def weather(rng: random.Random) -> Signal:
    """A daily wave over several days, each day with a height of its own."""
    days = rng.choice((4, 5, 6, 7))
    heights = [rng.uniform(0.25, 1.0) for _ in range(days + 2)]
    heights[rng.randrange(1, days)] = 1.3
    phase, slow = rng.uniform(-0.2, 0.2), rng.uniform(-0.25, 0.25)

    def value(u: float) -> float:
        x = u * days + phase + 0.5
        i = min(max(int(x), 0), days)
        share = x - i
        ease = share * share * (3 - 2 * share)
        height = heights[i] + (heights[i + 1] - heights[i]) * ease
        return 0.3 + 0.35 * height * math.sin(2 * math.pi * (x - 0.5)) + slow * u + 0.2 * height

    return value


def pressure(rng: random.Random) -> Signal:
    """Two lows passing, one clearly deeper, on a slow swell."""
    first, second = rng.uniform(0.2, 0.35), rng.uniform(0.6, 0.8)
    deep, flat = rng.uniform(0.75, 0.95), rng.uniform(0.3, 0.5)
    if rng.random() < 0.5:
        deep, flat = flat, deep
    narrow, wide = rng.uniform(0.05, 0.09), rng.uniform(0.07, 0.12)
    waves = [(rng.uniform(3, 6), rng.uniform(0, 6.3), rng.uniform(0.02, 0.04)) for _ in range(3)]

    def value(u: float) -> float:
        swell = sum(a * math.sin(2 * math.pi * f * u + p) for f, p, a in waves)
        return 0.95 - deep * _bell(u, first, narrow) - flat * _bell(u, second, wide) + swell

    return value


def flood(rng: random.Random) -> Signal:
    """Base flow and two waves that rise faster than they fall."""
    starts = (rng.uniform(0.08, 0.2), rng.uniform(0.45, 0.6))
    heights = [rng.uniform(0.35, 0.55), rng.uniform(0.8, 1.0)]
    rng.shuffle(heights)
    rise = rng.uniform(0.03, 0.05)
    waves = [(rng.uniform(4, 8), rng.uniform(0, 6.3), rng.uniform(0.008, 0.02)) for _ in range(2)]

    def wave(u: float, start: float, height: float) -> float:
        x = max(0.0, u - start) / rise
        return height * (x / 3) ** 3 * math.exp(3 - x)

    def value(u: float) -> float:
        ripple = sum(a * math.sin(2 * math.pi * f * u + p) for f, p, a in waves)
        return 0.1 + ripple + sum(wave(u, s, h) for s, h in zip(starts, heights, strict=True))

    return value


def furnace(rng: random.Random) -> Signal:
    """Heating, a soak with control ripple, a second step, cooling."""
    up, step, down = rng.uniform(0.1, 0.2), rng.uniform(0.4, 0.5), rng.uniform(0.74, 0.84)
    soak, cycles = rng.uniform(0.55, 0.7), rng.uniform(9, 14)
    ripple = rng.uniform(0.015, 0.03)

    def rise(u: float, centre: float, width: float) -> float:
        return 1 / (1 + math.exp(-(u - centre) / width))

    def value(u: float) -> float:
        level = soak * rise(u, up, 0.022) + (1 - soak) * rise(u, step, 0.018)
        level *= 1 - 0.92 * rise(u, down, 0.035)
        return level * (1 + ripple * math.sin(2 * math.pi * cycles * u))

    return value


def demand(rng: random.Random) -> Signal:
    """A smooth positive load with a few drawn humps."""
    humps = [
        (0.1 + 0.2 * i + rng.uniform(-0.05, 0.05), rng.uniform(0.04, 0.07), rng.uniform(0.2, 0.45))
        for i in range(5)
    ]
    best = rng.randrange(5)
    humps[best] = (humps[best][0], humps[best][1], rng.uniform(0.7, 0.85))
    waves = [(rng.uniform(7, 13), rng.uniform(0, 6.3), rng.uniform(0.01, 0.025)) for _ in range(2)]

    def value(u: float) -> float:
        ripple = sum(a * math.sin(2 * math.pi * f * u + p) for f, p, a in waves)
        return 0.15 + ripple + sum(h * _bell(u, c, w) for c, w, h in humps)

    return value


def spectrum(rng: random.Random) -> Signal:
    """Transmission with a few absorption bands, one clearly the strongest."""
    count = rng.choice((3, 4))
    bands = [
        (
            (i + 0.5 + rng.uniform(-0.2, 0.2)) / count,
            rng.uniform(0.025, 0.05),
            rng.uniform(0.12, 0.4),
        )
        for i in range(count)
    ]
    best = rng.randrange(count)
    bands[best] = (bands[best][0], bands[best][1], rng.uniform(0.6, 0.8))
    slope = rng.uniform(0.02, 0.12)

    def value(u: float) -> float:
        return float(10 ** -(slope * (1 - u) + sum(h * _bell(u, c, w) for c, w, h in bands)))

    return value


def quake(rng: random.Random) -> Signal:
    """Unrest, a first arrival, then a larger train that dies away."""
    first = rng.uniform(0.16, 0.26)
    second = first + rng.uniform(0.14, 0.22)
    fast, slow = rng.uniform(11, 14), rng.uniform(8, 10.5)
    phase = rng.uniform(0, 6.3)
    small = rng.uniform(0.14, 0.2)

    def train(u: float, start: float, grow: float, fade: float, cycles: float) -> float:
        x = u - start
        if x <= 0:
            return 0.0
        return (1 - math.exp(-x / grow)) * math.exp(-x / fade) * math.sin(2 * math.pi * cycles * x)

    def value(u: float) -> float:
        unrest = 0.008 * math.sin(2 * math.pi * 6 * u + phase)
        early = small * train(u, first, 0.01, 0.2, fast)
        return 0.5 + unrest + early + 0.75 * train(u, second, 0.03, 0.16, slow)

    return value


def heart(rng: random.Random) -> Signal:
    """Beats with P, QRS and T waves; the interval breathes a little."""
    beats = rng.choice((5, 6, 7))
    interval = 1 / (beats + 0.35)
    times = [interval * (0.55 + i) + rng.uniform(-0.05, 0.05) * interval for i in range(beats + 1)]
    height, t_wave = rng.uniform(0.62, 0.72), rng.uniform(0.14, 0.22)
    tallest = rng.randrange(1, beats - 1)

    def beat(u: float, i: int) -> float:
        x, r = u - times[i], height * (1.14 if i == tallest else 1.0)
        value = 0.08 * _bell(x, -0.24 * interval, 0.022) - 0.09 * _bell(x, -0.02, 0.005)
        value += r * _bell(x, 0.0, 0.0085) - 0.16 * _bell(x, 0.022, 0.007)
        return value + t_wave * _bell(x, 0.34 * interval, 0.03)

    def value(u: float) -> float:
        return 0.24 + 0.01 * math.sin(5 * u) + sum(beat(u, i) for i in range(len(times)))

    return value
