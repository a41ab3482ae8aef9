"""A lookup in place of a program: it knows the answers to the inputs at hand, and nothing else.

Made inside of the task by the reference itself, so no hidden test is needed: whoever could do the
task for the inputs that are given could hand this in.
"""

import json
from pathlib import PurePosixPath

from envgen.audit import naming, submissions
from envgen.audit.target import Target
from envgen.files import FileTree

MOST_INPUTS = 40


def lookup(target: Target, solution: FileTree, done: frozenset[str]) -> FileTree | None:
    """The reference's solution, with its program replaced once it is done; None where none fits.

    Programs that are started with files of an unknown kind cannot be recorded, nor can C.

    Args:
        target: the task.
        solution: the reference.
        done: files that it makes or changes.
    """
    programs = [p for p in target.programs if p in done and PurePosixPath(p).suffix != ".c"]
    inputs = [
        e.path
        for e in target.entries
        if not e.removed
        and e.data
        and b"\0" not in e.data
        and e.path not in target.programs
        and any(e.path == place or e.path.startswith(f"{place}/") for place in target.visited)
    ]
    if len(programs) != 1 or not inputs or "reference.sh" in solution:
        return None
    arguments = naming.commands(target.instruction, programs[0])
    plan = {
        "program": programs[0],
        "arguments": [list(one) for one in arguments] or [[]],
        "inputs": inputs[:MOST_INPUTS],
    }
    start = "#!/bin/bash\nbash /solution/reference.sh && python3 /solution/record.py\n"
    return FileTree(
        {
            **{path: file for path, file in solution.items() if path != "solve.sh"},
            "reference.sh": solution["solve.sh"],
            "record.py": submissions.script("record.py"),
            "plan.json": json.dumps(plan, indent=1) + "\n",
            "solve.sh": start,
        }
    )
