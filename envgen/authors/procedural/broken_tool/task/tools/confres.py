"""Merges layered settings and resolves the references between them."""

import re
import sys
from typing import Dict, List, Optional, Tuple

REMOVED = "!"
COMMENT = "#"
NAME = re.compile(r"[A-Za-z0-9_.]+")


class Trouble(Exception):
    """Why a setting has no value."""


def unquote(text: str) -> str:
    """The inside of a quoted value: a backslash makes the next character plain."""
    out = ""
    place = 1
    while place < len(text) and text[place] != '"':
        if text[place] == "\\" and place + 1 < len(text):
            place += 1
        out += text[place]
        place += 1
    return out


def value_of(text: str) -> str:
    if text.strip().startswith('"'):
        return unquote(text.strip())
    at = text.find(" " + COMMENT)
    if at >= 0:
        text = text[:at]
    return text.strip()


class Settings:
    """The merged layers; a layer overrides those before it."""

    def __init__(self) -> None:
        self.raw: Dict[str, str] = {}
        self.origin: Dict[str, str] = {}
        self.layer = "base"
        self.rejected = 0

    def feed(self, line: str) -> None:
        line = line.strip()
        if not line or line.startswith(COMMENT):
            return
        if line.startswith("[") and line.endswith("]"):
            self.layer = line[1:-1].strip()
            return
        if line.endswith(REMOVED) and NAME.fullmatch(line[:-1].strip()):
            self.raw.pop(line[:-1].strip(), None)
            return
        key, mark, text = line.partition("=")
        key = key.strip()
        if not mark or not NAME.fullmatch(key):
            self.rejected += 1
            return
        self.raw[key] = value_of(text)
        self.origin[key] = self.layer

    def resolve(self, key: str, path: Tuple[str, ...] = ()) -> str:
        """The value of a key with all references replaced."""
        if key in path:
            raise Trouble("cycle")
        if key not in self.raw:
            raise Trouble(f"missing {key}")
        return self.expand(self.raw[key], (*path, key))

    def expand(self, text: str, path: Tuple[str, ...]) -> str:
        out = ""
        place = 0
        while place < len(text):
            end = text.find("}", place)
            if text.startswith("$$", place):
                out += "$"
                place += 2
            elif text.startswith("${", place) and end > 0:
                name, bar, default = text[place + 2 : end].partition("|")
                out += self.reference(name, default if bar else None, path)
                place = end + 1
            else:
                out += text[place]
                place += 1
        return out

    def reference(self, name: str, default: Optional[str], path: Tuple[str, ...]) -> str:
        if default is not None and name not in self.raw:
            return default
        return self.resolve(name, path)

    def lines(self) -> List[str]:
        out = []
        for key in sorted(self.raw):
            try:
                out.append(f"{key} = {self.resolve(key)} ({self.origin[key]})")
            except Trouble as trouble:
                out.append(f"{key} ? {trouble}")
        if self.rejected:
            out.append(f"rejected {self.rejected}")
        return out


def run(text: str) -> str:
    settings = Settings()
    for line in text.split("\n"):
        settings.feed(line)
    return "".join(line + "\n" for line in settings.lines())


if __name__ == "__main__":
    sys.stdout.write(run(sys.stdin.read()))
