"""Files in the text of an answer: marked blocks of raw lines, and two readers to fall back on.

An answer looks so, where `1a2b3c4d` is the nonce of its question:

    === FILE 1a2b3c4d path=bin/run.sh mode=0755 eol=lf ===
    #!/bin/sh
    echo done
    === END 1a2b3c4d ===
    === FILES 1a2b3c4d 1 ===

Markers are whole lines. Everything between two of them is the file, byte for byte: nothing is
trimmed, unescaped or repaired. A file that its end marker does not close was cut off and is never
kept; without the closing count, or with a wrong one, the answer is not whole. Reading is pure and
never raises: what is wrong stands in the result.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal

from envgen.digest import digest, short
from envgen.files import File, FileTree
from envgen.plural import many

MOST_FILES = 64
MOST_CHARS = 16 << 20
"""Longer answers are not read at all."""
Reader = Literal["blocks", "fences", "json", "fence"]

_BEGIN = r"=== FILE {nonce} path=(\S+) mode=(0644|0755) eol=(lf|crlf|none) ==="
_FENCE = re.compile(r"(`{3,}|~{3,})[^`]*")
_HEADER = re.compile(r"\W*(?:path|file)\W{0,3}[:=]\W*([A-Za-z0-9._/-]+)\W*", re.IGNORECASE)


@dataclass(frozen=True)
class Answer:
    """What was found in an answer.

    Attributes:
        files: whole files only.
        whole: nothing is missing: the answer says how many files it has, and has them.
        trouble: why the answer cannot be used; empty when it can (as far as it goes).
        reader: which reader understood it.
        warnings: what was let pass.
        outside: the text that belongs to no file.
    """

    files: FileTree = field(default_factory=FileTree)
    whole: bool = False
    trouble: str = ""
    reader: Reader = "blocks"
    warnings: tuple[str, ...] = ()
    outside: str = ""


def nonce_of(*content: object) -> str:
    """Eight hex characters that belong to one question: a digest of what it is made of."""
    return short(digest(["nonce", *content]), 8)


def wrapped(files: FileTree, nonce: str) -> str:
    """The blocks of text files, as an answer would have them, without the closing count."""
    parts = []
    for path, file in files.items():
        text = file.data.decode()
        eol = "crlf" if "\r\n" in text else "lf" if text.endswith("\n") or not text else "none"
        body = text.replace("\r\n", "\n").removesuffix("\n")
        mode = "0755" if file.mode & 0o100 else "0644"
        lines = [f"=== FILE {nonce} path={path} mode={mode} eol={eol} ==="]
        lines += [body] if text else []
        parts += [*lines, f"=== END {nonce} ==="]
    return "".join(f"{part}\n" for part in parts)


def read(text: str, nonce: str, only: str | None = None) -> Answer:
    """The files of an answer, by the first reader that finds any.

    Args:
        text: the answer.
        nonce: of the question.
        only: the one path that was asked for; then a single fenced text of any width will do.
    """
    if len(text) > MOST_CHARS:
        return Answer(trouble=f"the answer has over {MOST_CHARS >> 20} million characters")
    text = text.removeprefix("\ufeff")
    try:
        text.encode()
    except UnicodeEncodeError:
        return Answer(trouble="the answer holds half a character (a lone surrogate)")
    if re.search(rf"^=== (FILES?|END) {nonce}\b", text, re.MULTILINE):
        return _blocks(text, nonce)
    for reader in (_fences, _json):
        if found := reader(text):
            return found
    if only and (found := _fence(text, only)):
        return found
    return Answer(trouble="the answer holds no files in the form that was asked for", outside=text)


# -- blocks ------------------------------------------------------------------------------------


@dataclass
class _Open:
    """The block that is being read."""

    path: str
    mode: int
    eol: str
    carriage: bool
    """The begin marker itself ended in CR: so does every line of this answer."""
    lines: list[str] = field(default_factory=list)


class _Reading:
    """Markers as they come; `mark` says what is wrong with one, or nothing."""

    def __init__(self, nonce: str) -> None:
        self.nonce = nonce
        self.begin = re.compile(_BEGIN.format(nonce=nonce))
        self.files: dict[str, File] = {}
        self.warnings: list[str] = []
        self.outside: list[str] = []
        self.block: _Open | None = None
        self.count: int | None = None

    def text(self, raw: str) -> None:
        (self.outside if self.block is None else self.block.lines).append(raw)

    def mark(self, line: str, carriage: bool) -> str:
        if self.count is not None:
            return "a marker stands after the closing count"
        if self.block is None:
            return self._between(line, carriage)
        if line != f"=== END {self.nonce} ===":
            return f"{self.block.path} was not closed before the next marker"
        if self.block.path in self.files:
            return f"{self.block.path} is there twice"
        body = _body(self.block, self.warnings).encode()
        self.files[self.block.path] = File(body, self.block.mode)
        self.block = None
        return f"over {MOST_FILES} files" if len(self.files) > MOST_FILES else ""

    def _between(self, line: str, carriage: bool) -> str:
        if opened := self.begin.fullmatch(line):
            self.block = _Open(opened[1], int(opened[2], 8), opened[3], carriage)
        elif closed := re.fullmatch(rf"=== FILES {self.nonce} (\d{{1,6}}) ===", line):
            self.count = int(closed[1])
        else:
            return f"a marker is not as it was asked for: {line[:120]}"
        return ""


def _blocks(text: str, nonce: str) -> Answer:
    marker = re.compile(rf"=== (FILES?|END) {nonce}\b")
    reading = _Reading(nonce)
    trouble = ""
    lines = text.split("\n")
    for number, raw in enumerate(lines, start=1):
        line = raw.removesuffix("\r")
        if not (line.startswith("===") and marker.match(line)):
            reading.text(raw)
        elif line.endswith(" ===") or number < len(lines):
            trouble = reading.mark(line, carriage=raw != line)
        if trouble:  # (a last marker that lacks its end was cut off: it marks nothing)
            break
    files, count, warnings = reading.files, reading.count, reading.warnings
    if count not in (None, len(files)) and not trouble:
        warnings.append(
            f"the closing count says {count}, and {many(len(files), 'file is', 'files are')} there"
        )
    whole = not trouble and reading.block is None and count == len(files)
    return _answer(files, whole, trouble, "blocks", warnings, "\n".join(reading.outside))


def _body(block: _Open, warnings: list[str]) -> str:
    lines = block.lines
    if block.carriage or block.eol == "crlf":
        if block.carriage and block.eol != "crlf":
            warnings.append(f"{block.path}: the whole answer has CRLF, the file has not")
        lines = [line.removesuffix("\r") for line in lines]
    lines = _unfenced(lines, block.path, warnings)
    end = "\r\n" if block.eol == "crlf" else "\n"
    body = end.join(lines)
    return body if block.eol == "none" or not lines else body + end


def _unfenced(lines: list[str], path: str, warnings: list[str]) -> list[str]:
    """Without a fence that wraps the whole body (and is not itself what the file is about)."""
    if len(lines) < 2 or path.endswith(".md"):
        return lines
    opening = _FENCE.fullmatch(lines[0].strip())
    if not opening or lines[-1].strip() != opening[1]:
        return lines
    if any(line.strip().startswith(opening[1]) for line in lines[1:-1]):
        return lines  # several fences: the first and the last are no pair
    warnings.append(f"{path}: a fence around the whole file was removed")
    return lines[1:-1]


# -- other readers -----------------------------------------------------------------------------


def _fenced(text: str, width: int) -> Iterator[tuple[str, str, list[str]]]:
    """(line before, info, body) of each fence of at least `width` backticks that is closed."""
    before, fence, info, body = "", "", "", list[str]()
    for raw in text.split("\n"):
        line = raw.removesuffix("\r")
        if fence:
            if line == fence:
                yield before, info, body
                before, fence, body = "", "", []
            else:
                body.append(line)
        elif opened := re.fullmatch(rf"(`{{{width},}})([^`]*)", line):
            fence, info = opened[1], opened[2].strip()
        elif line.strip():
            before = line
    if fence:
        yield before, info, [_CUT]


_CUT = "\0cut"


def _fences(text: str) -> Answer | None:
    """Fences of five and more backticks, each with its path in its head or on the line before."""
    if "`````" not in text:
        return None
    files: dict[str, File] = {}
    whole, trouble = True, ""
    for before, info, body in _fenced(text, 5):
        header = _HEADER.fullmatch(info) or _HEADER.fullmatch(before)
        path = header[1] if header else info.split()[-1] if "." in info or "/" in info else ""
        if body == [_CUT]:
            whole = False
        elif not path:
            trouble = "a fence says no path"
        elif path in files:
            trouble = f"{path} is there twice"
        else:
            files[path] = _file(path, "".join(f"{line}\n" for line in body))
        if trouble or len(files) > MOST_FILES:
            trouble = trouble or f"over {MOST_FILES} files"
            break
    if not files and not trouble:
        return None
    # A fence does not say how many there should be, so whether all came is the caller's to see.
    warnings = ["read from fences, not from blocks"]
    return _answer(files, whole and not trouble, trouble, "fences", warnings, "")


def _json(text: str) -> Answer | None:
    """`[{"path": ..., "content": ...}]`, alone or under `files`; strict JSON, never repaired."""
    start = min((at for at in (text.find("["), text.find("{")) if at >= 0), default=-1)
    if start < 0 or '"path"' not in text:
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(text[start:])
    except (ValueError, RecursionError):
        return None
    items = value.get("files") if isinstance(value, dict) else value
    if not isinstance(items, list) or not items or len(items) > MOST_FILES:
        return None
    files: dict[str, File] = {}
    trouble = ""
    for item in items:
        path, content = _pair(item)
        if path is None or content is None:
            return None
        if path in files:
            trouble = f"{path} is there twice"
        files[path] = _file(path, content)
    warnings = ["read from JSON, not from blocks"]
    return _answer(files, not trouble, trouble, "json", warnings, "")


def _pair(item: object) -> tuple[str | None, str | None]:
    if not isinstance(item, dict):
        return None, None
    path, content = item.get("path"), item.get("content")
    good = isinstance(path, str) and isinstance(content, str)
    return (path, content) if good else (None, None)


def _fence(text: str, path: str) -> Answer | None:
    """The one fenced text of an answer to a question for one file."""
    found = list(islice(_fenced(text, 3), 2))
    if not found:
        return None
    if len(found) > 1:
        return Answer(trouble="several fenced texts where one file was asked for")
    body = found[0][2]
    if body == [_CUT]:
        return Answer(reader="fence", outside=text)
    files = {path: _file(path, "".join(f"{line}\n" for line in body))}
    return _answer(files, True, "", "fence", ["read from one fence, not from a block"], "")


def _file(path: str, text: str) -> File:
    """A file whose mode was not said: a script is executable."""
    return File(text.encode(), 0o755 if text.startswith("#!") else 0o644)


def _answer(
    files: dict[str, File],
    whole: bool,
    trouble: str,
    reader: Reader,
    warnings: list[str],
    outside: str,
) -> Answer:
    try:
        tree = FileTree(files)
    except ValueError as error:
        tree, whole, trouble = FileTree(), False, trouble or str(error)
    return Answer(tree, whole, trouble, reader, tuple(warnings), outside)
