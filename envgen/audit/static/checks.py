"""Rules over the hidden tests: how a verdict could be had for nothing, or denied to right work.

Read as syntax, so that a word in a comment is no finding. The kit's own files are not looked at:
they are the same in every task and have tests of their own.
"""

import ast
import re
import warnings
from collections.abc import Iterator
from functools import lru_cache
from pathlib import PurePosixPath

from envgen.audit.static.suspicion import Kind, line_of, suspected
from envgen.records import Finding, TaskDraft

SWALLOWED = Kind("swallowed", "VERIFIER-TOO-WEAK", "an error in a check counts as success")
EXISTENCE = Kind("existence", "VERIFIER-TOO-WEAK", "outputs are looked for, never read or run")
AS_ROOT = Kind(
    "runs-as-root",
    "VERIFIER-TOO-WEAK",
    "a program is started past the kit",
    exploitability="grading",
)
IMPORTED = Kind(
    "imports-work", "VERIFIER-TOO-WEAK", "code of the agent's is loaded into the grader",
    exploitability="grading",
)  # fmt: skip
OWN_INPUT = Kind(
    "own-input", "VERIFIER-TOO-WEAK", "a verdict that rests on a file that the agent may change"
)
IGNORED_STATUS = Kind("ignored-status", "VERIFIER-TOO-WEAK", "a failure that is ignored")
CLOCK = Kind("clock", "OTHER", "the verdict depends on the clock", "unstable", "reward")
CHANCE = Kind("chance", "OTHER", "the verdict depends on chance", "unstable", "reward")
NETWORK = Kind("network", "OTHER", "the tests need a network", "unstable", "reward")
SPELLING = Kind(
    "spelling",
    "INSTR-VERIFIER-MISMATCH",
    "a word is looked for that the instruction does not have",
    "rejects-right",
    "reward",
)
UNTOLD_PATH = Kind(
    "untold-path", "INSTR-VERIFIER-MISMATCH", "a file that the instruction does not name is read",
    "rejects-right", "reward",
)  # fmt: skip

_READERS = {"read", "read_text", "read_json", "exists", "stat", "listing", "readlink"}
_STARTS = {"os.system", "os.popen", "os.execv", "os.spawnv", "pty.spawn"}
_LOADS = {
    "exec", "eval", "runpy.run_path", "imp.load_source", "importlib.import_module",
    "importlib.util.spec_from_file_location", "importlib.machinery.SourceFileLoader",
}  # fmt: skip
_SEARCHES = {"re.search", "re.match", "re.fullmatch", "re.findall", "re.compile"}
_FETCHES = {"urllib.request.urlopen", "requests.get", "requests.post", "socket.gethostbyname"}


def verdicts(draft: TaskDraft) -> Iterator[Finding]:
    """What each test file does, node by node."""
    for path, tree in _trees(draft):
        place = f"tests/{path}"
        for node in ast.walk(tree):
            yield from _node(node, place, draft)


