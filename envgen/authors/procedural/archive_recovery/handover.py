"""One hand-over: documents, what is wrong with them, and the archives that they lie in."""

import hashlib
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from envgen.authors.procedural.archive_recovery.archives import gzip_stored, pack
from envgen.authors.procedural.archive_recovery.rules import Rules


@dataclass(frozen=True)
class Document:
    """A document by its source path; `data` is None where the archives lack it."""

    source: str
    data: bytes | None
    listed: bytes | None
    """The content that the checksum list speaks of; None where it is not in the list."""
    ref: str = ""
    date: str = ""
    series: str = ""

    @property
    def verified(self) -> bool:
        return self.data is not None and self.data == self.listed

    @property
    def base(self) -> str:
        return self.source.rpartition("/")[2]


@dataclass(frozen=True)
class Handover:
    """All documents in the order of the checksum list (unlisted ones at the end)."""

    documents: tuple[Document, ...]
    archive: bytes
    listing: bytes
    catalogue: bytes


def draw(rng: random.Random, rules: Rules) -> Handover:
    """A hand-over that holds every kind of trouble at least once."""
    folders = _folders(rng, rules)
    documents = _documents(rng, rules, sorted(folders))
    rng.shuffle(documents)
    documents += _extras(rng, rules, sorted(folders))
    listing = _listing(rules, [d for d in documents if d.listed is not None])
    archive = _pack_all(rng, rules, folders, documents, listing)
    return Handover(tuple(documents), archive, listing, _catalogue(rng, rules, documents))


def _folders(rng: random.Random, rules: Rules) -> dict[str, str]:
    """Folder -> suffix of the archive that it comes from; empty for a plain folder."""
    scenario = rules.scenario
    tops = sorted(rng.sample(scenario.containers, 4 if rules.moderate else 3))
    suffixes = [*rules.inner_suffixes, "", rng.choice(rules.inner_suffixes)][: len(tops)]
    rng.shuffle(suffixes)
    folders: dict[str, str] = {}
    for top, suffix in zip(tops, suffixes, strict=True):
        folders[top] = suffix
        for inner in sorted(rng.sample(scenario.inner, rng.choice((1, 2)))):
            folders[f"{top}/{inner}"] = rng.choice(("", rng.choice(rules.inner_suffixes)))
    # At least one archive lies in an archive that lies in the outer one.
    nested = [f for f in folders if "/" in f and folders[f.split("/")[0]]]
    folders[rng.choice(nested)] = rules.inner_suffixes[0]
    return folders


def _documents(rng: random.Random, rules: Rules, folders: Sequence[str]) -> list[Document]:
    count = rng.randrange(26, 34) if rules.moderate else rng.randrange(14, 20)
    refs = rng.sample(range(1, 2000), count)
    numbers = rng.sample(range(1, 400), 2 * count + 8)
    documents = []
    for place, ref in enumerate(refs):
        folder = folders[place % len(folders)]
        source = f"{folder}/{_base(rng, rules, numbers.pop())}"
        documents.append(_one(rng, rules, source, f"{rules.scenario.prefix}-{ref:04d}"))
    # The first document of each folder is there: archivers make no archive of nothing.
    missing = rng.sample(range(len(folders), count), 2)
    others = [place for place in range(count) if place not in missing]
    troubled = rng.sample(others, 10 if rules.moderate else 6)
    corrupt, twins = troubled[:3], troubled[3:]
    for place in corrupt:
        documents[place] = _changed(rng, documents[place])
    for place in missing:
        documents[place] = _replaced(documents[place], data=None)
    for nth, place in enumerate(twins):
        copies = 2 if nth == 0 else 1
        for folder in _elsewhere(rng, folders, documents[place].source, copies):
            source = f"{folder}/{_base(rng, rules, numbers.pop())}"
            documents.append(_twin(rng, rules, documents[place], source, refs, numbers))
    return documents


def _elsewhere(rng: random.Random, folders: Sequence[str], source: str, count: int) -> list[str]:
    """Folders of another depth than the document's, so that every survivor rule has a say."""
    depth = source.count("/")
    others = [f for f in folders if f.count("/") + 1 != depth]
    return rng.sample(others, count)


def _base(rng: random.Random, rules: Rules, number: int) -> str:
    scan, ext = rules.scenario.scan, rules.scenario.ext
    style = rng.choice(
        ("{s}{n:04d}.{e}", "{s} {n}.{e}", "{s}_{n:03d} Final.{e}", "{S}-{n:04d}.{e}")
    )
    return style.format(s=scan, S=scan.upper(), n=number, e=ext)


def _one(rng: random.Random, rules: Rules, source: str, ref: str) -> Document:
    date = f"{rng.randrange(2015, 2022)}-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}"
    series = rng.choice(rules.scenario.series)
    data = _content(rng, rules, ref, date, series)
    return Document(source, data, data, ref, date, series)


