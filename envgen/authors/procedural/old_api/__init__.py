"""A vendored package of a new major version: the old interface on top of it, and its faults mended.

Both interfaces are called with fresh arguments; version 1 is described, version 2 documents itself.
"""

import difflib
import json
import random
import zlib
from base64 import b64encode
from typing import Any

from envgen.authors.procedural.family import Composition, Family, Material, introduced
from envgen.files import FileTree
from envgen.records import InitialState, Limits, TaskSpec

MATERIAL = Material(__file__)
WRONG = ("no_fix", "naive", "one_less", "stub")
PACKAGES = ("tessel", "plaitlib", "oddments", "sundry", "workbox", "handrail", "fretwork")
PAIRS = {"wrap": "fold", "pad": "align", "minutes": "parse", "chunk": "batches",
         "merge": "combine", "dig": "at", "nearest": "rounded"}  # fmt: skip
"""Function of version 1 -> what it became."""
NAMES = {
    "fold": ("fold", "flow", "lines_of"), "align": ("align", "place", "justify"),
    "parse": ("parse_span", "seconds", "duration"), "batches": ("batches", "groups", "slices"),
    "combine": ("combine", "layered", "overlay"), "at": ("at", "lookup", "reach"),
    "rounded": ("rounded", "quantised", "to_digits"),
}  # fmt: skip
SYMPTOMS = {
    "fold": "the last word of a text is missing now and then",
    "align": "a figure lost its first digits in a narrow column",
    "parse": "spans of several days come out a little short",
    "batches": "the last record of an import was not there",
    "combine": "a setting that somebody switched off with null is on again",
    "at": "fields that hold nothing, zero or false are said not to exist",
    "rounded": "credits are a cent off where invoices are right",
}
OPENINGS = (
    "A security fix forced the update on us.",
    "Version 1 no longer runs on the Python that we move to.",
    "A contractor swapped the package on Friday and left.",
    "Our distribution dropped the old package overnight.",
    "The licence of version 1 is no longer acceptable to our customers.",
)


def compose(spec: TaskSpec, rng: random.Random) -> Composition:
    """Four functions and one fault (moderate), or all seven and three faults (complex)."""
    complex_ = spec.task_complexity == "complex"
    functions = rng.sample(list(PAIRS), 7 if complex_ else 4)
    names = {new: rng.choice(NAMES[new]) for new in PAIRS.values()}
    faults = sorted(rng.sample([PAIRS[f] for f in functions], 3 if complex_ else 1))
    words: dict[str, Any] = {
        "who": introduced(spec.persona),
        "complex": complex_, "package": rng.choice(PACKAGES), "functions": functions,
        "n": names, "faults": faults, "signatures": _signatures(names),
        "symptom": "; ".join(SYMPTOMS[fault] for fault in faults) + ".",
        "opening": rng.choice(OPENINGS), "callers": rng.choice(("dozens", "hundreds", "most")),
    }  # fmt: skip
    right = MATERIAL.render("package.py.j2", **{**words, "faults": ()})
    faulty = MATERIAL.render("package.py.j2", **words)
    words["fixes"] = _fixes(faulty, right)
    first = MATERIAL.render("first.py.j2", **words)
    home, name = "home/agent/app", words["package"]
    truth = {"package": name, "functions": functions, "faults": faults, "names": names,
             "second": packed(right), "salt": rng.getrandbits(60)}  # fmt: skip
    given = {
        f"vendor/{name}.py": faulty,
        "vendor/CHANGES.md": MATERIAL.render("changes.md.j2", **words),
        "VERSION1.md": MATERIAL.render("version1.md.j2", **words),
        "calls.jsonl": _recorded(first, functions, rng),
    }
    return Composition(
        title=f"Version 1 of {name} on top of version 2",
        instruction=MATERIAL.render("instruction.md.j2", **words),
        files=FileTree({f"{home}/{path}": text for path, text in given.items()}),
        tests=FileTree({
            **{path: MATERIAL.text(path) for path in ("check.py", "calls.py", "driver.py")},
            "version1.py": first, "truth.json": json.dumps(truth),
        }),
        solution=_solution(words, ""),
        wrong={way: _solution(words, way) for way in WRONG},
        valid={"own": _solution(words, "own")},
        base="software_engineering",
        initial=InitialState(
            present=tuple(f"/{home}/{path}" for path in given),
            absent=(f"/{home}/old.py",),
            tools=("python3",),
        ),
        limits=Limits(verify_seconds=240),
    )  # fmt: skip


