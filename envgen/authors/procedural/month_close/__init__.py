"""The close of a month: batches of three gateways, checked, cleaned, rated and booked."""

import json
import random
from pathlib import Path
from typing import Any

from envgen.authors.procedural.family import Composition, Family, Material, introduced
from envgen.files import FileTree
from envgen.records import HOME, InitialState, TaskSpec

from .month import Month, draw
from .truth import closed

MATERIAL = Material(__file__)
FLAWS: dict[str, dict[str, Any]] = {
    "all_batches": {"quarantine": False},
    "local_month": {"outside": False},
    "voids_ignored": {"voiding": False},
    "other_winner": {},
    "other_reduction": {},
}


def compose(spec: TaskSpec, rng: random.Random) -> Composition:
    month = draw(rng)
    right = _closed(month, {})
    flaws = FLAWS | {
        "other_winner": {"winner": "first" if month.rules["winner"] == "last" else "last"},
        "other_reduction": {
            "reduced": "night" if month.rules["reduced"] == "weekend" else "weekend"
        },
    }
    words = {"r": month.rules, "who": introduced(spec.persona), "names": list(right)}
    home = HOME.lstrip("/")
    files = {f"{home}/in/{name}": text for name, text in month.files.items()}
    files |= {f"{home}/{name}": text for name, text in _tables(month).items()}
    return Composition(
        title=f"Close {month.rules['month']} for {month.rules['of']}",
        instruction=MATERIAL.render("instruction.md.j2", **words),
        files=FileTree(files),
        tests=FileTree(
            {"check.py": MATERIAL.text("check.py"), "truth.json": json.dumps({"outputs": right})}
        ),
        solution=FileTree({"solve.sh": MATERIAL.render("solve.sh.j2", **words)}),
        wrong={
            name: _by_rules(month, flaw)
            for name, flaw in flaws.items()
            if _closed(month, flaw) != right
        },
        valid={"one_program": _by_rules(month, {})},
        base="data_processing",
        initial=InitialState(
            present=tuple(f"/{path}" for path in files),
            absent=(f"{HOME}/out",),
            tools=("sqlite3", "jq", "gawk", "python3"),
        ),
        secrets=tuple(line for line in right["rated.csv"][1:] if len(line) > 40)[:6],
    )


def _closed(month: Month, flaw: dict[str, Any]) -> dict[str, list[str]]:
    m = month
    lines: dict[str, list[str]] = closed(
        {**m.rules, **flaw}, m.control, m.batches, m.customers, m.plans, m.ledger
    )
    return lines


def _tables(month: Month) -> dict[str, str]:
    """The files beside the batches."""
    rows: dict[str, list[tuple[Any, ...]]] = {
        "in/CONTROL.csv": [
            ("file", "records", "units"),
            *((f, *t) for f, t in month.control.items()),
        ],
        "customers.csv": [
            ("customer", "from", "plan"),
            *((c, *entry) for c, history in month.customers.items() for entry in history),
        ],
        "plans.csv": [
            ("plan", "kind", "included", "price"),
            *((*key, *value) for key, value in month.plans.items()),
        ],
        "ledger.csv": [("customer", "cents"), *month.ledger.items()],
    }
    return {
        name: "".join(",".join(map(str, row)) + "\n" for row in table)
        for name, table in rows.items()
    }


def _by_rules(month: Month, flaw: dict[str, Any]) -> FileTree:
    return FileTree({
        "solve.sh": MATERIAL.text("valid/solve.sh"),
        "close.py": MATERIAL.text("valid/close.py"),
        "truth.py": (Path(__file__).parent / "truth.py").read_text(),
        "rules.json": json.dumps({**month.rules, **flaw}, indent=1),
    })  # fmt: skip


FAMILY = Family(
    name="month_close",
    realises={
        "domain": frozenset({"data_processing"}),
        "skill_type": frozenset({"quality_control"}),
        "skills": frozenset({
            "reconciliation", "quarantine_handling", "range_checks", "deduplication",
            "lookup_enrichment", "json_lines_handling", "fixed_width_layouts",
        }),
        "language": frozenset({"any"}),
        "task_complexity": frozenset({"intricate"}),
        "command_complexity": frozenset({"bash_code"}),
        "verifier": frozenset({"exact_text"}),
        "fixture": frozenset({"text_only"}),
    },
    compose=compose,
)  # fmt: skip
