#!/usr/bin/env python3
"""One pass over the stream of feeds: usage: normalise.py REJECTS < stream > records"""

import csv
import json
import re
import sys
from datetime import datetime

FEEDS = {'octano': {'rank': 0,
            'format': 'pairs',
            'delimiter': '',
            'encoding': 'utf8',
            'columns': {'key': 'number',
                        'name': 'description',
                        'date': 'day',
                        'amount': 'net_total',
                        'code': 'group',
                        'quantity': 'qty'},
            'layout': [['key', 12],
                       ['code', 12],
                       ['name', 34],
                       ['amount', 16],
                       ['date', 12],
                       ['quantity', 8]],
            'date': 'compact',
            'amount': 'dot',
            'codes': {'t6-dies1': 'diesel',
                      't6-petr2': 'petrol',
                      't6-gas3': 'gas',
                      't6-adbl4': 'adblue'},
            'factor': 1},
 'tankwerk': {'rank': 1,
              'format': 'fixed',
              'delimiter': '',
              'encoding': 'utf8',
              'columns': {'key': 'item_no',
                          'name': 'description',
                          'date': 'day',
                          'amount': 'worth',
                          'code': 'type',
                          'quantity': 'units'},
              'layout': [['date', 12],
                         ['key', 12],
                         ['quantity', 8],
                         ['amount', 16],
                         ['code', 12],
                         ['name', 34]],
              'date': 'us',
              'amount': 'dot',
              'codes': {'m': 'diesel', 'u': 'petrol', 'c': 'gas', 'd': 'adblue'},
              'factor': 10},
 'kraftkarte': {'rank': 2,
                'format': 'csv',
                'delimiter': ';',
                'encoding': 'latin1',
                'columns': {'key': 'ref',
                            'name': 'text',
                            'date': 'posted_on',
                            'amount': 'sum',
                            'code': 'type',
                            'quantity': 'count'},
                'layout': [['key', 12],
                           ['code', 12],
                           ['quantity', 8],
                           ['amount', 16],
                           ['name', 34],
                           ['date', 12]],
                'date': 'short',
                'amount': 'comma',
                'codes': {'t4-dies1': 'diesel',
                          't4-petr2': 'petrol',
                          't4-gas3': 'gas',
                          't4-adbl4': 'adblue'},
                'factor': 1}}
PRIORITY = list(FEEDS)
LABELS = {'key': 'receipt', 'name': 'station', 'date': 'fuelled', 'amount': 'cost', 'code': 'fuel', 'quantity': 'millilitres'}
DATES = {
    "iso": (r"\d{4}-\d\d-\d\d", "%Y-%m-%d"),
    "dots": (r"\d\d?\.\d\d?\.\d{4}", "%d.%m.%Y"),
    "us": (r"\d\d?/\d\d?/\d{4}", "%m/%d/%Y"),
    "compact": (r"\d{8}", "%Y%m%d"),
    "words": (r"\d\d? [A-Z][a-z]{2} \d{4}", "%d %b %Y"),
    "short": (r"\d\d?\.\d\d?\.\d\d", "%d.%m.%y"),
}


class Fault(Exception):
    """Its text is the reason."""


def decoded(line, encoding):
    if encoding == "latin1":
        return line.decode("latin-1")
    if encoding == "twice":
        return line.decode().encode("latin-1").decode()
    if encoding == "mixed":
        try:
            return line.decode()
        except UnicodeDecodeError:
            return line.decode("latin-1")
    return line.decode("utf-8-sig" if encoding == "bom" else "utf-8")


def split(feed, text, header):
    """Role -> trimmed raw value."""
    kind, names = feed["format"], feed["columns"]
    if kind in ("csv", "tsv"):
        quoting = csv.QUOTE_MINIMAL if kind == "csv" else csv.QUOTE_NONE
        cells = next(csv.reader([text], delimiter=feed["delimiter"], quoting=quoting))
        if len(cells) != len(header):
            raise Fault("bad-line")
        raw = dict(zip(header, cells))
    elif kind == "jsonl":
        try:
            raw = json.loads(text)
        except ValueError:
            raise Fault("bad-line") from None
        if not isinstance(raw, dict):
            raise Fault("bad-line")
    elif kind == "pairs":
        pieces = text.split(";")
        if not all("=" in piece for piece in pieces):
            raise Fault("bad-line")
        raw = {name.strip(): value for name, _, value in (p.partition("=") for p in pieces)}
    else:
        if len(text) != 94:
            raise Fault("bad-line")
        raw, at = {}, 0
        for role, width in feed["layout"]:
            raw[names[role]] = text[at : at + width]
            at += width
    return {role: (raw.get(name) or "").strip(" ") for role, name in names.items()}


