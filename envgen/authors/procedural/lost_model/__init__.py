"""A simulation whose compiler is gone: its results for new parameters, its own steps included.

Sources in Go, Rust or C++; judged by the relative error on the sets that were asked for and others.
"""

import json
import random
from typing import Any

from envgen.authors.procedural.family import Composition, Family, Material, introduced
from envgen.files import FileTree
from envgen.records import InitialState, TaskSpec

from .models import draw_run, draw_sets

MATERIAL = Material(__file__)
WRONG = ("no_quirks", "other_scheme", "recorded", "nothing")
LANGUAGES = {
    "go": {"name": "Go", "ending": "go"},
    "rust": {"name": "Rust", "ending": "rs"},
    "cpp": {"name": "C++", "ending": "cpp"},
}
END = 'if __name__ == "__main__":\n    sys.stdout.write(table(sys.stdin.read()))\n'
OLD, NEW, FRESH = 4, 14, 12


def compose(spec: TaskSpec, rng: random.Random) -> Composition:
    """A model with one special rule (moderate) or two (complex)."""
    complex_ = spec.task_complexity == "complex"
    drawn = draw_run(rng, 2 if complex_ else 1)
    model, lang = drawn["model"], LANGUAGES[spec.language]
    header = ",".join(["id", *drawn["names"], "peak", "when", "drains"])
    stems = rng.sample(("s", "case", "set", "run", "p"), 3)
    tables = [
        _table(drawn["params"], draw_sets(rng, model, count, stem))
        for count, stem in zip((OLD, NEW, FRESH), stems, strict=True)
    ]
    words: dict[str, Any] = {
        **drawn, "who": introduced(spec.persona),
        "complex": complex_, "lang": lang, "header": header, "count": NEW,
        "folder": model.name, "sets": rng.choice(("new_sets.csv", "wanted.csv", "sweep.csv")),
        "results": rng.choice(("results.csv", "sweep_results.csv", "table.csv")),
        "program": rng.choice(("model.py", "rerun.py", f"{model.name}.py")),
        "opening": rng.randrange(3), "first": tables[1].split("\n")[1].split(",")[0],
    }  # fmt: skip
    right = MATERIAL.render("model.py.j2", way="", **words)
    space: dict[str, Any] = {"__name__": "part"}
    exec(right, space)
    old_run: str = space["table"](tables[0])
    truth = {"sets": tables[1], "fresh": tables[2], "results": words["results"],
             "program": words["program"]}  # fmt: skip
    home = f"home/agent/{model.name}"
    source = f"model.{lang['ending']}"
    wrong = {way: MATERIAL.render("model.py.j2", way=way, **words) for way in WRONG[:2]}
    wrong |= {"recorded": _recorded(old_run), "nothing": _recorded(f"{header}\n")}
    given = {
        "README.md": MATERIAL.render("readme.md.j2", **words), "old_sets.csv": tables[0],
        "old_run.csv": old_run, words["sets"]: tables[1],
        source: MATERIAL.render(f"{source}.j2", **words),
    }  # fmt: skip
    return Composition(
        title=f"New runs of an old model in {lang['name']}: {model.name}",
        instruction=MATERIAL.render("instruction.md.j2", **words),
        files=FileTree({f"{home}/{name}": text for name, text in given.items()}),
        tests=FileTree({"check.py": MATERIAL.text("check.py"), "model.py": right,
                        "truth.json": json.dumps(truth)}),
        solution=_solution(words, right),
        wrong={name: _solution(words, text) for name, text in wrong.items()},
        valid={"arrays": _solution(words, MATERIAL.render("model.py.j2", way="arrays", **words))},
        base="scientific_computing",
        initial=InitialState(
            present=tuple(f"/{home}/{name}" for name in given),
            absent=(f"/home/agent/{words['program']}", f"/home/agent/{words['results']}"),
            tools=("python3",),
            commands=(("python3", "-c", "import numpy"),),
        ),
    )  # fmt: skip


def _table(params: list[str], sets: list[dict[str, Any]]) -> str:
    rows = (",".join(str(one[name]) for name in ("id", *params)) for one in sets)
    return "".join(f"{row}\n" for row in (",".join(["id", *params]), *rows))


def _recorded(run: str) -> str:
    """A program that knows the old results, and gives the last of them for every other set."""
    return (
        f"import sys\n\nLINES = {run.splitlines()!r}\n\n\ndef table(text):\n"
        "    known = {line.split(',')[0]: line.split(',', 1)[1] for line in LINES}\n"
        "    last = list(known.values())[-1]\n    out = [LINES[0]]\n"
        "    for line in text.splitlines()[1:]:\n        name = line.split(',')[0]\n"
        "        out.append(name + ',' + known.get(name, last))\n"
        "    return '\\n'.join(out) + '\\n'\n\n\n"
    )


def _solution(words: dict[str, Any], text: str) -> FileTree:
    script = MATERIAL.render("solve.sh.j2", **words)
    return FileTree({"solve.sh": script, "model.py": text, "end.py": f"\n\n{END}"})


FAMILY = Family(
    name="lost_model",
    realises={
        "domain": frozenset({"scientific_computing"}),
        "skill_type": frozenset({"simulation"}),
        "skills": frozenset({
            "parameter_sweeps", "conservation_checks", "ode_integration", "numerical_validation",
            "sensitivity_analysis",
        }),
        "language": frozenset({"go", "rust", "cpp"}),
        "task_complexity": frozenset({"moderate", "complex"}),
        "command_complexity": frozenset({"bash_code"}),
        "verifier": frozenset({"metric_threshold"}),
        "fixture": frozenset({"text_only"}),
    },
    compose=compose,
)  # fmt: skip
