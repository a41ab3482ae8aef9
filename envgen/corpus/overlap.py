"""What the tasks of a corpus share with benchmarks: runs of n words that stand in both.

The measure is the field's (a window of n words, moved by one; 13 and 8 are usual), over
instruction, tests and solution, and over words that do not depend on case, accents or punctuation.
"""

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypedDict

from envgen.corpus import grams
from envgen.corpus.sources import PARTS, PLAIN, Texts
from envgen.corpus.words import words

SIZES = (13, 8)
BATCH = 4_000_000
"""Words that are looked up at once."""
SHOWN = 80
"""Words of a shared run that a finding quotes."""


class Overlap(NamedTuple):
    """What a part of a task shares with benchmarks."""

    task: str
    part: str
    n: int
    shared: int
    """Windows of n words that stand in a benchmark."""
    windows: int
    longest: int
    """Words in a row, all of whose windows are shared."""
    file: str
    """Where these words are."""
    words: str
    """The words, folded; at most SHOWN of them."""
    against: str
    """The benchmark's text that shares most windows."""

    @property
    def share(self) -> float:
        """Of the part's windows."""
        return self.shared / self.windows


class Index:
    """The windows of all texts of benchmarks.

    Args:
        sizes: words of a window.
    """

    def __init__(self, sizes: Sequence[int] = SIZES) -> None:
        self.sizes = tuple(sorted(set(sizes)))
        self.texts: list[str] = []
        self.numbers: dict[str, int] = {}
        """Of every word that benchmarks use."""
        self._windows: dict[int, list[Any]] = {n: [] for n in self.sizes}
        self._starts: dict[int, list[int]] = {n: [0] for n in self.sizes}

    def add(self, name: str, benchmark: Texts) -> None:
        """Take in a task or a text of the benchmark `name`."""
        for files in benchmark.parts.values():
            for file, text in files:
                found = words(text)
                for word in found:
                    if word not in self.numbers:
                        self.numbers[word] = grams.number(word)
                inside = benchmark.name if file == benchmark.name else f"{benchmark.name}/{file}"
                self.texts.append(f"{name}: {inside}")
                for n, windows in grams.runs(self.numbered(found), self.sizes):
                    self._windows[n].append(windows)
                    self._starts[n].append(self._starts[n][-1] + len(windows))

    def numbered(self, found: Iterable[str]) -> "array[int]":
        """Words as numbers; 0 for what no benchmark says."""
        get = self.numbers.get
        return array("Q", [get(word, 0) for word in found])

    def whole(self, n: int) -> Any:
        """All windows of n words as one Arrow array."""
        import pyarrow as pa

        if len(self._windows[n]) > 1:
            self._windows[n] = [pa.concat_arrays(self._windows[n])]
        return self._windows[n][0]

    def text_of(self, n: int, place: int) -> int:
        """Which text a window is of."""
        return bisect_right(self._starts[n], place) - 1


@dataclass
class _Part:
    """A part of a task while it is looked at."""

    task: str
    part: str
    files: list[tuple[str, list[str]]] = field(default_factory=list)


def overlaps(
    tasks: Iterable[Texts], index: Index, parts: Sequence[str] = PARTS
) -> Iterator[Overlap]:
    """What each part of each task shares with the indexed texts, where it shares anything."""
    if not index.texts:
        return
    batch: list[_Part] = []
    size = 0
    for task in tasks:
        for part in (*parts, PLAIN):
            found = _Part(task.name, part)
            for file, text in task.parts.get(part, ()):
                found.files.append((file, words(text)))
                size += len(found.files[-1][1]) + 1
            batch.append(found)
        if size > BATCH:
            yield from _searched(batch, index)
            batch, size = [], 0
    yield from _searched(batch, index)


class _Hit(NamedTuple):
    """A window that a benchmark has: its first word in the file, and which text it is of."""

    word: int
    text: int


def _searched(batch: list[_Part], index: Index) -> Iterator[Overlap]:
    """The overlaps of some parts, in their order."""
    files = [(part, name, found) for part in batch for name, found in part.files]
    numbers, starts = array("Q"), [0]
    for _, _, found in files:
        numbers += index.numbered(found)
        numbers.append(0)  # no window goes from one file into the next
        starts.append(len(numbers))
    hits: dict[int, dict[int, list[_Hit]]] = {}
    for n, windows in grams.runs(numbers, index.sizes):
        for place, where in _known(windows, index.whole(n)):
            file = bisect_right(starts, place) - 1
            hit = _Hit(place - starts[file], index.text_of(n, where))
            hits.setdefault(n, {}).setdefault(file, []).append(hit)
    file = 0
    for part in batch:
        own = range(file, file + len(part.files))
        file += len(part.files)
        for n in reversed(index.sizes):
            known = hits.get(n, {})
            if own_hits := {f - own.start: known[f] for f in own if f in known}:
                yield _overlap(part, n, own_hits, index)


def _known(windows: Any, whole: Any) -> Iterator[tuple[int, int]]:
    """(place in the windows, place in the index) of windows that the index has."""
    import pyarrow.compute as pc

    found = pc.index_in(windows, value_set=whole)
    places = pc.indices_nonzero(pc.is_valid(found))
    yield from zip(places.to_pylist(), found.take(places).to_pylist(), strict=True)


def _overlap(part: _Part, n: int, hits: dict[int, list[_Hit]], index: Index) -> Overlap:
    counted = Counter(hit.text for found in hits.values() for hit in found)
    most = max(counted, key=lambda text: (counted[text], -text))
    length, file, first = max(_runs(hits, n), key=lambda run: (run[0], -run[1], -run[2]))
    name, said = part.files[file]
    return Overlap(
        task=part.task,
        part=part.part,
        n=n,
        shared=counted.total(),
        windows=sum(max(0, len(found) - n + 1) for _, found in part.files),
        longest=length,
        file=name,
        words=" ".join(said[first : first + min(length, SHOWN)]),
        against=index.texts[most],
    )


def _runs(hits: dict[int, list[_Hit]], n: int) -> Iterator[tuple[int, int, int]]:
    """(words, file, first word) of all words in a row whose windows are all shared."""
    for file, found in hits.items():
        first = last = found[0].word
        for hit in found[1:]:
            if hit.word > last + 1:
                yield last - first + n, file, first
                first = hit.word
            last = hit.word
        yield last - first + n, file, first


class Summary(TypedDict):
    """How much of a corpus shares anything, for one part and size of windows."""

    part: str
    n: int
    tasks: int
    """Those that share at least one window."""
    share: float
    """Of all tasks."""
    most: float
    """Greatest share of a task's windows."""
    longest: int


def summary(
    found: Iterable[Overlap], tasks: int, sizes: Sequence[int], parts: Sequence[str] = PARTS
) -> list[Summary]:
    """A row for each part and size, the greatest size first; a plain text counts as `text`."""
    rows: dict[tuple[int, str], Summary] = {
        (n, part): Summary(part=part, n=n, tasks=0, share=0.0, most=0.0, longest=0)
        for n in sorted(sizes, reverse=True)
        for part in (*parts, PLAIN)
    }
    for one in found:
        row = rows[one.n, one.part]
        row["tasks"] += 1
        row["share"] = row["tasks"] / tasks
        row["most"] = max(row["most"], one.share)
        row["longest"] = max(row["longest"], one.longest)
    return [row for row in rows.values() if row["part"] != PLAIN or row["tasks"]]
