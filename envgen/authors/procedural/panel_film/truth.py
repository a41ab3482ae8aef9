"""Sessions of lamps: from the state of each lamp in each frame to what is reported.

A state is 1 (lit), 0 (dark), or "w" or "b" where the whole picture is white or black. Times are
tenths of a second, which are frames.
"""

from typing import Any


def runs(row: list[Any]) -> list[list[Any]]:
    """[value, first, end) of equal neighbours."""
    found: list[list[Any]] = []
    for place, value in enumerate(row):
        if found and found[-1][0] == value:
            found[-1][2] = place + 1
        else:
            found.append([value, place, place + 1])
    return found


def held(row: list[Any]) -> list[Any]:
    """The row with what is not seen taken as before; dark, where nothing was before."""
    out, last = [], 0
    for value in row:
        last = last if value in ("w", "b") else value
        out.append(last)
    return out


def sessions(rules: dict[str, Any], row: list[Any]) -> list[list[int]]:
    """(start, end) of a lamp's sessions: on-times with short gaps between them are one."""
    found: list[list[int]] = []
    for value, start, end in runs(held(row) if rules["hold"] else row):
        if value != 1:
            continue
        if found and start - found[-1][1] <= rules["join"]:
            found[-1][1] = end
        else:
            found.append([start, end])
    return found


def station_at(rules: dict[str, Any], lamp: str, start: int) -> str:
    """Who has the lamp at that time: the last change that is not later."""
    known = [c for c in rules["changes"] if c[0] == lamp and c[1] * 10 <= start]
    known = known if rules["follow"] else known[:1]
    return str(known[-1][2])


def reported(rules: dict[str, Any], states: dict[str, list[Any]]) -> dict[str, list[list[Any]]]:
    """The rows of every table but that of differences, by table."""
    kept: list[list[Any]] = []
    aside: list[list[Any]] = []
    for lamp, row in states.items():
        for start, end in sessions(rules, row):
            if end - start < rules["least"]:
                aside.append([lamp, start, end, rules["reasons"][0]])
            elif end - start > rules["most"]:
                aside.append([lamp, start, end, rules["reasons"][1]])
            else:
                kept.append([station_at(rules, lamp, start), start, end])
    unseen = runs(next(iter(states.values())))
    missing = [[s, e, {"w": "white", "b": "black"}[v]] for v, s, e in unseen if v in ("w", "b")]
    totals = []
    for name in sorted({change[2] for change in rules["changes"]}):
        spans = [end - start for station, start, end in kept if station == name]
        totals.append([name, len(spans), sum(spans), max(spans, default=0)])
    return {"sessions": kept, "set_aside": aside, "missing": missing, "totals": totals}


def differences(
    rules: dict[str, Any], kept: list[list[Any]], logged: list[tuple[str, int]]
) -> list[list[Any]]:
    """What only the film or only the log has; both say nearly the same start."""
    near = rules["near"]
    film = [
        ["not_logged", station, start]
        for station, start, _ in kept
        if not any(n == station and abs(t - start) <= near for n, t in logged)
    ]
    log = [
        ["not_filmed", station, start]
        for station, start in logged
        if not any(n == station and abs(s - start) <= near for n, s, _ in kept)
    ]
    return film + log


def clock(rules: dict[str, Any], tenths: int) -> str:
    """A time as it is written."""
    if rules["style"] == "seconds":
        return f"{tenths // 10}.{tenths % 10}"
    seconds = rules["first"] + tenths // 10
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{tenths % 10}"


TIMES = {"sessions": (1, 2), "set_aside": (1, 2), "missing": (0, 1), "differences": (2,)}


def written(rules: dict[str, Any], table: str, row: list[Any]) -> list[str]:
    """The cells of a row."""
    if table == "totals":
        return [row[0], str(row[1]), *(f"{n // 10}.{n % 10}" for n in row[2:])]
    return [clock(rules, v) if at in TIMES[table] else str(v) for at, v in enumerate(row)]
