"""What the lane asks of a provider: make a job, find it again, look at it, cancel it, read it."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from envgen.ledger.batches import Line
from envgen.llm.trouble import Seen, kind_of
from envgen.llm.wire import answered
from envgen.records import Completion

FIRST_LOOK, MOST_BETWEEN = 15.0, 300.0
"""Seconds to the first look at a job, and the most between two."""
KEPT = (400, 403, 404, 405, 409)
"""What a file that cannot be deleted, or is gone, is answered with."""


class Result(NamedTuple):
    """One line that a job brought: an answer, or what was seen in its place."""

    id: str
    completion: Completion | None = None
    seen: Seen | None = None


State = Literal["running", "ended", "full", "gone"]
"""How a job stands. `ended`: in whatever way; what was answered can be read. `full`: refused as a
whole, since too much waits already. `gone`: the provider knows no such job any more."""


class Jobs(Protocol):
    """A provider's batch endpoints. Methods raise `Trouble`, or Misconfigured for what never works.

    Attributes:
        most_lines: lines that one job may have.
        most_bytes: bytes that one job may have.
    """

    most_lines: int
    most_bytes: int

    def size(self, line: Line) -> int:
        """Bytes of a line."""
        ...

    async def create(self, name: str, lines: Sequence[Line]) -> str:
        """Upload the lines as one job under a name of ours; returns the provider's name for it."""
        ...

    async def find(self, name: str) -> str | None:
        """The job under a name of ours, if one was made and did not fail."""
        ...

    async def look(self, job: str) -> State:
        """How it stands."""
        ...

    async def cancel(self, job: str) -> None:
        """Ask for its end; nothing where it ended already."""
        ...

    async def results(self, job: str) -> list[Result]:
        """The results of an ended job, in any order, possibly twice or not at all."""
        ...

    async def tidy(self, job: str) -> None:
        """Delete the files of an ended job whose results are kept; nothing where they are gone."""
        ...


def distinct(lines: Sequence[Line]) -> Sequence[Line]:
    """The lines; an id that stands twice is refused, for it hangs some servers."""
    counts = Counter(line.id for line in lines)
    if twice := sorted(id for id, count in counts.items() if count > 1):
        raise ValueError(f"{len(twice)} requests stand twice in one batch, the first: {twice[0]}")
    return lines


def parsed(data: bytes) -> Iterator[Mapping[str, Any]]:
    """The objects of a file of lines; a line that is none is passed over."""
    for line in data.split(b"\n"):  # not splitlines: strings may hold other line ends
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value


def failed(id: str, seen: Seen, model: str) -> Result:
    """The result of a line with an error: a fault of the question alone is an answer."""
    if kind_of(seen) in ("truncated", "blocked", "refused"):
        return Result(id, answered(seen, model))
    return Result(id, None, seen)


def growing() -> Iterator[float]:
    """Waits in seconds, each half as long again as the one before."""
    wait = FIRST_LOOK
    while True:
        yield wait
        wait = min(wait * 1.5, MOST_BETWEEN)
