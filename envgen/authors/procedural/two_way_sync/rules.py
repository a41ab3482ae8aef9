"""Which two trees, and by which rules they become one."""

import random
from dataclasses import dataclass
from typing import Any

STATUSES = ("left", "right", "agreed", "conflict", "revived", "removed")
SEPS = {"\t": "tab", ";": "semicolon", "|": "vertical bar", ",": "comma"}
IGNORED = ("*.tmp", "*.bak", "_*", ".cache", "Thumbs.db", "*.swp", "lost+found")


@dataclass(frozen=True)
class Scenario:
    """Who keeps two copies of what."""

    sides: tuple[str, str]
    things: str
    story: str
    folders: tuple[str, ...]
    names: tuple[str, ...]
    ending: str
    lines: tuple[str, ...]


SCENARIOS = (
    Scenario(
        ("ship", "shore"), "cruise notes",
        "The notes of a research cruise were kept on board and in the office at the same time",
        ("stations", "stations/north", "moorings", "samples/water", "samples/mud", "watch"),
        ("station", "cast log", "mooring", "core", "net haul", "winch"), "txt",
        ("depth", "salinity bottle", "wire out", "swell", "recovered at", "remarks by watch"),
    ),
    Scenario(
        ("studio", "stage"), "song sheets",
        "A band keeps its song sheets in the studio and on the road, and edits both",
        ("ballads", "fast/openers", "fast", "covers", "covers/old", "drafts"),
        ("chorus", "intro riff", "bridge", "set list", "horn part", "verse"), "chord",
        ("capo", "tempo", "key change at bar", "count in", "cue", "repeat"),
    ),
    Scenario(
        ("clinic", "branch"), "protocol sheets",
        "Two practices maintain the same protocol sheets without a common server",
        ("intake", "lab/blood", "lab/urine", "imaging", "imaging/mri", "billing"),
        ("check list", "dose table", "handover", "consent", "triage", "recall"), "md",
        ("dose", "interval", "step", "threshold", "call", "valid for weeks"),
    ),
    Scenario(
        ("laptop", "desktop"), "chapters",
        "Two authors wrote on the same book for a month, each on a machine of their own",
        ("part one", "part one/notes", "part two", "appendix", "figures", "front"),
        ("chapter", "scene", "footnotes", "outline", "index cards", "errata"), "tex",
        ("section", "label", "paragraph about", "quote no.", "todo", "see page"),
    ),
    Scenario(
        ("depot", "bench"), "firmware settings",
        "Settings of the same devices were edited in the depot and on the test bench",
        ("pumps", "pumps/old", "valves/east", "valves/west", "meters", "gateway"),
        ("profile", "limits", "ramp", "alarm map", "pid set", "node"), "cfg",
        ("setpoint", "hysteresis", "delay", "channel", "gain", "timeout"),
    ),
    Scenario(
        ("archive", "reading_room"), "finding aids",
        "The archive and its reading room each corrected the finding aids since the last exchange",
        ("letters", "letters/a-k", "letters/l-z", "maps", "photographs", "deeds/early"),
        ("series", "box list", "register", "album", "folio", "bundle"), "aid",
        ("shelf mark", "extent", "scope", "copy of", "closed until", "items"),
    ),
)  # fmt: skip

WORDS = (
    ("left_only", "right_only", "agreed", "conflict", "revived", "removed"),
    ("FROM-A", "FROM-B", "SAME", "CLASH", "BACK", "GONE"),
    ("take-first", "take-second", "take-either", "settled", "restored", "dropped"),
    ("1", "2", "=", "!", "+", "-"),
)


def draw(rng: random.Random) -> tuple[Scenario, dict[str, Any]]:
    """A scenario, and the rules that `truth` and the solutions read."""
    scenario = rng.choice(SCENARIOS)
    columns = ["status", "path", *rng.choice(([], ["bytes"], ["digest"], ["bytes", "digest"]))]
    rng.shuffle(columns)
    words = dict(zip(STATUSES, rng.choice(WORDS), strict=True))
    shuffled = rng.sample(STATUSES, len(STATUSES))
    return scenario, {
        "sides": list(scenario.sides),
        "conflict": rng.choice(("left", "right", "larger", "later", "both")),
        "revive": rng.random() < 0.5,
        "ignore": rng.sample(IGNORED, rng.choice((1, 2, 2, 3))),
        "order": rng.choice(("path", "status")),
        "words": {status: words[status] for status in shuffled},
        "sep": rng.choice(tuple(SEPS)),
        "columns": columns,
        "totals": rng.random() < 0.5,
        "list_format": rng.choice(("gnu", "bsd", "csv")),
        "list_name": rng.choice(("last.list", "common.sums", "state.txt", "agreed.lst")),
        "root": rng.choice(("sync", "exchange", "trees", "both")),
        "out": rng.choice(("merged", "joint", "together", "one")),
        "report": rng.choice(("merge.txt", "decisions.txt", "report.txt", "fates.txt")),
    }
