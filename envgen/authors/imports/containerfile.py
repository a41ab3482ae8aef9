"""Dockerfile text as its instructions: continuations, comments, here-documents, flags."""

import re
from dataclasses import dataclass

from envgen.authors.imports.shell import Heredoc
from envgen.errors import Fault

MOST_LINES = 20_000
_HEREDOC = re.compile(r"<<(-?)(?:'([^'\s]+)'|\"([^\"\s]+)\"|([A-Za-z0-9_]+))")
_WITH_HEREDOC = ("RUN", "COPY", "ADD")
_WITH_FLAGS = ("RUN", "COPY", "ADD", "FROM", "HEALTHCHECK")


@dataclass(frozen=True)
class Instruction:
    """One instruction. `text` is what follows the flags, here-documents left out of it."""

    keyword: str
    flags: tuple[tuple[str, str], ...]
    text: str
    heredocs: tuple[tuple[str, Heredoc], ...]
    """Here-documents by their delimiter, in order."""
    line: int


def instructions(text: str) -> list[Instruction]:
    """All instructions of a Dockerfile.

    Raises:
        Fault: another escape character, or a here-document without an end.
    """
    lines = text.splitlines()
    if len(lines) > MOST_LINES:
        raise Fault("import:dockerfile", f"over {MOST_LINES} lines")
    for line in lines:
        directive = re.fullmatch(r"#\s*([a-zA-Z]+)\s*=\s*(.*?)\s*", line)
        if directive is None:
            break
        if directive[1].lower() == "escape" and directive[2] != "\\":
            raise Fault("import:dockerfile", "it has another escape character")
    found: list[Instruction] = []
    at = 0
    while at < len(lines):
        if not lines[at].strip() or lines[at].lstrip().startswith("#"):
            at += 1
            continue
        first = at
        whole, at = _continued(lines, at)
        keyword, _, rest = whole.strip().partition(" ")
        keyword = keyword.upper()
        heredocs, at = _heredocs(keyword, rest, lines, at)
        flags, rest = _flags(keyword, rest.strip())
        found.append(Instruction(keyword, flags, rest, heredocs, first + 1))
    return found


def _continued(lines: list[str], at: int) -> tuple[str, int]:
    """A line with those that continue it; comments and empty lines between them fall away."""
    parts: list[str] = []
    while at < len(lines):
        line = lines[at]
        at += 1
        if parts and (line.lstrip().startswith("#") or not line.strip()):
            continue
        stripped = line.rstrip()
        if not stripped.endswith("\\"):
            parts.append(line.replace("\t", " ", 1) if not parts else line)
            break
        parts.append(stripped[:-1])
    return "".join(parts), at


def _heredocs(
    keyword: str, rest: str, lines: list[str], at: int
) -> tuple[tuple[tuple[str, Heredoc], ...], int]:
    if keyword not in _WITH_HEREDOC:
        return (), at
    found = []
    for strip, single, double, bare in _HEREDOC.findall(rest):
        delimiter = single or double or bare
        body: list[str] = []
        while True:
            if at >= len(lines):
                raise Fault("import:dockerfile", f"the here-document {delimiter} has no end")
            line = lines[at].lstrip("\t") if strip else lines[at]
            at += 1
            if line == delimiter:
                break
            body.append(f"{line}\n")
        found.append((delimiter, Heredoc(not bare, "".join(body))))
    return tuple(found), at


def _flags(keyword: str, rest: str) -> tuple[tuple[tuple[str, str], ...], str]:
    flags = []
    while keyword in _WITH_FLAGS and rest.startswith("--"):
        flag, _, rest = rest.partition(" ")
        name, _, value = flag[2:].partition("=")
        flags.append((name, value))
        rest = rest.lstrip()
    return tuple(flags), rest
