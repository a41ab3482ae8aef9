"""What may stand in files that a model wrote: checked in memory, before anything is written.

Pure rules, stricter than those of lint, which hold for every author: caps, paths, text, unfinished
places, and the syntax of what has one. They refuse and never repair.
"""

import ast
import json
import re
import tomllib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import yaml

from envgen.files import File, FileTree

MOST_FILES, FILE_BYTES, TREE_BYTES = 64, 256 << 10, 2 << 20
PATH_BYTES, DEPTH = 200, 8
LONG_BASE64 = re.compile(rb"[A-Za-z0-9+/\n]{4097,}={0,2}")

_PATH = re.compile(r"[A-Za-z0-9._/-]+")
_REFUSED = re.compile(
    r"(^|/)(\.git(/|$)|\.dockerignore$|[^/]*\.rego$|(docker-)?compose[^/]*\.ya?ml$)", re.IGNORECASE
)
_CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_REST = re.compile(
    r"#[\s.]*(the\s+)?(rest|remainder)\s+of\s+(the|this|your)\b|same as (before|above)\s*$|"
    r"\bas before\s*(\.\.\.|\))|<your[ _-]|\[your[ _-]|\byour[ _](code|logic)[ _]here\b",
    re.IGNORECASE | re.MULTILINE,
)
_STUB = re.compile(r"(#|//)\s*TODO\b|^\s*(#|//)?\s*\.\.\.\s*$|\{\{ *\w+ *\}\}", re.MULTILINE)


@dataclass(frozen=True)
class Rules:
    """What one question lets an answer hold.

    Attributes:
        paths: pattern of the whole path.
        needed: paths that must be there.
        finished: refuse stand-ins for code that was not written, and what does not parse; off
            where files are given to the agent in a faulty state on purpose.
        asked: the text of the question: odd characters that it has may come back.
    """

    paths: str
    needed: tuple[str, ...] = ()
    finished: bool = True
    asked: str = ""


def trouble_of(files: FileTree, rules: Rules) -> str:
    """The first thing that is wrong, in words for whoever wrote it; empty when nothing is."""
    return next(_troubles(files, rules), "")


def _troubles(files: FileTree, rules: Rules) -> Iterator[str]:
    if len(files) > MOST_FILES or files.size > TREE_BYTES:
        yield f"over {MOST_FILES} files, or over {TREE_BYTES >> 20} MB in all"
    yield from (f"{path} is missing" for path in rules.needed if path not in files)
    for path, file in files.items():
        if reason := _path(path, rules):
            yield f"{path!r}: {reason}"
        elif reason := _text(file.data, rules) or _kind(path, file, rules):
            yield f"{path}: {reason}"


def _path(path: str, rules: Rules) -> str:
    if not _PATH.fullmatch(path):
        return "a path has letters, digits, '.', '_', '-' and '/'"
    if len(path) > PATH_BYTES or path.count("/") >= DEPTH:
        return f"a path has at most {PATH_BYTES} bytes and {DEPTH} levels"
    if any(part.startswith("-") for part in path.split("/")):
        return "no part of a path begins with '-'"
    if _REFUSED.search(path):
        return "files of that name are not taken"
    if not re.fullmatch(rules.paths, path):
        return "this file was not asked for"
    return ""


def _text(data: bytes, rules: Rules) -> str:
    if len(data) > FILE_BYTES:
        return f"over {FILE_BYTES >> 10} KB"
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return "not UTF-8"
    crlf = text.count("\r\n")
    plain = text.replace("\r\n", "\n") if crlf and crlf == text.count("\n") else text
    if found := _CONTROL.search(plain):
        return f"holds the control character U+{ord(found[0]):04X}"
    if "\ufffd" in text and "\ufffd" not in rules.asked:
        return "holds U+FFFD, which stands for a character that was lost"
    if LONG_BASE64.search(data):
        return "holds a long run of base64: data is made by a script, not written out"
    for pattern in (_REST, _STUB) if rules.finished else (_REST,):
        if found := pattern.search(text):
            return f"is not finished: {found[0].strip()[:60]!r}"
    return ""


def _kind(path: str, file: File, rules: Rules) -> str:
    if not rules.finished:
        return ""
    script = path.endswith((".sh", ".py"))
    if file.mode & 0o100 and not file.data.startswith((b"#!", b"\x7fELF")):
        return "is executable and has no first line `#!...`"
    if b"\r" in file.data and (script or file.mode & 0o100):
        return "is a program with Windows line endings"
    for ending, parse in _PARSERS.items():
        if path.endswith(ending) and (reason := _parsed(parse, file.data.decode())):
            return reason
    return ""


def _parsed(parse: Callable[[str], object], text: str) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parse(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError, yaml.YAMLError) as error:
        return f"cannot be read as what its name says: {' '.join(str(error).split())[:200]}"
    return ""


def _yaml(text: str) -> object:
    """Events only: nothing is built, so an anchor bomb stays small."""
    return [None for _ in yaml.parse(text, Loader=yaml.SafeLoader)]


_PARSERS: dict[str, Callable[[str], object]] = {
    ".py": ast.parse,
    ".json": json.loads,
    ".toml": tomllib.loads,
    ".yaml": _yaml,
    ".yml": _yaml,
}
