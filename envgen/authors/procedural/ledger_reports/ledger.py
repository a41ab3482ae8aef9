"""The rows of one database, and the SQL dump that holds them."""

import datetime
import random
from collections.abc import Sequence
from dataclasses import dataclass

from envgen.authors.procedural.ledger_reports.rules import Rules
from envgen.authors.procedural.ledger_reports.scenarios import PEOPLE, REGIONS

FIRST = datetime.date(2022, 1, 1)
DAYS = 365


@dataclass(frozen=True)
class Place:
    id: int
    code: str
    name: str
    region: str | None


@dataclass(frozen=True)
class Party:
    id: int
    name: str
    segment: str | None
    joined: str


@dataclass(frozen=True)
class Event:
    id: int
    party: int | None
    place: int
    happened: str
    """A day, or a day and a time (see `Rules.stamped`)."""
    closed: str | None
    qty: int
    state: str

    @property
    def day(self) -> str:
        return self.happened[:10]


@dataclass(frozen=True)
class Charge:
    id: int
    event: int
    booked: str
    kind: str
    cents: int


@dataclass(frozen=True)
class Ledger:
    places: tuple[Place, ...]
    parties: tuple[Party, ...]
    events: tuple[Event, ...]
    charges: tuple[Charge, ...]


@dataclass(frozen=True)
class Query:
    """Arguments of one run: the days [low, high) and a region."""

    low: str
    high: str
    region: str
    argv: tuple[str, ...]


def draw(rng: random.Random, rules: Rules, regions: Sequence[str], size: int) -> Ledger:
    """A ledger with about `size` events; 0 gives one without events."""
    places = _places(rng, rules, regions)
    parties = _parties(rng, rules)
    events = _events(rng, rules, places, parties, size)
    return Ledger(places, parties, events, _charges(rng, rules, events))


def regions_of(rng: random.Random) -> tuple[str, ...]:
    """Names of regions; the first has an apostrophe."""
    return rng.choice(REGIONS)


def _places(rng: random.Random, rules: Rules, regions: Sequence[str]) -> tuple[Place, ...]:
    names = rng.sample(rules.scenario.place_words, 6)
    names += [f"{name} {rng.choice(('II', 'Annex'))}" for name in rng.sample(names, 2)]
    where = [
        regions[0],
        regions[0],
        regions[1],
        regions[1],
        regions[2],
        regions[3],
        None,
        regions[0],
    ]
    rng.shuffle(where)
    codes = rng.sample(range(10, 99), 8)
    prefix = rules.scenario.key[:2].upper()
    rows = zip(codes, names, where, strict=True)
    return tuple(Place(n, f"{prefix}{c}", name, r) for n, (c, name, r) in enumerate(rows, 1))


def _parties(rng: random.Random, rules: Rules) -> tuple[Party, ...]:
    names = rng.sample(PEOPLE, 16)
    return tuple(
        Party(
            place,
            name,
            None if rng.random() < 0.2 else rng.choice(rules.scenario.segments),
            _day(rng.randrange(-400, 300)),
        )
        for place, name in enumerate(names, 1)
    )


def _day(offset: int) -> str:
    return (FIRST + datetime.timedelta(days=offset)).isoformat()


def _events(
    rng: random.Random,
    rules: Rules,
    places: Sequence[Place],
    parties: Sequence[Party],
    size: int,
) -> tuple[Event, ...]:
    # Borders of every month, so that each period has events on its first and last day.
    offsets = [rng.randrange(DAYS) for _ in range(size)]
    if size:
        offsets += [
            (datetime.date(2022, m, 1) - FIRST).days + d for m in range(1, 13) for d in (0, -1)
        ]
    active = rng.sample(list(parties), 13)
    used = [p for p in places if p.region is not None]
    quiet = rng.choice(used[1:])
    busy = [p for p in places if p is not quiet]
    rows = [_event(rng, rules, busy, active, offset) for offset in offsets]
    rng.shuffle(rows)
    return tuple(Event(n, *row) for n, row in enumerate(rows, 1))


_Row = tuple[int | None, int, str, str | None, int, str]


