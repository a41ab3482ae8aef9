# mypy: ignore-errors
"""Tables from the brightness of the lamps: tables.py SETTINGS.json lamps.csv"""

import csv
import json
import sys

with open(sys.argv[1]) as stream:
    s = json.load(stream)
with open(sys.argv[2], newline="") as stream:
    frames = list(csv.DictReader(stream))
with open(f"{s['folder']}/stations.csv", newline="") as stream:
    owners = [(row["lamp"], int(row["from"]), row["station"]) for row in csv.DictReader(stream)]


def at(tenths):
    if s["style"] == "seconds":
        return f"{tenths / 10:.1f}"
    seconds, rest = divmod(tenths + 10 * s["first"], 10)
    return f"{seconds // 3600:02d}:{seconds % 3600 // 60:02d}:{seconds % 60:02d}.{rest}"


def table(name, header, rows):
    with open(f"{name}.csv", "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerows([header.split(","), *rows])


def owner(lamp, start):
    name = None
    for one, since, station in sorted(owners, key=lambda o: o[1]):
        if one == lamp and since * 10 <= start:
            name = station
    return name


blank = {
    n: ("white" if int(f["mean"]) > 128 else "black") for n, f in enumerate(frames) if f["mean"]
}
missing = []
for n, colour in blank.items():
    if missing and missing[-1][1] == n and missing[-1][2] == colour:
        missing[-1][1] = n + 1
    else:
        missing.append([n, n + 1, colour])

kept, aside = [], []
for lamp in s["positions"]:
    seen = sorted(int(f[lamp]) for n, f in enumerate(frames) if n not in blank)
    limit = (seen[0] + seen[-1]) / 2
    spans, lit = [], False
    for n, f in enumerate(frames):
        lit = lit if n in blank else int(f[lamp]) > limit
        if not lit:
            continue
        if spans and n - spans[-1][1] <= s["join"]:
            spans[-1][1] = n + 1
        else:
            spans.append([n, n + 1])
    for start, end in spans:
        if end - start < s["least"]:
            aside.append((lamp, at(start), at(end), s["reasons"][0]))
        elif end - start > s["most"]:
            aside.append((lamp, at(start), at(end), s["reasons"][1]))
        else:
            kept.append((owner(lamp, start), start, end))

table("sessions", "station,start,end", [(name, at(a), at(b)) for name, a, b in kept])
table("set_aside", "lamp,start,end,reason", aside)
table("missing", "start,end,picture", [(at(a), at(b), colour) for a, b, colour in missing])
if s["large"]:
    totals = []
    for name in sorted({o[2] for o in owners}):
        spans = [(b - a) / 10 for n, a, b in kept if n == name]
        totals.append((name, len(spans), f"{sum(spans):.1f}", f"{max(spans, default=0):.1f}"))
    table("totals", "station,sessions,seconds,longest", totals)
    with open(f"{s['folder']}/log.csv", newline="") as stream:
        log = [(row["station"], 10 * int(row["start"])) for row in csv.DictReader(stream)]

    def alone(one, others):
        return not any(n == one[0] and abs(t - one[1]) <= s["near"] for n, t in others)

    film = [(name, a) for name, a, _ in kept]
    odd = [("not_logged", n, at(t)) for n, t in film if alone((n, t), log)]
    odd += [("not_filmed", n, at(t)) for n, t in log if alone((n, t), film)]
    table("differences", "kind,station,start", odd)
