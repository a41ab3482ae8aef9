"""A scanned sheet of a chart recorder, and the card that says how to read it.

The agent digitises the pens to a table in other units at stated times, and derives a few numbers.
The picture is drawn in the tool stage from parameters that never come near the image.
"""

import json
import random
from typing import Any

from envgen.authors.fixtures.recipe import Recipe
from envgen.authors.procedural.family import Composition, Family, Material, introduced
from envgen.files import FileTree
from envgen.records import InitialState, TaskSpec

from .card import facts, settings
from .instruments import INSTRUMENTS
from .sheet import Pen, Sheet, draw_sheet, picture

MATERIAL = Material(__file__)
FOLDER = "home/agent/sheet"
TARGET = {False: 0.012, True: 0.025}
"""RMSE as a share of the range for full marks, by whether the strokes are steep."""


def compose(spec: TaskSpec, rng: random.Random) -> Composition:
    """One sheet: an instrument, its faults, and what is wanted from it."""
    instrument = rng.choice(INSTRUMENTS)
    sheet = draw_sheet(instrument, spec.task_complexity == "complex", rng)
    drawing = picture(sheet, rng)
    words = {**_words(spec, sheet), "doodle": drawing["doodle"] is not None}
    card = MATERIAL.render("card.txt.j2", **words)
    recipe = Recipe(
        base="tools",
        files=FileTree({"draw.py": MATERIAL.text("draw.py"), "params.json": json.dumps(drawing)}),
        command=("python3", "draw.py", "params.json", "/out/chart.png"),
        target=FOLDER,
    )
    truth = _truth(sheet)
    return Composition(
        title=f"Recorder sheet to numbers: {instrument.name}",
        instruction=MATERIAL.render("instruction.md.j2", **words),
        files=FileTree({f"{FOLDER}/card.txt": card}),
        recipes=(recipe,),
        tests=FileTree(
            {"check.py": MATERIAL.text("check.py"), "truth.json": json.dumps(truth, indent=1)}
        ),
        solution=_solution("solve.sh", sheet, words),
        wrong={name: _solution(f"wrong/{name}/solve.sh", sheet, words) for name in _wrongs(sheet)},
        valid={"pillow_only": _solution("valid/pillow_only/solve.sh", sheet, words)},
        base="scientific_computing",
        initial=InitialState(
            present=(f"/{FOLDER}/card.txt", f"/{FOLDER}/chart.png"),
            absent=("/home/agent/trace.csv", "/home/agent/derived.json"),
            tools=("python3",),
            commands=(("python3", "-c", "import numpy, PIL"),),
        ),
        secrets=tuple(",".join(map(str, c["values"][10:14])) for c in truth["columns"]),
    )


def _words(spec: TaskSpec, sheet: Sheet) -> dict[str, Any]:
    times = sheet.times()
    return {
        **facts(sheet),
        "who": introduced(spec.persona),
        "first": f"{times[0]:g}",
        "second": f"{times[1]:g}",
        "last": f"{times[-1]:g}",
        "step": f"{sheet.instrument.step:g}",
        "count": len(times),
        "wanted": sheet.wanted,
        "columns": [
            {"name": pen.channel.column, "floor": _floor(sheet, pen), "goal": _goal(pen)}
            for pen in sheet.pens
        ],
        "columns_text": ",".join(pen.channel.column for pen in sheet.pens),
    }


def _goal(pen: Pen) -> float:
    return TARGET[pen.channel.steep]


def _floor(sheet: Sheet, pen: Pen) -> float:
    """Half of what the best constant reaches, so that a flat line earns nothing."""
    values = sheet.truth(pen)
    mean = sum(values) / len(values)
    spread = (sum((v - mean) ** 2 for v in values) / len(values)) ** 0.5
    return max(int(50 * spread / (max(values) - min(values))) / 100, 2 * _goal(pen))


def _wrongs(sheet: Sheet) -> tuple[str, ...]:
    """Those that are wrong for this draw."""
    names = ["flat_line", "card_units", "picture_corners", "table_only"]
    for pen in sheet.pens:
        truth, naive = sheet.truth(pen), sheet.naive(pen)
        square = sum((a - b) ** 2 for a, b in zip(truth, naive, strict=True)) / len(truth)
        if square**0.5 / (max(truth) - min(truth)) > 2.5 * _goal(pen):
            return (*names, "remarks_ignored")
    return tuple(names)


def _truth(sheet: Sheet) -> dict[str, Any]:
    return {
        "time_column": sheet.instrument.time_column,
        "times": sheet.times(),
        "columns": [
            {
                "name": pen.channel.column,
                "values": [round(v, 6) for v in sheet.truth(pen)],
                "floor": _floor(sheet, pen),
                "goal": _goal(pen),
            }
            for pen in sheet.pens
        ],
        "derived": [
            {"key": w.key, "value": w.value, "tolerance": w.tolerance} for w in sheet.wanted
        ],
    }


def _solution(script: str, sheet: Sheet, words: dict[str, Any]) -> FileTree:
    code = {"valid/pillow_only/solve.sh": "valid/pillow_only/follow.py"}.get(script, "digitise.py")
    return FileTree(
        {
            "solve.sh": MATERIAL.render(script, **words),
            code.rpartition("/")[2]: MATERIAL.text(code),
            "derive.py": MATERIAL.text("derive.py"),
            "settings.json": json.dumps(settings(sheet), indent=1) + "\n",
        }
    )


FAMILY = Family(
    name="strip_chart",
    realises={
        "domain": frozenset({"scientific_computing"}),
        "skill_type": frozenset({"signal_recovery"}),
        "skills": frozenset(
            {
                "axis_calibration",
                "image_segmentation",
                "interpolation",
                "noise_reduction",
                "unit_conversion",
                "numerical_validation",
            }
        ),
        "language": frozenset({"python"}),
        "task_complexity": frozenset({"moderate", "complex"}),
        "command_complexity": frozenset({"bash_code"}),
        "verifier": frozenset({"metric_threshold"}),
        "fixture": frozenset({"image"}),
    },
    compose=compose,
)
