"""The sheets to answers.csv."""

import csv
import os

import numpy as np
from PIL import Image

SCANS, OUT = "/home/agent/poll/scans", "/home/agent/answers.csv"
CODE, GRID = {'u': 0.151, 'du': 0.063, 'v': 0.067}, {'u': 0.268, 'du': 0.1, 'v': 0.177, 'dv': 0.0703}
W, H, WINDOW = 480, 640, 84


def corner(dark, x0, y0):
    ys, xs = np.nonzero(dark[y0 : y0 + WINDOW, x0 : x0 + WINDOW])
    keep = (np.abs(xs - np.median(xs)) < 20) & (np.abs(ys - np.median(ys)) < 20)
    return np.array([xs[keep].mean() + x0, ys[keep].mean() + y0]), keep.sum()


def corners(page):
    dark = page < 90
    places = [(x, y) for y in (0, H - WINDOW) for x in (0, W - WINDOW)]
    return [corner(dark, *place) for place in places]


def reader(image):
    page = np.asarray(image, float)
    found = corners(page)
    if np.argmax([size for _, size in found]) == 3:
        page = page[::-1, ::-1]
        found = corners(page)
    a, b, c, d = (place for place, _ in found)

    def darkness(u, v):
        x, y = (1 - v) * ((1 - u) * a + u * b) + v * ((1 - u) * c + u * d)
        ys, xs = np.mgrid[round(y) - 5 : round(y) + 6, round(x) - 5 : round(x) + 6]
        near = np.hypot(xs - x, ys - y) < 5
        return 1 - page[ys[near], xs[near]].mean() / 246

    return darkness


rows = []
for name in os.listdir(SCANS):
    darkness = reader(Image.open(os.path.join(SCANS, name)).convert("L"))
    bits = [darkness(CODE["u"] + n * CODE["du"], CODE["v"]) > 0.5 for n in range(9)]
    answers = []
    for q in range(10):
        levels = [darkness(GRID["u"] + o * GRID["du"], GRID["v"] + q * GRID["dv"]) for o in range(5)]
        full = [o + 1 for o, level in enumerate(levels) if level > 0.5]
        answers.append(str(full[0]) if len(full) == 1  else "X" if full else "")
    rows.append([sum(bit << n for n, bit in enumerate(reversed(bits))), *answers])
with open(OUT, "w", newline="") as stream:
    table = csv.writer(stream, lineterminator="\n")
    table.writerow(["sheet", *(f"q{n + 1}" for n in range(10))])
    table.writerows(sorted(rows))
