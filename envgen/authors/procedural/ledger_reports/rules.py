"""What one report asks, and how it is laid out."""

import random
from dataclasses import dataclass

from envgen.authors.procedural.ledger_reports.scenarios import SCENARIOS, Scenario

WINDOWED = ("top", "running", "gaps", "best")
OTHERS = ("open", "share", "states", "silent", "kinds")
QUESTIONS = ("region", *WINDOWED, *OTHERS)


@dataclass(frozen=True)
class Rules:
    """Everything that the instruction states."""

    scenario: Scenario
    language: str
    database: str
    program: str
    questions: tuple[str, ...]
    headings: tuple[str, ...]
    period: str
    """`month`, `range` (both days included), `until` (the last day excluded), or `quarter`."""
    region_first: bool
    stamped: bool
    ignores: bool
    sep: str
    heading_style: str
    blank_between: bool
    header: bool
    money: str
    day: str
    none: str
    empty: str
    top: int
    measure: str
    dense: bool
    region_order: str
    running_by_region: bool
    best_ties: str
    share_of: str
    open_days: int
    total_word: str


def draw(rng: random.Random, language: str) -> Rules:
    """Questions that need joins, groups, windows, periods and a text parameter, and a layout."""
    scenario = rng.choice(SCENARIOS)
    count = rng.choice((3, 4, 4, 5))
    windowed = rng.sample(WINDOWED, rng.choice((1, 2)))
    others = rng.sample(OTHERS, count - 1 - len(windowed))
    questions = ["region", *windowed, *others]
    rng.shuffle(questions)
    program = rng.choice(("report", "figures", "monthly", "ledger_report"))
    return Rules(
        scenario=scenario,
        language=language,
        database=f"{scenario.key}-{rng.randrange(100, 1000)}",
        program=f"{program}.sh" if language == "bash" else program,
        questions=tuple(questions),
        headings=tuple(rng.choice(_HEADINGS[q]).format(s=scenario) for q in questions),
        period=rng.choice(("month", "range", "until", "quarter")),
        region_first=rng.random() < 0.5,
        stamped=rng.random() < 0.6,
        ignores=rng.random() < 0.7,
        sep=rng.choice(("|", "\t", ";", " / ")),
        heading_style=rng.choice(("== {} ==", "# {}", "[{}]", "-- {}", "{}:")),
        blank_between=rng.random() < 0.5,
        header=rng.random() < 0.4,
        money=rng.choice(("dot", "comma", "cents", "eur")),
        day=rng.choice(("iso", "dots")),
        none=rng.choice(("(none)", "n/a", "unknown", "?")),
        empty=rng.choice(("(no rows)", "nothing", "-", "no entries")),
        top=rng.choice((3, 4, 5)),
        measure=rng.choice(("money", "qty")),
        dense=rng.random() < 0.5,
        region_order=rng.choice(("code", "money", "events")),
        running_by_region=rng.random() < 0.5,
        best_ties=rng.choice(("first", "all")),
        share_of=rng.choice(("events", "qty")),
        open_days=rng.choice((7, 14, 21, 30)),
        total_word=rng.choice(("TOTAL", "all", "SUM")),
    )


_HEADINGS = {
    "region": ("{s.places} of the {s.region}", "the {s.region} in detail", "{s.region} sheet"),
    "top": ("leading {s.parties}", "top {s.parties}", "{s.parties} by rank"),
    "running": ("running {s.charges}", "{s.charges} over time", "cumulated {s.charges}"),
    "gaps": ("longest pauses", "{s.parties} and their gaps", "pauses between {s.events}"),
    "best": (
        "busiest {s.place} by {s.region}",
        "front {s.places}",
        "most {s.events} by {s.region}",
    ),
    "open": ("still open", "open {s.events}", "{s.events} left over"),
    "share": ("shares by {s.segment}", "{s.segment} mix", "{s.events} by {s.segment}"),
    "states": ("{s.events} by {s.state}", "{s.state} table", "{s.places} and {s.state}"),
    "silent": ("silent {s.parties}", "{s.parties} without {s.events}", "who did not come"),
    "kinds": ("{s.charges} by {s.kind}", "{s.kind} split", "what the {s.charges} were for"),
}
