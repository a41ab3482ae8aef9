"""Films of a small experiment: follow the ball through them, measure each run, find the law.

The camera drops pictures, its pixels are not square, and a block of the ball's colour stands still.
"""

import json
import random
from typing import Any

from envgen.authors.fixtures.recipe import Recipe
from envgen.authors.procedural.family import Composition, Family, Material, introduced
from envgen.files import FileTree
from envgen.records import InitialState, Limits, TaskSpec

from .motion import KINDS, RATES, SECONDS, Kind, Run, draw_runs

MATERIAL = Material(__file__)
FOLDER = "home/agent/film"
WRONG = ("frame_index", "all_blue", "pixels", "one_scale", "flat")
OPENINGS = (
    "The spreadsheet that went with these films is lost.",
    "Nobody has measured these films yet.",
    "I need numbers from a series of films by tonight.",
    "The motion tracker of our lab broke down, its camera did not.",
    "These films are all that is left of a visit to a field site.",
)  # fmt: skip
READING = {
    "gif": "They are animated GIFs.",
    "png": "They are animated PNGs (a viewer that does not know these shows only one picture).",
    "avi": "They are AVI files of JPEG pictures (motion JPEG); no video program is installed here.",
}


def compose(spec: TaskSpec, rng: random.Random) -> Composition:
    """Two films (complex), or five and the law behind them (intricate)."""
    law = spec.task_complexity == "intricate"
    kind = rng.choice(KINDS)
    constant = kind.draw_constant(rng)
    runs = draw_runs(kind, constant, 5 if law else 2, rng)
    plan = _plan(kind, runs, rng)
    films = [
        {"file": film["file"], "name": film["file"].split(".")[0], "setting": f"{run.setting:g}"}
        for film, run in zip(plan["films"], runs, strict=True)
    ]
    truth = _truth(kind, runs, plan, law, constant, rng)
    words = {
        "who": introduced(spec.persona),
        "kind": kind, "films": films, "law": law, "rate": plan["rate"],
        "wide": plan["wide"], "high": plan["high"], "fit": kind.fit, "ahead": truth["ahead"],
        "tolerance": truth["law"].get(kind.constant[0], {}).get("tolerance", 0),
        "opening": rng.choice(OPENINGS), "reading": READING[films[0]["file"][-3:]],
    }  # fmt: skip
    recipe = Recipe(
        base="tools",
        files=FileTree({"film.py": MATERIAL.text("film.py"), "plan.json": json.dumps(plan)}),
        command=("python3", "film.py", "plan.json", "/out"),
        target=FOLDER,
    )
    return Composition(
        title=f"Films of a {kind.name} to numbers",
        instruction=MATERIAL.render("instruction.md.j2", **words),
        files=FileTree({f"{FOLDER}/notes.txt": MATERIAL.render("notes.txt.j2", **words)}),
        recipes=(recipe,),
        tests=FileTree({"check.py": MATERIAL.text("check.py"), "truth.json": json.dumps(truth)}),
        solution=_solution(words, ""),
        wrong={way: _solution(words, way) for way in WRONG},
        valid={"boxes": _solution(words, "boxes")},
        base="scientific_computing",
        initial=InitialState(
            present=(f"/{FOLDER}/notes.txt", *(f"/{FOLDER}/{film['file']}" for film in films)),
            absent=tuple(f"/{FOLDER}/{n}" for n in ("track.csv", "runs.csv", "law.json")),
            tools=("python3",),
            commands=(("python3", "-c", "import numpy, PIL"),),
        ),
        secrets=(",".join(map(str, truth["films"][0]["x_mm"][3:7])),),
        limits=Limits(memory_mb=2048),
    )  # fmt: skip


