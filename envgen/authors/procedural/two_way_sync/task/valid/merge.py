# mypy: ignore-errors
"""Merges the two trees by the rules: merge.py RULES.json, in the home folder."""

import json
import re
import sys
from pathlib import Path

from truth import digest, merged, report


def listed(rules):
    """Digests of the last common state by path."""
    text = Path(rules["root"], rules["list_name"]).read_text()
    forms = {
        "gnu": r"(?P<sum>[0-9a-f]{64})  (?P<path>.*)",
        "bsd": r"SHA256 \((?P<path>.*)\) = (?P<sum>[0-9a-f]{64})",
        "csv": r"(?P<path>.*),(?P<sum>[0-9a-f]{64})",
    }
    found = re.finditer(f"^{forms[rules['list_format']]}$", text, re.MULTILINE)
    return {match["path"]: match["sum"] for match in found}


def tree(root):
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def main(path):
    rules = json.loads(Path(path).read_text())
    left, right = (tree(Path(rules["root"], side)) for side in rules["sides"])
    base = listed(rules)
    if rules.get("no_base"):
        both = left.keys() & right.keys()
        base = {p: digest(left[p]) for p in both if left[p] == right[p]}
    files, rows = merged(rules, base, left, right)
    Path(rules["report"]).write_text("".join(f"{line}\n" for line in report(rules, rows)))
    for name, data in files.items():
        if not rules.get("no_files"):
            place = Path(rules["out"], name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)


main(sys.argv[1])
