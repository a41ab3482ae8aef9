"""fit.py TRACK: what is to be measured of a run."""

import sys

import numpy as np

rows = np.loadtxt(sys.argv[1], delimiter=",")
t, x, y = rows[:, 1], rows[:, 2] / 10, rows[:, 3] / 10
seen = x


def error(period, fade):
    envelope, turn = np.exp(-fade * t), 2 * np.pi * t / period
    table = np.stack([envelope * np.cos(turn), envelope * np.sin(turn), np.ones_like(t)], 1)
    return np.sum((table @ np.linalg.lstsq(table, seen, rcond=None)[0] - seen) ** 2)


fades = np.linspace(0, 0.3, 7)
best = min((error(p, f), p, f) for p in np.linspace(0.4, 5, 231) for f in fades)
fine = np.linspace(best[1] - 0.03, best[1] + 0.03, 121)
print(min((error(p, f), p) for p in fine for f in fades)[1])
