"""What a model's repair may change, read off the difference before anything runs.

Each rule names what it refuses, in words for the model and for whoever reads the trail. What the
rules let pass is still executed: they spare containers, and keep the meaning, which no run can see.
"""

import ast
import base64
import hashlib
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath

from envgen.files import FileTree
from envgen.records import Finding, Label, TaskDraft
from envgen.repair.leaking import leaked, places_of
from envgen.repair.seen import Seen

_TESTS = r"tests/(check\.py|truth\.json|data/[A-Za-z0-9._-]+"
PATHS: dict[Label, str] = {
    "VERIFIER-TOO-WEAK": rf"{_TESTS}|more\.py)",
    "ANSWER-LEAK": rf"{_TESTS})|remove\.txt",
    "INSTR-VERIFIER-MISMATCH": rf"{_TESTS})|instruction\.md|solution/[A-Za-z0-9._-]+",
}
FOREIGN = r"tests/[A-Za-z0-9._/-]+"
"""Of a stranger's verifier, whose files have names of their own."""
GROWS = 1.5
"""Times that an instruction may become as long as it was."""
LEAST_TOLD = 12
"""Characters from which on a line of an answer gives it away."""


def paths_of(label: Label, draft: TaskDraft) -> str:
    """A pattern of the paths that a model may answer with."""
    paths = PATHS[label]
    return paths if draft.foreign is None else f"{paths}|{FOREIGN}"


def trouble(label: Label, before: TaskDraft, after: TaskDraft, finding: Finding, seen: Seen) -> str:
    """The first rule that a difference breaks; empty when it may be executed."""
    return next(_troubles(label, before, after, finding, seen), "")


def _troubles(
    label: Label, before: TaskDraft, after: TaskDraft, finding: Finding, seen: Seen
) -> Iterator[str]:
    if before == after:
        yield "nothing was changed"
    yield from _environment(label, before, after, seen)
    yield from _assertions(label, before, after, seen)
    yield from _instruction(label, before, after, seen)
    if after.solution != before.solution and after.instruction == before.instruction:
        yield "the reference was changed, and the instruction was not"
    if label == "ANSWER-LEAK":
        yield from _differs(before, after, finding, seen)


def _environment(label: Label, before: TaskDraft, after: TaskDraft, seen: Seen) -> Iterator[str]:
    old, new = before.environment.files, after.environment.files
    if added := sorted(path for path in new if new[path] != old.get(path)):
        yield f"/{added[0]} was put into the image: nothing is moved there"
    gone = sorted(old.keys() - new.keys())
    if gone and label != "ANSWER-LEAK":
        yield f"/{gone[0]} was taken out of the image, which nobody complained about"
    if told := [path for path in gone if seen.target.told(f"/{path}")]:
        yield f"/{told[0]} was taken out of the image, and the instruction speaks of it"


# -- assertions --------------------------------------------------------------------------------


def asserted(tests: FileTree) -> Counter[str]:
    """What Python files among the tests hold work to: each check by its name, and asserts."""
    found: Counter[str] = Counter()
    for path, file in tests.items():
        if path.endswith(".py"):
            for node in ast.walk(_tree(file.data)):
                found.update(_names(node))
    return found


def _names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Assert):
        yield "assert"
    elif isinstance(node, ast.Call):
        name = ast.unparse(node.func).rpartition(".")[2]
        first = node.args[0] if node.args else None
        if name in ("Check", "match", "lines", "grade", "grade_batch"):
            yield f"{name} {ast.unparse(first)}" if first else name
        elif name.startswith("assert"):
            yield name


def _tree(data: bytes) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module(body=[], type_ignores=[])


def _assertions(label: Label, before: TaskDraft, after: TaskDraft, seen: Seen) -> Iterator[str]:
    old, new = asserted(before.tests), asserted(after.tests)
    allowed = len(seen.failed) if label == "INSTR-VERIFIER-MISMATCH" else 0
    if lost := old - new:
        names = [name for name in sorted(lost) if not _excused(name, label, seen)]
        if names and (label != "INSTR-VERIFIER-MISMATCH" or lost.total() > allowed):
            yield f"a check was dropped or renamed: {names[0][:120]}"
    if new.total() < old.total() - allowed:
        yield f"checks and assertions: {new.total()} of {old.total()} left"


def _excused(name: str, label: Label, seen: Seen) -> bool:
    """A check that right work fails may go, where that is what was found."""
    return label == "INSTR-VERIFIER-MISMATCH" and any(failed in name for failed in seen.failed)


# -- instruction -------------------------------------------------------------------------------


def _instruction(label: Label, before: TaskDraft, after: TaskDraft, seen: Seen) -> Iterator[str]:
    if after.instruction == before.instruction:
        return
    if label != "INSTR-VERIFIER-MISMATCH":
        yield "the instruction was changed"
    old, new = _sentences(before.instruction), _sentences(after.instruction)
    if lost := [one for one in old if one not in new]:
        yield f"the instruction no longer says: {lost[0][:160]}"
    if len(after.instruction) > GROWS * len(before.instruction) + 400:
        yield "the instruction became another one: it is half as long again"
    added = "\n".join(one for one in new if one not in old)
    if told := [one for one in _answers(before, seen) if one in added]:
        yield f"the instruction gives the answer away: {told[0][:60]}"


def _sentences(text: str) -> list[str]:
    found = re.split(r"(?<=[.:;!?])\s+|\n", text)
    return [" ".join(one.split()) for one in found if one.strip()]


def _answers(draft: TaskDraft, seen: Seen) -> Iterator[str]:
    """Lines that only who has done the task can know."""
    yield from draft.secrets
    given = b"\n".join(e.data for e in seen.target.entries).decode(errors="replace")
    for data in seen.reference.values():
        for line in data.decode(errors="replace").split("\n")[:2000]:
            plain = line.strip()
            if len(plain) >= LEAST_TOLD and plain not in given:
                yield plain


# -- leaks -------------------------------------------------------------------------------------

_UNLIKE = re.compile(
    r"!=|\bnot in\b|\bis not\b|\bnot\s*\(?[\w.\[\]'\"]+\s*==|assertNot|identical|NotEqual|differ",
    re.I,
)


def _differs(before: TaskDraft, after: TaskDraft, finding: Finding, seen: Seen) -> Iterator[str]:
    """A check that a result is not what leaked: by its bytes, its digest, its path or its name."""
    data = leaked(seen.target, seen.report, finding)
    marks = {mark for one in data for mark in _digests(one)}
    marks |= {PurePosixPath(path).name for path in places_of(finding)}
    known = {line for file in before.tests.values() for line in file.data.split(b"\n")}
    for path, file in after.tests.items():
        if not path.endswith((".py", ".sh")):
            continue
        added = [line for line in file.data.split(b"\n") if line not in known]
        text = b"\n".join(added).decode(errors="replace")
        if any(mark in text for mark in marks) and _UNLIKE.search(text):
            yield f"tests/{path} asks whether the result differs from what leaked"
        if re.search(r"leak", text, re.I) and _UNLIKE.search(text):
            yield f"tests/{path} asks whether the result differs from what leaked"


def _digests(data: bytes) -> Iterator[str]:
    for name in ("md5", "sha1", "sha256", "sha512"):
        yield hashlib.new(name, data, usedforsecurity=False).hexdigest()
    yield base64.b64encode(data[:96]).decode()[:60]
