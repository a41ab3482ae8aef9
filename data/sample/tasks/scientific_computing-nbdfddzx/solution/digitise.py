# mypy: ignore-errors
"""From scan to table: register the paper, find each ink, follow its path, convert, resample.

`--card-units`, `--corners` and `--no-remarks` leave a step out (used to see what it is worth).
"""

import json
import pathlib
import sys

import numpy as np
from PIL import Image

SKIP = set(sys.argv[1:])
WITH = json.loads(pathlib.Path("/solution/settings.json").read_text())
SCAN = "/home/agent/sheet/chart.png"


def register():
    """Matrix that takes (px, py, 1) to divisions along and across."""
    crosses = WITH["crosses"]
    if "--corners" in SKIP:
        far = crosses[2]
        corners = [(0, 689, 0, 0), (1319, 689, far["along"], 0), (1319, 0, far["along"], 10)]
        pixels = np.array([[x, y, 1.0] for x, y, _, _ in corners])
        places = np.array([[a, b] for _, _, a, b in corners], float)
    else:
        pixels = np.array([[c["px"], c["py"], 1.0] for c in crosses])
        places = np.array([[c["along"], c["across"]] for c in crosses], float)
    return np.linalg.lstsq(pixels, places, rcond=None)[0]


def inkness(picture, ink):
    """Share of ink in every pixel (0 where the colour is no mixture of paper and this ink), and
    how far the colour is from such a mixture."""
    paper = np.median(picture.reshape(-1, 3), axis=0)
    way = np.array(ink, float) - paper
    away = picture - paper
    share = np.clip(away @ way / (way @ way), 0, 1)
    off = np.linalg.norm(away - share[..., None] * way, axis=2)
    share[off > 45] = 0
    core = share > 0.68  # a stamp is paler than that
    near = core.copy()
    near[1:] |= core[:-1]
    near[:-1] |= core[1:]
    share[~near | (share < 0.3)] = 0
    return share, off


def nearest_ink(picture, pens):
    """One map per pen; a pixel belongs to the ink that it resembles most."""
    both = [inkness(picture, pen["ink"]) for pen in pens]
    maps, off = np.array([share for share, _ in both]), np.array([off for _, off in both])
    maps[off > off.min(axis=0)] = 0
    return maps


def runs(column):
    """(first, last, centre, mass) of every run of inked pixels in one column."""
    inked = np.flatnonzero(column > 0)
    if not len(inked):
        return []
    parts = np.split(inked, np.flatnonzero(np.diff(inked) > 2) + 1)
    found = [(p[0], p[-1], np.average(p, weights=column[p]), column[p].sum()) for p in parts]
    return [run for run in found if run[3] > 0.9]


def lengths(columns):
    """For every run, over how many columns the ink goes on without a break."""
    groups, size = [], []
    for n, (x, found) in enumerate(columns):
        before = columns[n - 1] if n and columns[n - 1][0] == x - 1 else (x, [])
        row = []
        for run in found:
            joined = [
                groups[n - 1][k]
                for k, other in enumerate(before[1])
                if run[0] <= other[1] + 1 and other[0] <= run[1] + 1
            ]
            if not joined:
                joined = [len(size)]
                size.append(0)
            row.append(joined[0])
            size[joined[0]] += 1
        groups.append(row)
    return [[size[group] for group in row] for row in groups]


def follow(share):
    """The path that explains most ink with the fewest jumps (dynamic programming).

    Short pieces, such as letters and specks, count for next to nothing.
    """
    columns = [(x, runs(share[:, x])) for x in range(share.shape[1])]
    columns = [(x, found) for x, found in columns if found]
    long = lengths(columns)
    best, links = [], []
    for n, (x, found) in enumerate(columns):
        scores, link = [], []
        for k, (_, _, centre, mass) in enumerate(found):
            worth = min(mass, 6.0) if long[n][k] > 30 else 0.2
            score, back = 0.0, None
            for m in range(max(0, n - 14), n):
                gap = x - columns[m][0]
                for j, other in enumerate(columns[m][1]):
                    total = best[m][j] + abs(centre - other[2]) / (3.0 + gap) + 0.2 * (gap - 1)
                    if total < score:
                        score, back = total, (m, j)
            scores.append(score - worth)
            link.append(back)
        best.append(scores)
        links.append(link)
    end = min((s, (n, k)) for n, row in enumerate(best) for k, s in enumerate(row))[1]
    path = []
    while end is not None:
        n, k = end
        path.append((columns[n][0], columns[n][1][k][2]))
        end = links[n][k]
    return np.array(path[::-1])


def read(pen, path, matrix):
    """Path in pixels to (time, value) in the wanted units."""
    places = np.column_stack([path, np.ones(len(path))]) @ matrix
    remarks = "--no-remarks" not in SKIP
    scale = WITH["origin"] + places[:, 0] * WITH["per_division"]
    factor = np.ones(len(scale))
    if remarks:
        scale = scale - pen["lead"] * WITH["per_division"]
        if WITH["switch"] is not None:
            factor = np.where(scale < WITH["switch"], *pen["factors"])
    value = pen["zero"] + pen["gain"] * factor * (places[:, 1] - pen["rest"])
    time = scale
    if remarks:
        time = WITH["origin"] + (scale - WITH["origin"]) / WITH["stretch"]
    return time, convert(pen, value)


def convert(pen, value):
    law, a, b = pen["law"]
    if "--card-units" in SKIP:
        return value
    if law == "linear":
        return a * value + b
    if law == "absorbance":
        return 2 - np.log10(np.maximum(value, 1e-3))
    return a * np.sqrt(np.maximum(value, 0))


def main():
    picture = np.asarray(Image.open(SCAN).convert("RGB"), float)
    matrix = register()
    times = np.round(WITH["origin"] + WITH["step"] * np.arange(WITH["count"]), 6)
    columns = []
    for pen, share in zip(WITH["pens"], nearest_ink(picture, WITH["pens"]), strict=True):
        mask_outside(share)
        time, value = read(pen, follow(share), matrix)
        order = np.argsort(time, kind="stable")
        columns.append(np.interp(times, time[order], value[order]))
    names = [WITH["time_column"], *(pen["column"] for pen in WITH["pens"])]
    with open("/home/agent/trace.csv", "w") as stream:
        stream.write(",".join(names) + "\n")
        for time, *values in zip(times, *columns, strict=True):
            stream.write(",".join([f"{time:g}", *(f"{v:.6f}" for v in values)]) + "\n")


def mask_outside(share):
    """Figures and titles in a dark ink stand outside of the frame."""
    xs = [c["px"] for c in WITH["crosses"]]
    ys = [c["py"] for c in WITH["crosses"]]
    share[: int(min(ys)) - 4] = 0
    share[int(max(ys)) + 4 :] = 0
    share[:, : int(min(xs)) - 30] = 0
    share[:, int(max(xs)) + 4 :] = 0
    for cross in WITH["crosses"]:
        x, y = int(cross["px"]), int(cross["py"])
        share[y - 12 : y + 12, x - 12 : x + 12] = 0


if __name__ == "__main__":
    main()
