"""Models: equations that read the same in every language, and what a run of one is like.

`SIN(...)` is spelled by each language; all else is sums, products and quotients of doubles.
"""

import random
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Model:
    """Rates by state variable, ranges of the parameters, start values, and a typical step."""

    name: str
    story: str
    rates: dict[str, str]
    ranges: dict[str, tuple[float, float]]
    start: tuple[tuple[float, float], ...]
    step: float


MODELS = (
    Model("grazers", "grazers and the plants that they live on",
          {"plants": "g * plants * (1.0 - plants / m) - b * plants * grazers",
           "grazers": "c * plants * grazers - d * grazers"},
          {"g": (0.6, 1.2), "m": (40, 90), "b": (0.02, 0.05), "c": (0.01, 0.02), "d": (0.2, 0.5)},
          ((20, 35), (5, 12)), 0.2),
    Model("outbreak", "an outbreak in a closed town",
          {"well": "-b * well * ill / n + w * over", "ill": "b * well * ill / n - r * ill",
           "over": "r * ill - w * over"},
          {"b": (0.5, 0.9), "r": (0.1, 0.25), "w": (0.01, 0.05), "n": (800, 1200)},
          ((700, 790), (4, 20), (0, 1)), 0.5),
    Model("swing", "a driven pendulum with friction",
          {"angle": "speed", "speed": "-q * SIN(angle) - c * speed + f * SIN(o * t)"},
          {"q": (2, 5), "c": (0.1, 0.3), "f": (0.2, 0.6), "o": (0.6, 1.2)},
          ((0.4, 1.1), (-0.3, 0.3)), 0.08),
    Model("oscillator", "a triode oscillator",
          {"volts": "amps", "amps": "m * (1.0 - volts * volts) * amps - volts + f * SIN(o * t)"},
          {"m": (0.3, 0.7), "f": (0.1, 0.5), "o": (0.8, 1.3)}, ((0.4, 0.9), (-0.5, 0.5)), 0.04),
    Model("reactor", "an autocatalytic reaction in a stirred tank",
          {"feed": "a + feed * feed * catalyst - (b + 1.0) * feed",
           "catalyst": "b * feed - feed * feed * catalyst"},
          {"a": (0.8, 1.2), "b": (1.8, 2.6)}, ((1, 1.6), (1.5, 2.5)), 0.05),
    Model("tanks", "two tanks with a pipe between them, filled by a tide",
          {"upper": "i + h * SIN(o * t) - v * (upper - lower)",
           "lower": "v * (upper - lower) - l * lower"},
          {"i": (0.5, 1.0), "h": (0.3, 0.8), "o": (0.3, 0.9), "v": (0.2, 0.6), "l": (0.1, 0.3)},
          ((3, 6), (1, 3)), 0.25),
)  # fmt: skip
SCHEMES = ("euler", "heun", "midpoint", "sequential")


def draw_run(rng: random.Random, quirks: int) -> dict[str, Any]:
    """What the templates of all languages need."""
    model = rng.choice(MODELS)
    steps = rng.randrange(110, 180)
    dt = round(model.step * rng.uniform(0.8, 1.3), 3)
    start = [round(rng.uniform(*ends), 2) for ends in model.start]
    kinds = rng.sample(("pulse", "season", "drain"), quirks)
    first = rng.randrange(2, 4)
    return {
        "model": model, "names": list(model.rates), "params": list(model.ranges), "steps": steps,
        "dt": dt, "start": start, "scheme": rng.choice(SCHEMES), "quirks": kinds,
        "every": rng.randrange(9, 23), "dose": round(start[0] * rng.uniform(0.3, 0.6), 2),
        "from": round(steps * dt * first / 10, 2), "to": round(steps * dt * (first + 4) / 10, 2),
        "factor": round(rng.uniform(0.3, 0.6), 2),
        "high": round(start[0] * rng.uniform(0.7, 0.95), 2),
        "left": round(rng.uniform(0.5, 0.8), 2),
    }  # fmt: skip


def draw_sets(rng: random.Random, model: Model, count: int, stem: str) -> list[dict[str, Any]]:
    rows = []
    for number in rng.sample(range(1, 90), count):
        values = {name: round(rng.uniform(*ends), 4) for name, ends in model.ranges.items()}
        rows.append({"id": f"{stem}{number:02d}", **values})
    return rows
