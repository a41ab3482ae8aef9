"""Rules over the instruction, the files of the environment, set-up and solution."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from envgen import dockerfile
from envgen.audit.static.suspicion import Kind, line_of, suspected
from envgen.records import Finding, TaskDraft

_HIDDEN = re.compile(r"(^|/)(check\.py|truth\.json|solve\.sh|test_[^/]*\.py|test\.sh)$")
_TELLING = re.compile(r"(expected|answer|solution|truth|oracle|golden|reference)", re.I)
_COMPILED = re.compile(r"(\.py[co]|\.o|\.class)$|(^|/)__pycache__/")
_RECORDED = re.compile(r"(^|/)(\.git/|\.[a-z]+_history$|\.hg/|\.svn/)")
_GENERATOR = re.compile(r"(^|/)(gen|generate|make|create|build)[_-]?[a-z_]*\.(py|sh|pl|rb)$")
_ODD = re.compile(
    "[\u200b-\u200f\u2028\u2029\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]|\U000e0020"
)
_ORDERS = re.compile(
    r"(ignore|disregard|forget)\s+(all\s+|any\s+)?(of\s+)?(the\s+|your\s+)?"
    r"(previous|prior|earlier|above|task|instructions)",
    re.I,
)
_FETCH = re.compile(r"\b(curl|wget|pip3? install|apt(-get)? install|npm install|git clone)\b")
_COPY = re.compile(r"^\s*(cp|mv|ln|echo|touch|sort|uniq|cat|printf)\b[^|;&]*$")

HIDDEN = Kind("hidden-name", "ANSWER-LEAK", "a file of the tests or the solution by its name")
TELLING = Kind("telling-name", "ANSWER-LEAK", "a name that promises the answer")
COMPILED = Kind("compiled", "ANSWER-LEAK", "what a compiler left of a program")
RECORDED = Kind("recorded", "ANSWER-LEAK", "a history that may hold the answer")
GENERATOR = Kind("generator", "ANSWER-LEAK", "a program that may have made the answer")
REMOVED = Kind("removed", "ANSWER-LEAK", "set-up removes a file that stays in an earlier layer")
TOGETHER = Kind(
    "graded-together",
    "VERIFIER-TOO-WEAK",
    "tests run where the agent worked, with whatever it left there",
    exploitability="grading",
)
INSTALLS = Kind(
    "verifier-installs", "OTHER", "the verdict depends on a download", "unstable", "grading"
)
WRITABLE = Kind("writable", "VERIFIER-TOO-WEAK", "everybody may write it")
ODD = Kind("hidden-text", "OTHER", "invisible or direction-changing characters", "unknown")
ORDERS = Kind("orders", "OTHER", "text that gives orders to whoever reads it", "unknown")
FETCH = Kind("setup-fetches", "OTHER", "set-up needs a network", "unstable")
TESTS_READ = Kind("solution-reads-tests", "OTHER", "the solution looks at the tests", "unknown")
ONE_LINE = Kind("one-line", "TASK-TRIVIAL", "the solution is one plain command", "unknown")


def named(draft: TaskDraft) -> Iterator[Finding]:
    """Files of the environment whose names say that they should not be there."""
    for path, file in draft.environment.files.items():
        place = f"environment/{path}"
        told = PurePosixPath(path).name in draft.instruction
        for kind, pattern in (
            (HIDDEN, _HIDDEN),
            (TELLING, _TELLING),
            (COMPILED, _COMPILED),
            (RECORDED, _RECORDED),
            (GENERATOR, _GENERATOR),
        ):
            if pattern.search(path) and not told:
                yield suspected(kind, place)
                break
        if file.mode & 0o002:
            yield suspected(WRITABLE, place, detail=f"mode {file.mode:04o}")


def written(draft: TaskDraft) -> Iterator[Finding]:
    """Text that people do not see, or that speaks to a model, in the instruction or a fixture."""
    texts = {"instruction.md": draft.instruction.encode()}
    texts |= {f"environment/{p}": f.data for p, f in draft.environment.files.items()}
    for place, data in texts.items():
        try:
            text = data.decode()
        except UnicodeDecodeError:
            continue
        for kind, pattern in ((ODD, _ODD), (ORDERS, _ORDERS)):
            if found := pattern.search(text):
                yield suspected(kind, place, line_of(text, found.start()))


def set_up(draft: TaskDraft) -> Iterator[Finding]:
    """Set-up that fetches, or removes what the image was given."""
    line = 1 + dockerfile.task_lines(draft).count("COPY")
    names = {PurePosixPath(path).name for path in draft.environment.files}
    for command in draft.environment.setup:
        if _FETCH.search(command):
            yield suspected(FETCH, "environment/Dockerfile", line, command)
        if re.search(r"\b(rm|mv|shred|unlink|truncate)\b", command) and any(
            name in command for name in names
        ):
            yield suspected(REMOVED, "environment/Dockerfile", line, command)


def solution(draft: TaskDraft) -> Iterator[Finding]:
    """A reference that cheats, or that has nothing to do."""
    for path, file in draft.solution.items():
        text = file.data.decode(errors="replace")
        if found := re.search(r"/tests/|/logs/verifier", text):
            yield suspected(TESTS_READ, f"solution/{path}", line_of(text, found.start()))
    script = draft.solution.get("solve.sh")
    lines = script.data.decode(errors="replace").split("\n") if script else []
    work = [line for line in lines if line.strip() and not re.match(r"\s*(#|set |cd )", line)]
    if len(work) == 1 and _COPY.match(work[0]) and "/solution" not in work[0]:
        yield suspected(ONE_LINE, "solution/solve.sh", lines.index(work[0]) + 1, work[0])


def imported(draft: TaskDraft) -> Iterator[Finding]:
    """What is known of a stranger's verifier since it was read."""
    if draft.foreign is None:
        return
    if draft.foreign.grading == "shared":
        yield suspected(TOGETHER, "tests/test.sh")
    for note in draft.foreign.notes:
        mark, _, told = note.partition(": ")
        if mark == "verifier-installs":
            yield suspected(INSTALLS, "tests/test.sh", 0, told)


RULES = (named, written, set_up, solution, imported)
