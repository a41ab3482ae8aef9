"""What a critic is shown of a task: instruction, environment and tests, quoted line by line.

Everything here was written by others. No line of it can close the quotation, for each carries a
mark; what cannot be printed is replaced; what is long is cut in the middle.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from envgen import dockerfile
from envgen.authors.llm.ask import quoted
from envgen.authors.llm.blocks import nonce_of
from envgen.files import FileTree
from envgen.records import Place, TaskDraft

INSTRUCTION = "instruction.md"
MOST_LISTED = 40


class Room(NamedTuple):
    """Characters of each kind of file that a profile has room for."""

    instruction: int
    tests: int
    """Of one file of the tests."""
    files: int
    """Of one file of the environment."""
    all_tests: int
    all_files: int


ROOMS = {
    "full": Room(12_000, 12_000, 4000, 30_000, 24_000),
    "small": Room(1800, 1800, 250, 2200, 700),
}


@dataclass(frozen=True)
class Sight:
    """A task as a critic sees it.

    Attributes:
        nonce: belongs to this task and this question.
        files: name and quoted text of what is shown.
        listing: one line for each file of the environment.
        whole: the uncut text of every text file, by the same names.
    """

    nonce: str
    files: tuple[tuple[str, str], ...]
    listing: tuple[str, ...]
    whole: dict[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """Files that can be cited."""
        return tuple(name for name, _ in self.files)

    def place(self, file: str, quote: str) -> Place | None:
        """Where a citation stands; None when it does not. Spaces and line marks do not count."""
        wanted = _plain(quote)
        lines = self.whole.get(file, "").splitlines()
        if len(wanted) < 4 or wanted not in _plain("\n".join(lines)):
            return None
        first = next((_plain(line) for line in quote.splitlines() if _plain(line)), wanted)
        found = (n for n, line in enumerate(lines, start=1) if first in _plain(line))
        return Place(file=file, line=next(found, 0))


def sight_of(draft: TaskDraft, profile: str, wording: str) -> Sight:
    """What a critic of this profile is shown of a draft."""
    room = ROOMS[profile]
    environment = {"environment/Dockerfile": dockerfile.task_lines(draft)}
    environment |= {f"environment/{p}": t for p, t in _texts(draft.environment.files)}
    tests = {f"tests/{p}": t for p, t in _texts(draft.tests)}
    files = [
        (INSTRUCTION, quoted(draft.instruction, room.instruction)),
        *_fitting(environment.items(), room.files, room.all_files),
        *_fitting(_verdict_first(tests), room.tests, room.all_tests),
    ]
    listed = [f"{len(f.data):8} /{path}" for path, f in draft.environment.files.items()]
    if len(listed) > MOST_LISTED:
        listed[MOST_LISTED:] = [f"and {len(listed) - MOST_LISTED} more"]
    return Sight(
        nonce=nonce_of("critic", profile, wording, draft.digest),
        files=tuple(files),
        listing=tuple(quoted(line) for line in listed),
        whole={INSTRUCTION: draft.instruction, **environment, **tests},
    )


def _texts(files: FileTree) -> Iterable[tuple[str, str]]:
    for path, file in files.items():
        try:
            text = file.data.decode()
        except UnicodeDecodeError:
            continue
        if "\0" not in text and path.isprintable():
            yield path, text


def _verdict_first(tests: dict[str, str]) -> list[tuple[str, str]]:
    """What makes the verdict before what it knows."""
    order = ("tests/check.py", "tests/test.sh")
    return sorted(
        tests.items(),
        key=lambda item: (item[0] not in order, not item[0].endswith((".py", ".sh")), item[0]),
    )


def _fitting(files: Iterable[tuple[str, str]], each: int, most: int) -> list[tuple[str, str]]:
    """Quoted files, the first ones first, as far as there is room."""
    found, left = [], most
    for name, text in files:
        if left <= 0:
            break
        shown = quoted(text, min(each, left))
        found.append((name, shown))
        left -= len(shown)
    return found


def _plain(text: str) -> str:
    """Without line marks, and with single spaces; signs as they are shown."""
    lines = (line.strip().removeprefix("|").strip() for line in text.splitlines())
    joined = " ".join(" ".join(line.split()) for line in lines if line)
    return "".join(c if c.isprintable() else "?" for c in joined)
