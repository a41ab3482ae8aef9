"""The first gate: one case per rule, each with the code that it ends in; and what must pass."""

import inspect
import re
from typing import Any

import pytest

from envgen.errors import Fault
from envgen.files import File, FileTree
from envgen.lint import lint
from envgen.records import InitialState, TaskDraft

CHECK = {"check.py": "pass\n"}
SOLVE = {"solve.sh": "true\n"}
LONG = "x" * 70

# name: (code, part of the message, fields of the draft, fields of its environment)
CASES: dict[str, tuple[str, str, dict[str, Any], dict[str, Any]]] = {
    "no instruction": ("text", "instruction is empty", {"instruction": " \n"}, {}),
    "no title": ("text", "title is empty", {"title": ""}, {}),
    "long instruction": ("text", "20001 characters", {"instruction": "x" * 20_001}, {}),
    "long title": ("text", "201 characters", {"title": "x" * 201}, {}),
    "two titles": ("text", "more than one line", {"title": "a\nb"}, {}),
    "escape": ("text", "U+001B", {"instruction": "a\x1b[2J"}, {}),
    "NUL": ("text", "U+0000", {"title": "a\0"}, {}),
    "carriage return": ("text", "U+000D", {"instruction": "a\r\nb"}, {}),
    "C1 control": ("text", "U+009B", {"instruction": "a\x9b"}, {}),
    "bidi": ("text", "U+202E", {"instruction": "a\u202eb"}, {}),
    "bidi isolate": ("text", "U+2066", {"title": "a\u2066b"}, {}),
    "byte order mark": ("text", "U+FEFF", {"instruction": "\ufeffa"}, {}),
    "private use": ("text", "U+E000", {"instruction": "a\ue000"}, {}),
    "unknown base": ("base", "no base 'debian'", {}, {"base": "debian"}),
    "base that is a file": ("base", "no base 'root'", {}, {"base": "root"}),
    "package with options": ("packages", "'-oX=y'", {}, {"packages": ("-oX=y",)}),
    "package with a version": ("packages", "'jq=1'", {}, {"packages": ("jq=1",)}),
    "too many files": (
        "size",
        "over 5000 files",
        {},
        {"files": FileTree({f"srv/a/{n}": b"" for n in range(5001)})},
    ),
    "too many bytes": (
        "size",
        "64 MB",
        {},
        {"files": FileTree({"srv/a": b"x" * ((64 << 20) + 1)})},
    ),
    "tests too large": (
        "size",
        "tests have over 64 MB",
        {"tests": FileTree({**CHECK, "x": b"x" * (64 << 20)})},
        {},
    ),
    "long set-up": ("setup", "too long", {}, {"setup": ("x" * 4001,)}),
    "set-up of two lines": ("setup", "one plain line", {}, {"setup": ("a\nb",)}),
    "set-up with NUL": ("setup", "one plain line", {}, {"setup": ("a\0",)}),
    "too many set-ups": ("setup", "41 set-up commands", {}, {"setup": ("true",) * 41}),
    "no outputs": ("outputs", "no folder carries over", {"outputs": ()}, {}),
    "outputs of root": ("outputs", "/usr is not a place", {"outputs": ("/usr",)}, {}),
    "outputs everywhere": ("outputs", "'/' is not an absolute", {"outputs": ("/",)}, {}),
    "outputs in the tests": ("outputs", "/tests is not", {"outputs": ("/tests",)}, {}),
    "outputs of the system": ("outputs", "/etc/ssl is not", {"outputs": ("/etc/ssl",)}, {}),
    "outputs are passwords": ("outputs", "/etc/passwd is", {"outputs": ("/etc/passwd",)}, {}),
    "outputs relative": ("outputs", "'out' is not an absolute", {"outputs": ("out",)}, {}),
    "outputs upwards": ("outputs", "plain path", {"outputs": ("/srv/a/../../etc",)}, {}),
    "outputs with quotes": ("outputs", "plain path", {"outputs": ("/srv/a'b",)}, {}),
    "outputs in outputs": (
        "outputs",
        "/srv/a holds another",
        {"outputs": ("/srv/a/b", "/srv/a")},
        {},
    ),
    "workdir with space": ("outputs", "plain path", {"workdir": "/srv/a b"}, {}),
    "workdir that injects": ("outputs", "plain path", {"workdir": "/srv/a\nRUN id"}, {}),
    "workdir of root": ("outputs", "/root is not a place", {"workdir": "/root"}, {}),
    "hide relative": ("path", "'x' must be absolute", {"hide": ("x",)}, {}),
    "hide upwards": ("path", "must be absolute", {"hide": ("/srv/../etc",)}, {}),
    "present relative": ("path", "absolute", {"initial": InitialState(present=("x",))}, {}),
    "absent with NUL": ("path", "absolute", {"initial": InitialState(absent=("/x\0",))}, {}),
    "no check": ("tests", "check.py is missing", {"tests": FileTree({"x": b""})}, {}),
    "check is no Python": (
        "tests",
        "not Python",
        {"tests": FileTree({"check.py": "def (:\n"})},
        {},
    ),
    "check with NUL": ("tests", "not Python", {"tests": FileTree({"check.py": b"a\0"})}, {}),
    "check nests": (
        "tests",
        "not Python",
        {"tests": FileTree({"check.py": "(" * 5000 + ")" * 5000})},
        {},
    ),
    "check nests signs": (
        "tests",
        "not Python",
        {"tests": FileTree({"check.py": "-" * 100_000 + "1"})},
        {},
    ),
    "truth is no JSON": (
        "tests",
        "not JSON",
        {"tests": FileTree({**CHECK, "truth.json": "{"})},
        {},
    ),
    "truth nests": (
        "tests",
        "not JSON",
        {"tests": FileTree({**CHECK, "truth.json": "[" * 100_000})},
        {},
    ),
    "kit replaced": (
        "tests",
        "belongs to the kit",
        {"tests": FileTree({**CHECK, "verifiers/run.py": b""})},
        {},
    ),
    "entry point replaced": (
        "tests",
        "tests/test.sh has a name",
        {"tests": FileTree({**CHECK, "test.sh": b""})},
        {},
    ),
    "facts replaced": (
        "tests",
        "tests/task.json has a name",
        {"tests": FileTree({**CHECK, "task.json": "{}"})},
        {},
    ),
    "short secret": ("secrets", "'1234567' is too short", {"secrets": ("1234567",)}, {}),
    "no solution": ("solution", "solve.sh is missing", {"solution": FileTree()}, {}),
    "Windows lines": (
        "solution",
        "Windows line endings",
        {"solution": FileTree({"solve.sh": b"a\r\n"})},
        {},
    ),
}

