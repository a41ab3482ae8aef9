"""How the programs of right solutions are watched: asked inputs that are made from those at hand.

An input that two right programs answer differently is one that the instruction does not decide;
what they measure differently is compared as measurements (`pinning`).
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from envgen.audit import naming
from envgen.audit.target import Target
from envgen.files import FileTree

TASK = Path(__file__).parent / "task"
ANSWERS = ".answers-watched.json"
MOST_INPUTS = 12


class Case(NamedTuple):
    """One way to start a program, and its input."""

    program: str
    """Absolute."""
    arguments: tuple[str, ...]
    """Words in capitals stand for files that it writes."""
    stdin: str
    """Base64."""
    made: bool
    """Made from an input, so that nobody has seen it; else it is one that the agent is given."""


class Answer(NamedTuple):
    """What a program gave: base64 of its output, and of files by the place of their argument."""

    out: str
    files: tuple[tuple[int, str], ...]


Answers = Mapping[Case, Answer]


@cache
def script(name: str) -> str:
    """One of the files that repairs bring along."""
    return (TASK / name).read_text()


def watcher(target: Target, solution: FileTree) -> FileTree | None:
    """The solution, with its programs asked once it is done; None where there is none to ask."""
    programs = [p for p in target.programs if PurePosixPath(p).suffix != ".c"]
    inputs = [
        e.path
        for e in target.entries
        if not e.removed and e.data and b"\0" not in e.data and e.path not in target.programs
    ]
    if not programs or not inputs or "watched.sh" in solution:
        return None
    plan = {
        "answers": f"{target.workdir}/{ANSWERS}",
        "inputs": _best(inputs, target),
        "programs": [
            {"path": path, "arguments": naming.commands(target.instruction, path) or [[]]}
            for path in programs
        ],
    }
    return FileTree(
        {
            **{path: file for path, file in solution.items() if path != "solve.sh"},
            "watched.sh": solution["solve.sh"],
            "watch.py": script("watch.py"),
            "watch.json": json.dumps(plan, indent=1) + "\n",
            "solve.sh": "#!/bin/bash\nbash /solution/watched.sh && python3 /solution/watch.py\n",
        }
    )


def _best(inputs: list[str], target: Target) -> list[str]:
    """Files that the instruction names first, and those that look like data."""
    return sorted(inputs, key=lambda p: (not target.told(p), p.endswith((".md", ".py", ".sh")), p))[
        :MOST_INPUTS
    ]


def parsed(found: Sequence[Mapping[str, Any]]) -> Answers:
    """What `watch.py` wrote down."""
    return {
        Case(one["program"], tuple(one["arguments"]), one["stdin"], one["made"]): Answer(
            one["out"], tuple((int(n), text) for n, text in sorted(one["files"].items()))
        )
        for one in found
    }


def shared(answers: Sequence[Answers]) -> dict[str, list[tuple[Case, tuple[Answer, ...]]]]:
    """By program, the cases that all right programs answer, with the answer of each; those that
    are made first."""
    if not answers:
        return {}
    found: dict[str, list[tuple[Case, tuple[Answer, ...]]]] = {}
    for case in sorted(answers[0], key=lambda case: not case.made):
        if all(case in other for other in answers):
            found.setdefault(case.program, []).append((case, tuple(a[case] for a in answers)))
    return found
