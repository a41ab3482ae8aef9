"""The first gate: is a draft well-formed and safe? Pure rules over the draft, no execution.

Everything in a draft may have been written by a model or by a stranger. The rules refuse, with the
rule's name and the thing; they never repair.
"""

import ast
import json
import re
import warnings
from collections.abc import Iterator
from functools import lru_cache

from envgen import bases, foreign
from envgen.errors import Fault
from envgen.records import TaskDraft

MAX_INSTRUCTION, MAX_TITLE = 20_000, 200
MAX_FILES, MAX_TREE_BYTES = 5_000, 64 << 20
MAX_SETUP, MAX_COMMAND = 40, 4_000
RESERVED_TESTS = ("task.json", "test.sh", "verifiers")

_PLACES = re.compile(
    r"(home/agent|opt|srv|data|var/(lib|log|spool|www)/[^/]+|etc/[a-z][a-z0-9._-]*)/[^/]"
)
"""Where an environment may put files. Never where the grader's own tools live."""
_SYSTEM_ETC = re.compile(
    r"etc/(alternatives|apt|bash|cron|default|dpkg|environment|init|ld\.so|ldap|login|pam|passwd|"
    r"profile|python|rc|security|shadow|skel|ssl|sudoers|systemd|terminfo|update|X11)"
)
_KERNEL = ("dev", "proc", "sys")
FOREIGN_DEPTH, FOREIGN_BYTES = 11, 360
"""Of a path: the build context puts four folders above it (see `files.MAX_DEPTH`)."""
_FOLDER = re.compile(r"(/[A-Za-z0-9._-]+)+")
_CONTROL = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f"  # controls, but for tab and newline
    "\u202a-\u202e\u2066-\u2069\ufeff"  # that change the direction of what follows
    "\ud800-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd]"  # surrogates and private use
)


def lint(draft: TaskDraft) -> None:
    """Raise Fault for the first rule that the draft breaks."""
    for rule, trouble in _troubles(draft):
        raise Fault(f"lint:{rule}", trouble)


def _troubles(draft: TaskDraft) -> Iterator[tuple[str, str]]:
    yield from _texts(draft)
    if draft.foreign is not None:
        yield from foreign_troubles(draft)
        return
    yield from _environment(draft)
    yield from _folders(draft)
    yield from _tests(draft)
    yield from _solution(draft)


def _texts(draft: TaskDraft) -> Iterator[tuple[str, str]]:
    for name, text, limit in (
        ("instruction", draft.instruction, MAX_INSTRUCTION),
        ("title", draft.title, MAX_TITLE),
    ):
        if not text.strip():
            yield "text", f"the {name} is empty"
        if len(text) > limit:
            yield "text", f"the {name} has {len(text)} characters, over {limit}"
        for found in _CONTROL.finditer(text):
            yield "text", f"the {name} holds the control character U+{ord(found[0]):04X}"
    if "\n" in draft.title:
        yield "text", "the title has more than one line"


def foreign_troubles(draft: TaskDraft) -> Iterator[tuple[str, str]]:
    """The rules for imported tasks. Their makers may put files anywhere and run set-up as root;
    what protects the host is the builder's container, and the tests are theirs as they are."""
    yield from _base(draft)
    for path in draft.environment.files:
        if path.split("/")[0] in _KERNEL:
            yield "path", f"/{path} is not a place where an image may hold files"
    for path in (*draft.environment.files, *draft.tests):
        if path.count("/") > FOREIGN_DEPTH or len(path.encode()) > FOREIGN_BYTES:
            yield "path", f"{path[:80]} is too deep or too long to be put into a container"
    yield from _foreign_folders(draft)
    if draft.tests.size > MAX_TREE_BYTES:
        yield "size", f"the tests have over {MAX_TREE_BYTES >> 20} MB"
    if "test.sh" not in draft.tests:
        yield "tests", "tests/test.sh is missing"
    if draft.solution:
        yield from _solution(draft)


def _foreign_folders(draft: TaskDraft) -> Iterator[tuple[str, str]]:
    if not draft.outputs:
        yield "outputs", "no folder carries over to grading"
    for folder in (draft.workdir, *draft.outputs):
        if not (folder == "/" or _FOLDER.fullmatch(folder)) or ".." in folder.split("/"):
            yield "outputs", f"{folder!r} is not an absolute, plain path"
    for folder in draft.outputs:
        if foreign.NEEDED.fullmatch(folder):
            yield "outputs", f"{folder} cannot be replaced by outputs: the grader needs it"
    yield from _nested(draft)


