"""Tasks of a corpus that nearly repeat an earlier one.

Texts are sets of runs of five words; MinHash with banding (Broder 1997; Leskovec, Rajaraman and
Ullman, chapter 3) finds candidates, and what is reported was compared word for word. A task that
repeats one that stays is not compared with later ones, so every task named here is alike one that
stays, no two that stay are alike, and there are never more pairs than tasks.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from envgen.corpus.sources import Texts
from envgen.corpus.words import words
from envgen.errors import Misconfigured

RUN = 5
"""Words of a shingle."""
THRESHOLD = 0.8
LEAST = 0.5
"""Below, banding would miss pairs, and texts of one kind would all be alike."""
_SLOTS, _SEED = 128, 1
_MISS = 0.001
"""Chance that a pair just at the threshold is no candidate."""
_SLACK = 0.15
"""Over four standard deviations of an estimate from 128 slots."""


class Pair(NamedTuple):
    """A task and the earlier one that it nearly repeats."""

    task: str
    of: str
    alike: float
    """Jaccard's index of their runs of five words; 1 = the same words."""


@dataclass(frozen=True)
class Duplicates:
    """What is alike in a corpus."""

    tasks: int
    """Those with any words."""
    pairs: tuple[Pair, ...]
    """The most alike first."""

    @property
    def rate(self) -> float:
        """Share of the tasks that repeat one that stays."""
        return len(self.pairs) / self.tasks if self.tasks else 0.0


def duplicates(
    tasks: Iterable[Texts], threshold: float = THRESHOLD, part: str = "instruction"
) -> Duplicates:
    """Tasks that are at least so much alike an earlier one that stays.

    Args:
        tasks: in the order in which the first one stays.
        threshold: Jaccard's index from which two are alike.
        part: `instruction`, `tests`, `solution`, or `all` of them.

    Raises:
        Misconfigured: a threshold that banding cannot serve.
    """
    from rensa import RMinHash, RMinHashLSH

    if not LEAST <= threshold <= 1:
        raise Misconfigured(f"--threshold {threshold:g}: a number from {LEAST:g} to 1")
    index = RMinHashLSH(threshold, _SLOTS, bands(threshold))
    kept: list[tuple[str, str, Any]] = []
    pairs: list[Pair] = []
    count = 0
    for task in tasks:
        said = _said(task, part)
        if not said:
            continue
        count += 1
        own = shingles(said)
        sketch = RMinHash(_SLOTS, _SEED)
        sketch.update(own)
        best = ("", 0.0)
        for number in sorted(index.query(sketch)):
            name, text, other = kept[number]
            if sketch.jaccard(other) < threshold - _SLACK:
                continue
            alike = jaccard(own, shingles(text))
            if alike >= threshold and alike > best[1]:
                best = (name, alike)
        if best[1]:
            pairs.append(Pair(task.name, *best))
        else:
            index.insert(len(kept), sketch)
            kept.append((task.name, said, sketch))
    return Duplicates(count, tuple(sorted(pairs, key=lambda pair: -pair.alike)))


def bands(threshold: float) -> int:
    """Bands of the slots: as few as find a pair at the threshold but for a chance of `_MISS`."""
    for rows in range(_SLOTS, 1, -1):
        count = _SLOTS // rows
        if (1 - threshold**rows) ** count <= _MISS and _SLOTS % count == 0:
            return count
    return _SLOTS


def shingles(said: str) -> set[str]:
    """The runs of five words; of a shorter text, the whole."""
    found = said.split(" ")
    return {" ".join(found[i : i + RUN]) for i in range(max(1, len(found) - RUN + 1))}


def jaccard(first: set[str], second: set[str]) -> float:
    """Jaccard's index of two sets."""
    both = len(first & second)
    return both / (len(first) + len(second) - both)


def _said(task: Texts, part: str) -> str:
    return " ".join(word for text in _texts(task, part) for word in words(text))


def _texts(task: Texts, part: str) -> Iterator[str]:
    for name, files in task.parts.items():
        if part in ("all", name):
            yield from (text for _, text in files)
