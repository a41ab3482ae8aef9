"""What moves in a film, where it is at which time, and the law behind several films."""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass

G = 9.81


@dataclass(frozen=True)
class Run:
    """One film: what was set, what is measured, and the path in centimetres from the origin."""

    setting: float
    measured: float
    path: Callable[[float], tuple[float, float]]


@dataclass(frozen=True)
class Kind:
    """An experiment. `setting` and `measured` are (column, unit and meaning)."""

    name: str
    story: str
    setting: tuple[str, str]
    measured: tuple[str, str]
    law: str
    constant: tuple[str, str]
    draw_constant: Callable[[random.Random], float]
    draw_setting: Callable[[random.Random, int], float]
    measure: Callable[[float, float], float]
    path: Callable[[float, float, random.Random], Callable[[float], tuple[float, float]]]
    fit: str


def _swing(
    setting: float, period: float, rng: random.Random
) -> Callable[[float], tuple[float, float]]:
    """A pendulum of that length in centimetres whose pivot is above the picture."""
    angle, fade = rng.uniform(8, 11) / setting, rng.uniform(0.02, 0.09)
    middle, low = rng.uniform(18, 22), rng.uniform(5, 9)
    phase = rng.uniform(0, 6)

    def path(t: float) -> tuple[float, float]:
        a = angle * math.exp(-fade * t) * math.cos(2 * math.pi * t / period + phase)
        return middle + setting * math.sin(a), low + setting * (1 - math.cos(a))

    return path


def _bounce(
    setting: float, period: float, rng: random.Random
) -> Callable[[float], tuple[float, float]]:
    high, far, fade = rng.uniform(11, 13), rng.uniform(7, 9), rng.uniform(0.03, 0.12)
    middle, phase = rng.uniform(10, 28), rng.uniform(0, 6)
    return lambda t: (
        middle,
        high + far * math.exp(-fade * t) * math.cos(2 * math.pi * t / period + phase),
    )


def _sink(
    setting: float, speed: float, rng: random.Random
) -> Callable[[float], tuple[float, float]]:
    middle, top = rng.uniform(8, 30), rng.uniform(22, 24)
    return lambda t: (middle, top - speed * (t + 0.4))


def _slide(
    setting: float, acceleration: float, rng: random.Random
) -> Callable[[float], tuple[float, float]]:
    """Down a track that is seen at its angle, in degrees."""
    first, start = rng.uniform(1, 3), rng.uniform(2, 4)
    angle, top = math.radians(setting), rng.uniform(21, 24)

    def path(t: float) -> tuple[float, float]:
        way = start + first * (t + 0.3) + acceleration * (t + 0.3) ** 2 / 2
        return 2 + way * math.cos(angle), top - way * math.sin(angle)

    return path


KINDS = (
    Kind("pendulum", "a bob on a thread, swinging a little", ("length_cm", "cm, pivot to bob"),
         ("period_s", "the period in seconds"), "T = 2 pi sqrt(L / g)",
         ("g_m_s2", "g in metres per second squared"), lambda r: round(r.uniform(6, 20), 2),
         lambda r, n: round(r.uniform(40, 60) + 22 * n, 1),
         lambda s, c: 2 * math.pi * math.sqrt(s / 100 / c), _swing, "period x"),
    Kind("spring", "a weight that bounces on a spring", ("mass_g", "g, weight and hook"),
         ("period_s", "the period in seconds"), "T = 2 pi sqrt(m / k)",
         ("k_N_m", "k in newtons per metre"), lambda r: round(r.uniform(4, 11), 2),
         lambda r, n: round(r.uniform(150, 210) + 80 * n, 0),
         lambda s, c: 2 * math.pi * math.sqrt(s / 1000 / c), _bounce, "period y"),
    Kind("sphere", "a ball that sinks through oil at a constant speed", ("diameter_mm", "mm"),
         ("speed_cm_s", "the speed in centimetres per second, positive downwards"),
         "v = c d^2", ("c_cm_s_mm2", "c in centimetres per second and square millimetre"),
         lambda r: round(r.uniform(0.12, 0.2), 4),
         lambda r, n: round(r.uniform(3.3, 3.9) + 0.6 * n, 2),
         lambda s, c: c * s * s, _sink, "speed y"),
    Kind("track", "a cart that runs down an inclined track", ("angle_deg", "degrees, of the track"),
         ("acceleration_cm_s2", "the acceleration along the track in cm per second squared"),
         "a = g (sin A - u cos A) with g = 981 cm/s^2", ("u", "the friction u"),
         lambda r: round(r.uniform(0.01, 0.03), 4),
         lambda r, n: round(r.uniform(3.4, 3.8) + 0.25 * n, 2),
         lambda s, c: 100 * G * (math.sin(math.radians(s)) - c * math.cos(math.radians(s))),
         _slide, "acceleration xy"),
)  # fmt: skip
SECONDS = {"pendulum": 7.0, "spring": 6.0, "sphere": 2.6, "track": 0.6}
"""How long a film lasts after its lamp goes on: the thing has to stay in the picture."""


def draw_runs(kind: Kind, constant: float, count: int, rng: random.Random) -> list[Run]:
    runs = []
    for number in range(count):
        setting = kind.draw_setting(rng, number)
        measured = kind.measure(setting, constant)
        runs.append(Run(setting, measured, kind.path(setting, measured, rng)))
    rng.shuffle(runs)
    return runs


RATES = {
    "pendulum": (12, 15, 16), "spring": (15, 16, 18), "sphere": (20, 24, 25), "track": (60, 64, 75),
}  # fmt: skip
