"""Shell text as its simple commands, so that an importer can find and replace some of them.

Not a shell: what it cannot tell apart stays inside one command, and text that nobody replaces
keeps its bytes.
"""

import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from envgen.errors import Fault

MOST = 1 << 19
KEYWORDS = frozenset({"if", "then", "else", "elif", "do", "while", "until", "!", "{", "time"})
_QUOTES = frozenset("'\"\\")
_HEREDOC = re.compile(r"<<(-?)[ \t]*(?:'([^'\n]+)'|\"([^\"\n]+)\"|\\?([A-Za-z0-9_.+-]+))")
_REDIRECT = re.compile(r"\d*(&>>?|>>?|<>?|>\||[<>]&)(.*)", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?:(:?[-+])([^{}]*))?\})")


@dataclass(frozen=True)
class Heredoc:
    """A here-document: its text as the shell sees it, tabs stripped where it says so."""

    quoted: bool
    text: str


@dataclass(frozen=True)
class Word:
    """A word of a command: where it stands, and what it is without its quotes."""

    start: int
    end: int
    value: str


@dataclass(frozen=True)
class Command:
    """A simple command. `words` are those that are neither redirections nor keywords."""

    start: int
    end: int
    words: tuple[Word, ...]
    after: str
    """The operator that follows it: `&&`, `|`, a newline, ..."""
    heredocs: tuple[Heredoc, ...]
    targets: tuple[tuple[str, str], ...]
    """Redirections: operator and target."""

    @property
    def values(self) -> tuple[str, ...]:
        """The words as text, without assignments, sudo and env before the program's name."""
        values = [word.value for word in self.words]
        while values and (re.match(r"\w+=", values[0]) or values[0] in ("sudo", "env")):
            del values[0]
        return tuple(values)


@lru_cache(maxsize=64)  # each text is looked at for several things
def commands(text: str) -> tuple[Command, ...]:
    """The simple commands of shell text, in order. Raises Fault for text that is too long."""
    if len(text) > MOST:
        raise Fault("import:size", f"shell text of {len(text)} characters, over {MOST}")
    return tuple(_Reader(text).read())


