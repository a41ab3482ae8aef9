# mypy: ignore-errors
"""Digitises with Pillow alone: three crosses, nearest run of ink from column to column."""

import bisect
import json
import math
import pathlib

from PIL import Image

WITH = json.loads(pathlib.Path("/solution/settings.json").read_text())
PIXELS = Image.open("/home/agent/sheet/chart.png").convert("RGB")
WIDTH, HEIGHT = PIXELS.size
DATA = PIXELS.load()


def plane(values):
    """Coefficients (a, b, c) of a*px + b*py + c through the first three crosses."""
    (x1, y1), (x2, y2), (x3, y3) = [(c["px"], c["py"]) for c in WITH["crosses"][:3]]
    v1, v2, v3 = values[:3]
    area = (x2 - x1) * (y3 - y1) - (x3 - x1) * (y2 - y1)
    a = ((v2 - v1) * (y3 - y1) - (v3 - v1) * (y2 - y1)) / area
    b = ((x2 - x1) * (v3 - v1) - (x3 - x1) * (v2 - v1)) / area
    return a, b, v1 - a * x1 - b * y1


PAPER = DATA[60, 300]


def mixture(pixel, ink):
    """(share of ink, distance from the line between paper and ink)."""
    way = [i - p for i, p in zip(ink, PAPER, strict=True)]
    away = [v - p for v, p in zip(pixel, PAPER, strict=True)]
    share = sum(a * w for a, w in zip(away, way, strict=True)) / sum(w * w for w in way)
    return share, math.dist(away, [share * w for w in way])


def ink_share(pixel, pen):
    """How much of a pixel is this pen's ink; 0 where it is something else."""
    share, off = mixture(pixel, pen["ink"])
    if share < 0.45 or off > 45:
        return 0.0
    return share if all(off <= mixture(pixel, p["ink"])[1] for p in WITH["pens"]) else 0.0


def runs(x, pen, top, bottom):
    """(first, last, centre) of the inked stretches of a column; pale ones are stamps."""
    found, start, most = [], None, 0.0
    for y in range(top, bottom + 1):
        share = ink_share(DATA[x, y], pen) if y < bottom else 0.0
        if share and start is None:
            start, most = y, 0.0
        if start is not None:
            if share:
                most = max(most, share)
            else:
                if most > 0.68:
                    found.append((start, y - 1, centre(x, start, y - 1, pen)))
                start = None
    return found


def centre(x, first, last, pen):
    """Middle of a run; pale pixels, soft edges and stamps beside the line, count for little."""
    total = moment = 0.0
    for y in range(first, last + 1):
        weight = ink_share(DATA[x, y], pen) ** 4
        total, moment = total + weight, moment + weight * y
    return moment / total


def walk(pen):
    """From the left end, always to the run that is nearest to the last one."""
    xs = [c["px"] for c in WITH["crosses"]]
    ys = [c["py"] for c in WITH["crosses"]]
    top, bottom = int(min(ys)) - 4, int(max(ys)) + 4
    path, last = [], None
    for x in range(int(min(xs)) - 34, int(max(xs)) + 1):
        found = [r for r in runs(x, pen, top, bottom) if not near_cross(x, r[2])]
        if not found:
            continue
        if path:
            nearest = min(found, key=lambda r: gap(r, last))
            if switched(path[-1], pen) != switched((x, nearest[2]), pen):
                last = None
        if last is None:
            run = max(found, key=lambda r: follows(x, r, pen, top, bottom))
        else:
            run = min(found, key=lambda r: gap(r, last))
        jump = 0 if last is None else gap(run, last)
        doubtful = last is None or jump > 30 or (jump > 4 and x - path[-1][0] > 3)
        if doubtful and follows(x, run, pen, top, bottom) <= (40 if jump > 30 else 15):
            continue  # a speck or a stamp, not the trace
        path.append((x, run[2]))
        last = run
    return path


def switched(point, pen):
    """The range was switched before this place."""
    along = plane([c["along"] for c in WITH["crosses"]])
    place = along[0] * point[0] + along[1] * point[1] + along[2] - pen["lead"]
    scale = WITH["origin"] + place * WITH["per_division"]
    return WITH["switch"] is not None and scale >= WITH["switch"]


def near_cross(x, y):
    return any(abs(x - c["px"]) < 12 and abs(y - c["py"]) < 12 for c in WITH["crosses"])


def follows(x, run, pen, top, bottom):
    """In how many of the next columns the ink goes on: a stamp ends, the trace does not."""
    last, steps = run, 0
    for other in range(x + 1, min(x + 61, WIDTH)):
        found = runs(other, pen, top, bottom)
        if found:
            best = min(found, key=lambda r: gap(r, last))
            if gap(best, last) <= 8:
                last, steps = best, steps + 1
    return steps


def gap(one, other):
    return max(one[0] - other[1], other[0] - one[1], 0) + 0.01 * abs(one[2] - other[2])


def convert(pen, value):
    law, a, b = pen["law"]
    if law == "linear":
        return a * value + b
    if law == "absorbance":
        return 2 - math.log10(max(value, 1e-3))
    return a * math.sqrt(max(value, 0))


def record(pen):
    along = plane([c["along"] for c in WITH["crosses"]])
    across = plane([c["across"] for c in WITH["crosses"]])
    points = []
    for x, y in walk(pen):
        place = along[0] * x + along[1] * y + along[2] - pen["lead"]
        scale = place * WITH["per_division"]
        after = WITH["switch"] is not None and WITH["origin"] + scale >= WITH["switch"]
        reading = across[0] * x + across[1] * y + across[2] - pen["rest"]
        value = pen["zero"] + pen["gain"] * pen["factors"][after] * reading
        points.append((WITH["origin"] + scale / WITH["stretch"], convert(pen, value)))
    return sorted(points)


def between(points, time):
    i = min(max(bisect.bisect(points, (time,)), 1), len(points) - 1)
    (t1, v1), (t2, v2) = points[i - 1], points[i]
    return v1 + (v2 - v1) * (time - t1) / (t2 - t1)


def main():
    records = [record(pen) for pen in WITH["pens"]]
    with open("/home/agent/trace.csv", "w") as stream:
        names = [WITH["time_column"], *(pen["column"] for pen in WITH["pens"])]
        stream.write(",".join(names) + "\r\n")
        for i in range(WITH["count"]):
            time = WITH["origin"] + i * WITH["step"]
            cells = [f"{time:.4f}", *(f"{between(points, time):.9e}" for points in records)]
            stream.write(", ".join(cells) + "\r\n")


if __name__ == "__main__":
    main()
