"""What stands in the documents as code: fenced blocks, and commands inside of a line."""

import re
import shlex
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))

_FENCE = re.compile(
    r"^(?P<indent> *)(?:<!-- needs: (?P<needs>[^\n]+) -->\n *)?"
    r"```(?P<kind>\w*)\n(?P<text>.*?)^ *```$",
    re.MULTILINE | re.DOTALL,
)
_INLINE = re.compile(r"`(envgen [^`]+)`")


class Block(NamedTuple):
    """A fenced block of a page."""

    page: str
    line: int
    kind: str
    """What follows the fence: `sh`, `yaml`, `python`, `text`."""
    needs: str
    """What it takes that tests do not have; then it is not run."""
    text: str


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, from the top."""
    text = page.read_text()
    return [
        Block(
            page=page.relative_to(ROOT).as_posix(),
            line=text.count("\n", 0, found.start()) + 1,
            kind=found["kind"],
            needs=found["needs"] or "",
            text=re.sub(rf"^{found['indent']}", "", found["text"], flags=re.MULTILINE),
        )
        for found in _FENCE.finditer(text)
    ]


def commands(page: Path) -> list[list[str]]:
    """Every call of envgen on a page, as words: in blocks and inside of lines."""
    lines = [
        line
        for block in blocks(page)
        if block.kind == "sh"
        for line in block.text.replace("\\\n", " ").splitlines()
    ]
    outside = _FENCE.sub("", page.read_text())
    lines += [" ".join(found.split()) for found in _INLINE.findall(outside)]
    calls = [re.search(r"(?:^|bin/)(envgen .*)", line.split(" #")[0]) for line in lines]
    return [shlex.split(call[1].removesuffix(" ...")) for call in calls if call]
