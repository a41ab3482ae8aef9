"""One day's stream: sightings of records, faults in them, and the bytes that carry them."""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from envgen.authors.procedural.feed_cleaning.rules import ROLES, WIDTHS, Feed, Rules

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True)
class Sighting:
    """A record as one feed has it: what it means, and the raw text of each field."""

    feed: int
    key: str
    name: str
    date: str
    amount: int
    """Minor units."""
    code: str
    quantity: int
    raw: tuple[str, ...]
    """By role, in the order of `ROLES`."""
    faults: frozenset[int] = frozenset()
    """0: the line itself is unreadable; 1 to 6: the role's value is bad."""
    line: int = 0


@dataclass(frozen=True)
class Stream:
    data: bytes
    sightings: tuple[Sighting, ...]
    """In stream order, each with its line number."""


def draw(rng: random.Random, rules: Rules, size: int) -> Stream:
    """About `size` records, most of them seen more than once."""
    sightings = []
    for key in _keys(rng, rules, size):
        sightings += _sightings(rng, rules, key)
    for place in rng.sample(range(len(sightings)), max(12, len(sightings) // 5)):
        sightings[place] = _spoiled(rng, rules, sightings[place])
    rng.shuffle(sightings)
    return _assembled(rng, rules, sightings)


def _keys(rng: random.Random, rules: Rules, size: int) -> list[str]:
    s = rules.scenario
    found: dict[str, None] = {}
    while len(found) < size:
        letters = "".join(rng.choice("ABCDEFGHJKLMNPQRSTUVWXYZ") for _ in range(s.letters))
        found[f"{letters}-{rng.randrange(10**s.digits):0{s.digits}d}"] = None
    return list(found)


def _sightings(rng: random.Random, rules: Rules, key: str) -> list[Sighting]:
    """The same key several times, with dates and amounts that tie now and then."""
    s = rules.scenario
    dates = [_date(rng), _date(rng)]
    amounts = [rng.randrange(100, 400_000), rng.randrange(100, 3_000)]
    name = f"{rng.choice(s.nouns)} {rng.choice(s.makers)}"
    found = []
    for _ in range(rng.choice((1, 1, 2, 2, 3, 4))):
        feed = rng.randrange(len(rules.feeds))
        code = rng.choice((*s.codes, ""))
        quantity = rng.choice((rng.randrange(1, 40), rng.randrange(1, 40), -1))
        amount = rng.choice(amounts) * rng.choice((1, 1, 1, -1))
        shown = name if rng.random() < 0.7 else f"{rng.choice(s.nouns)} {rng.choice(s.makers)}"
        found.append(_one(rng, rules, feed, key, shown, rng.choice(dates), amount, code, quantity))
    return found


def _date(rng: random.Random) -> str:
    return f"{rng.randrange(2019, 2025)}-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}"


def _one(
    rng: random.Random,
    rules: Rules,
    nth: int,
    key: str,
    name: str,
    date: str,
    amount: int,
    code: str,
    quantity: int,
) -> Sighting:
    """`code` empty and `quantity` -1 stand for an empty field, which has a default."""
    feed = rules.feeds[nth]
    raw = (
        _key_text(rng, key),
        name.replace(" ", rng.choice((" ", " ", "  "))),
        date_text(rng, feed, date),
        amount_text(rng, feed, amount),
        _cased(rng, feed.codes[rules.scenario.codes.index(code)]) if code else "",
        "" if quantity < 0 else str(quantity),
    )
    known_code = code or rules.default_code
    known = int(rules.default_quantity) if quantity < 0 else quantity * feed.factor
    return Sighting(nth, key, name, date, amount, known_code, known, raw)


def _key_text(rng: random.Random, key: str) -> str:
    text = rng.choice(
        (key, key, key.replace("-", ""), key.replace("-", " "), key.replace("-", "/"))
    )
    return _cased(rng, text)


def _cased(rng: random.Random, text: str) -> str:
    return rng.choice((text, text, text.lower(), text.upper()))


def date_text(rng: random.Random, feed: Feed, date: str) -> str:
    """A date as the feed writes it; leading zeros come and go where no width is fixed."""
    year, month, day = date.split("-")
    if feed.date in ("dots", "us", "words") and rng.random() < 0.4:
        month, day = month.lstrip("0"), day.lstrip("0")
    return {
        "iso": date,
        "dots": f"{day}.{month}.{year}",
        "us": f"{month}/{day}/{year}",
        "compact": f"{year}{month}{day}",
        "words": f"{day} {MONTHS[int(month) - 1]} {year}",
        "short": f"{day}.{month}.{year[2:]}",
    }[feed.date]


def amount_text(rng: random.Random, feed: Feed, amount: int) -> str:
    """An amount as the feed writes it, sometimes with thousands separators."""
    sign, whole, part = "-" if amount < 0 else "", abs(amount) // 100, abs(amount) % 100
    if feed.amount == "minor":
        return f"{sign}{abs(amount)}"
    grouped = f"{whole:,}" if rng.random() < 0.5 else str(whole)
    if part == 0 and rng.random() < 0.5:
        text = f"{sign}{grouped}"
    elif part % 10 == 0 and rng.random() < 0.5:
        text = f"{sign}{grouped}.{part // 10}"
    else:
        text = f"{sign}{grouped}.{part:02d}"
    if feed.amount == "comma":
        return text.translate(str.maketrans(",.", ".,"))
    return f"EUR {text}" if feed.amount == "currency" else text


# -- faults -------------------------------------------------------------------------------------


def _spoiled(rng: random.Random, rules: Rules, sighting: Sighting) -> Sighting:
    """One fault, or two, so that the order of the reasons matters."""
    if rng.random() < 0.2:
        return replace(sighting, faults=frozenset({0}))
    faults = rng.sample(range(1, 7), rng.choice((1, 2, 2)))
    raw = list(sighting.raw)
    for fault in faults:
        raw[fault - 1] = _bad_value(rng, rules, sighting, fault)
    return replace(sighting, raw=tuple(raw), faults=frozenset(faults))


def _bad_value(rng: random.Random, rules: Rules, sighting: Sighting, fault: int) -> str:
    feed, key = rules.feeds[sighting.feed], sighting.key
    other_date = "2021-02-30" if feed.date == "iso" else "2021-03-04"
    choices = {
        1: (key[:-1], key + "7", key[1:], "", "pending"),
        2: ("", "   "),
        3: ("", "unknown", other_date, _impossible(feed)),
        4: ("", "free", "12:50", "USD 5", "1e4", "--3"),
        5: ("zz9", "misc", "???"),
        6: ("many", "-4", "2.5", "1e3"),
    }
    return rng.choice(choices[fault])


def _impossible(feed: Feed) -> str:
    return {
        "iso": "2023-13-01",
        "dots": "31.04.2022",
        "us": "13/13/2022",
        "compact": "20230229",
        "words": "31 Jun 2023",
        "short": "30.02.21",
    }[feed.date]


# -- bytes --------------------------------------------------------------------------------------


def _assembled(rng: random.Random, rules: Rules, sightings: Sequence[Sighting]) -> Stream:
    """Parts of a feed each, in turn, until all sightings are out."""
    waiting: dict[int, list[Sighting]] = {}
    for sighting in sightings:
        waiting.setdefault(sighting.feed, []).append(sighting)
    lines: list[bytes] = []
    placed: list[Sighting] = []
    previous = -1
    while waiting:
        nth = rng.choice([n for n in sorted(waiting) if n != previous] or sorted(waiting))
        previous = nth
        queue = waiting[nth]
        part = [queue.pop() for _ in range(min(len(queue), rng.randrange(3, 10)))]
        if not queue:
            del waiting[nth]
        _part(rng, rules, rules.feeds[nth], part, lines, placed)
        if rng.random() < 0.15:
            lines += [f"{rules.marker}{rules.stranger}".encode(), b"not;for;us", b"nor this"]
    return Stream(b"\n".join(lines) + b"\n", tuple(placed))


def _part(
    rng: random.Random,
    rules: Rules,
    feed: Feed,
    part: Sequence[Sighting],
    lines: list[bytes],
    placed: list[Sighting],
) -> None:
    lines.append(f"{rules.marker}{feed.name}".encode())
    header: list[str] = []
    if feed.format in ("csv", "tsv"):
        header = [*feed.columns, feed.extra]
        rng.shuffle(header)
        mark = b"\xef\xbb\xbf" if feed.encoding == "bom" else b""
        lines.append(mark + feed.delimiter.join(header).encode())
    for sighting in part:
        while rng.random() < 0.12:
            lines.append(rng.choice((b"", f"{rules.quiet} alive {rng.randrange(999)}".encode())))
        text = _line(rng, feed, sighting, header)
        lines.append(_encoded(rng, feed, text))
        placed.append(replace(sighting, line=len(lines)))


def _line(rng: random.Random, feed: Feed, sighting: Sighting, header: Sequence[str]) -> str:
    broken = 0 in sighting.faults
    padded = [_padded(rng, feed, value) for value in sighting.raw]
    fields = dict(zip(feed.columns, padded, strict=True))
    extra = rng.choice(("", "ok", "see file", str(rng.randrange(100))))
    if feed.format in ("csv", "tsv"):
        cells = [(fields | {feed.extra: extra})[column] for column in header]
        if broken:
            cells = rng.choice((cells[:-1], cells[:3], [*cells, "surplus"]))
        return feed.delimiter.join(_cell(rng, feed, cell) for cell in cells)
    if feed.format == "jsonl":
        return _json(rng, fields | {feed.extra: extra}, broken)
    if feed.format == "pairs":
        pairs = [f"{column}={value}" for column, value in (fields | {feed.extra: extra}).items()]
        pairs = [p for p in pairs if not p.endswith("=") or rng.random() < 0.5]
        rng.shuffle(pairs)
        if broken:
            pairs.insert(rng.randrange(len(pairs) + 1), rng.choice(("see note", "cont.")))
        return "; ".join(pairs)
    by_role = dict(zip(ROLES, sighting.raw, strict=True))
    text = "".join(by_role[role].ljust(WIDTHS[role]) for role in feed.layout)
    return rng.choice((text[:-3], text + "  x", text[:40])) if broken else text


def _padded(rng: random.Random, feed: Feed, value: str) -> str:
    return f"{rng.choice(('', ' ', '  '))}{value}{rng.choice(('', ' '))}" if value else value


def _cell(rng: random.Random, feed: Feed, value: str) -> str:
    if feed.format == "csv" and (feed.delimiter in value or rng.random() < 0.2):
        return f'"{value}"'
    return value


def _json(rng: random.Random, fields: dict[str, str], broken: bool) -> str:
    items: list[tuple[str, str | int | None]] = []
    for column, value in fields.items():
        if not value:
            kind = rng.choice(("empty", "null", "absent"))
            if kind != "absent":
                items.append((column, None if kind == "null" else ""))
        else:
            items.append((column, value))
    rng.shuffle(items)
    text = json.dumps(dict(items), ensure_ascii=rng.random() < 0.4)
    if broken:
        return rng.choice(
            (text[:-1], text[: len(text) // 2], json.dumps(list(fields)[:3]), "{" + text)
        )
    return text


def _encoded(rng: random.Random, feed: Feed, text: str) -> bytes:
    if feed.encoding == "latin1" or (feed.encoding == "mixed" and rng.random() < 0.5):
        return text.encode("latin-1")
    if feed.encoding == "twice":
        return text.encode().decode("latin-1").encode()
    return text.encode()
