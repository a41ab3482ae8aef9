# mypy: ignore-errors
"""Tables from one pixel a frame for each lamp: make.py RULES.json FOLDER"""

import json
import sys
from pathlib import Path

from truth import differences, reported, written

rules = json.loads(Path(sys.argv[1]).read_text())
folder = Path(sys.argv[2])
top, bottom = ((folder / name).read_bytes() for name in ("top", "bottom"))


def blank(number):
    values = (top[number], bottom[number])
    return "w" if min(values) > 225 else "b" if max(values) < 20 else ""


states = {}
for lamp in rules["positions"]:
    data = (folder / lamp).read_bytes()
    levels = [max(data[n : n + 3]) for n in range(0, len(data), 3)]
    seen = [level for n, level in enumerate(levels) if not blank(n)]
    limit = (min(seen) + max(seen)) / 2
    states[lamp] = [blank(n) or int(level > limit) for n, level in enumerate(levels)]

made = reported(rules, states)
if rules["large"]:
    log = (Path(rules["folder"]) / "log.csv").read_text().split("\n")[1:-1]
    pairs = [line.split(",") for line in log]
    known = [(name, int(start) * 10) for name, start in pairs]
    made["differences"] = differences(rules, made["sessions"], known)
else:
    del made["totals"]
for name, rows in made.items():
    lines = [rules["columns"][name], *(",".join(written(rules, name, row)) for row in rows)]
    Path(f"{name}.csv").write_text(
        "\n".join(lines[: 1 if rules.get("headers_only") else None]) + "\n"
    )