def _base(draft: TaskDraft) -> Iterator[tuple[str, str]]:
    environment = draft.environment
    if environment.base not in bases.names():
        yield "base", f"no base {environment.base!r}: known are {', '.join(bases.names())}"
    for package in environment.packages:
        if not bases.PACKAGE.fullmatch(package):
            yield "packages", f"{package!r} is not the name of a Debian package"
    if len(environment.files) > MAX_FILES or environment.files.size > MAX_TREE_BYTES:
        yield "size", f"the environment has over {MAX_FILES} files or {MAX_TREE_BYTES >> 20} MB"


def _nested(draft: TaskDraft) -> Iterator[tuple[str, str]]:
    for folder in draft.outputs:
        if any(other != folder and f"{other}/".startswith(f"{folder}/") for other in draft.outputs):
            yield "outputs", f"{folder} holds another output folder"


def _environment(draft: TaskDraft) -> Iterator[tuple[str, str]]:
    environment = draft.environment
    yield from _base(draft)
    for path in environment.files:
        if not _PLACES.match(path) or _SYSTEM_ETC.match(path):
            yield "path", f"/{path} is not a place where a task may put files"
    if len(environment.setup) > MAX_SETUP:
        yield "setup", f"{len(environment.setup)} set-up commands, over {MAX_SETUP}"
    for command in environment.setup:
        if len(command) > MAX_COMMAND or any(ord(c) < 32 or ord(c) == 127 for c in command):
            yield "setup", f"set-up command {command[:60]!r} is too long or not one plain line"


def _folders(draft: TaskDraft) -> Iterator[tuple[str, str]]:
    if not draft.outputs:
        yield "outputs", "no folder carries over to grading"
    for folder in (draft.workdir, *draft.outputs):
        if not _FOLDER.fullmatch(folder) or ".." in folder.split("/"):
            yield "outputs", f"{folder!r} is not an absolute, plain path"
        elif not _PLACES.match(f"{folder[1:]}/x") or _SYSTEM_ETC.match(folder[1:]):
            yield "outputs", f"{folder} is not a place that a task may use"
    yield from _nested(draft)
    for path in (*draft.hide, *draft.initial.present, *draft.initial.absent):
        if not path.startswith("/") or "\0" in path or ".." in path.split("/"):
            yield "path", f"{path!r} must be absolute"


def _tests(draft: TaskDraft) -> Iterator[tuple[str, str]]:
    if draft.tests.size > MAX_TREE_BYTES:
        yield "size", f"the tests have over {MAX_TREE_BYTES >> 20} MB"
    for path in draft.tests:
        if path.split("/")[0] in RESERVED_TESTS:
            yield "tests", f"tests/{path} has a name that belongs to the kit"
        if path.endswith(".py") and (reason := _syntax(draft.tests[path].data)):
            yield "tests", f"tests/{path}: {reason}"
        if path.endswith(".json") and (reason := _json(draft.tests[path].data)):
            yield "tests", f"tests/{path}: {reason}"
    if "check.py" not in draft.tests:
        yield "tests", "tests/check.py is missing"
    if short := [s for s in draft.secrets if len(s) < 8]:
        yield (
            "secrets",
            f"the secret {short[0]!r} is too short: it stands anywhere",
        )


def _solution(draft: TaskDraft) -> Iterator[tuple[str, str]]:
    if "solve.sh" not in draft.solution:
        yield "solution", "solution/solve.sh is missing"
    for path, file in draft.solution.items():
        if path.endswith(".sh") and b"\r\n" in file.data:
            yield "solution", f"solution/{path} has Windows line endings"


@lru_cache(maxsize=256)  # a family's check.py is the same in all of its tasks
def _syntax(data: bytes) -> str:
    try:
        with warnings.catch_warnings():  # they are about style, and would go to the terminal
            warnings.simplefilter("ignore")
            ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"not Python: {error}"
    return ""


def _json(data: bytes) -> str:
    try:
        json.loads(data)
    except (ValueError, RecursionError) as error:
        return f"not JSON: {error}"
    return ""