def key_of(feed, value):
    letters = re.sub("[^A-Z0-9]", "", value.upper())
    found = re.fullmatch("([A-Z]{2})([0-9]{5})", letters)
    return found and f"{found[1]}-{found[2]}"


def name_of(feed, value):
    return re.sub(" +", " ", value) or None


def date_of(feed, value):
    pattern, layout = DATES[feed["date"]]
    if not re.fullmatch(pattern, value, re.ASCII):
        return None
    try:
        return datetime.strptime(value, layout).date().isoformat()
    except ValueError:
        return None


def amount_of(feed, value):
    style = feed["amount"]
    if style == "minor":
        return int(value) if re.fullmatch("-?[0-9]+", value) else None
    if style == "currency":
        if not value.startswith("EUR "):
            return None
        value = value[4:].strip(" ")
    if style == "comma":
        value = value.replace(".", "").replace(",", ".")
    found = re.fullmatch(r"(-?)([0-9]+)(?:\.([0-9]{1,2}))?", value.replace(",", ""))
    if not found:
        return None
    return int(found[1] + found[2] + (found[3] or "").ljust(2, "0"))


def code_of(feed, value):
    return feed["codes"].get(value.lower()) if value else "adblue"


def quantity_of(feed, value):
    if not value:
        return 0
    return int(value) * feed["factor"] if re.fullmatch("[0-9]+", value) else None


STEPS = [
    ("amount", amount_of, "bad-amount"),
    ("key", key_of, "bad-key"),
    ("name", name_of, "no-name"),
    ("quantity", quantity_of, "bad-quantity"),
    ("date", date_of, "bad-date"),
    ("code", code_of, "bad-code"),
]


def record_of(feed, text, header):
    raw = split(feed, text, header)
    record = {}
    for role, step, reason in STEPS:
        record[role] = step(feed, raw[role])
        if record[role] is None:
            raise Fault(reason)
    return record


def better(new, old):
    """Whether a later record of the same key replaces the one that is kept."""
    return True


def read(stream, rejects, counts):
    kept, name, header = {}, None, None
    for number, line in enumerate(stream, 1):
        line = line.rstrip(b"\n")
        if not line or line.startswith(b"~"):
            continue
        if line.startswith(b"=== "):
            name, header = line[4:].decode(), None
            continue
        if name not in FEEDS:
            continue
        feed = FEEDS[name]
        text = decoded(line, feed["encoding"])
        if header is None and feed["format"] in ("csv", "tsv"):
            header = text.split(feed["delimiter"])
            continue
        try:
            record = record_of(feed, text, header) | {"feed": name}
        except Fault as fault:
            rejects.write(f"{number}\t{name}\t{fault}\n")
            counts[name][1] += 1
            continue
        counts[name][0] += 1
        old = kept.get(record["key"])
        if old is None or better(record, old):
            kept[record["key"]] = record
    return list(kept.values())


def cells(record):
    sign, cents = "-" if record["amount"] < 0 else "", abs(record["amount"])
    amount = f"{sign}{cents // 100}.{cents % 100:02d}"
    shown = record | {"amount": amount}
    return [str(shown[column]) for column in ('amount', 'date', 'quantity', 'key', 'code', 'name')]


def main():
    counts = {name: [0, 0] for name in FEEDS}
    with open(sys.argv[1], "w", encoding="utf-8", newline="") as rejects:
        records = read(sys.stdin.buffer, rejects, counts)
    records.sort(key=lambda r: (-r["amount"], r["key"],))
    out = open(1, "w", encoding="utf-8", newline="")
    out.write('cost;fuelled;millilitres;receipt;fuel;station' + "\n")
    for record in records:
        out.write(';'.join(cells(record)) + "\n")
    out.close()


main()
