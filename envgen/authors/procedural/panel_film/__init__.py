"""A film of signal lamps, to be turned into sessions of the machines that they belong to."""

import json
import random
from pathlib import Path
from typing import Any

from envgen.authors.fixtures.recipe import Recipe
from envgen.authors.procedural.family import Composition, Family, Material, introduced
from envgen.files import FileTree
from envgen.records import HOME, InitialState, Limits, TaskSpec

from . import halls
from .truth import differences, reported, written

MATERIAL = Material(__file__)
COLUMNS = {
    "sessions": "station,start,end",
    "set_aside": "lamp,start,end,reason",
    "missing": "start,end,picture",
    "totals": "station,sessions,seconds,longest",
    "differences": "kind,station,start",
}
FLAWS: dict[str, dict[str, Any]] = {
    "no_joining": {"join": 0},
    "no_limits": {"least": 0, "most": 10**6},
    "first_station": {"follow": False},
    "unseen_is_dark": {"hold": False},
}


def compose(spec: TaskSpec, rng: random.Random) -> Composition:
    large = spec.task_complexity == "complex"
    film = halls.draw(rng, large)
    rules = film.rules | {"film": rng.choice(("panel", "hall", "cam2", "wall")) + ".mp4"}
    rules["folder"] = rng.choice(("camera", "footage", "shift", "recording"))
    rules["positions"] = {lamp: list(place) for lamp, place in film.positions.items()}
    logged = _logged(rng, rules, film) if large else []
    tables = _tables(rules, film, logged, large)
    home = f"{HOME.lstrip('/')}/{rules['folder']}"
    words = {"f": film, "r": rules, "large": large, "who": introduced(spec.persona)}
    words |= {"columns": COLUMNS, "lamps": list(film.positions.items())}
    files = {
        f"{home}/card.txt": MATERIAL.render("card.txt.j2", **words),
        f"{home}/stations.csv": "lamp,from,station\n"
        + "".join(f"{lamp},{start},{name}\n" for lamp, start, name in rules["changes"]),
    }
    if large:
        files[f"{home}/log.csv"] = "station,start\n" + "".join(
            f"{name},{start // 10}\n" for name, start in logged
        )
    truth = {
        "style": rules["style"],
        "tables": {
            name: {"columns": COLUMNS[name].split(","), "rows": rows}
            for name, rows in tables.items()
        },
    }
    return Composition(
        title=f"Sessions of the {film.thing}s from {rules['film']} ({film.hall})",
        instruction=MATERIAL.render("instruction.md.j2", **words),
        files=FileTree(files),
        recipes=(
            Recipe(
                base="media",
                files=FileTree(
                    {"film.py": MATERIAL.text("film.py"), "drawing.json": json.dumps(film.drawing)}
                ),
                command=("python3", "-I", "film.py", "drawing.json", f"/out/{rules['film']}"),
                target=home,
            ),
        ),
        tests=FileTree({"check.py": MATERIAL.text("check.py"), "truth.json": json.dumps(truth)}),
        solution=FileTree(
            {
                "solve.sh": MATERIAL.render("solve.sh.j2", **words),
                "lamps.py": MATERIAL.text("lamps.py"),
                "tables.py": MATERIAL.text("tables.py"),
                "settings.json": json.dumps(rules | {"large": large}, indent=1),
            }
        ),
        wrong={
            "headers_only": _by_rules(rules, large, words, headers_only=True),
            **{
                name: _by_rules(rules, large, words, **flaw)
                for name, flaw in FLAWS.items()
                if _tables(rules | flaw, film, logged, large) != tables
            },
        },
        valid={"crops": _by_rules(rules, large, words)},
        base="media",
        initial=InitialState(
            present=(*(f"/{path}" for path in files), f"/{home}/{rules['film']}"),
            absent=tuple(f"{HOME}/{name}.csv" for name in tables),
            tools=("ffmpeg", "ffprobe", "python3"),
        ),
        limits=Limits(agent_seconds=900),
    )


def _logged(rng: random.Random, rules: dict[str, Any], film: halls.Film) -> list[tuple[str, int]]:
    """What somebody wrote by hand, to the second: some left out, some that never were."""
    kept = reported(rules, film.states)["sessions"]
    names = sorted({change[2] for change in rules["changes"]})
    log = [(name, (start + 5) // 10 * 10) for name, start, _ in kept if rng.random() < 0.75]
    for _ in range(rng.choice((2, 3))):
        name, start = rng.choice(names), rng.randrange(3, 50) * 10
        if all(other != name or abs(start - s) > 30 for other, s, _ in kept):
            log.append((name, start))
    return sorted(set(log), key=lambda entry: (entry[1], entry[0]))


def _tables(
    rules: dict[str, Any], film: halls.Film, logged: list[tuple[str, int]], large: bool
) -> dict[str, list[list[str]]]:
    """The cells of every table that is asked for."""
    made = reported(rules, film.states)
    if large:
        made["differences"] = differences(rules, made["sessions"], logged)
    else:
        del made["totals"]
    return {name: [written(rules, name, row) for row in rows] for name, rows in made.items()}


def _by_rules(rules: dict[str, Any], large: bool, words: dict[str, Any], **flaw: Any) -> FileTree:
    """Lamps read by ffmpeg alone, and the tables from that; perhaps with a flaw."""
    return FileTree(
        {
            "solve.sh": MATERIAL.render("valid/solve.sh.j2", **words),
            "make.py": MATERIAL.text("valid/make.py"),
            "truth.py": (Path(__file__).parent / "truth.py").read_text(),
            "rules.json": json.dumps({**rules, "large": large, "columns": COLUMNS, **flaw}),
        }
    )


FAMILY = Family(
    name="panel_film",
    realises={
        "domain": frozenset({"data_processing"}),
        "skill_type": frozenset({"aggregation_pipelines"}),
        "skills": frozenset({
            "sessionisation", "lookup_enrichment", "quarantine_handling", "range_checks",
            "completeness_reporting",
        }),
        "language": frozenset({"python", "any"}),
        "task_complexity": frozenset({"moderate", "complex"}),
        "command_complexity": frozenset({"bash_code"}),
        "verifier": frozenset({"metric_threshold"}),
        "fixture": frozenset({"video"}),
    },
    compose=compose,
)  # fmt: skip
