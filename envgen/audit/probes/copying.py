"""Answers that lie in the image: found by name and form, unpacked, copied, run.

Covers: a readable truth, a copy with a small edit, a reference that can be run, a generator left
behind, compiled leftovers, shell histories, git objects and packs, variables of the image, files
that only earlier layers hold.
"""

import json
import re
import shlex
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import NamedTuple

from envgen.audit import naming, submissions, unpacking
from envgen.audit.probes.gain import gained
from envgen.audit.target import Entry, Target
from envgen.files import File, FileTree
from envgen.records import Attack, Exploitability, Place

judge = gained

ROUNDS = 2
"""Candidates that are tried for each output."""
TELLING = re.compile(r"expect|answer|solution|truth|oracle|golden|reference|backup|final|out", re.I)
GENERATOR = re.compile(r"(^|/)(gen|generate|make|create|build)[_-]?\w*\.(py|sh|pl|rb)$|_history$")
_RUNNABLE = (b"\x7fELF", b"#!")


class Found(NamedTuple):
    """A content that may be the answer for an output."""

    points: int
    entry: Entry
    view: str
    data: bytes


def attacks(target: Target) -> tuple[Attack, ...]:
    """The best candidates for all outputs at once, then the next best; wrappers; generators."""
    seen = [e for e in target.entries if e.data and (e.removed or not target.told(e.path))]
    made = [
        *_copies(target, [e for e in seen if not e.removed], "rollout"),
        *_copies(target, [e for e in seen if e.removed], "layers"),
        _wrapped(target),
        _generated(target, seen),
    ]
    return tuple(attack for attack in made if attack is not None)


# -- copies ------------------------------------------------------------------------------------


def _copies(target: Target, seen: list[Entry], needs: Exploitability) -> list[Attack]:
    """Copies, and the best ones again with a small edit, for tests that refuse the same bytes."""
    views = [(e, view, d) for e in seen for view, d in unpacking.views(e.data).items()]
    paths = (*target.outputs, *target.programs)
    ranked = {path: _ranked(path, target, views) for path in paths}
    rounds = [{p: f[n] for p, f in ranked.items() if len(f) > n} for n in range(ROUNDS)]
    made = [
        _copy(target, chosen, needs, name, "")
        for chosen, name in zip(rounds, ("copied", "copied-next"), strict=True)
        if chosen
    ]
    edited = {p: f for p, f in rounds[0].items() if PurePosixPath(p).suffix != ".json"}
    if edited:
        made.append(_copy(target, edited, needs, "copied-edited", "\n"))
    return made


def _ranked(path: str, target: Target, views: list[tuple[Entry, str, bytes]]) -> list[Found]:
    found = [
        Found(points, entry, view, data)
        for entry, view, data in views
        if entry.path != path and (points := _points(path, entry, view, data, target)) > 0
    ]
    best: dict[bytes, Found] = {}
    for one in sorted(found, key=lambda f: (-f.points, f.entry.path, f.view)):
        best.setdefault(one.data, one)
    return list(best.values())


def _points(path: str, entry: Entry, view: str, data: bytes, target: Target) -> int:
    """How much a content looks like the answer for a path; 0 is not at all."""
    wanted, inner = PurePosixPath(path), PurePosixPath(view.partition(":")[2] or entry.path)
    if path in target.programs and not _runs(wanted, data):
        return 0
    points = 8 * (inner.name == wanted.name)
    points += 4 * (wanted.stem in inner.name and inner.name != wanted.name)
    points += 2 * (inner.suffix == wanted.suffix != "")
    points += 2 * bool(TELLING.search(inner.name) or TELLING.search(entry.path))
    points += _form(wanted, data, target)
    return points


def _form(wanted: PurePosixPath, data: bytes, target: Target) -> int:
    """What the content itself says: a header, keys, a way to be run."""
    if str(wanted) in target.programs:
        return 3
    head = data[:4096].split(b"\n", 1)[0].decode(errors="replace").strip()
    if head in naming.headers(target.instruction):
        return 6
    if wanted.suffix == ".json" and data[:1] == b"{":
        keys = naming.words(target.instruction)
        return min(6, sum(f'"{key}"'.encode() in data for key in keys))
    return 0


def _runs(wanted: PurePosixPath, data: bytes) -> bool:
    """Whether a content can be a program for a path."""
    marks = {".py": (b"import ", b"def "), ".c": (b"#include",)}
    return data.startswith(_RUNNABLE) or any(mark in data for mark in marks.get(wanted.suffix, ()))


def _copy(
    target: Target, chosen: dict[str, Found], needs: Exploitability, name: str, tail: str
) -> Attack:
    what = ", ".join(f"{f.entry.path} {f.view}".strip() + f" as {p}" for p, f in chosen.items())
    if needs == "layers":
        files = {p: File(f.data + tail.encode(), _mode(p, target)) for p, f in chosen.items()}
        tree = submissions.placing(files | _rest(target, chosen))
        return _attack(f"layer-{name}", f"what a layer still holds: {what}", needs, tree, chosen)
    take = {
        p: {"file": f.entry.path, "view": f.view, "tail": tail, "mode": _mode(p, target)}
        for p, f in chosen.items()
    }
    tree = _taking(target, {"take": take, "run": [], "want": []}, _rest(target, chosen))
    return _attack(name, f"{what}{' with a line added' if tail else ''}", needs, tree, chosen)