def replaced(text: str, changes: Iterable[tuple[int, int, str]]) -> str:
    """The text with other words at the given places."""
    for start, end, new in sorted(changes, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def expand(text: str, variables: Mapping[str, str]) -> str:
    """`$NAME`, `${NAME}`, `${NAME:-default}` and `${NAME:+other}`; an unknown name is empty."""

    def value(match: re.Match[str]) -> str:
        known = variables.get(match[1] or match[2])
        operator, other = match[3] or "", match[4] or ""
        there = bool(known) if operator.startswith(":") else known is not None
        if operator.endswith("-"):
            return known or "" if there else other
        if operator.endswith("+"):
            return other if there else ""
        return known or ""

    return _VARIABLE.sub(value, text)


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found: list[Command] = []
        self.waiting: list[tuple[bool, bool, str]] = []  # strip, quoted, delimiter
        self.since = 0  # first command whose heredocs are not read yet

    def read(self) -> list[Command]:
        start: int | None = None
        spans: list[tuple[int, int]] = []
        while self.at < len(self.text):
            here = self.at
            operator = self._operator()
            if operator:
                self._end(start, here, spans, operator)
                start, spans = None, []
                if operator == "\n":
                    self._bodies()
            elif self.text[here] in " \t\r":
                self.at += 1
            elif self.text.startswith("\\\n", here):
                self.at += 2
            elif self.text[here] == "#":
                self.at = self._line_end()
            else:
                self._word()
                start = here if start is None else start
                spans.append((here, self.at))
        self._end(start, len(self.text), spans, "")
        return self.found

    def _operator(self) -> str:
        for operator in ("&&", "||", ";;", "|&", "\n", ";", "|", "(", ")"):
            if self.text.startswith(operator, self.at):
                self.at += len(operator)
                return operator
        if self.text[self.at] == "&" and not self.text.startswith("&>", self.at):
            self.at += 1
            return "&"
        return ""

    def _word(self) -> None:
        """To the end of a word; quotes and substitutions are part of it."""
        text = self.text
        if (match := _HEREDOC.match(text, self.at)) and not text.startswith("<<<", self.at):
            delimiter = next(group for group in match.groups()[1:] if group)
            quoted = match[4] is None or "\\" in match[0]
            self.waiting.append((bool(match[1]), quoted, delimiter))
            self.at = match.end()
            return
        while self.at < len(text) and text[self.at] not in " \t\r\n;|()":
            joins = text[self.at - 1] in "<>" or text.startswith("&>", self.at)
            if text[self.at] == "&" and not joins:
                return
            self.at = self._past(self.at)

    def _past(self, at: int) -> int:
        text = self.text
        if text[at] == "\\":
            return min(at + 2, len(text))
        if text[at] == "'":
            return self._find("'", at + 1)
        if text[at] in '"`':
            return self._quoted(at)
        if text.startswith("$(", at) or text.startswith("${", at) or text.startswith("<(", at):
            return self._balanced(at + 1)
        return at + 1

    def _find(self, what: str, at: int) -> int:
        found = self.text.find(what, at)
        return len(self.text) if found < 0 else found + 1

    def _quoted(self, at: int) -> int:
        mark, at = self.text[at], at + 1
        while at < len(self.text) and self.text[at] != mark:
            at = self._past(at) if self.text[at] in "\\$" else at + 1
        return min(at + 1, len(self.text))

    def _balanced(self, at: int) -> int:
        opening, depth = self.text[at], 0
        closing = ")" if opening == "(" else "}"
        while at < len(self.text):
            if self.text[at] in "\\'\"`":
                at = self._past(at)
                continue
            depth += (self.text[at] == opening) - (self.text[at] == closing)
            at += 1
            if depth == 0:
                break
        return at

    def _line_end(self) -> int:
        found = self.text.find("\n", self.at)
        return len(self.text) if found < 0 else found

    def _bodies(self) -> None:
        """The here-documents that begin on this line."""
        bodies = []
        for strip, quoted, delimiter in self.waiting:
            lines: list[str] = []
            while self.at < len(self.text):
                end = self._line_end()
                line, self.at = self.text[self.at : end], end + 1
                line = line.lstrip("\t") if strip else line
                if line == delimiter:
                    break
                lines.append(f"{line}\n")
            bodies.append(Heredoc(quoted, "".join(lines)))
        self.at = min(self.at, len(self.text))
        if bodies and self.found:
            last = self.found[-1]
            self.found[-1] = Command(**{**vars(last), "heredocs": tuple(bodies)})
        self.waiting = []

    def _end(
        self, start: int | None, end: int, spans: list[tuple[int, int]], operator: str
    ) -> None:
        if start is None:
            return
        words: list[Word] = []
        targets: list[tuple[str, str]] = []
        pending = ""
        for first, last in spans:
            raw = self.text[first:last]
            if raw.startswith("<<") and not raw.startswith("<<<"):
                continue
            if pending:
                targets.append((pending, _plain(raw)))
                pending = ""
            elif match := _REDIRECT.fullmatch(raw):
                if match[2]:
                    targets.append((match[1], _plain(match[2])))
                else:
                    pending = match[1]
            elif words or raw not in KEYWORDS:
                words.append(Word(first, last, _plain(raw)))
        if words or targets:
            begin = words[0].start if words else start
            end = max(end - (len(self.text[begin:end]) - len(self.text[begin:end].rstrip())), begin)
            self.found.append(Command(begin, end, tuple(words), operator, (), tuple(targets)))


def _plain(raw: str) -> str:
    if not _QUOTES.intersection(raw):
        return raw
    try:
        parts = shlex.split(raw, comments=False)
    except ValueError:
        return raw
    return " ".join(parts) if parts else ""
