"""The tests of our own tasks as repairs change them: the earlier verifier, and what is around it.

The first repair moves `check.py` to `earlier.py` and puts a new `check.py` around it, with
`repaired.json` beside; later ones only change that file.
"""

import json
from typing import Any

from envgen.files import File, FileTree
from envgen.records import TaskDraft
from envgen.repair.watching import script

FACTS = "repaired.json"
_NEW = ("earlier.py", FACTS, "pins.py", "still.py", "more.py")
_NOTHING: dict[str, Any] = {"pins": "", "repealed": [], "still": False}


def facts_of(draft: TaskDraft) -> dict[str, Any]:
    """What repairs say so far."""
    if FACTS not in draft.tests:
        return dict(_NOTHING)
    found: dict[str, Any] = json.loads(draft.tests[FACTS].data)
    return found


def wrapped(draft: TaskDraft, beside: FileTree | None = None, **changes: Any) -> TaskDraft | str:
    """The draft with these facts about its verifier, or why that cannot be.

    Args:
        draft: not an imported one.
        beside: files beside; `more.py` yields checks of its own.
        changes: of `pins`, `repealed`, `still`.
    """
    if draft.foreign is not None:
        return "the verifier is a stranger's, to which checks cannot be added"
    tests: dict[str, File | bytes | str] = dict(draft.tests)
    if FACTS not in tests:
        if taken := next((name for name in _NEW if name in tests), ""):
            return f"the tests have a file {taken} of their own"
        tests["earlier.py"] = draft.tests["check.py"]
        tests["check.py"] = script("check.py")
        tests |= {name: script(name) for name in ("pins.py", "still.py")}
    tests[FACTS] = json.dumps(facts_of(draft) | changes, indent=1, sort_keys=True) + "\n"
    return draft.model_copy(update={"tests": FileTree(tests | dict(beside or {}))})