def _rest(target: Target, chosen: dict[str, Found]) -> dict[str, File]:
    """Stand-ins for the outputs that nothing was found for: some tests ask for all of them."""
    text = target.instruction
    files = {p: submissions.shaped(p, text) for p in target.data}
    files |= {p: submissions.constant(p, naming.answers(text)[0]) for p in target.programs}
    return {path: file for path, file in files.items() if path not in chosen}


def _mode(path: str, target: Target) -> int:
    return 0o755 if path in target.programs else 0o644


def _taking(target: Target, plan: Mapping[str, object], files: dict[str, File]) -> FileTree:
    source = (submissions.TASK.parent / "unpacking.py").read_text()
    brings = {
        "take.py": submissions.script("take.py"),
        "unpacking.py": source,
        "plan.json": json.dumps(plan, indent=1, sort_keys=True) + "\n",
    }
    return submissions.placing(files, then="python3 /solution/take.py", brings=brings)


# -- programs that run what lies there ---------------------------------------------------------


def _wrapped(target: Target) -> Attack | None:
    """Programs that start something of the image, or a copy that was put aside."""
    found = {path: best for path in target.programs if (best := _runnable(path, target))}
    if not found:
        return None
    spare = f"{target.workdir}/.spare"
    files = {path: _wrapper(path, entry, spare) for path, entry in found.items()}
    aside = "\n".join(
        f"cp -- {shlex.quote(e.path)} {to} && chmod 755 {to}"
        for e in found.values()
        for to in [shlex.quote(f"{spare}/{PurePosixPath(e.path).name}")]
    )
    tree = submissions.placing(files, first=f"mkdir -p -- {shlex.quote(spare)}\n{aside}")
    what = ", ".join(f"{path} runs {entry.path}" for path, entry in found.items())
    places = tuple(Place(file=f"environment{e.path}") for e in found.values())
    return Attack(
        probe="copying",
        name="wrapped",
        label="ANSWER-LEAK",
        exploitability="grading",
        does=what,
        tree=tree,
        places=places,
    )


def _runnable(path: str, target: Target) -> Entry | None:
    stem = PurePosixPath(path).stem
    able = [
        e
        for e in target.entries
        if not e.removed
        and e.path not in target.programs
        and (e.data.startswith(_RUNNABLE) or e.path.endswith((".pyc", ".py", ".sh")))
        and (stem in e.path or not target.told(e.path))
    ]
    return max(
        able,
        key=lambda e: (stem in PurePosixPath(e.path).name, bool(TELLING.search(e.path)), e.path),
        default=None,
    )


def _wrapper(path: str, entry: Entry, spare: str) -> File:
    copy = f"{spare}/{PurePosixPath(entry.path).name}"
    places = [entry.path, copy]
    ending = PurePosixPath(path).suffix
    if ending == ".c":
        calls = "".join(f'  execv("{place}", argv);\n' for place in places)
        text = (
            f"#include <unistd.h>\nint main(int argc, char **argv) {{\n{calls}  return 127;\n}}\n"
        )
        return File(text.encode())
    if ending == ".py":
        text = submissions.script("wrapper.py").replace("PLACES", json.dumps(places))
        return File(text.encode(), 0o755)
    start = "python3 " if entry.path.endswith((".py", ".pyc")) else ""
    lines = "".join(f'[ -e {to} ] && exec {start}{to} "$@"\n' for to in map(shlex.quote, places))
    return File(f"#!/bin/bash\n{lines}exit 127\n".encode(), 0o755)


# -- generators --------------------------------------------------------------------------------


def _generated(target: Target, seen: list[Entry]) -> Attack | None:
    """Programs and histories that may have made the answer, run again."""
    run = [e for e in seen if not e.removed and GENERATOR.search(e.path)]
    if not run:
        return None
    plan = {"take": {}, "run": [e.path for e in run], "want": list(target.outputs)}
    what = f"run again: {', '.join(e.path for e in run)}"
    places = tuple(Place(file=f"environment{e.path}") for e in run)
    return Attack(
        probe="copying",
        name="generated",
        label="ANSWER-LEAK",
        exploitability="rollout",
        does=what,
        tree=_taking(target, plan, {}),
        places=places,
    )


def _attack(
    name: str, does: str, needs: Exploitability, tree: FileTree, chosen: dict[str, Found]
) -> Attack:
    paths = dict.fromkeys(f"environment{found.entry.path}" for found in chosen.values())
    return Attack(
        probe="copying",
        name=name,
        label="ANSWER-LEAK",
        exploitability=needs,
        does=does,
        tree=tree,
        places=tuple(Place(file=path) for path in paths),
    )
