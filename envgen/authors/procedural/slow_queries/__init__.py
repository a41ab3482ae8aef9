"""A dashboard whose queries are slow: the same rows for far less work, in SQLite's own steps."""

import json
import random
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from envgen.authors.procedural.family import Composition, Family, Material, introduced
from envgen.files import FileTree
from envgen.records import HOME, InitialState, TaskSpec

from . import queries as kinds
from .queries import Query
from .rows import dump

MATERIAL = Material(__file__)
SIZES = (80, 1000, 700)
HIDDEN = (90, 1300, 900)
SCENARIOS: tuple[dict[str, Any], ...] = (
    {"of": "a tool rental", "P": "branches", "C": "rentals", "N": "complaints", "pid": "branch_id",
     "code": "branch", "place": "town", "kind": "tool", "amount": "cents", "ref": "receipt",
     "level": "severity", "who": "clerk", "letters": "B", "places": ["Oss", "Lunden", "Varde"],
     "kinds": ["drill", "saw", "ladder", "mixer"]},
    {"of": "a network of weather stations", "P": "stations", "C": "visits", "N": "remarks",
     "pid": "station_id", "code": "station", "place": "valley", "kind": "work",
     "amount": "minutes", "ref": "sheet", "level": "weight", "who": "observer", "letters": "W",
     "places": ["upper", "middle", "lower"], "kinds": ["repair", "reading", "cleaning", "battery"]},
    {"of": "a parcel service", "P": "depots", "C": "parcels", "N": "claims", "pid": "depot_id",
     "code": "depot", "place": "zone", "kind": "service", "amount": "grams", "ref": "label",
     "level": "step", "who": "agent", "letters": "D", "places": ["north", "harbour", "east"],
     "kinds": ["express", "letter", "bulky", "return"]},
    {"of": "a public library", "P": "members", "C": "loans", "N": "reminders", "pid": "member_id",
     "code": "card", "place": "district", "kind": "medium", "amount": "fee", "ref": "slip",
     "level": "round", "who": "desk", "letters": "M", "places": ["Old Town", "Mill", "Fields"],
     "kinds": ["book", "score", "film", "map"]},
    {"of": "an energy cooperative", "P": "meters", "C": "readings", "N": "alarms",
     "pid": "meter_id", "code": "meter", "place": "feeder", "kind": "channel", "amount": "watts",
     "ref": "frame", "level": "grade", "who": "gateway", "letters": "E",
     "places": ["F1", "F2", "F3"], "kinds": ["import", "export", "reactive", "spare"]},
    {"of": "a chain of clinics", "P": "wards", "C": "stays", "N": "audits", "pid": "ward_id",
     "code": "ward", "place": "house", "kind": "cause", "amount": "cost", "ref": "file_no",
     "level": "finding", "who": "auditor", "letters": "K", "places": ["main", "annex", "hill"],
     "kinds": ["fracture", "fever", "birth", "check"]},
)  # fmt: skip
PEOPLE = ("abel", "birgit", "cosmo", "dunja", "emre", "fleur", "gil", "hedda")


