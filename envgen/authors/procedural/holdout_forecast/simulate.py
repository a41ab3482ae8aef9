"""The drawn world behind the numbers: clean rows, their true means, and what was observed."""

import math
import random
from dataclasses import dataclass
from datetime import date, timedelta

from .scenarios import DRIVERS, PLACES, Driver, Scenario

SHAPES = ("vee", "hump", "step", "saturating")


@dataclass(frozen=True)
class Effect:
    """How one driver moves the target: a shape, and who feels it how strongly."""

    shape: str
    strength: float
    centre: float
    width: float
    by_kind: tuple[float, float]
    weekend: float

    def __call__(self, x: float, kind: int, weekend: bool) -> float:
        z = (x - self.centre) / self.width
        if self.shape == "vee":
            value = abs(z) - 0.8
        elif self.shape == "hump":
            value = -min(z * z, 4.0) * 0.6 + 0.5
        elif self.shape == "step":
            value = 0.9 if z > 0 else -0.5
        else:
            value = math.tanh(1.4 * z)
        return self.strength * value * self.by_kind[kind] * (self.weekend if weekend else 1.0)


@dataclass
class Row:
    """One observation; `mean` is the truth without noise."""

    entity: str
    day: date
    slot: str
    drivers: list[float]
    y: float
    mean: float


@dataclass(frozen=True)
class World:
    """Everything drawn once per task."""

    scenario: Scenario
    drivers: tuple[Driver, ...]
    entities: tuple[str, ...]
    kinds: tuple[int, ...]
    sizes: tuple[int, ...]
    start: date
    train_days: int
    later_days: int
    events: dict[date, str]
    rows: list[Row]
    multiplicative: bool


@dataclass(frozen=True)
class _Terms:
    level: list[float]
    weekday: list[list[float]]
    slot: list[list[list[float]]]
    effects: list[Effect]
    event: dict[str, float]
    harmonics: tuple[float, float, float, float]
    trend: float
    noise: float


def simulate(scenario: Scenario, rng: random.Random) -> World:
    """Draw a world and observe it."""
    count = 4 if scenario.slots else rng.choice((5, 6))
    train_days, later_days = _spans(scenario, count, rng)
    entities = tuple(sorted(rng.sample(PLACES, count)))
    kinds = [0, 1] + [rng.randrange(2) for _ in range(count - 2)]
    rng.shuffle(kinds)
    start = date(rng.randrange(2015, 2024), rng.randrange(1, 13), rng.randrange(1, 29))
    days = [start + timedelta(days=i) for i in range(train_days + later_days)]
    drivers = tuple(DRIVERS[name] for name in scenario.drivers)
    terms = _terms(scenario, drivers, count, rng)
    world = World(
        scenario,
        drivers,
        entities,
        tuple(kinds),
        tuple(round(math.exp(level) * rng.uniform(0.8, 1.25)) + 3 for level in terms.level),
        start,
        train_days,
        later_days,
        _events(scenario, days, rng),
        [],
        rng.random() < 0.7,
    )
    for index, day in enumerate(days):
        _observe(world, terms, index, day, rng)
    return world


def _spans(scenario: Scenario, count: int, rng: random.Random) -> tuple[int, int]:
    if scenario.slots:
        return 2800 // (count * len(scenario.slots)) + rng.randrange(20), 56
    return rng.randrange(480, 540), 91


def _terms(
    scenario: Scenario, drivers: tuple[Driver, ...], count: int, rng: random.Random
) -> _Terms:
    shapes = rng.sample(SHAPES, len(drivers))
    shapes[0] = rng.choice(("vee", "hump"))
    low, high = (math.log(v) for v in scenario.base)
    levels = [low + (high - low) * (i + rng.uniform(0.1, 0.9)) / count for i in range(count)]
    rng.shuffle(levels)
    yearly = 0.0 if scenario.slots else rng.uniform(0.10, 0.22)
    phase = rng.uniform(0, 2 * math.pi)
    return _Terms(
        level=levels,
        weekday=[_profile(7, 0.24, rng) for _ in range(2)],
        slot=[
            [_profile(max(1, len(scenario.slots)), 0.42, rng) for _ in range(2)] for _ in range(2)
        ],
        effects=[
            _effect(d, shape, i, rng)
            for i, (d, shape) in enumerate(zip(drivers, shapes, strict=True))
        ],
        event={name: rng.choice((-1, 1)) * rng.uniform(0.28, 0.5) for name in scenario.events},
        harmonics=(
            yearly * math.cos(phase),
            yearly * math.sin(phase),
            yearly * 0.3 * math.cos(2 * phase),
            yearly * 0.3,
        ),
        trend=rng.uniform(-0.08, 0.08),
        noise=rng.uniform(0.05, 0.09),
    )


