"""A log aggregator: windows of time, late lines, percentiles."""

import random

from envgen.authors.procedural.broken_tool.model import Fault, Kind, Params, Spot

SOURCES = ("api", "auth", "cart", "mail", "pdf", "search")


def draw_params(rng: random.Random) -> Params:
    window = rng.choice((20, 30, 60, 90, 300))
    return {
        "WINDOW": window,
        "LATENESS": rng.choice((5, 10, 15, window)),
        "PERCENTILE": rng.choice((75, 80, 90, 95)),
        "ERROR_LEVELS": rng.choice((("ERROR", "FATAL"), ("ERROR", "CRITICAL"), ("FAIL", "ALERT"))),
    }


def draw_input(rng: random.Random, params: Params) -> str:
    """A short log in which most lines are near the edge of something."""
    window, late = int(str(params["WINDOW"])), int(str(params["LATENESS"]))
    levels = params["ERROR_LEVELS"]
    assert isinstance(levels, tuple)
    time, out = window * rng.choice((0, 1, 5, 8, 9, 98, 99)) + rng.randrange(window), []
    sources = rng.sample(SOURCES, rng.randint(1, 3))
    for _ in range(rng.randint(4, 16)):
        level = rng.choice((*levels, "INFO", "WARN", levels[0].lower(), levels[1].title(), "info"))
        millis = rng.choice((0, rng.randrange(10), rng.randrange(100, 900)))
        out.append(f"{time} {level} {rng.choice(sources)} {millis}")
        jump = rng.randrange(8)
        if jump == 0:
            time += window * rng.randint(1, 3)
        elif jump == 1 and rng.random() < 0.4:
            old = time
            time += window + late - time % window + rng.choice((-1, 0, 0, 0))
            out.append(f"{time} INFO {rng.choice(sources)} {rng.randrange(99)}")
            out.append(f"{old} {level} {rng.choice(sources)} {millis}")
        elif jump == 2:
            time = max(0, time - rng.choice((window, window + late, late, 1)))
        else:
            time += rng.randrange(1, max(2, window // 4))
        if rng.random() < 0.08:
            out.append(rng.choice(("", "# restart", f"{time} INFO", f"{time} INFO api -5", "x")))
    return "\n".join(out) + "\n"


KIND = Kind(
    name="windows",
    languages=("python",),
    about="sums up a request log by time window and source",
    names=("winsum", "logfold", "reqwindows", "slotstat"),
    owners=("the search cluster", "the mail gateways", "the ticket shop", "the timetable service"),
    draw_params=draw_params,
    draw_input=draw_input,
    faults=(
        Fault("late_edge", "A line that comes just too late for its window is still counted.", {
            "python": Spot(
                "if start + WINDOW + LATENESS <= self.watermark:",
                "if start + WINDOW + LATENESS < self.watermark:",
                "if self.watermark - start >= WINDOW + LATENESS:",
            )}),
        Fault("percentile", "Percentiles of small groups are lower than by hand.", {
            "python": Spot(
                "rank = (PERCENTILE * len(ordered) + 99) // 100",
                "rank = max(1, PERCENTILE * len(ordered) // 100)",
                "rank = -(-PERCENTILE * len(ordered) // 100)",
            )}),
        Fault("mean", "Means are sometimes lower by one than in our spreadsheet.", {
            "python": Spot(
                "return (2 * total + count) // (2 * count)",
                "return total // count",
                "return total // count + (1 if total % count * 2 >= count else 0)",
            )}),
        Fault("level_case", "Some errors are not counted as errors.", {
            "python": Spot(
                "if level.upper() in ERROR_LEVELS:",
                "if level in ERROR_LEVELS:",
                "if any(level.casefold() == known.casefold() for known in ERROR_LEVELS):",
            )}),
        Fault("watermark", "After a line that was out of order, late lines are let in again.", {
            "python": Spot(
                "self.watermark = max(self.watermark, time)",
                "self.watermark = time",
                "self.watermark = time if time > self.watermark else self.watermark",
            )}),
        Fault("last_window", "The end of the report is missing.", {
            "python": Spot(
                "for start in range(first, last + WINDOW, WINDOW):",
                "for start in range(first, max(last, first + 1), WINDOW):",
                "for start in range(first, last + 1, WINDOW):",
            )}),
        Fault("negative", "A line with a negative duration goes into the figures.", {
            "python": Spot(
                "if not (time.isdigit() and millis.isdigit()):",
                'if not (time.isdigit() and millis.lstrip("-").isdigit()):',
                "if not (time + millis).isdigit():",
            )}),
        Fault("shared_cells", "A source has figures in windows where it was silent, or they grow "
              "from window to window.", {
            "python": Spot(
                "cells.setdefault(source, Cell()).add(level, millis)",
                "known = [w[source] for w in self.windows.values() if source in w]\n"
                "        cell = known[0] if known else Cell()\n"
                "        cells.setdefault(source, cell).add(level, millis)",
                "if source not in cells:\n            cells[source] = Cell()\n"
                "        cells[source].add(level, millis)",
            )}),
    ),
)  # fmt: skip
