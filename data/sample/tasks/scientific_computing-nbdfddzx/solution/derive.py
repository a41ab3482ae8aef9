# mypy: ignore-errors
"""derived.json from trace.csv: extremes, means, crossings of a level, time above it."""

import csv
import json
import math


def crossings(times, values, level):
    ups, downs = [], []
    for i in range(len(values) - 1):
        if (values[i] < level) != (values[i + 1] < level):
            share = (level - values[i]) / (values[i + 1] - values[i])
            at = times[i] + share * (times[i + 1] - times[i])
            (ups if values[i] < level else downs).append(at)
    return ups, downs


def measure(kind, times, values, level):
    if kind == "mean":
        return math.fsum(values) / len(values)
    if kind in ("max", "max_at"):
        best = max(values)
        return best if kind == "max" else times[values.index(best)]
    if kind in ("min", "min_at"):
        best = min(values)
        return best if kind == "min" else times[values.index(best)]
    ups, downs = crossings(times, values, level)
    if kind == "first_rise":
        return ups[0]
    if kind == "first_fall":
        return downs[0]
    if kind == "mean_cycle":
        return (ups[-1] - ups[0]) / (len(ups) - 1)
    total, since = 0.0, times[0] if values[0] >= level else None
    for at in sorted(ups + downs):
        if since is None:
            since = at
        else:
            total, since = total + at - since, None
    return total + (times[-1] - since if since is not None else 0.0)


def main():
    with open("/solution/settings.json") as stream:
        settings = json.load(stream)
    with open("/home/agent/trace.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    times = [float(row[settings["time_column"]]) for row in rows]
    out = {}
    for key, kind, column, level in settings["wanted"]:
        values = [float(row[column]) for row in rows]
        out[key] = round(measure(kind, times, values, level), 6)
    with open("/home/agent/derived.json", "w") as stream:
        json.dump(out, stream, indent=1)
        stream.write("\n")


if __name__ == "__main__":
    main()
