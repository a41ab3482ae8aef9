# mypy: ignore-errors
"""Finds and mends what drifted: mend.py RULES.json SHEET.txt, in the home folder."""

import json
import re
import sys
from pathlib import Path

from truth import deciding

rules = json.loads(Path(sys.argv[1]).read_text())
rules["version"] = tuple(rules["version"])
meant = {}
for line in Path(sys.argv[2]).read_text().splitlines():
    words = re.findall("[a-z0-9]+", line.lower())
    if len(words) == 2 and words[0] in rules["keys"]:
        meant[words[0]] = words[1]
root = Path(rules["service"])
files = {
    str(path.relative_to(root)): path.read_text()
    for path in root.rglob("*")
    if path.suffix in (".conf", ".inc", ".off")
}


found = deciding(rules, files)
out = [",".join(rules["columns"])]
for key in sorted(meant):
    value, path, number = found[key]
    if value == meant[key]:
        continue
    cells = dict(key=key, meant=meant[key], effective=value, file=path, line=str(number))
    out.append(",".join(cells[column] for column in rules["columns"]))
    lines = (root / path).read_text().splitlines()
    if rules["append"]:
        lines.insert(number if rules["last"] else number - 1, f"{key} = {meant[key]}")
    elif rules["mend"]:
        lines[number - 1] = f"{key} = {meant[key]}"
    (root / path).write_text("\n".join(lines) + "\n")
Path("drift.csv").write_text("\n".join(out) + "\n")
