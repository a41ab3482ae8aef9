"""The model, run for each set of parameters: CSV in, CSV out."""

import csv
import math
import sys

NAMES, PARAMS = ['feed', 'catalyst'], ['a', 'b']
STEPS, DT, START = 165, 0.049, [1.03, 1.84]
sine = math.sin


def rates(t, s, p):
    feed, catalyst, = s
    a, b, = p
    k = [
        a + feed * feed * catalyst - (b + 1.0) * feed,
        b * feed - feed * feed * catalyst,
    ]
    if 1.62 <= t < 4.85:
        k[0] = k[0] * 0.57
    return k


def moved(s, k, h):
    return [one + h * rate for one, rate in zip(s, k)]


def step(t, s, p):
    s = list(s)
    for n in range(len(s)):
        s[n] = s[n] + DT * rates(t, s, p)[n]
    return s


def run(p):
    s, t = list(START), 0.0
    peak, when, drains = s[0], 0.0, 0
    for n in range(STEPS):
        s = step(t, s, p)
        t = t + DT
        if s[0] > 0.96:
            s[0] = s[0] * 0.74
            drains += 1
        if s[0] > peak:
            peak, when = s[0], t
    return [*s, peak, when, drains]


def run_all(rows):
    return [run([float(row[name]) for name in PARAMS]) for row in rows]


HEADER = "id,feed,catalyst,peak,when,drains"


def table(text):
    rows = list(csv.DictReader(text.splitlines()))
    lines = [HEADER]
    for row, values in zip(rows, run_all(rows)):
        lines.append(",".join([row["id"], *(f"{v:.6f}" for v in values[:-1]), str(values[-1])]))
    return "".join(f"{line}\n" for line in lines)
