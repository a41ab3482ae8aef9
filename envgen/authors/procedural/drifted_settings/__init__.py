"""A machine whose settings drifted from the sheet that they were commissioned with."""

import json
import random
from pathlib import Path
from typing import Any

from envgen.authors.fixtures.recipe import Recipe
from envgen.authors.procedural.family import Composition, Family, Material, introduced
from envgen.files import FileTree
from envgen.records import HOME, InitialState, TaskSpec

from .machine import Machine, draw
from .truth import deciding

MATERIAL = Material(__file__)
COLUMNS = ("key", "meant", "effective", "file", "line")
FLAWS: dict[str, dict[str, Any]] = {
    "other_winner": {},
    "sections_ignored": {"sections": False},
    "only_reported": {"mend": False},
    "appended": {"append": True},
}


def compose(spec: TaskSpec, rng: random.Random) -> Composition:
    machine = draw(rng)
    name, does, _ = machine.service
    columns = ["key", *rng.sample(COLUMNS[1:], 4)]
    places = [COLUMNS.index(column) for column in columns]
    rows = [",".join(str(row[place]) for place in places) for row in machine.drift]
    sheet = {
        "title": f"{name} on {machine.rules['host']}", "seed": rng.getrandbits(32),
        "rows": rng.sample(sorted(machine.meant.items()), len(machine.meant)),
    }  # fmt: skip
    words = {
        "who": introduced(spec.persona), "service": name, "does": does, "r": machine.rules,
        "version": ".".join(map(str, machine.rules["version"])), "columns": columns,
        "header": ",".join(columns), "fields": ", ".join(f"${n + 1}" for n in places),
        "count": len(machine.meant), "seen": rng.choice(machine.drift),
    }  # fmt: skip
    home = f"{HOME.lstrip('/')}/{name}"
    files = {f"{home}/{path}": text for path, text in machine.files.items()}
    files |= {
        f"{home}/HOST": f"{machine.rules['host']}\n",
        f"{home}/ROLE": f"{machine.rules['role']}\n",
    }
    files[f"opt/{name}/loader.py"] = MATERIAL.render("loader.py.j2", **words)
    truth = {
        "service": name,
        "header": ",".join(columns),
        "rows": rows,
        "meant": machine.meant,
        "files": dict(machine.files),
        "drift": [[key, meant, path, line] for key, meant, _, path, line in machine.drift],
    }
    return Composition(
        title=f"Drifted settings of {name} on {machine.rules['host']}",
        instruction=MATERIAL.render("instruction.md.j2", **words),
        files=FileTree(files),
        recipes=(
            Recipe(
                base="tools",
                files=FileTree(
                    {"sheet.py": MATERIAL.text("sheet.py"), "sheet.json": json.dumps(sheet)}
                ),
                command=("python3", "-I", "sheet.py", "sheet.json", "/out/sheet.png"),
                target=home,
            ),
        ),
        tests=FileTree({"check.py": MATERIAL.text("check.py"), "truth.json": json.dumps(truth)}),
        solution=FileTree({"solve.sh": MATERIAL.render("solve.sh.j2", **words)}),
        wrong=_wrong(machine, words),
        valid={"own_reader": _by_rules(machine, words)},
        base="media",
        initial=InitialState(
            present=(*(f"/{path}" for path in files), f"/{home}/sheet.png"),
            absent=(f"{HOME}/drift.csv",),
            tools=("tesseract", "python3", "diff"),
            commands=(("python3", f"/opt/{name}/loader.py", "show"),),
        ),
    )  # fmt: skip


def _by_rules(machine: Machine, words: dict[str, Any], **flaw: Any) -> FileTree:
    known = {**machine.rules, "service": machine.service[0], "keys": sorted(machine.meant)}
    known["columns"] = words["columns"]
    return FileTree({
        "solve.sh": MATERIAL.render("valid/solve.sh.j2", **words),
        "mend.py": MATERIAL.text("valid/mend.py"),
        "truth.py": (Path(__file__).parent / "truth.py").read_text(),
        "rules.json": json.dumps({**known, "mend": True, "sections": True, "append": False} | flaw),
    })  # fmt: skip


def _wrong(machine: Machine, words: dict[str, Any]) -> dict[str, FileTree]:
    flaws = FLAWS | {"other_winner": {"last": not machine.rules["last"]}}
    right = deciding(machine.rules, machine.files)
    if deciding({**machine.rules, "sections": False}, machine.files) == right:
        del flaws["sections_ignored"]
    return {name: _by_rules(machine, words, **flaw) for name, flaw in flaws.items()}


FAMILY = Family(
    name="drifted_settings",
    realises={
        "domain": frozenset({"debugging"}),
        "skill_type": frozenset({"environment_faults"}),
        "skills": frozenset({
            "configuration_drift", "path_lookup_problems", "version_mismatch", "code_reading",
            "patch_writing", "regression_checking",
        }),
        "language": frozenset({"python"}),
        "task_complexity": frozenset({"moderate"}),
        "command_complexity": frozenset({"bash"}),
        "verifier": frozenset({"exact_text"}),
        "fixture": frozenset({"image"}),
    },
    compose=compose,
)  # fmt: skip
