"""A program that gives wrong answers because of a package that is vendored in it."""

import base64
import json
import random
import zlib
from typing import Any

from envgen.authors.procedural.family import Composition, Family, Material, introduced
from envgen.files import FileTree
from envgen.records import HOME, InitialState, TaskSpec

from .packages import PACKAGES, Fault, Package
from .workings import Unlucky, answering, flat, meeting, sources, texts

MATERIAL = Material(__file__)
LINES_EACH = 6
"""Lines of the package that may change for each fault."""
TRIES = 40


def compose(spec: TaskSpec, rng: random.Random) -> Composition:
    package, faults, shown, sound = _draw(rng, 1 if spec.task_complexity == "moderate" else 3)
    app, does = rng.choice(package.apps)
    place = f"{rng.choice(('vendor', 'third_party', 'lib', 'extern'))}"
    right, broken = (answering(sources(package, some)) for some in ((), faults))
    told = [line for lines in shown for line in lines[-2:]]
    words: dict[str, Any] = {
        "who": introduced(spec.persona), "p": package, "app": app, "does": does, "place": place,
        "faults": faults, "large": len(faults) > 1, "most": LINES_EACH * len(faults),
        "version": f"{rng.randrange(3)}.{rng.randrange(1, 20)}.{rng.randrange(9)}",
        "cases": [(line, broken(line), right(line)) for line in told],
        "checked": [(line, right(line)) for line in (*told, *(lines[-3] for lines in shown))],
        "samples": sound[-4:], "fine": [(line, right(line)) for line in sound[-4:]],
    }  # fmt: skip
    home = f"{HOME.lstrip('/')}/{app}"
    files = {
        f"{home}/{place}/{package.name}/{name}.py": text
        for name, text in sources(package, faults).items()
    }
    files |= {
        f"{home}/{place}/{package.name}/VENDORED.txt": MATERIAL.render("vendored.txt.j2", **words),
        f"{home}/main.py": MATERIAL.render("main.py.j2", **words),
        f"{home}/TICKET.md": MATERIAL.render("ticket.md.j2", **words),
    }
    truth = {
        "app": app, "place": place, "package": package.name, "most": words["most"],
        "main": _packed(files[f"{home}/main.py"]), "oracle": _packed(flat(sources(package))),
        "given": _tree(package, faults), "right": _tree(package, ()),
        "alone": [_tree(package, [fault]) for fault in faults],
        "faults": [texts(rng, lines, sound) for lines in shown],
        "sound": texts(rng, sound, sound),
    }  # fmt: skip
    return Composition(
        title=f"{app} and its vendored {package.name}",
        instruction=MATERIAL.render("instruction.md.j2", **words),
        files=FileTree(files),
        tests=FileTree({"check.py": MATERIAL.text("check.py"), "truth.json": json.dumps(truth)}),
        solution=_solution(words, "solve.sh.j2", faults, "good"),
        wrong=_wrong(words, package, faults),
        valid={"other_words": _solution(words, "given.sh.j2", faults, "other", "valid_test.py.j2")},
        base="debugging",
        initial=InitialState(
            present=tuple(f"/{path}" for path in files),
            absent=(f"/{home}/tests",),
            tools=("python3", "diff"),
        ),
    )


def _draw(
    rng: random.Random, count: int
) -> tuple[Package, list[Fault], list[list[str]], list[str]]:
    for _ in range(TRIES):
        package = rng.choice(PACKAGES)
        faults = rng.sample(package.faults, count if count == 1 else rng.choice((2, 3)))
        try:
            return package, faults, *meeting(rng, package, faults)
        except Unlucky:
            continue
    raise ValueError("no faults fit")


def _packed(text: str) -> str:
    """Most lines of a source stand in the image as well, rightly."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def _tree(package: Package, faults: Any) -> dict[str, str]:
    return {f"{n}.py": _packed(text) for n, text in sources(package, faults).items()}


def _solution(
    words: dict[str, Any],
    script: str,
    faults: list[Fault],
    pick: str,
    test: str = "test_vendored.py.j2",
) -> FileTree:
    """Edits of the package, and a test beside."""
    edits = {
        f"fix-{nth}.json": json.dumps(
            {"module": fault.module, "old": fault.bad, "new": getattr(fault, pick)}
        )
        for nth, fault in enumerate(faults, 1)
    }
    return FileTree(
        {
            "solve.sh": MATERIAL.render(script, **words, edits=len(faults)),
            "edit.py": MATERIAL.text("edit.py"),
            "test_vendored.py": MATERIAL.render(test, **words) if test else "",
            **edits,
        }
    )


def _wrong(words: dict[str, Any], package: Package, faults: list[Fault]) -> dict[str, FileTree]:
    mended = (words, "given.sh.j2", faults, "good")
    table = {line: answer for line, answer in words["checked"]}
    special = _solution(words, "special.sh.j2", [], "good").merged(
        FileTree({"known.py": f"KNOWN = {table!r}\n"})
    )
    wrong = {
        "no_test": _solution(*mended, ""),
        "test_says_yes": _solution(*mended, "wrong_test.py.j2"),
        "known_answers": special,
        "written_anew": _solution(words, "anew.sh.j2", faults, "good"),
    }
    if len(faults) > 1:
        wrong["one_left"] = _solution(words, "given.sh.j2", faults[:-1], "good")
    return wrong


FAMILY = Family(
    name="vendored_fault",
    realises={
        "domain": frozenset({"debugging"}),
        "skill_type": frozenset({"fault_localisation"}),
        "skills": frozenset({
            "code_reading", "minimal_reproduction", "patch_writing", "regression_checking",
            "boundary_conditions",
        }),
        "language": frozenset({"python"}),
        "task_complexity": frozenset({"moderate", "complex"}),
        "command_complexity": frozenset({"bash_code"}),
        "verifier": frozenset({"fuzz_equivalence"}),
        "fixture": frozenset({"vendored_package"}),
    },
    compose=compose,
)  # fmt: skip
