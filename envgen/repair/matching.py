"""Instruction and verifier brought to one opinion, where the reference shows which one is right."""

import re
from pathlib import PurePosixPath

from envgen.files import File, FileTree
from envgen.records import Finding, TaskDraft
from envgen.repair.seen import Seen
from envgen.repair.verifier import facts_of, wrapped


def renamed(draft: TaskDraft, finding: Finding, seen: Seen) -> TaskDraft | str:
    """The draft whose tests read the file that is asked for, in place of a twin of it.

    A twin is a file that the instruction does not name, that the tests do, and that the reference
    leaves beside a named one with the same bytes.
    """
    pairs = dict(_twins(draft, seen))
    if not pairs:
        return "the tests read no other file than is asked for"
    tests = {}
    for path, file in draft.tests.items():
        data = file.data
        for twin, named in pairs.items():
            data = re.sub(
                rb"(?<![\w.-])%s(?![\w-])" % re.escape(twin.encode()), named.encode(), data
            )
        tests[path] = File(data, file.mode)
    return draft.model_copy(update={"tests": FileTree(tests)})


def _twins(draft: TaskDraft, seen: Seen) -> list[tuple[str, str]]:
    text = draft.instruction
    named = [p for p in seen.reference if PurePosixPath(p).name in text]
    found = []
    for path, data in seen.reference.items():
        name, folder = PurePosixPath(path).name, PurePosixPath(path).parent
        if name in text or not any(name.encode() in f.data for f in draft.tests.values()):
            continue
        same = [n for n in named if PurePosixPath(n).parent == folder and seen.reference[n] == data]
        if same:
            found.append((name, PurePosixPath(same[0]).name))
    return found


def repealed(draft: TaskDraft, finding: Finding, seen: Seen) -> TaskDraft | str:
    """The draft without the checks of form that right work fails.

    Only where they are the smaller part of all checks: then the others say whether work is right,
    and what the attacks and mutants earn without the repealed ones is executed.
    """
    if not seen.failed:
        return "it is not known which check right work fails"
    if 2 * len(seen.failed) >= seen.checks:
        return f"right work fails {len(seen.failed)} of {seen.checks} checks: more than a form"
    known = facts_of(draft)["repealed"]
    return wrapped(draft, repealed=sorted({*known, *seen.failed}))