def _signatures(n: dict[str, str]) -> dict[str, tuple[str, str, str, str]]:
    """Version 1, version 2, what changed, and what version 1 does."""
    return {
        "wrap": ("wrap(text, width=20)", f"{n['fold']}(text, *, columns, cut=False)",
                 "It gives a list of lines, and cuts long words only when asked.",
                 "the text in lines of at most `width`, as one string; words at single spaces, "
                 "longer words are cut, starting on a line of their own."),
        "pad": ("pad(text, width, fill=' ', side='left')",
                f"{n['align']}(text, columns, *, where='left', char=' ')",
                "`where` says where the text goes, no longer where it is filled up.",
                "the text with `fill` put in front (`left`) or behind (`right`) up to `width`."),
        "minutes": ("minutes(text)", f"{n['parse']}(text)", "It gives seconds, and knows seconds.",
                    "whole minutes of a span such as `1d2h30m` (days, hours, minutes)."),
        "chunk": ("chunk(items, size, pad=None)", f"{n['batches']}(items, size)",
                  "It yields tuples; the last one is no longer filled up.",
                  "a list of lists of `size` items, the last one filled up with `pad`."),
        "merge": ("merge(one, other)", f"{n['combine']}(*layers, lists='replace')",
                  "Lists are replaced unless `lists='extend'`.",
                  "one mapping out of two: mappings are merged, lists joined, else the other's "
                  "value counts, also when it is null."),
        "dig": ("dig(data, path, default=None)", f"{n['at']}(data, path)",
                "The path is a list of keys and places, and nothing found is LookupError.",
                "what stands at a path such as `a.0.b` (places from 0 in lists, names in "
                "mappings), or the default."),
        "nearest": ("nearest(value, digits=0)", f"{n['rounded']}(value, digits, *, half='even')",
                    "It gives a Decimal; halves go to the even digit unless `half='away'`.",
                    "the decimal in the text `value` rounded to `digits` places, halves away from "
                    "zero, as a text with that many places."),
    }  # fmt: skip


def packed(program: str) -> str:
    """A program that the image holds nearly as well: nothing of the tests may be read there."""
    return b64encode(zlib.compress(program.encode())).decode()


def _fixes(faulty: str, right: str) -> str:
    """[old, new] for each place in which the two differ, with the line before it."""
    one, other = faulty.splitlines(True), right.splitlines(True)
    blocks = difflib.SequenceMatcher(None, one, other, False).get_opcodes()
    pairs = [
        ["".join(one[a - 1 : b]), "".join(other[c - 1 : d])]
        for kind, a, b, c, d in blocks
        if kind != "equal"
    ]
    return json.dumps(pairs) + "\n"


def _recorded(first: str, functions: list[str], rng: random.Random) -> str:
    """A few ordinary calls of version 1 with their results."""
    space: dict[str, Any] = {"__name__": "part"}
    exec(first, space)
    calls: dict[str, Any] = {"__name__": "part"}
    exec(MATERIAL.text("calls.py"), calls)
    lines = []
    for function in functions * 5:
        name, arguments, keywords = calls["first"](rng, function)
        result = space[name](*arguments, **keywords)
        lines.append(json.dumps([name, arguments, keywords, result]) + "\n")
    rng.shuffle(lines)
    return "".join(lines)


def _solution(words: dict[str, Any], way: str) -> FileTree:
    functions = words["functions"][1:] if way == "one_less" else words["functions"]
    old = MATERIAL.render("old.py.j2", way=way, **{**words, "functions": functions})
    if way == "own":
        old = MATERIAL.render("first.py.j2", **words)
    if way == "stub":
        old = "".join(f"def {f}(*args, **more):\n    return args[0]\n\n\n" for f in functions)
    return FileTree({
        "solve.sh": MATERIAL.render("solve.sh.j2", way=way, **words), "old.py": old,
        "fixes.json": words["fixes"],
        **{path: MATERIAL.text(path) for path in ("mend.py", "replay.py")},
    })  # fmt: skip


FAMILY = Family(
    name="old_api",
    realises={
        "domain": frozenset({"software_engineering"}),
        "skill_type": frozenset({"interface_evolution"}),
        "skills": frozenset({
            "backward_compatibility", "versioned_migration", "contract_testing",
            "deprecation_paths", "interface_extraction", "property_based_testing",
        }),
        "language": frozenset({"python"}),
        "task_complexity": frozenset({"moderate", "complex"}),
        "command_complexity": frozenset({"bash_code"}),
        "verifier": frozenset({"fuzz_equivalence"}),
        "fixture": frozenset({"vendored_package"}),
    },
    compose=compose,
)  # fmt: skip
