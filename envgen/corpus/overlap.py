"""What the tasks of a corpus share with benchmarks: runs of n words that stand in both.

The measure is the field's (a window of n words, moved by one; 13 and 8 are usual), over
instruction, tests and solution, and over words that do not depend on case, accents or punctuation.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypedDict

from envgen.corpus import grams
from envgen.corpus.sources import PARTS, Files, Texts
from envgen.corpus.words import words

SIZES = (13, 8)
BATCH = 8_000_000
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
        self._owners: dict[int, array[int]] = {n: array("I") for n in self.sizes}

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
                    self._owners[n] += array("I", [len(self.texts) - 1]) * len(windows)

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

    def owners(self, n: int) -> Any:
        """Which text each window of n words is of, as an Arrow array."""
        return grams.flat(self._owners[n])


@dataclass
class _Part:
    """A part of a task while it is looked at."""

    task: str
    part: str
    files: Files
    lengths: list[int] = field(default_factory=list)
    """Words of each file."""


def overlaps(
    tasks: Iterable[Texts], index: Index, parts: Sequence[str] = PARTS
) -> Iterator[Overlap]:
    """What each part of each task shares with the indexed texts, where it shares anything."""
    if not index.texts:
        return
    batch: list[_Part] = []
    numbers = array("Q")
    for task in tasks:
        for part in parts:
            found = _Part(task.name, part, task.parts.get(part, ()))
            for _, text in found.files:
                said = index.numbered(words(text))
                found.lengths.append(len(said))
                numbers += said
                numbers.append(0)  # no window goes from one file into the next
            batch.append(found)
        if len(numbers) > BATCH:
            yield from _searched(batch, numbers, index)
            batch, numbers = [], array("Q")
    yield from _searched(batch, numbers, index)


@dataclass
class _Hits:
    """What one file shares."""

    texts: Counter[int] = field(default_factory=Counter)
    """Windows by the benchmark's text that they are of."""
    longest: int = 0
    first: int = 0
    """Where the longest run begins: the number of the word in the batch."""


def _searched(batch: list[_Part], numbers: "array[int]", index: Index) -> Iterator[Overlap]:
    """The overlaps of some parts, in their order."""
    owners, starts = array("I"), [0]
    for number, length in enumerate(n for part in batch for n in part.lengths):
        owners += array("I", [number]) * (length + 1)
        starts.append(starts[-1] + length + 1)
    hits = {n: _hits(w, grams.flat(owners), index, n) for n, w in grams.runs(numbers, index.sizes)}
    file = 0
    for part in batch:
        own = range(file, file + len(part.files))
        file += len(part.files)
        for n in reversed(index.sizes):
            if found := {f: hits[n][f] for f in own if f in hits[n]}:
                which = min(found, key=lambda f: (-found[f].longest, f))
                yield _overlap(part, n, found, which - own.start, starts[which], index)


def _hits(windows: Any, owners: Any, index: Index, n: int) -> dict[int, _Hits]:
    """What each file of a batch shares, by its number.

    Args:
        windows: of n words, of the whole batch.
        owners: which file each word is of.
        index: what is looked for.
        n: words of a window.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    found: dict[int, _Hits] = {}
    where = pc.index_in(windows, value_set=index.whole(n))
    places = pc.indices_nonzero(pc.is_valid(where))
    if not len(places):
        return found
    files, texts = owners.take(places), index.owners(n).take(where.take(places))
    table = pa.table({"file": files, "text": texts}).group_by(["file", "text"], use_threads=False)
    for row in table.aggregate([([], "count_all")]).to_pylist():
        found.setdefault(row["file"], _Hits()).texts[row["text"]] = row["count_all"]
    steps = pc.subtract(places.slice(1), places.slice(0, len(places) - 1))
    last = [*pc.indices_nonzero(pc.not_equal(steps, 1)).to_pylist(), len(places) - 1]
    first = [0, *(end + 1 for end in last[:-1])]
    columns = (places.take(first), places.take(last), files.take(first))
    for begin, end, file in zip(*(column.to_pylist() for column in columns), strict=True):
        if end - begin + n > found[file].longest:
            found[file].longest, found[file].first = end - begin + n, begin
    return found


def _overlap(
    part: _Part, n: int, hits: dict[int, _Hits], file: int, start: int, index: Index
) -> Overlap:
    """What a part shares; `file` has its longest run, and begins at the batch's word `start`."""
    counted = sum((found.texts for found in hits.values()), Counter[int]())
    most = min(counted, key=lambda text: (-counted[text], text))
    best = hits[min(hits, key=lambda f: (-hits[f].longest, f))]
    name, text = part.files[file]
    said = words(text)[best.first - start :]
    return Overlap(
        task=part.task,
        part=part.part,
        n=n,
        shared=counted.total(),
        windows=sum(max(0, length - n + 1) for length in part.lengths),
        longest=best.longest,
        file=name,
        words=" ".join(said[: min(best.longest, SHOWN)]),
        against=index.texts[most],
    )


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
    """A row for each part and size, the greatest size first."""
    rows: dict[tuple[int, str], Summary] = {
        (n, part): Summary(part=part, n=n, tasks=0, share=0.0, most=0.0, longest=0)
        for n in sorted(sizes, reverse=True)
        for part in parts
    }
    for one in found:
        row = rows[one.n, one.part]
        row["tasks"] += 1
        row["share"] = row["tasks"] / tasks
        row["most"] = max(row["most"], one.share)
        row["longest"] = max(row["longest"], one.longest)
    return list(rows.values())
