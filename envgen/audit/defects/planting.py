"""What plants are made with: a clean draft with other tests, files or words."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from envgen.authors import procedural
from envgen.files import File, FileTree
from envgen.records import TaskDraft

TASK = Path(__file__).parent / "task"


@cache
def script(name: str) -> str:
    """One of the planted checks."""
    return (TASK / f"{name}.py").read_text()


def truth_of(draft: TaskDraft) -> dict[str, Any]:
    """What the clean task's tests know."""
    found: dict[str, Any] = json.loads(draft.tests["truth.json"].data)
    return found


def paths_of(draft: TaskDraft) -> list[str]:
    """Files that the task has to end with."""
    truth = truth_of(draft)
    if "out" in truth and "manifest" in truth:
        return [f"{draft.workdir}/{truth['out']}/{truth['manifest']}"]
    return [p for p in draft.initial.absent if Path(p).name in draft.instruction]


def program_of(draft: TaskDraft) -> str:
    """The program that the task asks for, as its tests name it; "" where it asks for none."""
    truth = truth_of(draft)
    named = next((truth[key] for key in ("program", "gate", "source") if key in truth), None)
    if named is None and any(p.endswith("/predict.py") for p in draft.initial.absent):
        return "predict.py"
    return str(named or "")


def reference_of(draft: TaskDraft) -> bytes:
    """The reference's own text of that program; empty where it is put together while solving."""
    name = program_of(draft).rpartition("/")[2]
    ending = Path(name).suffix
    found = draft.solution.get(name) or draft.solution.get(f"gate{ending}")
    return found.data if found else b""


def others_of(draft: TaskDraft) -> str:
    """The text of the family's valid alternatives."""
    assert draft.spec is not None
    (family,) = procedural.chosen((draft.author.partition("/")[2],))
    valid = procedural.composition(draft.spec, family).valid
    texts = (file.data for tree in valid.values() for file in tree.values())
    return b"\n".join(texts).decode(errors="replace")


def tested(draft: TaskDraft, check: str, **planted: Any) -> TaskDraft:
    """The draft with another check; the clean one stays beside it as `inner.py`."""
    known = {"paths": paths_of(draft), "program": program_of(draft)} | planted
    tests: dict[str, File | bytes | str] = {
        **draft.tests,
        "inner.py": draft.tests["check.py"],
        "check.py": script(check),
        "planted.py": script("planted"),
        "planted.json": json.dumps(known, indent=1) + "\n",
    }
    return draft.model_copy(update={"tests": FileTree(tests)})


def told(draft: TaskDraft, sentence: str) -> TaskDraft:
    """The draft with a sentence more in its instruction."""
    return draft.model_copy(update={"instruction": f"{draft.instruction.rstrip()}\n\n{sentence}\n"})


def holding(
    draft: TaskDraft, files: dict[str, bytes], *, mode: int = 0o644, setup: tuple[str, ...] = ()
) -> TaskDraft:
    """The draft with files more in its image, and no word to the leak scan about them."""
    added = FileTree({path: File(data, mode) for path, data in files.items()})
    environment = draft.environment
    environment = environment.model_copy(
        update={
            "files": environment.files.merged(added),
            "setup": (*environment.setup, *setup),
        }
    )
    return draft.model_copy(update={"environment": environment, "secrets": ()})