def _profile(size: int, spread: float, rng: random.Random) -> list[float]:
    """Evenly spread effects in random order, so that no draw is flat."""
    if size == 1:
        return [0.0]
    values = [spread * (2 * i / (size - 1) - 1) + rng.uniform(-0.05, 0.05) for i in range(size)]
    rng.shuffle(values)
    return values


def _effect(driver: Driver, shape: str, place: int, rng: random.Random) -> Effect:
    width = math.hypot(driver.season * 0.7, driver.spread)
    kinds = [1.0, rng.uniform(0.25, 0.5)]
    rng.shuffle(kinds)
    return Effect(
        shape,
        rng.uniform(0.26, 0.36) * (1.0 if place == 0 else 0.6),
        driver.mean + rng.uniform(-0.3, 0.3) * width,
        width,
        (kinds[0], kinds[1]) if place == 0 else (1.0, 1.0),
        rng.uniform(1.3, 1.7) if place == 1 else 1.0,
    )


def _events(scenario: Scenario, days: list[date], rng: random.Random) -> dict[date, str]:
    """About one day in eighteen is special, in the later period as well."""
    chosen = rng.sample(range(len(days)), len(days) // 18)
    chosen += rng.sample(range(len(days) - 56, len(days)), 3)
    return {days[i]: rng.choice(scenario.events) for i in sorted(set(chosen))}


def _observe(world: World, terms: _Terms, index: int, day: date, rng: random.Random) -> None:
    year = 2 * math.pi * day.timetuple().tm_yday / 365.25
    weekend = day.weekday() >= 5
    c1, s1, c2, s2 = terms.harmonics
    common = c1 * math.cos(year) + s1 * math.sin(year) + c2 * math.cos(2 * year)
    common += s2 * math.sin(2 * year) + terms.trend * index / 365
    common += terms.event.get(world.events.get(day, ""), 0.0)
    regional = [rng.gauss(0, 1) for _ in world.drivers]
    yearly = 0.3 if world.scenario.slots else 1.0
    scale = math.exp(sum(terms.level) / len(terms.level))
    for place, entity in enumerate(world.entities):
        kind = world.kinds[place]
        for s, slot in enumerate(world.scenario.slots or ("",)):
            xs = [
                _weather(d, year, z, yearly, rng)
                for d, z in zip(world.drivers, regional, strict=True)
            ]
            eta = common + terms.weekday[kind][day.weekday()] + terms.slot[kind][weekend][s]
            eta += sum(f(x, kind, weekend) for f, x in zip(terms.effects, xs, strict=True))
            if world.multiplicative:
                mean = math.exp(terms.level[place] + eta)
                y = mean * math.exp(rng.gauss(0, terms.noise))
            else:
                mean = math.exp(terms.level[place]) + scale * (0.9 * eta + 1.6)
                y = mean + scale * rng.gauss(0, terms.noise)
            y = round(max(y, 0.02 * scale), world.scenario.decimals)
            world.rows.append(Row(entity, day, slot, xs, y, mean))


def _weather(
    driver: Driver, year: float, regional: float, yearly: float, rng: random.Random
) -> float:
    """A value; histories of less than a year swing less, so that later days are not all new."""
    if driver.dry_share and rng.random() < driver.dry_share:
        return 0.0
    value = driver.mean - yearly * driver.season * math.cos(year - 0.35)
    value += driver.spread * (0.7 * regional + 0.7 * rng.gauss(0, 1))
    return round(max(value, driver.low), driver.decimals)