def _plan(kind: Kind, runs: list[Run], rng: random.Random) -> dict[str, Any]:
    """All that is drawn: pixels by centimetres, pictures with number, lamp, light and place."""
    rate = rng.choice(RATES[kind.name])
    across, along = rng.uniform(6.2, 6.8), rng.uniform(5.3, 5.9)
    origin = rng.uniform(26, 34), rng.uniform(168, 174)
    wide, high = rng.randrange(36, 41), rng.randrange(23, 26)
    corners = ((0, 0), (wide, 0), (0, high))
    ending = rng.choice(("gif", "png", "avi"))
    names = rng.sample([f"{word}{n}" for word in ("run", "take") for n in range(1, 10)], len(runs))
    films = []
    for name, run in zip(names, runs, strict=True):
        before, first = rng.randrange(4, 9), rng.randrange(1, 500)
        count = round(SECONDS[kind.name] * rate)
        numbers = [n for n in range(-before, count) if n in (-before, 0) or rng.random() > 0.08]
        frames = []
        for n in numbers:
            x, y = run.path(n / rate)
            frames.append({
                "number": first + n + before, "lamp": n >= 0,
                "light": round(rng.uniform(0.92, 1.03), 3),
                "at": (round(origin[0] + x * across, 3), round(origin[1] - y * along, 3)),
                "t": n / rate, "mm": (round(10 * x, 2), round(10 * y, 2)),
            })  # fmt: skip
        films.append({"file": f"{name}.{ending}", "frames": frames})
    return {
        "rate": rate, "wide": wide, "high": high, "radius": round(rng.uniform(4.2, 5.4), 1),
        "clamp": (rng.choice((60, 150, 250)), 9), "films": films,
        "crosses": [(round(origin[0] + x * across, 3), round(origin[1] - y * along, 3))
                    for x, y in corners],
    }  # fmt: skip


def _truth(
    kind: Kind,
    runs: list[Run],
    plan: dict[str, Any],
    law: bool,
    constant: float,
    rng: random.Random,
) -> dict[str, Any]:
    films = []
    for film, run in zip(plan["films"], runs, strict=True):
        lit = [one for one in film["frames"] if one["lamp"]]
        xs, ys = ([one["mm"][n] for one in lit] for n in (0, 1))
        films.append({
            "name": film["file"].split(".")[0], "setting": float(f"{run.setting:g}"),
            "measured": run.measured,
            "t_s": [round(one["t"], 5) for one in lit], "x_mm": xs, "y_mm": ys,
            "extent": max(max(xs) - min(xs), max(ys) - min(ys)),
        })  # fmt: skip
    ahead = kind.draw_setting(rng, 6)
    # Friction is what is left of a large acceleration: a small error of that is a large one of it.
    tolerance = 0.12 if kind.name == "track" else 0.02
    wanted = {kind.constant[0]: {"value": constant, "tolerance": tolerance},
              "foretold": {"value": kind.measure(ahead, constant), "tolerance": 0.02}}  # fmt: skip
    return {"films": films, "setting": kind.setting[0], "measured": kind.measured[0],
            "law": wanted if law else {}, "ahead": ahead}  # fmt: skip


def _solution(words: dict[str, Any], way: str) -> FileTree:
    names = ("track.py", "fit.py", "law.py") if words["law"] else ("track.py", "fit.py")
    files = {name: MATERIAL.render(f"{name}.j2", way=way, **words) for name in names}
    return FileTree({"solve.sh": MATERIAL.render("solve.sh.j2", way=way, **words), **files})


FAMILY = Family(
    name="film_track",
    realises={
        "domain": frozenset({"scientific_computing"}),
        "skill_type": frozenset({"signal_recovery"}),
        "skills": frozenset({
            "axis_calibration", "image_segmentation", "unit_conversion", "numerical_validation",
            "time_base_alignment", "least_squares",
        }),
        "language": frozenset({"python"}),
        "task_complexity": frozenset({"complex", "intricate"}),
        "command_complexity": frozenset({"bash_code"}),
        "verifier": frozenset({"metric_threshold"}),
        "fixture": frozenset({"video"}),
    },
    compose=compose,
)  # fmt: skip
