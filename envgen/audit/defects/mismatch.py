"""Plants: instructions that the verifier, or the image, does not agree with."""

import re
from pathlib import PurePosixPath

from envgen.audit.defects.planting import (
    others_of,
    paths_of,
    program_of,
    reference_of,
    tested,
    told,
    truth_of,
)
from envgen.files import File, FileTree
from envgen.records import TaskDraft


def renamed(draft: TaskDraft) -> TaskDraft | None:
    """The tests read another file than the one that is asked for; the reference writes both."""
    path = paths_of(draft)[0]
    name = PurePosixPath(path)
    other = f"final_{name.name}"
    tests = {
        p: File(re.sub(rb"\b%s\b" % re.escape(name.name).encode(), other.encode(), f.data), f.mode)
        for p, f in draft.tests.items()
    }
    script = draft.solution["solve.sh"].data.decode()
    both = f"{script.rstrip()}\ncp -p '{path}' '{name.parent}/{other}'\n"
    if not any(other.encode() in f.data for f in tests.values()):
        return None
    solution = FileTree({**draft.solution, "solve.sh": File(both.encode(), 0o755)})
    return draft.model_copy(update={"tests": FileTree(tests), "solution": solution})


def spelling(draft: TaskDraft) -> TaskDraft | None:
    """The program has to hold a name that only the reference uses."""
    source = reference_of(draft).decode(errors="replace")
    names = re.findall(r"\b_?[a-z]+(?:_[a-z]+)+\b", source)
    elsewhere = draft.instruction + others_of(draft)
    own = [n for n in dict.fromkeys(names) if n not in elsewhere]
    return tested(draft, "spelling", word=f"{own[0]}") if own and program_of(draft) else None


def layout(draft: TaskDraft) -> TaskDraft | None:
    """A report whose first key has to be a certain one."""
    truth = truth_of(draft)
    if "derived" in truth and len(truth["derived"]) > 1:
        first = truth["derived"][0]["key"]
        return tested(draft, "layout", report="derived.json", first=first)
    if "cleaning" in truth:
        return tested(draft, "layout", report="cleaning.json", first="rows_read")
    return None


def figures_as_text(draft: TaskDraft) -> TaskDraft | None:
    """A report whose figures have to be spelled in one way; nothing is said of their digits."""
    if re.search(r"\b(decimals?|digits?|places|round(ed)?)\b", draft.instruction):
        return None
    report = next((p for p in paths_of(draft) if p.endswith(".json")), None)
    return tested(draft, "figures_as_text", report=report) if report else None


def missing_input(draft: TaskDraft) -> TaskDraft | None:
    """A file that the instruction sends the agent to, and that nobody put there."""
    return told(draft, "Where a value is in doubt, `/srv/shared/conventions.csv` decides.")


def missing_tool(draft: TaskDraft) -> TaskDraft | None:
    """A tool that is said to be there."""
    return told(draft, "`xmllint` and `ripgrep` are installed, if they are of help.")
