"""From batches of records to invoices: one function for each stage, in their order.

A record is a dict: file, id, customer, when (minutes since 1970, UTC), units (text), kind.
"""

import datetime
from typing import Any

Record = dict[str, Any]
EPOCH = datetime.date(1970, 1, 1).toordinal()


def minutes_at(year: int, month: int, day: int, hour: int = 0, minute: int = 0) -> int:
    days = datetime.date(year, month, day).toordinal() - EPOCH
    return days * 1440 + hour * 60 + minute


def told(minutes: int) -> str:
    days, rest = divmod(minutes, 1440)
    return f"{datetime.date.fromordinal(EPOCH + days)} {rest // 60:02d}:{rest % 60:02d}"


def quarantined(
    rules: dict[str, Any], control: dict[str, tuple[int, int]], batches: dict[str, list[Record]]
) -> list[tuple[str, str]]:
    """(file, reason) of each batch that cannot be trusted."""
    found: list[tuple[str, str]] = []
    for file, (count, total) in control.items():
        records = batches.get(file)
        if records is None:
            found.append((file, "missing"))
        elif len(records) != count:
            found.append((file, "count"))
        elif sum(int(r["units"]) for r in records if r["units"].isdigit()) != total:
            found.append((file, "sum"))
    found += [(file, "unlisted") for file in batches if file not in control]
    return sorted(found) if rules["quarantine"] else []


def plan_of(customers: dict[str, list[tuple[str, str]]], record: Record) -> str | None:
    """The plan that holds on the record's day, or None."""
    day = told(record["when"])[:10]
    known = [(start, plan) for start, plan in customers.get(record["customer"], ()) if start <= day]
    return max(known)[1] if known else None


def reason(
    rules: dict[str, Any], customers: dict[str, list[tuple[str, str]]], record: Record
) -> str:
    """Why a record is rejected; "" where it is good. The first that applies."""
    if record["kind"] != "void":
        units = record["units"]
        if not units.isdigit() or not 1 <= int(units) <= rules["limit"]:
            return "units"
    if rules["outside"] and not told(record["when"]).startswith(rules["month"]):
        return "outside"
    if record["kind"] != "void" and plan_of(customers, record) is None:
        return "customer"
    return ""


def settled(rules: dict[str, Any], good: list[Record]) -> tuple[list[Record], int, int, int]:
    """(records that count, how many voids, how many records they took away, how many replaced)."""
    voids = {r["id"] for r in good if r["kind"] == "void"} if rules["voiding"] else set()
    events = [r for r in good if r["kind"] != "void"]
    left = [r for r in events if r["id"] not in voids]
    kept: dict[str, Record] = {}
    for record in left:
        if record["id"] not in kept or rules["winner"] == "last":
            kept[record["id"]] = record
    return (
        list(kept.values()),
        len(good) - len(events),
        len(events) - len(left),
        len(left) - len(kept),
    )


def cheap(rules: dict[str, Any], when: int) -> bool:
    """Whether an event is at a reduced price."""
    days, rest = divmod(when, 1440)
    if rules["reduced"] == "weekend":
        return datetime.date.fromordinal(EPOCH + days).weekday() >= 5
    return bool(rest // 60 >= rules["night"][0] or rest // 60 < rules["night"][1])


def rated(
    rules: dict[str, Any],
    customers: dict[str, list[tuple[str, str]]],
    plans: dict[tuple[str, str], tuple[int, int]],
    records: list[Record],
) -> list[tuple[Any, ...]]:
    """Rows of id, customer, when, kind, plan, billed units, cents, by id."""
    used: dict[tuple[str, str], int] = {}
    rows: list[tuple[Any, ...]] = []
    for record in sorted(records, key=lambda r: (r["when"], r["id"])):
        plan = str(plan_of(customers, record))
        included, price = plans[plan, record["kind"]]
        step = rules["step"]
        units = -(-int(record["units"]) // step) * step
        key = record["customer"], record["kind"]
        before = used.get(key, 0)
        used[key] = before + units
        billed = max(0, min(units, used[key] - included))
        cents = billed * price
        if cheap(rules, record["when"]):
            cents = (cents + 1) // 2
        rows.append(
            (
                record["id"],
                record["customer"],
                told(record["when"]),
                record["kind"],
                plan,
                billed,
                cents,
            )
        )
    return sorted(rows)


def invoices(
    rows: list[tuple[Any, ...]], ledger: dict[str, int]
) -> list[tuple[str, int, int, int]]:
    """Rows of customer, events, cents, difference to what was booked before."""
    found = {customer: [0, 0] for customer in ledger}
    for row in rows:
        entry = found.setdefault(row[1], [0, 0])
        entry[0] += 1
        entry[1] += row[6]
    return [(c, n, cents, cents - ledger.get(c, 0)) for c, (n, cents) in sorted(found.items())]


def closed(
    rules: dict[str, Any],
    control: dict[str, tuple[int, int]],
    batches: dict[str, list[Record]],
    customers: dict[str, list[tuple[str, str]]],
    plans: dict[tuple[str, str], tuple[int, int]],
    ledger: dict[str, int],
) -> dict[str, list[str]]:
    """The lines of every output, by name."""
    away = quarantined(rules, control, batches)
    out = {file for file, _ in away}
    order = [f for f in control if f in batches] + sorted(f for f in batches if f not in control)
    read = [r for file in order if file not in out for r in batches[file]]
    judged = [(record, reason(rules, customers, record)) for record in read]
    rejected = sorted((r["id"], r["file"], why) for r, why in judged if why)
    good = [record for record, why in judged if not why]
    records, voids, voided, replaced = settled(rules, good)
    rows = rated(rules, customers, plans, records)
    bills = invoices(rows, ledger)
    everything = sum(map(len, batches.values()))
    balance = [
        ("read", everything), ("quarantined", everything - len(read)), ("rejected", len(rejected)),
        ("voids", voids), ("voided", voided), ("replaced", replaced), ("rated", len(rows)),
        ("cents", sum(row[6] for row in rows)),
    ]  # fmt: skip
    tables: dict[str, list[tuple[Any, ...]]] = {
        "quarantine.csv": [("file", "reason"), *away],
        "rejected.csv": [("id", "file", "reason"), *rejected],
        "rated.csv": [("id", "customer", "when", "kind", "plan", "billed", "cents"), *rows],
        "invoices.csv": [("customer", "events", "cents", "difference"), *bills],
    }
    lines = {n: [",".join(map(str, row)) for row in rows] for n, rows in tables.items()}
    return {**lines, "balance.txt": [f"{name} {value}" for name, value in balance]}
