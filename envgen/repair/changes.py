"""What a repair changes, as paths and as a diff that a person can read."""

import difflib
import json
from collections.abc import Iterator

from envgen.files import File, FileTree
from envgen.plural import many
from envgen.records import TaskDraft

MOST_LINES, MOST_CHARS = 400, 160
_CONTEXT = 2


def parts_of(draft: TaskDraft) -> FileTree:
    """All that a task is made of as files: its four sides, and what else decides it."""
    environment, maker = draft.environment, draft.foreign
    rest = {
        "packages": environment.packages,
        "setup": environment.setup,
        "outputs": draft.outputs,
        "hide": draft.hide,
        "initial": draft.initial.model_dump(mode="json"),
        "foreign": maker.model_dump(mode="json", exclude={"initial"}) if maker else None,
    }
    return FileTree(
        {
            "instruction.md": draft.instruction,
            "task.json": json.dumps(rest, indent=1, sort_keys=True) + "\n",
            **{f"environment/{p}": f for p, f in environment.files.items()},
            **{f"tests/{p}": f for p, f in draft.tests.items()},
            **{f"solution/{p}": f for p, f in draft.solution.items()},
        }
    )


def changed(before: TaskDraft, after: TaskDraft) -> tuple[str, ...]:
    """`A`, `M` or `D` and the path of everything that differs."""
    old, new = parts_of(before), parts_of(after)
    letters = {path: _letter(old.get(path), new.get(path)) for path in {*old, *new}}
    return tuple(f"{letter} {path}" for path, letter in sorted(letters.items()) if letter)


def diff(before: TaskDraft, after: TaskDraft) -> str:
    """Unified, cut in lines and in width; of what is no text, the size."""
    old, new = parts_of(before), parts_of(after)
    lines = [
        line[:MOST_CHARS]
        for path in sorted({*old, *new})
        if _letter(old.get(path), new.get(path))
        for line in _lines(path, old.get(path), new.get(path))
    ]
    if len(lines) > MOST_LINES:
        lines[MOST_LINES:] = [f"... and {many(len(lines) - MOST_LINES, 'line')} more"]
    return "".join(f"{line}\n" for line in lines)


def _letter(old: File | None, new: File | None) -> str:
    if old == new:
        return ""
    return "A" if old is None else "D" if new is None else "M"


def _lines(path: str, old: File | None, new: File | None) -> Iterator[str]:
    texts = [_text(file) for file in (old, new)]
    names = [f"{side}/{path}" if file else "/dev/null" for side, file in (("a", old), ("b", new))]
    if None in texts:
        yield f"--- {names[0]} ({many(len(old.data) if old else 0, 'byte')}, no text)"
        yield f"+++ {names[1]} ({many(len(new.data) if new else 0, 'byte')}, no text)"
        return
    a, b = ((text or "").splitlines() for text in texts)
    yield from difflib.unified_diff(a, b, names[0], names[1], n=_CONTEXT, lineterm="")


def _text(file: File | None) -> str | None:
    try:
        return file.data.decode() if file else ""
    except UnicodeDecodeError:
        return None
