"""The commands of a tool: kinds, the numbers drawn for each, and lines that call them."""

import random
from typing import Any

KINDS = ("mix", "share", "roll", "fold", "crc", "level", "window", "shift", "rank", "runs")
STATEFUL = ("roll", "level", "window", "rank")
DIVIDING = ("share", "window")
WORDS = (
    "amber", "brook", "cedar", "delta", "ember", "fjord", "grove", "heron", "inlet", "juniper",
    "kestrel", "lagoon", "maple", "nectar", "osprey", "plover", "quartz", "raven", "sable", "thorn",
)  # fmt: skip
UNKNOWN = ("NO SUCH COMMAND", "ERR 1", "unknown", "?", "E:command")
MARKS = (" ", ":", "/", ";", "|", ",")


def draw_numbers(kind: str, rng: random.Random) -> dict[str, Any]:
    """What is particular to one command."""
    every: dict[str, dict[str, Any]] = {
        "mix": {"seed": rng.getrandbits(32), "factor": rng.getrandbits(31) | 1,
                "turn": rng.randrange(3, 30)},
        "share": {"zero": rng.choice(("DIVISION", "NaN", "-", "ZERO"))},
        "roll": {"seed": rng.getrandbits(62), "factor": rng.getrandbits(62) | 1,
                 "add": rng.getrandbits(31), "shift": rng.randrange(20, 34),
                 "sides": rng.randrange(6, 1000)},
        "fold": {"width": rng.randrange(3, 8), "step": rng.randrange(1, 40)},
        "crc": {"seed": rng.choice((0, 65535, rng.getrandbits(15))), "low": rng.random() < 0.5,
                "poly": f"0x{rng.getrandbits(16) | 0x8001:04x}"},
        "level": {"start": rng.randrange(-200, 200), "saturates": rng.random() < 0.5,
                  "top": rng.randrange(300, 30_000)},
        "window": {"size": rng.randrange(3, 7)},
        "shift": {},
        "rank": {"factor": rng.randrange(3, 40), "modulus": rng.randrange(7, 98),
                 "most": rng.randrange(3, 7)},
        "runs": {"most": rng.randrange(3, 10)},
    }  # fmt: skip
    return {"mark": rng.choice(MARKS), **every[kind]}


def draw_kinds(rng: random.Random, count: int) -> list[str]:
    """A hash, a division and others; in any order."""
    fixed = ["mix", rng.choice(DIVIDING)]
    others = rng.sample([kind for kind in KINDS if kind not in fixed], count - 2)
    kinds = fixed + others
    rng.shuffle(kinds)
    return kinds