def existence(draft: TaskDraft) -> Iterator[Finding]:
    """Tests that ask whether outputs exist, and nothing else."""
    called = {
        node.func.attr: (path, node.lineno)
        for path, tree in _trees(draft)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    looks = called.keys() & {"exists", "isfile", "stat", "listing"}
    if looks and not called.keys() & {"read", "read_text", "read_json", "run", "open", "Service"}:
        path, line = called[min(looks)]
        yield suspected(EXISTENCE, f"tests/{path}", line)


def scripts(draft: TaskDraft) -> Iterator[Finding]:
    """Shell scripts among the tests."""
    for path, file in draft.tests.items():
        if not path.endswith(".sh"):
            continue
        text = file.data.decode(errors="replace")
        for kind, pattern in (
            (IGNORED_STATUS, r"\|\|\s*(true|:)\s*$"),
            (NETWORK, r"^\s*(curl|wget|pip3? install|apt(-get)? install|uvx? )"),
        ):
            for found in re.finditer(pattern, text, re.M):
                line = line_of(text, found.start())
                yield suspected(kind, f"tests/{path}", line, text.split("\n")[line - 1].strip())


RULES = (verdicts, existence, scripts)


def _node(node: ast.AST, place: str, draft: TaskDraft) -> Iterator[Finding]:
    if isinstance(node, ast.ExceptHandler) and _says_yes(node.body):
        yield suspected(SWALLOWED, place, node.lineno)
    elif isinstance(node, ast.Call):
        yield from _call(node, place, draft)
    elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
        yield from _spelling(node.left, place, draft)


def _call(node: ast.Call, place: str, draft: TaskDraft) -> Iterator[Finding]:
    name = ast.unparse(node.func)
    shown = ast.unparse(node)
    if name in _STARTS or name.startswith("subprocess."):
        yield suspected(AS_ROOT, place, node.lineno, shown)
    if (name in _LOADS or name.startswith("sys.path.")) and re.search(
        r"workdir|task\.(read|path)", shown
    ):
        yield suspected(IMPORTED, place, node.lineno, shown)
    if name in ("time.time", "datetime.now", "datetime.datetime.now", "datetime.date.today"):
        yield suspected(CLOCK, place, node.lineno)
    if re.fullmatch(r"random\.(random|randint|choice|randrange|shuffle|sample)", name):
        yield suspected(CHANCE, place, node.lineno)
    if name in _FETCHES:
        yield suspected(NETWORK, place, node.lineno, shown)
    if name in _SEARCHES and node.args:
        yield from _spelling(node.args[0], place, draft)
    if name.removeprefix("task.") in _READERS and node.args:
        yield from _path(node.args[0], place, draft)


def _path(argument: ast.expr, place: str, draft: TaskDraft) -> Iterator[Finding]:
    if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
        return
    path = argument.value
    name = PurePosixPath(path).name
    absolute = f"{draft.workdir}/{path}" if not path.startswith("/") else path
    own = any(f"{absolute}/".startswith(f"{folder}/") for folder in draft.outputs)
    if own and absolute[1:] in draft.environment.files:
        yield suspected(OWN_INPUT, place, argument.lineno, path)
    if name and name not in draft.instruction and absolute[1:] not in draft.environment.files:
        yield suspected(UNTOLD_PATH, place, argument.lineno, path)


def _spelling(what: ast.expr, place: str, draft: TaskDraft) -> Iterator[Finding]:
    if isinstance(what, ast.Constant) and isinstance(what.value, str | bytes):
        text = what.value if isinstance(what.value, str) else what.value.decode("latin-1")
        if text.startswith(
            "#!"
        ):  # which interpreter, and where: the kind of program, not its words
            return
        told, right = draft.instruction.casefold(), _reference(draft)
        for word in re.findall(r"[A-Za-z_]{4,}", text):
            if word.casefold() not in told and word in right:
                yield suspected(SPELLING, place, what.lineno, word)


def _reference(draft: TaskDraft) -> str:
    """The reference's text, first lines left out: a word that is demanded stands in it."""
    texts = (file.data.decode(errors="replace") for file in draft.solution.values())
    return "\n".join(re.sub(r"\A#!.*", "", text) for text in texts)


def _says_yes(body: list[ast.stmt]) -> bool:
    """Whether a handler returns or yields a success."""
    yes = {"True", "1", "1.0"}
    for node in (n for statement in body for n in ast.walk(statement)):
        if isinstance(node, ast.Return | ast.Yield) and node.value is not None:
            if ast.unparse(node.value) in yes:
                return True
            if isinstance(node.value, ast.Call) and any(
                ast.unparse(a) in yes for a in node.value.args
            ):
                return True
    return False


def _trees(draft: TaskDraft) -> Iterator[tuple[str, ast.Module]]:
    for path, file in draft.tests.items():
        if path.endswith(".py"):
            tree = _parsed(file.data)
            if tree is not None:
                yield path, tree


@lru_cache(maxsize=256)
def _parsed(data: bytes) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
