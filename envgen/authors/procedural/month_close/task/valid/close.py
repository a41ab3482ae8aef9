# mypy: ignore-errors
"""The close in one program: close.py RULES.json, in the home folder."""

import csv
import json
import sys
from pathlib import Path

from truth import closed, minutes_at

DROPPED = {ord(char): None for char in "-: "}


def minutes(digits, offset):
    """Minutes since 1970 of `YYYYMMDDHHMM`, local."""
    parts = digits[:4], digits[4:6], digits[6:8], digits[8:10], digits[10:12]
    return minutes_at(*map(int, parts)) - offset


def batch(path, gateway):
    """The records of a file."""
    found = []
    lines = path.read_text().splitlines()
    for line in lines[gateway["format"] == "csv" :]:
        if gateway["format"] == "csv":
            one, customer, when, units, kind = line.split(gateway["delimiter"])
            at = minutes(when.translate(DROPPED), gateway["offset"])
        elif gateway["format"] == "jsonl":
            one, customer, when, units, kind = json.loads(line).values()
            at, units = when // 60, str(units)
        else:
            one, customer, when = line[:10].strip(), line[10:18].strip(), line[18:30]
            units, kind = line[30:36].strip(), line[37:].strip()
            at = minutes(when, gateway["offset"])
        cells = (path.name, one, customer, at, units, kind)
        found.append(dict(zip(("file", "id", "customer", "when", "units", "kind"), cells)))
    return found


def table(name):
    with open(name, newline="") as stream:
        return list(csv.reader(stream))[1:]


rules = json.loads(Path(sys.argv[1]).read_text())
batches = {
    path.name: batch(path, rules["gateways"][path.name.partition("-")[0]])
    for path in sorted(Path("in").iterdir())
    if path.name != "CONTROL.csv"
}
control = {file: (int(count), int(total)) for file, count, total in table("in/CONTROL.csv")}
customers = {}
for customer, since, plan in table("customers.csv"):
    customers.setdefault(customer, []).append((since, plan))
plans = {(plan, kind): (int(n), int(price)) for plan, kind, n, price in table("plans.csv")}
ledger = {customer: int(cents) for customer, cents in table("ledger.csv")}
Path("out").mkdir()
for name, lines in closed(rules, control, batches, customers, plans, ledger).items():
    Path("out", name).write_text("".join(f"{line}\n" for line in lines))