def _content(rng: random.Random, rules: Rules, ref: str, date: str, series: str) -> bytes:
    scenario = rules.scenario
    lines = []
    if rules.naming == "header":
        values = (ref, styled(date, rules.date_style), series)
        head = [f"{label}: {v}" for label, v in zip(scenario.labels, values, strict=True)]
        rng.shuffle(head)
        lines = [*head, ""]
    lines.append(f"{rng.choice(scenario.subjects).capitalize()}, entry {rng.randrange(10**6):06d}.")
    for _ in range(rng.randrange(2, 7)):
        other = f"{scenario.prefix}-{rng.randrange(2000, 4000)}"
        lines.append(
            rng.choice(
                (
                    f"- {rng.choice(scenario.remarks)}; count {rng.randrange(10, 9999)}",
                    f"- compare {scenario.labels[0]}: {other}",
                    f"- {rng.choice(scenario.subjects)}, {rng.choice(scenario.remarks)}",
                )
            )
        )
    return ("\n".join(lines) + "\n").encode()


def styled(date: str, style: str) -> str:
    """An ISO date as the hand-over writes it."""
    year, month, day = date.split("-")
    return {
        "iso": date,
        "dots": f"{day}.{month}.{year}",
        "slashes": f"{day}/{month}/{year}",
        "compact": f"{year}{month}{day}",
    }[style]


def _changed(rng: random.Random, document: Document) -> Document:
    """The file in the archive differs from what was listed: cut short, or one letter off."""
    data = document.data or b""
    if rng.random() < 0.4:
        return _replaced(document, data=data[: len(data) - rng.randrange(4, 20)])
    place = len(data) - rng.randrange(6, 14)
    return _replaced(document, data=data[:place] + b"#" + data[place + 1 :])


def _replaced(document: Document, data: bytes | None) -> Document:
    d = document
    return Document(d.source, data, d.listed, d.ref, d.date, d.series)


def _twin(
    rng: random.Random,
    rules: Rules,
    document: Document,
    source: str,
    refs: Sequence[int],
    numbers: list[int],
) -> Document:
    """The same bytes under another name. A catalogue knows it under another reference."""
    ref, date, series = document.ref, document.date, document.series
    if rules.naming == "catalogue":
        free = next(n for n in range(rng.randrange(2000), 9999) if n not in refs)
        ref = f"{rules.scenario.prefix}-{free % 10000:04d}-{numbers.pop()}"
    return Document(source, document.data, document.listed, ref, date, series)


def _extras(rng: random.Random, rules: Rules, folders: Sequence[str]) -> list[Document]:
    names = rng.sample(("cover note.txt", "todo.txt", "desktop.ini", "old list.bak"), 2)
    tail = rng.randrange(1000)
    places = rng.sample(list(folders), 2)
    text = f"{rng.choice(rules.scenario.remarks)} {tail}\n"
    return [
        Document(f"{folder}/{name}", f"{name}: {text}".encode(), None)
        for folder, name in zip(places, names, strict=True)
    ]


def _listing(rules: Rules, documents: Sequence[Document]) -> bytes:
    rows = [
        (d.source, len(d.listed or b""), digest(rules.algo, d.listed or b"")) for d in documents
    ]
    write: dict[str, Callable[[str, int, str], str]] = {
        "gnu": lambda path, size, value: f"{value}  {path}",
        "bsd": lambda path, size, value: f"{rules.algo.upper()} ({path}) = {value}",
        "csv": lambda path, size, value: f"{path},{size},{value}",
    }
    lines = [write[rules.list_format](*row) for row in rows]
    if rules.list_format == "csv":
        lines.insert(0, f"path,bytes,{rules.algo}")
    return ("\n".join(lines) + "\n").encode()


def digest(algo: str, data: bytes) -> str:
    return hashlib.new(algo, data).hexdigest()


def _pack_all(
    rng: random.Random,
    rules: Rules,
    folders: dict[str, str],
    documents: Sequence[Document],
    listing: bytes,
) -> bytes:
    """The outer archive, built from the innermost folders outwards."""
    entries: dict[str, bytes] = {}
    for document in documents:
        if document.data is None:
            continue
        if rules.gzipped and document.listed is not None and rng.random() < 0.3:
            entries[document.source + ".gz"] = gzip_stored(document.data)
        else:
            entries[document.source] = document.data
    for folder in sorted(folders, key=lambda f: (-f.count("/"), f)):
        if folders[folder]:
            inside = {p: entries.pop(p) for p in sorted(entries) if p.startswith(folder + "/")}
            bare = {path[len(folder) + 1 :]: data for path, data in inside.items()}
            entries[folder + folders[folder]] = pack(folders[folder], bare)
    if rules.list_inside:
        entries[rules.listing] = listing
    return pack(rules.outer_suffix, entries)


def _catalogue(rng: random.Random, rules: Rules, documents: Sequence[Document]) -> bytes:
    """Old file names with what the office knows of each, in no order."""
    rows = []
    for d in documents:
        if d.listed is not None:
            date = styled(d.date, rules.date_style)
            values = {"file": d.base, "ref": d.ref, "date": date, "series": d.series}
            rows.append(rules.catalogue_sep.join(values[c] for c in rules.catalogue_columns))
    rng.shuffle(rows)
    head = rules.catalogue_sep.join(rules.catalogue_columns)
    return ("\n".join([head, *rows]) + "\n").encode()
