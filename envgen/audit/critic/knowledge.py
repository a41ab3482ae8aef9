"""Did a script know what only the hidden tests say?

Words and figures are compared, those of code left out: what stands in the hidden data, or as a
constant in the tests, and nowhere that the agent can look. It is a rule of thumb, and it errs to
the safe side: work that knew too much is told, and never rejects a task.
"""

import ast
import json
import re
import warnings
from collections.abc import Iterator
from functools import cache

from envgen.audit import submissions
from envgen.audit.target import Target
from envgen.files import FileTree
from envgen.grade import verifier_kit
from envgen.records import TaskDraft

_WORD = re.compile(r"[\w.:-]{4,}")


def hidden_words(draft: TaskDraft, target: Target) -> frozenset[str]:
    """Words of the tests' data and constants that the agent cannot see."""
    hidden = {word for text in _hidden(draft.tests) for word in _words(text)}
    seen = [draft.instruction, *(e.path for e in target.entries)]
    seen += [e.data.decode("latin-1") for e in target.entries if not e.removed]
    return frozenset(hidden - {w for text in seen for w in _words(text)} - _everyday())


def known(script: FileTree, hidden: frozenset[str]) -> tuple[str, ...]:
    """Hidden words that a script has, in their order."""
    texts = (file.data.decode("latin-1") for file in script.values())
    return tuple(dict.fromkeys(w for text in texts for w in _words(text) if w in hidden))


def _words(text: str) -> Iterator[str]:
    return (word.strip(".:-") for word in _WORD.findall(text))


@cache
def _everyday() -> frozenset[str]:
    """Words of code: whatever the kit and our own attacks say."""
    texts = [file.data.decode() for file in verifier_kit().values()]
    texts += [path.read_text() for path in sorted(submissions.TASK.iterdir()) if path.is_file()]
    return frozenset(word for text in texts for word in _words(text))


def _hidden(tests: FileTree) -> Iterator[str]:
    for path, file in tests.items():
        text = file.data.decode("latin-1")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if path.endswith(".json"):
                    yield from _leaves(json.loads(text))
                elif path.endswith(".py"):
                    yield from _constants(ast.parse(text))
                elif not path.endswith(".sh"):
                    yield text
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            yield text


def _leaves(value: object) -> Iterator[str]:
    """Values, without the keys that they stand under."""
    if isinstance(value, dict):
        for one in value.values():
            yield from _leaves(one)
    elif isinstance(value, list):
        for one in value:
            yield from _leaves(one)
    else:
        yield str(value)


def _constants(tree: ast.Module) -> Iterator[str]:
    """Constants of a program, without what only explains it."""
    texts = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in texts:
            yield node.value.decode("latin-1") if isinstance(node.value, bytes) else str(node.value)
