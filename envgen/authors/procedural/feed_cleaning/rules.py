"""What is drawn once for a task: the feeds' quirks, and the rules of the clean form."""

import random
from dataclasses import dataclass

from envgen.authors.procedural.feed_cleaning.scenarios import (
    COLUMN_WORDS,
    EXTRA_COLUMNS,
    SCENARIOS,
    Scenario,
)

FORMATS = ("csv", "tsv", "jsonl", "fixed", "pairs")
ENCODINGS = ("utf8", "latin1", "twice", "mixed", "bom")
DATES = ("iso", "dots", "us", "compact", "words", "short")
AMOUNTS = ("dot", "comma", "minor", "currency")
SURVIVORS = ("latest", "earliest", "last_line", "first_line", "highest", "priority")
ROLES = ("key", "name", "date", "amount", "code", "quantity")
REASONS = (
    ("bad-line", "bad-key", "no-name", "bad-date", "bad-amount", "bad-code", "bad-quantity"),
    ("LINE", "KEY", "NAME", "DATE", "AMOUNT", "CODE", "QUANTITY"),
    ("E10", "E20", "E30", "E40", "E50", "E60", "E70"),
    ("unreadable", "key", "nameless", "undated", "money", "unmapped", "measure"),
)
WIDTHS = {"key": 12, "name": 34, "date": 12, "amount": 16, "code": 12, "quantity": 8}


@dataclass(frozen=True)
class Feed:
    """One sender's habits."""

    name: str
    format: str
    delimiter: str
    encoding: str
    columns: tuple[str, ...]
    """The sender's word for each role, in the order of `ROLES`."""
    extra: str
    layout: tuple[str, ...]
    """Order of the roles, for fixed width."""
    date: str
    amount: str
    codes: tuple[str, ...]
    """The sender's word for each code of the scenario."""
    unit: str
    factor: int


@dataclass(frozen=True)
class Rules:
    """Everything that the instruction states."""

    scenario: Scenario
    language: str
    complex: bool
    program: str
    stream: str
    marker: str
    """What stands before a feed's name on the line that opens its part."""
    quiet: str
    """First character of lines to be skipped."""
    feeds: tuple[Feed, ...]
    stranger: str
    survivor: str
    reasons: tuple[str, ...]
    """Reason by fault: unreadable line, then by role."""
    precedence: tuple[int, ...]
    """Order in which the roles' faults (1 to 6) are looked for; an unreadable line comes first."""
    default_code: str
    default_quantity: str
    columns: tuple[str, ...]
    sep_name: str
    sep: str
    header: bool
    minor: bool
    """Amounts as whole minor units; else with two decimals."""
    order: str
    reject_sep: str
    stats_total: bool

    @property
    def label(self) -> dict[str, str]:
        return dict(zip(ROLES, self.scenario.labels, strict=True))


def draw(rng: random.Random, language: str, is_complex: bool) -> Rules:
    """Feeds of different formats; at least one is not plain UTF-8."""
    scenario = rng.choice(SCENARIOS)
    names = rng.sample(scenario.feeds, 6)
    count = rng.choice((4, 5)) if is_complex else rng.choice((2, 3))
    formats = rng.sample(FORMATS, count)
    encodings = _encodings(rng, formats)
    feeds = tuple(
        _feed(rng, scenario, *habits)
        for habits in zip(names[:count], formats, encodings, strict=True)
    )
    sep_name, sep = rng.choice((("tab", "\t"), ("vertical bar", "|"), ("semicolon", ";")))
    columns = list(ROLES) + (["feed"] if rng.random() < 0.5 else [])
    rng.shuffle(columns)
    program = rng.choice(("clean", "normalise", "tidy", "merge_feeds"))
    return Rules(
        scenario=scenario,
        language=language,
        complex=is_complex,
        program=program + (".sh" if language == "bash" else ".py"),
        stream=f"{scenario.key}-{rng.randrange(100, 1000)}.stream",
        marker=rng.choice(("%% feed ", ">>> ", "@feed:", "=== ")),
        quiet=rng.choice("~!^"),
        feeds=feeds,
        stranger=names[5],
        survivor=rng.choice(SURVIVORS),
        reasons=rng.choice(REASONS),
        precedence=tuple(rng.sample(range(1, 7), 6)),
        default_code=rng.choice(scenario.codes),
        default_quantity=rng.choice(("0", "1")),
        columns=tuple(columns),
        sep_name=sep_name,
        sep=sep,
        header=rng.random() < 0.5,
        minor=rng.random() < 0.5,
        order=rng.choice(("key", "date", "amount")),
        reject_sep=rng.choice((" ", "\t", ",")),
        stats_total=rng.random() < 0.5,
    )


def _encodings(rng: random.Random, formats: list[str]) -> list[str]:
    found = []
    for kind in formats:
        # A byte order mark is at home before a header line.
        known = [e for e in ENCODINGS if e != "bom" or kind in ("csv", "tsv")]
        found.append(rng.choice(known))
    if set(found) <= {"utf8", "bom"}:
        found[rng.randrange(len(found))] = rng.choice(("latin1", "twice", "mixed"))
    return found


def _feed(rng: random.Random, scenario: Scenario, name: str, kind: str, encoding: str) -> Feed:
    unit, factor = rng.choice(scenario.units)
    columns = tuple(rng.choice(words) for words in COLUMN_WORDS)
    if kind in ("jsonl", "pairs") and rng.random() < 0.5:
        columns = tuple(word.upper() for word in columns)
    return Feed(
        name=name,
        format=kind,
        delimiter={"csv": rng.choice(",;"), "tsv": "\t"}.get(kind, ""),
        encoding=encoding,
        columns=columns,
        extra=rng.choice(EXTRA_COLUMNS),
        layout=tuple(rng.sample(ROLES, 6)),
        date=rng.choice(DATES),
        amount=rng.choice(AMOUNTS),
        codes=_codes(rng, scenario.codes),
        unit=unit,
        factor=factor,
    )


def _codes(rng: random.Random, codes: tuple[str, ...]) -> tuple[str, ...]:
    style = rng.choice(("letters", "numbers", "short", "prefixed"))
    if style == "numbers":
        return tuple(str(n) for n in rng.sample(range(1, 60), 4))
    if style == "letters":
        return tuple(rng.sample("ABCDEFGHKLMNPRSTUVWX", 4))
    if style == "short":
        found = tuple(code[:3] for code in codes)
        if len(set(found)) == len(found):
            return found
    prefix = rng.choice(("T", "K", "X")) + str(rng.randrange(1, 9))
    return tuple(f"{prefix}-{code[:4]}{n}" for n, code in enumerate(codes, 1))
