"""Sums up a request log by time window and source."""

import sys
from typing import Dict, List, Optional, Tuple

WINDOW = 60
LATENESS = 30
PERCENTILE = 90
ERROR_LEVELS = ("ERROR", "FATAL")

Entry = Tuple[int, str, str, int]


class Cell:
    """What is known about one source in one window."""

    def __init__(self) -> None:
        self.errors = 0
        self.millis: List[int] = []

    def add(self, level: str, millis: int) -> None:
        self.millis.append(millis)
        if level.upper() in ERROR_LEVELS:
            self.errors += 1

    def mean(self) -> int:
        total, count = sum(self.millis), len(self.millis)
        return (2 * total + count) // (2 * count)

    def percentile(self) -> int:
        ordered = sorted(self.millis)
        rank = (PERCENTILE * len(ordered) + 99) // 100
        return ordered[rank - 1]

    def report(self) -> str:
        return (
            f"n={len(self.millis)} err={self.errors} max={max(self.millis)}"
            f" mean={self.mean()} p{PERCENTILE}={self.percentile()}"
        )


def parse(line: str) -> Optional[Entry]:
    """Time, level, source and milliseconds; None for a line that is not an entry."""
    fields = line.split()
    if len(fields) != 4:
        return None
    time, level, source, millis = fields
    if not (time.isdigit() and millis.isdigit()):
        return None
    return int(time), level, source, int(millis)


class Summary:
    """All windows of one log, in the order in which its lines arrive."""

    def __init__(self) -> None:
        self.windows: Dict[int, Dict[str, Cell]] = {}
        self.watermark = 0
        self.late = 0
        self.bad = 0

    def feed(self, line: str) -> None:
        if not line.strip() or line.startswith("#"):
            return
        entry = parse(line)
        if entry is None:
            self.bad += 1
            return
        time, level, source, millis = entry
        start = time - time % WINDOW
        self.watermark = max(self.watermark, time)
        if start + WINDOW + LATENESS <= self.watermark:
            self.late += 1
            return
        cells = self.windows.setdefault(start, {})
        cells.setdefault(source, Cell()).add(level, millis)

    def lines(self) -> List[str]:
        out = []
        if self.windows:
            first, last = min(self.windows), max(self.windows)
            for start in range(first, last + WINDOW, WINDOW):
                cells = self.windows.get(start, {})
                if not cells:
                    out.append(f"{start} -")
                for source in sorted(cells):
                    out.append(f"{start} {source} {cells[source].report()}")
        out.append(f"late {self.late}")
        out.append(f"bad {self.bad}")
        return out


def run(text: str) -> str:
    summary = Summary()
    for line in text.split("\n"):
        summary.feed(line)
    return "\n".join(summary.lines()) + "\n"


if __name__ == "__main__":
    sys.stdout.write(run(sys.stdin.read()))
