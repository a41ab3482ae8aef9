"""One month of records: gateways with formats of their own, and what is wrong with batches."""

import json
import random
from dataclasses import dataclass
from typing import Any

from .truth import minutes_at, told

STORIES = (
    ("charging stations", "kWh", ("ac", "dc"), "CH", ("road", "mall", "depot")),
    ("a telephone exchange", "minutes", ("call", "fax"), "TL", ("north", "harbour", "hill")),
    ("a car park operator", "minutes", ("bay", "roof"), "PK", ("station", "arena", "market")),
    ("a print service", "sheets", ("mono", "colour"), "PR", ("library", "campus", "office")),
    ("a water company", "litres", ("cold", "warm"), "WA", ("east", "west", "spring")),
    ("a cloud archive", "requests", ("get", "put"), "CL", ("ams", "osl", "tll")),
)
PLANS = ("basic", "plus", "club", "trade")
FORMATS = ("csv", "jsonl", "fixed")
ENDINGS = {"csv": "csv", "jsonl": "jsonl", "fixed": "dat"}
COLUMNS = (
    ("id", "customer", "when", "units", "kind"), ("ref", "client", "time", "amount", "type"),
    ("no", "account", "begin", "count", "class"),
)  # fmt: skip


@dataclass(frozen=True)
class Month:
    """All that is handed over, read and as files."""

    rules: dict[str, Any]
    control: dict[str, tuple[int, int]]
    batches: dict[str, list[dict[str, Any]]]
    customers: dict[str, list[tuple[str, str]]]
    plans: dict[tuple[str, str], tuple[int, int]]
    ledger: dict[str, int]
    files: dict[str, str]


def draw(rng: random.Random) -> Month:
    story = rng.choice(STORIES)
    rules = _rules(rng, story)
    customers = _customers(rng, rules)
    plans = {
        (plan, kind): (rules["step"] * rng.randrange(0, 30), rng.randrange(3, 40))
        for plan in PLANS
        for kind in rules["kinds"]
    }
    batches = _batches(rng, rules, customers)
    control = {f: (len(b), _total(b)) for f, b in batches.items()}
    names = sorted(control)
    rng.shuffle(names)
    control = {name: control[name] for name in names}
    spoiled = rng.sample(names, 4)
    count, total = control[spoiled[0]]
    control[spoiled[0]] = (count + rng.choice((1, 2)), total)
    count, total = control[spoiled[1]]
    control[spoiled[1]] = (count, total + rng.choice((-9, 10, 100)))
    del batches[spoiled[2]], control[spoiled[3]]
    ledger = {
        name: rng.randrange(100, 9000)
        for name in rng.sample(sorted(customers), len(customers) * 2 // 3)
    }
    files = {name: _written(rules, name, batch) for name, batch in batches.items()}
    return Month(rules, control, batches, customers, plans, ledger, files)


def _total(batch: list[dict[str, Any]]) -> int:
    return sum(int(r["units"]) for r in batch if r["units"].isdigit())


def _rules(rng: random.Random, story: tuple[Any, ...]) -> dict[str, Any]:
    gateways = {}
    for name, form in zip(story[4], rng.sample(FORMATS, 3), strict=True):
        gateways[name] = {
            "format": form,
            "offset": 0 if form == "jsonl" else rng.choice((-300, -210, 60, 120, 330, 345, 540)),
            "columns": list(rng.choice(COLUMNS)),
            "delimiter": rng.choice((",", ";", "|")),
        }
    return {
        "of": story[0], "unit": story[1], "kinds": list(story[2]), "letters": story[3],
        "gateways": gateways, "month": f"20{rng.randrange(21, 26)}-{rng.randrange(2, 12):02d}",
        "limit": rng.choice((400, 500, 600)), "step": rng.choice((1, 5, 6, 10)),
        "winner": rng.choice(("first", "last")), "reduced": rng.choice(("weekend", "night")),
        "night": [rng.choice((21, 22, 23)), rng.choice((5, 6, 7))],
        "quarantine": True, "outside": True, "voiding": True,
    }  # fmt: skip


def _customers(rng: random.Random, rules: dict[str, Any]) -> dict[str, list[tuple[str, str]]]:
    """Histories of plans; one starts within the month."""
    found = {}
    month = rules["month"]
    for number in rng.sample(range(1000, 9999), 14):
        plan = rng.choice(PLANS)
        history = [(f"20{rng.randrange(17, 21)}-{rng.randrange(1, 13):02d}-01", plan)]
        if rng.random() < 0.5:
            other = rng.choice([p for p in PLANS if p != plan])
            history.append((f"{month}-{rng.randrange(5, 25):02d}", other))
        found[f"C{number}"] = history
    late = rng.choice(sorted(found))
    found[late] = [(f"{month}-15", rng.choice(PLANS))]
    return found


def _batches(
    rng: random.Random, rules: dict[str, Any], customers: dict[str, Any]
) -> dict[str, list[dict[str, Any]]]:
    known, numbers = sorted(customers), rng.sample(range(10**5, 10**6), 400)
    year, month = map(int, rules["month"].split("-"))
    start = minutes_at(year, month, 1)
    length = minutes_at(year, month + 1, 1) - start
    batches: dict[str, list[dict[str, Any]]] = {}
    earlier: list[dict[str, Any]] = []
    for name, gateway in rules["gateways"].items():
        for nth in range(1, 5):
            file = f"{name}-{nth}.{ENDINGS[gateway['format']]}"
            batch = []
            for _ in range(rng.randrange(9, 15)):
                when = start + rng.randrange(length)
                if rng.random() < 0.15:  # near either end, on either side by another clock
                    when = rng.choice((start, start + length)) + rng.randrange(-400, 400)
                much = rng.choice((60, rules["limit"] + 40))
                batch.append({
                    "file": file, "id": f"{rules['letters']}{numbers.pop()}", "when": when,
                    "customer": rng.choice(known) if rng.random() < 0.95 else "C0000",
                    "units": str(rng.randrange(1, much)), "kind": rng.choice(rules["kinds"]),
                })  # fmt: skip
            batch[0]["units"] = rng.choice(("0", str(rules["limit"] + 1), str(rules["limit"])))
            for old in rng.sample(earlier, min(2, len(earlier))):
                changed = {"file": file, "units": str(rng.randrange(1, 200))}
                batch.append({**old, **changed, "when": old["when"] + rng.randrange(-60, 60)})
            for old in rng.sample(earlier, min(1, len(earlier))):
                batch.append({**old, "file": file, "units": "0", "kind": "void"})
            rng.shuffle(batch)
            batches[file] = batch
            earlier += [r for r in batch if r["kind"] != "void"]
    return batches


def _written(rules: dict[str, Any], name: str, batch: list[dict[str, Any]]) -> str:
    gateway = rules["gateways"][name.partition("-")[0]]
    names, lines = gateway["columns"], []
    for record in batch:
        local = told(record["when"] + gateway["offset"])
        cells = [record["id"], record["customer"], local, record["units"], record["kind"]]
        if gateway["format"] == "csv":
            lines.append(gateway["delimiter"].join(cells))
        elif gateway["format"] == "jsonl":
            cells[2:4] = [record["when"] * 60, int(record["units"])]
            lines.append(json.dumps(dict(zip(names, cells, strict=True))))
        else:
            short = local.translate({ord(c): None for c in "-: "})
            lines.append(f"{cells[0]:<10}{cells[1]:<8}{short}{cells[3]:>6} {cells[4]:<8}")
    if gateway["format"] == "csv":
        lines.insert(0, gateway["delimiter"].join(names))
    return "".join(f"{line}\n" for line in lines)
