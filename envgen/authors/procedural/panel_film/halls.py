"""Where a camera looks at lamps, and what happened before it."""

import random
from dataclasses import dataclass
from typing import Any

from .truth import held, runs

HALLS = (
    ("bottling hall", "filler", ("F", "K", "L")),
    ("sorting centre", "chute", ("C", "N", "S")),
    ("print shop", "press", ("P", "R", "W")),
    ("paint line", "booth", ("B", "D", "G")),
    ("test stand", "pump", ("T", "U", "V")),
    ("kitchen of a hospital", "oven", ("O", "H", "M")),
    ("loading yard", "dock", ("Y", "Q", "A")),
    ("mill", "grinder", ("M", "X", "Z")),
)
COLOURS = {
    "red": (225, 40, 40), "green": (40, 205, 70), "blue": (60, 90, 240), "amber": (240, 180, 30),
    "white": (235, 235, 225),
}  # fmt: skip


@dataclass(frozen=True)
class Film:
    """Rules of reading, what each lamp does in each frame, and the drawing of it all."""

    hall: str
    thing: str
    rules: dict[str, Any]
    states: dict[str, list[Any]]
    drawing: dict[str, Any]
    positions: dict[str, tuple[int, int]]


def draw(rng: random.Random, large: bool) -> Film:
    hall, thing, letters = rng.choice(HALLS)
    count, length = (rng.choice((4, 5)), 560) if large else (rng.choice((2, 3)), 420)
    length += rng.randrange(60)
    lamps = [f"{rng.choice('LHJ')}{n}" for n in rng.sample(range(1, 40), count)]
    rules: dict[str, Any] = {
        "join": rng.randrange(3, 8),
        "least": rng.randrange(10, 16),
        "most": rng.choice((80, 90, 100, 120)),
        "reasons": list(
            rng.choice((("short", "long"), ("blip", "stuck"), ("too_short", "too_long")))
        ),
        "near": rng.choice((10, 15)),
        "style": rng.choice(("seconds", "clock")),
        "first": rng.randrange(6, 21) * 3600 + rng.randrange(3600),
        "hold": True,
        "follow": True,
        "changes": [],
    }
    unseen = _unseen(rng, length)
    states, names = {}, [f"{rng.choice(letters)}{n}" for n in rng.sample(range(10, 99), 3 * count)]
    for lamp in lamps:
        row = _row(rng, length, rules)
        states[lamp] = [unseen.get(place, value) for place, value in enumerate(row)]
        rules["changes"].append([lamp, 0, names.pop()])
        for _ in range(rng.choice((0, 1, 2)) if lamp != lamps[0] else 1):
            moment = _dark(rng, held(states[lamp]))
            others = [c[2] for c in rules["changes"] if c[0] != lamp and c[1] == 0]
            name = rng.choice((names.pop(), *others))
            rules["changes"].append([lamp, moment, name])
    rules["changes"].sort(key=lambda change: (change[1], change[0]))
    positions = _positions(rng, lamps)
    return Film(hall, thing, rules, states, _drawing(rng, states, positions, length), positions)


def _row(rng: random.Random, length: int, rules: dict[str, Any]) -> list[Any]:
    """On-times with gaps inside, too short ones, and a stuck one; borders are met exactly."""
    row: list[Any] = [0] * rng.choice((0, 4, 12))
    kinds = ["plain", "broken", "short", "least", "broken", "plain", "long", "most"]
    rng.shuffle(kinds)
    while len(row) < length:
        kind = kinds.pop() if kinds else rng.choice(("plain", "broken", "short"))
        span = {
            "short": rng.choice((2, 4, rules["least"] - 1)),
            "least": rules["least"],
            "long": rules["most"] + rng.choice((1, 7)),
            "most": rules["most"],
        }.get(kind, rng.randrange(rules["least"] + 2, 45))
        if span > 60 and len(row) > length // 2:
            continue
        on = [1] * span
        if kind == "broken":
            place = rng.randrange(3, span - 3)
            on[place:place] = [0] * rng.choice((1, 2, rules["join"]))
        row += [*on, *[0] * rng.choice((rules["join"] + 1, rng.randrange(22, 50), 31))]
    return row[:length]


def _unseen(rng: random.Random, length: int) -> dict[int, str]:
    """Frames without a picture."""
    found: dict[int, str] = {}
    for part in range(4):
        start = rng.randrange(10 + part * length // 4, (part + 1) * length // 4 - 25)
        value = rng.choice("wb")
        found |= dict.fromkeys(range(start, start + rng.randrange(2, 14)), value)
    return found


def _dark(rng: random.Random, row: list[Any]) -> int:
    """A whole second within a long dark time, or the exact start of an on-time."""
    dark = [
        t for v, a, b in runs(row) if v == 0 and b - a > 11 for t in range(a // 10 + 1, b // 10 + 1)
    ]
    return rng.choice(dark or [len(row) // 10 - 1])


def _positions(rng: random.Random, lamps: list[str]) -> dict[str, tuple[int, int]]:
    places = [(x, y) for x in range(50, 300, 52) for y in (50, 105, 160)]
    return {
        lamp: (x + rng.randrange(-8, 9), y + rng.randrange(-8, 9))
        for lamp, (x, y) in zip(lamps, rng.sample(places, len(lamps)), strict=True)
    }


def _drawing(
    rng: random.Random,
    states: dict[str, list[Any]],
    positions: dict[str, tuple[int, int]],
    length: int,
) -> dict[str, Any]:
    """What the tool draws; one lamp that nobody speaks of, and a belt, beside."""
    frames = ["".join(str(row[n]) for row in states.values()) for n in range(length)]
    return {
        "seed": rng.getrandbits(32),
        "lamps": [[*positions[lamp], rng.choice(list(COLOURS.values()))] for lamp in states],
        "frames": frames,
        "other": [rng.randrange(20, 300), 215, rng.choice(list(COLOURS.values()))],
        "light": rng.randrange(50, 110),
    }