# Where the grader's own tools and the system's settings are, nothing of a task may stand.
_PLACES = """
usr/bin/python3 bin/sh sbin/x lib/x usr/lib/python3/sitecustomize.py root/.bashrc tests/x logs/x
solution/x .outputs/x proc/1/x sys/x dev/x tmp/x run/x boot/x x home/x home/other/x home/agent
opt srv var/x var/log/x var/spool/x etc/passwd etc/shadow etc/sudoers etc/sudoers.d/x
etc/ld.so.preload etc/ld.so.conf.d/x etc/profile.d/x etc/bash.bashrc etc/environment etc/pam.d/x
etc/python3/x etc/cron.d/x etc/apt/x etc/ssl/x etc/security/limits.conf etc/hosts etc/init.d/x
"""
_ALLOWED = """
home/agent/x home/agent/.bashrc opt/x opt/a/b srv/x data/x var/lib/app/x var/log/app/x
var/spool/app/x var/www/site/x etc/nginx/nginx.conf etc/myapp/x
"""


def changed(draft: TaskDraft, fields: dict[str, Any], environment: dict[str, Any]) -> TaskDraft:
    inner = draft.environment.model_copy(update=environment)
    return draft.model_copy(update={"environment": inner} | fields)


def test_the_golden_draft_keeps_every_rule(golden: TaskDraft) -> None:
    lint(golden)


@pytest.mark.parametrize("name", CASES)
def test_each_rule_refuses_with_its_code(golden: TaskDraft, name: str) -> None:
    code, message, fields, environment = CASES[name]
    with pytest.raises(Fault) as caught:
        lint(changed(golden, fields, environment))
    assert caught.value.code == f"lint:{code}"
    assert message in caught.value.detail
    assert caught.value.proof == ()


def test_every_rule_has_a_case() -> None:
    source = inspect.getsource(inspect.getmodule(lint) or lint)
    yielded = re.findall(r'yield\s*\(?\s*"(\w+)",', source)
    assert {case[0] for case in CASES.values()} == set(yielded)


@pytest.mark.parametrize("path", _PLACES.split())
def test_files_may_not_stand_there(golden: TaskDraft, path: str) -> None:
    with pytest.raises(Fault) as caught:
        lint(changed(golden, {}, {"files": FileTree({path: b""})}))
    assert caught.value.code == "lint:path"


@pytest.mark.parametrize("path", _ALLOWED.split())
def test_files_may_stand_there(golden: TaskDraft, path: str) -> None:
    lint(changed(golden, {}, {"files": FileTree({path: b""})}))


@pytest.mark.parametrize(
    "fields",
    [
        {"title": "quotes \" and ' and ]] and \\ and {{ }}"},
        {"title": "日本語 é 😀"},
        {"instruction": "tab\there\nand a line"},
        {"workdir": "/srv/app", "outputs": ("/srv/app/out", "/opt/x")},
        {"tests": FileTree({"check.py": File(rb'"\d"' + b"\n", 0o644)})},
    ],
)
def test_unusual_but_harmless_drafts_pass(golden: TaskDraft, fields: dict[str, Any]) -> None:
    lint(changed(golden, fields, {}))


def test_the_first_broken_rule_is_the_one_that_is_named(golden: TaskDraft) -> None:
    with pytest.raises(Fault, match="lint:text"):
        lint(changed(golden, {"title": "", "solution": FileTree()}, {"base": "x"}))
