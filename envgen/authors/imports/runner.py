"""Tests that install their own runner while they grade: baked into the image, where it can be.

Without network such a test.sh gives no verdict at all, and with it the verdict depends on the day.
What is changed is noted, line by line, so that nobody takes the script for its maker's.
"""

import ast
import re
import sys
import warnings
from functools import lru_cache
from itertools import pairwise

from envgen.authors.imports import installs
from envgen.authors.imports.container import Container
from envgen.authors.imports.images import names
from envgen.authors.imports.shell import Command, commands, replaced
from envgen.errors import Fault
from envgen.files import File, FileTree

_UV_VALUE = ("-p", "--python", "--from", "--index-url", "--project", "--directory")
_UV_WITH = ("-w", "--with")
_PYTHON = re.compile(r"(/usr/bin/)?python(3(\.11)?)?")
_CTRF = "pytest-json-ctrf"


def baked(tests: FileTree, container: Container) -> FileTree:
    """The tests with a test.sh that finds its runner in the image, which gets it here.

    Raises:
        Fault: it fetches something else.
    """
    text = tests["test.sh"].data.decode(errors="surrogateescape")

    def lookup(name: str) -> str:
        path = name.removeprefix("/tests/")
        if path not in tests:
            raise Fault("import:pip", f"test.sh reads requirements from {name}")
        return tests[path].data.decode(errors="replace")

    changed, found = installs.extract(text, container.variables, lookup)
    changed, called = _called(changed, ctrf=container.wheels is not None)
    if changed != text:
        gone = [line for line in text.splitlines() if line not in changed.splitlines()]
        container.notes.append(
            "verifier-installs: test.sh would fetch its runner at grade time; it is in the image, "
            f"and these lines were replaced: {' / '.join(line.strip() for line in gone)[:600]}"
        )
    container.packages += found.packages
    for requirement in dict.fromkeys([*found.requirements, *called]):
        container.add_python(requirement)
    data = changed.encode(errors="surrogateescape")
    return FileTree({**tests, "test.sh": File(data, tests["test.sh"].mode)})


def shielded(tests: FileTree, notes: list[str]) -> FileTree:
    """The tests for the fresh form: no module in the folder that they run in, which the agent may
    have filled, comes before Python's own or the runner's.

    `python3 -P -m pytest` finds what `pytest` does; programs that it starts know nothing of it.
    """
    text = tests["test.sh"].data.decode(errors="surrogateescape")
    changes = [
        (word.end, word.end, " -P")
        for command in commands(text)
        if command.values[:1] not in (("echo",), ("printf",))
        for word, then in pairwise(command.words)
        if _PYTHON.fullmatch(word.value) and then.value == "-m"
    ]
    if not changes:
        return tests
    notes.append(
        "verifier-path: test.sh runs modules with -P, so that none of the agent's is taken"
    )
    data = replaced(text, changes).encode(errors="surrogateescape")
    return FileTree({**tests, "test.sh": File(data, tests["test.sh"].mode)})


def add_imported(tests: FileTree, container: Container) -> None:
    """Have in the image what the tests import, where a Debian package or wheels give it."""
    ours = {path.partition("/")[0].removesuffix(".py") for path in tests}
    for module in sorted(_modules(tests) - ours - set(sys.stdlib_module_names)):
        project = names()["modules"].get(module, module.lower().replace("_", "-"))
        if project in names()["python"]:
            container.add_python(project)
        else:
            container.notes.append(f"verifier-imports: {module} is not known, and may be missing")


def _modules(tests: FileTree) -> set[str]:
    """The top-level modules that the Python files among the tests import."""
    found: set[str] = set()
    for path, file in tests.items():
        if path.endswith(".py"):
            found |= _imports(file.data)
    return found


@lru_cache(maxsize=64)
def _imports(data: bytes) -> frozenset[str]:
    try:
        with warnings.catch_warnings():  # they are about style, and would go to the terminal
            warnings.simplefilter("ignore")
            tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return frozenset(found)


def _called(text: str, *, ctrf: bool) -> tuple[str, list[str]]:
    """Calls through uv as calls of the image's Python; and what uv would have brought along."""
    changes: list[tuple[int, int, str]] = []
    wanted: list[str] = []
    for command in commands(text):
        changes += _through_uv(command, text, wanted)
        if not ctrf:
            changes += _without_ctrf(command)
    return replaced(text, changes), [w for w in wanted if ctrf or not w.startswith(_CTRF)]


def _through_uv(command: Command, text: str, wanted: list[str]) -> list[tuple[int, int, str]]:
    values = [word.value for word in command.words]
    first = next((n for n, value in enumerate(values) if value in ("uvx", "uv")), None)
    if first is None:
        return []
    at = first + 1
    if values[first] == "uv":
        while at < len(values) and values[at] in ("tool", "run"):
            at += 1
        if at == first + 1:
            return []
    while at < len(values) and values[at].startswith("-"):
        name, equals, value = values[at].partition("=")
        if name in _UV_WITH:
            wanted.append(
                value if equals else values[at + 1 : at + 2][0] if values[at + 1 :] else ""
            )
        at += 1 if equals or name not in (*_UV_VALUE, *_UV_WITH) else 2
    if at >= len(values):
        return []
    tool = re.split(r"[=@<>~]", values[at])[0]
    start, end = command.words[first].start, command.words[at].end
    if tool in ("python", "python3"):
        return [(start, end, "python3")]
    wanted.append(values[at].replace("@", "==") if "@" in values[at] else values[at])
    return [(start, end, f"python3 -m {tool}")]


def _without_ctrf(command: Command) -> list[tuple[int, int, str]]:
    """The report of a plugin that Debian lacks is not asked for; no verdict comes from it."""
    changes = []
    for number, word in enumerate(command.words):
        if word.value.startswith(("--ctrf=", "--json-ctrf=")):
            changes.append((word.start, word.end, ""))
        elif word.value in ("--ctrf", "--json-ctrf") and number + 1 < len(command.words):
            changes.append((word.start, command.words[number + 1].end, ""))
    return changes