def _event(
    rng: random.Random, rules: Rules, places: Sequence[Place], parties: Sequence[Party], offset: int
) -> _Row:
    s = rules.scenario
    state = rng.choice((s.states[0], s.states[1], s.states[1], s.states[2], s.states[3]))
    closed = None if state == s.states[0] else _day(offset + rng.randrange(0, 60))
    time = rng.choice(("00:00", "23:59", f"{rng.randrange(6, 22):02d}:{rng.randrange(60):02d}"))
    happened = f"{_day(offset)} {time}" if rules.stamped else _day(offset)
    party = None if rng.random() < 0.08 else rng.choice(parties).id
    return party, rng.choice(places).id, happened, closed, rng.randrange(1, 9), state


def _charges(rng: random.Random, rules: Rules, events: Sequence[Event]) -> tuple[Charge, ...]:
    rows = []
    for event in events:
        start = (datetime.date.fromisoformat(event.day) - FIRST).days
        for _ in range(rng.choice((0, 1, 1, 2, 3))):
            kind = rng.choice(rules.scenario.kinds)
            # Few different amounts, so that totals tie now and then.
            cents = rng.choice((250, 500, 500, 1005, 1200, 60, 9))
            back = kind == rules.scenario.kinds[2]
            rows.append(
                (event.id, _day(start + rng.choice((0, 0, 3, 35))), kind, -cents if back else cents)
            )
    rng.shuffle(rows)
    return tuple(Charge(n, *row) for n, row in enumerate(rows, 1))


def query(rules: Rules, month: int, region: str) -> Query:
    """The run for a period that begins with a month of the year."""
    length = 3 if rules.period == "quarter" else 1
    if rules.period in ("range", "until"):
        length = 2 if month % 2 else 4
    start = datetime.date(2022, month, 1)
    end = datetime.date(2022 + (month + length > 12), (month + length - 1) % 12 + 1, 1)
    last = end - datetime.timedelta(days=1)
    period = {
        "month": [f"{start:%Y-%m}"],
        "quarter": [f"{start:%Y}-Q{(month + 2) // 3}"],
        "range": [start.isoformat(), last.isoformat()],
        "until": [start.isoformat(), end.isoformat()],
    }[rules.period]
    argv = [region, *period] if rules.region_first else [*period, region]
    return Query(start.isoformat(), end.isoformat(), region, tuple(argv))


def dump(rules: Rules, ledger: Ledger) -> str:
    """The database as SQL text."""
    s = rules.scenario
    places = [(p.id, p.code, p.name, p.region) for p in ledger.places]
    parties = [(p.id, p.name, p.segment, p.joined) for p in ledger.parties]
    events = [(e.id, e.party, e.place, e.happened, e.closed, e.qty, e.state) for e in ledger.events]
    charges = [(c.id, c.event, c.booked, c.kind, c.cents) for c in ledger.charges]
    key = "id INTEGER PRIMARY KEY"
    return "".join(
        [
            "BEGIN;\n",
            f"CREATE TABLE {s.places} ({key}, code TEXT NOT NULL UNIQUE, name TEXT NOT NULL, "
            f"{s.region} TEXT);\n",
            f"CREATE TABLE {s.parties} ({key}, name TEXT NOT NULL UNIQUE, {s.segment} TEXT, "
            f"{s.joined} TEXT NOT NULL);\n",
            f"CREATE TABLE {s.events} ({key}, {s.party}_id INTEGER REFERENCES {s.parties}, "
            f"{s.place}_id INTEGER NOT NULL REFERENCES {s.places}, {s.happened} TEXT NOT NULL, "
            f"{s.closed} TEXT, {s.qty} INTEGER NOT NULL, {s.state} TEXT NOT NULL);\n",
            f"CREATE TABLE {s.charges} ({key}, {s.event}_id INTEGER NOT NULL REFERENCES "
            f"{s.events}, {s.booked} TEXT NOT NULL, {s.kind} TEXT NOT NULL, "
            "cents INTEGER NOT NULL);\n",
            *_inserts(s.places, places),
            *_inserts(s.parties, parties),
            *_inserts(s.events, events),
            *_inserts(s.charges, charges),
            "COMMIT;\n",
        ]
    )


def _inserts(table: str, rows: Sequence[tuple[int | str | None, ...]]) -> list[str]:
    return [f"INSERT INTO {table} VALUES ({', '.join(map(_literal, row))});\n" for row in rows]


def _literal(value: int | str | None) -> str:
    if value is None:
        return "NULL"
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"
