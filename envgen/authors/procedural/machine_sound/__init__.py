"""Recordings of rotating machines: learn their condition from labelled clips.

Speed, loudness and hum differ from clip to clip: only lines in turns of the shaft tell.
"""

import json
import random
from typing import Any

from envgen.authors.fixtures.recipe import Recipe
from envgen.authors.procedural.family import Composition, Family, Material, introduced
from envgen.files import FileTree
from envgen.records import InitialState, Limits, TaskSpec

MATERIAL = Material(__file__)
WRONG = ("majority", "loudness", "fixed_bands", "file_order")
GOAL = 0.9
MACHINES = (
    ("pumps", "the pumps of a waterworks"), ("fans", "the fans of a tunnel"),
    ("blowers", "the blowers of a sewage plant"), ("turbines", "turbines in a mountain stream"),
    ("compressors", "the compressors of a dairy"), ("mixers", "the mixers of a paint factory"),
    ("coolers", "the cooling fans of a computing centre"),
)  # fmt: skip
NAMES = {
    "healthy": ("healthy", "good", "normal", "sound"),
    "imbalance": ("imbalance", "unbalanced", "out_of_balance"),
    "misalignment": ("misaligned", "coupling", "alignment"),
    "bearing": ("bearing", "outer_ring", "pitting"),
    "cavitation": ("cavitation", "rubbing", "turbulence"),
    "belt": ("belt", "slipping_belt", "loose_belt"),
}
OPENINGS = (
    "The technician who could hear it retires, and I need his ear as a program.",
    "We recorded for a month and had time to label only a part.",
    "An alarm on loudness alone sends crews to healthy machines every night.",
    "Our last model was trained at one speed and is useless at any other.",
)


def compose(spec: TaskSpec, rng: random.Random) -> Composition:
    """A park of machines, four or five conditions; complex tasks ask for the program too."""
    complex_ = spec.task_complexity == "complex"
    stem, machines = rng.choice(MACHINES)
    kinds = ["healthy", *rng.sample([k for k in NAMES if k != "healthy"], rng.choice((3, 4)))]
    classes = {rng.choice(NAMES[kind]): kind for kind in kinds}
    machine = {
        "blades": rng.randrange(5, 12), "strokes": round(rng.uniform(3.2, 4.4), 2),
        "slip": round(rng.uniform(0.3, 0.45), 2), "ring": rng.randrange(1500, 2400),
    }  # fmt: skip
    train = _clips(rng, classes, 36, 9, "train")
    new = _clips(rng, classes, 20, 7, "new")
    fresh = _clips(rng, classes, 14, 6, "") if complex_ else []
    folder = f"{stem}-{rng.randrange(10, 99)}"
    words: dict[str, Any] = {
        "who": introduced(spec.persona),
        "complex": complex_, "machines": machines, "machine": machine,
        "classes": classes, "texts": _texts(machine), "folder": folder, "train": len(train),
        "new": len(new), "goal": GOAL, "opening": rng.choice(OPENINGS), "seconds": 0.6,
    }  # fmt: skip
    tables = {
        "labels.csv": _table("file,rpm,label", train, ("file", "rpm", "label")),
        "new/clips.csv": _table("file,rpm", new, ("file", "rpm")),
        "NOTES.md": MATERIAL.render("notes.md.j2", **words),
    }
    truth = {"machine": machine, "new": new, "fresh": fresh, "goal": GOAL}
    plan = json.dumps({"machine": machine, "clips": train + new})
    home, synth = f"home/agent/{folder}", MATERIAL.text("synth.py")
    return Composition(
        title=f"Condition of {machines} by their sound",
        instruction=MATERIAL.render("instruction.md.j2", **words),
        files=FileTree({f"{home}/{path}": text for path, text in tables.items()}),
        recipes=(Recipe("tools", FileTree({"synth.py": synth, "plan.json": plan}),
                        ("python3", "synth.py", "plan.json", "/out"), home),),
        tests=FileTree({"check.py": MATERIAL.text("check.py"), "synth.py": synth,
                        "truth.json": json.dumps(truth)}),
        solution=_solution(words, ""),
        wrong={way: _solution(words, way) for way in WRONG},
        valid={"neighbours": _solution(words, "neighbours")},
        base="data_science",
        initial=InitialState(
            present=(*(f"/{home}/{path}" for path in tables), f"/{home}/train/{train[0]['file']}"),
            absent=("/home/agent/predictions.csv", "/home/agent/classify.py"),
            tools=("python3",),
            commands=(("python3", "-c", "import numpy"),),
        ),
        limits=Limits(memory_mb=2048),
    )  # fmt: skip


def _clips(
    rng: random.Random, classes: dict[str, str], healthy: int, others: int, folder: str
) -> list[dict[str, Any]]:
    """Clips in no order; names say nothing."""
    count = {k: healthy if k == "healthy" else others + rng.randrange(3) for k in classes.values()}
    labels = [label for label, kind in classes.items() for _ in range(count[kind])]
    rng.shuffle(labels)
    clips = []
    for name, label in zip(rng.sample(range(1000, 9999), len(labels)), labels, strict=True):
        file = f"clip_{name}.wav"
        clips.append({"file": file, "path": f"{folder}/{file}", "label": label,
                      "kind": classes[label],
                      "rpm": rng.randrange(1020, 2640), "seed": rng.getrandbits(40)})  # fmt: skip
    return clips


def _table(header: str, clips: list[dict[str, Any]], columns: tuple[str, ...]) -> str:
    return "".join(
        f"{line}\n" for line in (header, *(",".join(str(c[k]) for k in columns) for c in clips))
    )


def _texts(machine: dict[str, Any]) -> dict[str, str]:
    return {
        "healthy": "nothing of what follows; a little at f and at 2 f is always there.",
        "imbalance": "a strong line at f.",
        "misalignment": "a strong line at 2 f, whatever there is at f.",
        "bearing": f"strokes, {machine['strokes']} a turn, each of which rings far above 1000 Hz.",
        "cavitation": "steady noise over the whole spectrum, much more than microphones make.",
        "belt": f"neighbours of the line of the blades, {machine['slip']} f away on both sides.",
    }


def _solution(words: dict[str, Any], way: str) -> FileTree:
    return FileTree({
        "solve.sh": MATERIAL.render("solve.sh.j2", **words),
        "classify.py": MATERIAL.render("classify.py.j2", way=way, **words),
    })  # fmt: skip


FAMILY = Family(
    name="machine_sound",
    realises={
        "domain": frozenset({"data_science"}),
        "skill_type": frozenset({"classification"}),
        "skills": frozenset({
            "class_imbalance_handling", "threshold_calibration", "confusion_matrix_reading",
            "feature_engineering", "train_validation_split", "prediction_export",
        }),
        "language": frozenset({"python"}),
        "task_complexity": frozenset({"moderate", "complex"}),
        "command_complexity": frozenset({"bash_code"}),
        "verifier": frozenset({"metric_threshold"}),
        "fixture": frozenset({"audio"}),
    },
    compose=compose,
)  # fmt: skip
