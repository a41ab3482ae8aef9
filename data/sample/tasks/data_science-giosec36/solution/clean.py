# mypy: ignore-errors
"""Reads the extract as NOTES.md explains it: one clean record per row."""

import csv
import datetime
import json
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
SETTINGS = json.loads((HERE / "settings.json").read_text())
ROOT = pathlib.Path(SETTINGS["root"])


def read(stream):
    """Records with real dates, numbers in one unit, and None for what is missing."""
    return [_record(row) for row in csv.DictReader(stream)]


def _record(row):
    entity = row[SETTINGS["entity"]]
    if SETTINGS["old_code"] and entity == SETTINGS["old_code"]:
        entity = SETTINGS["renamed"]
    day = _day(row["date"])
    other = _other_unit(row, entity, day)
    values, converted = [], 0
    for name, gap in zip(SETTINGS["drivers"], SETTINGS["gaps"], strict=True):
        value = None if row[name] == gap else float(row[name].replace(",", "."))
        if value is not None and other and name == SETTINGS["mixed"]["column"]:
            value = (value - SETTINGS["mixed"]["offset"]) / SETTINGS["mixed"]["factor"]
            converted += 1
        values.append(value)
    text = row.get(SETTINGS["target"]) or ""
    return {
        "id": row["row_id"],
        "entity": entity,
        "day": day,
        "slot": row[SETTINGS["slot"]] if SETTINGS["slot"] else "",
        "values": values,
        "converted": converted,
        "y": float(text) if text else None,
    }


def _day(text):
    if "." in text:
        day, month, year = map(int, text.split("."))
        return datetime.date(year, month, day)
    return datetime.date.fromisoformat(text)


def _other_unit(row, entity, day):
    mixed = SETTINGS["mixed"]
    if mixed["rule"] == "logger":
        return row["logger"] == "B"
    if mixed["rule"] == "until":
        return day < datetime.date.fromisoformat(mixed["until"])
    return entity in mixed["entities"]


def training():
    """Kept records of train.csv, and the counts of what happened on the way."""
    with open(ROOT / "train.csv", newline="") as stream:
        records = read(stream)
    last = {}
    for record in sorted(records, key=lambda r: r["id"]):
        last[record["entity"], record["day"], record["slot"]] = record
    kept = [record for record in last.values() if record["y"] is not None]
    counts = {
        "rows_read": len(records),
        "resends_dropped": len(records) - len(last),
        "blank_targets_dropped": len(last) - len(kept),
        "rows_kept": len(kept),
        "missing_cells": {
            name: sum(r["values"][i] is None for r in kept)
            for i, name in enumerate(SETTINGS["drivers"])
        },
        "converted_cells": sum(r["converted"] for r in kept),
    }
    return kept, counts


def table(name):
    """First column -> second column of a small side table."""
    with open(ROOT / name, newline="") as stream:
        return {row[0]: row[1] for row in list(csv.reader(stream))[1:]}
