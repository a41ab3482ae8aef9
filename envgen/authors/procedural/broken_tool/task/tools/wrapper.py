"""Fills paragraphs of plain text to a fixed width."""

import sys
from typing import List

WIDTH = 60
BULLET = "- "
QUOTE = "> "


def pieces(word: str, room: int) -> List[str]:
    """A word cut into parts that fit; most words fit as they are."""
    out = []
    while len(word) > room:
        out.append(word[:room])
        word = word[room:]
    out.append(word)
    return out


def fill(words: List[str], first: str, other: str) -> List[str]:
    """Lines of at most WIDTH characters; `first` and `other` are the prefixes of lines."""
    out: List[str] = []
    line, empty = first, True
    for word in words:
        for part in pieces(word, WIDTH - len(first)):
            needed = len(part) if empty else len(part) + 1
            if len(line) + needed <= WIDTH:
                line += part if empty else " " + part
            else:
                out.append(line)
                line = other + part
            empty = False
    out.append(line)
    return out


class Filler:
    """Collects the words of a paragraph until something ends it."""

    def __init__(self) -> None:
        self.out: List[str] = []
        self.words: List[str] = []
        self.kind = ""
        self.gap = False

    def flush(self) -> None:
        """Write the paragraph that is open, if any."""
        if self.words:
            if self.kind == BULLET:
                self.write(fill(self.words, BULLET, " " * len(BULLET)))
            else:
                self.write(fill(self.words, self.kind, self.kind))
        self.words = []
        self.kind = ""

    def write(self, lines: List[str]) -> None:
        if self.gap and self.out:
            self.out.append("")
        self.gap = False
        self.out += lines

    def feed(self, line: str) -> None:
        if not line.strip():
            self.flush()
            self.gap = True
        elif line.startswith("    "):
            self.flush()
            self.write([line.rstrip()])
        elif line.startswith(BULLET):
            self.flush()
            self.kind = BULLET
            self.words = line[len(BULLET) :].split()
        elif line.startswith(QUOTE):
            if self.kind != QUOTE:
                self.flush()
            self.kind = QUOTE
            self.words += line[len(QUOTE) :].split()
        else:
            if self.kind == QUOTE:
                self.flush()
            self.words += line.split()


def run(text: str) -> str:
    filler = Filler()
    for line in text.split("\n"):
        filler.feed(line)
    filler.flush()
    return "".join(line + "\n" for line in filler.out)


if __name__ == "__main__":
    sys.stdout.write(run(sys.stdin.read()))
