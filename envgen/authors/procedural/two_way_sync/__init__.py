"""Two copies of a tree, both edited since they were last the same, to be made one."""

import json
import random
from pathlib import Path
from typing import Any

from envgen.authors.procedural.family import Composition, Family, Material, introduced
from envgen.files import FileTree
from envgen.records import HOME, InitialState, TaskSpec

from . import rules as rule_sets
from . import trees as drawn
from .truth import digest, merged, report

MATERIAL = Material(__file__)


def compose(spec: TaskSpec, rng: random.Random) -> Composition:
    scenario, rules = rule_sets.draw(rng)
    trees = drawn.draw(rng, scenario, rules)
    files, rows = merged(rules, trees.base, trees.left, trees.right)
    home, root = HOME.lstrip("/"), rules["root"]
    left, right = (f"{home}/{root}/{side}" for side in scenario.sides)
    state = f"{home}/{root}/{rules['list_name']}"
    words = {"s": scenario, "r": rules, "who": introduced(spec.persona), **_words(rules)}
    truth = {
        "out": rules["out"],
        "report": rules["report"],
        "lines": report(rules, rows),
        "files": {path: digest(data) for path, data in files.items()},
        "kept": sorted(path for path in files if path not in {row[1] for row in rows}),
        "given": {f"/{left}/{p}": digest(d) for p, d in trees.left.items()}
        | {f"/{right}/{p}": digest(d) for p, d in trees.right.items()},
    }
    return Composition(
        title=f"Merge the {scenario.things} of {scenario.sides[0]} and {scenario.sides[1]}",
        instruction=MATERIAL.render("instruction.md.j2", **words),
        files=FileTree(
            {f"{left}/{path}": data for path, data in trees.left.items()}
            | {f"{right}/{path}": data for path, data in trees.right.items()}
            | {state: _listed(rng, rules, trees.base)}
        ),
        tests=FileTree({"check.py": MATERIAL.text("check.py"), "truth.json": json.dumps(truth)}),
        solution=FileTree({"solve.sh": MATERIAL.render("solve.sh.j2", **words)}),
        wrong=_wrong(rules, trees),
        valid={"python": _by_rules(rules)},
        base="file_operations",
        initial=InitialState(
            present=(f"/{state}",),
            absent=(f"{HOME}/{rules['out']}", f"{HOME}/{rules['report']}"),
            tools=("sha256sum", "find", "awk", "rsync", "python3"),
        ),
    )


def _words(rules: dict[str, Any]) -> dict[str, Any]:
    """What the templates need besides the rules."""
    cells = {
        "status": "words[$1]",
        "path": "$2",
        "bytes": "bytes",
        "digest": "sum",
    }
    shell = {"status": "$word", "path": "$path", "bytes": "$bytes", "digest": "$sum"}
    return {
        "column_words": ", ".join(f"`{column}`" for column in rules["columns"]),
        "sep_name": rule_sets.SEPS[rules["sep"]],
        "cells": cells,
        "row": rules["sep"].join(shell[column] for column in rules["columns"]),
        "statuses": list(rules["words"]),
    }


def _listed(rng: random.Random, rules: dict[str, Any], base: dict[str, str]) -> str:
    """The last common state, in no order."""
    rows = sorted(base.items())
    rng.shuffle(rows)
    if rules["list_format"] == "csv":
        return "path,sha256\n" + "".join(f"{path},{value}\n" for path, value in rows)
    form = {"gnu": "{1}  {0}\n", "bsd": "SHA256 ({0}) = {1}\n"}[rules["list_format"]]
    return "".join(form.format(*row) for row in rows)


def _by_rules(rules: dict[str, Any], **flaw: Any) -> FileTree:
    """The work done by a program, perhaps with a flaw."""
    return FileTree(
        {
            "solve.sh": MATERIAL.text("valid/solve.sh"),
            "merge.py": MATERIAL.text("valid/merge.py"),
            "truth.py": (Path(__file__).parent / "truth.py").read_text(),
            "rules.json": json.dumps(rules | flaw, indent=1),
        }
    )


def _wrong(rules: dict[str, Any], trees: drawn.Trees) -> dict[str, FileTree]:
    """No look at the last state; what was to be ignored; a clash settled in another way."""
    right = merged(rules, trees.base, trees.left, trees.right)
    others = [
        c
        for c in ("left", "right", "larger", "later", "both")
        if merged(rules | {"conflict": c}, trees.base, trees.left, trees.right) != right
    ]
    return {
        "union": _by_rules(rules, no_base=True),
        "ignored_too": _by_rules(rules, ignore=[]),
        "other_settlement": _by_rules(rules, conflict=others[0]),
        "other_revival": _by_rules(rules, revive=not rules["revive"]),
        "report_only": _by_rules(rules, no_files=True),
    }


FAMILY = Family(
    name="two_way_sync",
    realises={
        "domain": frozenset({"file_operations"}),
        "skill_type": frozenset({"mirroring"}),
        "skills": frozenset({
            "tree_diffing", "conflict_resolution", "incremental_copy", "checksum_verification",
            "manifest_writing", "glob_expansion",
        }),
        "language": frozenset({"bash", "any"}),
        "task_complexity": frozenset({"short"}),
        "command_complexity": frozenset({"bash"}),
        "verifier": frozenset({"exact_text"}),
        "fixture": frozenset({"text_only"}),
    },
    compose=compose,
)  # fmt: skip