def compose(spec: TaskSpec, rng: random.Random) -> Composition:
    large = spec.task_complexity == "complex"
    words = {**rng.choice(SCENARIOS), "people": rng.sample(PEOPLE, 5)}
    chosen = kinds.draw(rng, large)
    columns = list(dict.fromkeys(one for query in chosen for one in query.indexes))
    data = dump(words, rng.getrandbits(40), *SIZES)
    base, file = f"{HOME.lstrip('/')}", rng.choice(("dashboard", "board", "reports", "store"))
    slow = {query.name: _told(words, query.slow) for query in chosen}
    shown = {
        "who": introduced(spec.persona), "w": words, "file": file, "large": large,
        "most": len(columns), "names": list(slow),
        "queries": [
            {"name": q.name, "asks": _told(words, q.asks), "share": f"{q.target:.0%}"}
            for q in chosen
        ],
    }  # fmt: skip
    truth = {
        "words": words, "seed": rng.getrandbits(40), "sizes": HIDDEN, "queries": slow,
        "targets": {query.name: query.target for query in chosen}, "most": len(columns),
    }  # fmt: skip

    def handed(
        pick: Callable[[Query], str], more: Mapping[str, str] = {}, *, indexed: bool = True
    ) -> FileTree:
        """A solution that hands in one form of each query."""
        files = {f"fast/{q.name}.sql": _told(words, pick(q)) + ";\n" for q in chosen}
        made = [_told(words, line) for line in _indexes(columns)] if indexed else []
        files["fast/indexes.sql"] = "".join(made)
        return FileTree({"solve.sh": MATERIAL.text("given.sh"), **files, **more})

    seen = _database(data, [_told(words, line) for line in _indexes(columns)])
    return Composition(
        title=f"Slow queries of {words['of']}",
        instruction=MATERIAL.render("instruction.md.j2", **shown),
        files=FileTree(
            {f"{base}/{file}.sql": data}
            | {f"{base}/slow/{name}.sql": f"{text};\n" for name, text in slow.items()}
        ),
        tests=FileTree(
            {
                "check.py": MATERIAL.text("check.py"),
                "measure.py": MATERIAL.text("measure.py"),
                "rows.py": (Path(__file__).parent / "rows.py").read_text(),
                "truth.json": json.dumps(truth),
            }
        ),
        solution=handed(
            lambda q: q.fast,
            {
                "solve.sh": MATERIAL.render("solve.sh.j2", **shown),
                "steps.py": MATERIAL.text("measure.py"),
            },
        ),
        wrong={
            "indexes_only": handed(lambda q: q.slow),
            "no_indexes": handed(lambda q: q.fast, indexed=False),
            "nearly_the_same": handed(lambda q: q.wrong),
            "recorded": handed(lambda q: _recorded(seen, _told(words, q.fast))),
        },
        valid={"other_forms": handed(lambda q: q.other)},
        base="data_querying",
        initial=InitialState(
            present=(f"/{base}/{file}.sql", *(f"/{base}/slow/{name}.sql" for name in slow)),
            absent=(f"{HOME}/fast",),
            tools=("sqlite3", "python3"),
        ),
    )  # fmt: skip


def _told(words: dict[str, Any], text: str) -> str:
    numbered = {f"k{n}": kind for n, kind in enumerate(words["kinds"])}
    numbered |= {f"pl{n}": place for n, place in enumerate(words["places"])}
    return text.format(**words, **numbered)


def _indexes(columns: list[str]) -> list[str]:
    """A line for each index on the children."""
    names = ["by_" + "_".join(part.strip(" {}") for part in one.split(",")) for one in columns]
    return [
        f"CREATE INDEX {name} ON {{C}} ({one});\n" for name, one in zip(names, columns, strict=True)
    ]


def _database(data: str, indexes: list[str]) -> sqlite3.Connection:
    base = sqlite3.connect(":memory:")
    base.executescript(data + "".join(indexes))
    return base


def _recorded(base: sqlite3.Connection, query: str) -> str:
    """A query that knows the rows of the database at hand."""
    rows = base.execute(query).fetchall() or [(None,)]
    quoted = (", ".join(_literal(cell) for cell in row) for row in rows)
    return "VALUES " + ", ".join(f"({row})" for row in quoted)


def _literal(cell: object) -> str:
    return f"'{cell}'" if isinstance(cell, str) else "NULL" if cell is None else repr(cell)


FAMILY = Family(
    name="slow_queries",
    realises={
        "domain": frozenset({"data_querying"}),
        "skill_type": frozenset({"query_tuning"}),
        "skills": frozenset({
            "plan_reading", "index_selection", "query_rewriting", "sql_joins", "sql_aggregation",
            "date_filtering",
        }),
        "language": frozenset({"any"}),
        "task_complexity": frozenset({"moderate", "complex"}),
        "command_complexity": frozenset({"bash_code"}),
        "verifier": frozenset({"metric_threshold"}),
        "fixture": frozenset({"text_only"}),
    },
    compose=compose,
)  # fmt: skip
