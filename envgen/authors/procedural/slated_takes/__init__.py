"""A card of recordings that say what they are in telephone keys, to be named and laid out."""

import json
import random
from dataclasses import asdict
from typing import Any

from envgen.authors.fixtures.recipe import Recipe
from envgen.authors.procedural.family import Composition, Family, Material, introduced
from envgen.files import FileTree
from envgen.records import HOME, InitialState, TaskSpec

from .takes import Recording, draw, rules_of, sorted_out

MATERIAL = Material(__file__)
SEPS = {"\t": "tab", ";": "semicolon", ",": "comma"}
FLAWS: dict[str, dict[str, Any]] = {
    "first_slate": {"slate": "first"},
    "sums_ignored": {"verify": False},
    "copies_kept": {"copies": True},
    "nothing_copied": {"place": False},
}


def compose(spec: TaskSpec, rng: random.Random) -> Composition:
    rules = rules_of(rng)
    recordings = draw(rng, rules)
    rows = sorted_out(rules, recordings)
    card = f"/srv/{rules['card']}"
    words = {"r": rules, "who": introduced(spec.persona), "card": card, **_words(rules)}
    truth = {
        "card": card,
        "out": rules["out"],
        "manifest": rules["manifest"],
        "lines": [_line(rules, row) for row in rows],
        "files": {row[2]: row[0] for row in rows if row[2] != "-"},
    }
    return Composition(
        title=f"Name the recordings of a {rules['story']}",
        instruction=MATERIAL.render("instruction.md.j2", **words),
        files=FileTree({f"{card[1:]}/SLATES.txt": MATERIAL.render("slates.txt.j2", **words)}),
        recipes=(
            Recipe(
                base="media",
                files=FileTree({
                    "record.py": MATERIAL.text("record.py"),
                    "plan.json": json.dumps({"recordings": [_plan(one) for one in recordings]}),
                }),
                command=("python3", "-I", "record.py", "plan.json", "/out"),
                target=f"srv/{rules['card']}",
            ),
        ),
        tests=FileTree({"check.py": MATERIAL.text("check.py"), "truth.json": json.dumps(truth)}),
        solution=FileTree({"solve.sh": MATERIAL.render("solve.sh.j2", **words)}),
        wrong={name: _by_rules(rules, **flaw) for name, flaw in FLAWS.items()},
        valid={"own_ears": _by_rules(rules)},
        base="media",
        initial=InitialState(
            present=(f"{card}/SLATES.txt", f"{card}/SHA256SUMS"),
            absent=(f"{HOME}/{rules['out']}",),
            tools=("sox", "soxi", "multimon-ng", "sha256sum", "python3"),
        ),
    )  # fmt: skip


def _plan(one: Recording) -> dict[str, Any]:
    known = asdict(one)
    return {key: known[key] for key in ("path", "keys", "tenths", "seed", "damaged")}


def _line(rules: dict[str, Any], row: tuple[str, ...]) -> str:
    cells = dict(zip(("source", "status", "target", "seconds"), row, strict=True))
    return str(rules["sep"].join(cells[column] for column in rules["columns"]))


def _words(rules: dict[str, Any]) -> dict[str, Any]:
    """What the templates need besides the rules."""
    shell = {"source": "$path", "status": "$word", "target": "$target", "seconds": "$seconds"}
    order = [rules["form"].index(place) for place in ("{a}", "{b}", "{c}")]
    groups = [sorted(order).index(at) + 1 for at in order]
    pattern = rules["form"].replace("*", "[*]")
    for place, digits in (("{a}", "([0-9][0-9])"), ("{b}", "([0-9][0-9])"), ("{c}", "([1-3])")):
        pattern = pattern.replace(place, digits)
    parts = {"{group}": rules["group"], "{a}": "$a", "{b}": "$b", "{name}": "$name"}
    shown = rules["layout"]
    for place, variable in parts.items():
        shown = shown.replace(place, variable.replace("$", "${") + ("}" if "$" in variable else ""))
    return {
        "pattern": pattern,
        "groups": dict(zip("abc", groups, strict=True)),
        "row": rules["sep"].join(shell[column] for column in rules["columns"]),
        "sep_name": SEPS[rules["sep"]],
        "column_words": ", ".join(f"`{column}`" for column in rules["columns"]),
        "shell_layout": shown,
        "told_layout": rules["layout"].format(
            group=rules["group"], a="<AA>", b="<BB>", name="<name>"
        ),
        "told_form": rules["form"].format(a="AA", b="BB", c="C"),
        "example": rules["form"].format(a="07", b="03", c="2"),
    }


def _by_rules(rules: dict[str, Any], **flaw: Any) -> FileTree:
    known = {"slate": "last", "verify": True, "copies": False, "place": True}
    return FileTree({
        "solve.sh": MATERIAL.text("valid/solve.sh"),
        "listen.py": MATERIAL.text("valid/listen.py"),
        "rules.json": json.dumps(rules | known | flaw, indent=1),
    })  # fmt: skip


FAMILY = Family(
    name="slated_takes",
    realises={
        "domain": frozenset({"file_operations"}),
        "skill_type": frozenset({"archives"}),
        "skills": frozenset({
            "bulk_renaming", "directory_layout", "manifest_writing", "duplicate_detection",
            "checksum_verification", "recursive_search",
        }),
        "language": frozenset({"bash", "any"}),
        "task_complexity": frozenset({"moderate"}),
        "command_complexity": frozenset({"bash"}),
        "verifier": frozenset({"exact_text"}),
        "fixture": frozenset({"audio"}),
    },
    compose=compose,
)  # fmt: skip
