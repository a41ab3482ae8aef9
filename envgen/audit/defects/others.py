"""Plants: tasks that are trivial, or whose verdict does not stay the same."""

import json
import shlex
from pathlib import PurePosixPath

from envgen.audit.defects.planting import tested
from envgen.files import FileTree
from envgen.records import InitialState, TaskDraft


def paid(draft: TaskDraft) -> TaskDraft | None:
    """Nearly everything is paid for what is there from the start."""
    return tested(draft, "paid")


def copied(draft: TaskDraft) -> TaskDraft | None:
    """All that is asked for is a copy of an input under another name."""
    return _one_command(draft, "cat", "Hand over the data of `{given}` as `{wanted}`, unchanged.")


def sorted_lines(draft: TaskDraft) -> TaskDraft | None:
    """All that is asked for is an input, sorted."""
    text = "Write the lines of `{given}` to `{wanted}`, in the order of their bytes."
    return _one_command(draft, "sort", text)


def date_bomb(draft: TaskDraft) -> TaskDraft | None:
    """A check that fails some months from now."""
    return tested(draft, "bomb")


def _one_command(draft: TaskDraft, command: str, text: str) -> TaskDraft | None:
    texts = {
        path: file.data
        for path, file in draft.environment.files.items()
        if path.startswith(f"{draft.workdir[1:]}/") and _lines(file.data)
    }
    if not texts:
        return None
    given = min(texts, key=lambda path: (-texts[path].count(b"\n"), path))
    wanted = f"{draft.workdir}/handover{PurePosixPath(given).suffix}"
    lines = texts[given].decode().removesuffix("\n").split("\n")
    right = sorted(lines, key=str.encode) if command == "sort" else lines
    solve = f"LC_ALL=C {command} {shlex.quote('/' + given)} > {shlex.quote(wanted)}\n"
    changed = draft.model_copy(
        update={
            "instruction": text.format(given=f"/{given}", wanted=wanted) + "\n",
            "initial": InitialState(present=(f"/{given}",), absent=(wanted,)),
            "solution": FileTree({"solve.sh": solve}),
            "secrets": (),
            "hide": (),
        }
    )
    planted = tested(changed, "same_text", paths=[wanted])
    truth = json.dumps({"text": "\n".join(right) + "\n"})
    return planted.model_copy(update={"tests": FileTree({**planted.tests, "truth.json": truth})})


def _lines(data: bytes) -> bool:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    return text.count("\n") >= 5 and "\r" not in text and "\0" not in text
