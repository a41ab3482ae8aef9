"""What the tasks of a corpus say, part by part, in whatever form they lie there.

Read are manifests, runs, published data sets and task folders (Harbor, TMax, Endless Terminals),
which need not be importable; of benchmarks also text files and the strings of JSON. Everything else
is refused. Everything is hostile: no link is followed, no file over MOST is read, and what was left
out is named.
"""

import codecs
import json
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from envgen.authors.imports import folder, harbor, tmax
from envgen.errors import Fault, Misconfigured
from envgen.export import parquet
from envgen.files import MAX_DEPTH, FileTree
from envgen.lint import RESERVED_TESTS

PARTS = ("instruction", "tests", "solution")
ABOUT = "about"
PLAIN = "text"
"""The part of a text file that is no task's."""
MOST = 16 << 20
"""Bytes of a file that is read."""
_KIT = "verifiers/run.py"
_JSON, _LINES = ".json", (".jsonl", ".ndjson")
MEANT = (
    "name a manifest, a run's folder, a published data set, or a folder of Harbor, TMax or Endless "
    "Terminals tasks"
)
_DESCRIPTIONS = ("description", "task_description", "instruction")

Files = Sequence[tuple[str, str]]
"""Texts by the file that they are in."""


@dataclass(frozen=True)
class Texts:
    """What a task says: texts by part, or a text file that is no task's (part `text`)."""

    name: str
    parts: Mapping[str, Files]


@dataclass
class Source:
    """Where the tasks of a corpus lie.

    Args:
        place: a Parquet file, a run's folder, a published data set or a folder of tasks.
        plain: it may also be a text file, or a folder of them: a benchmark need not have tasks.
        left_out: what could not be read, with the reason; filled in while texts are read.
    """

    place: Path
    plain: bool = False
    left_out: list[str] = field(default_factory=list)

    def texts(self, about: tuple[str, ...] = ()) -> Iterator[Texts]:
        """Every task, in order.

        Args:
            about: more files in the top of a task's folder that are read, as part `about`.

        Raises:
            Misconfigured: there is none to be read.
        """
        path = table(self.place)
        found = self._rows(path) if path else self._folders(about)
        none = True
        for texts in found:
            none = False
            yield texts
        if none:
            raise Misconfigured(self._nothing())

    def _rows(self, path: Path) -> Iterator[Texts]:
        for row in parquet.read(path, ["task", "instruction", "archive", "archive_sha256"]):
            yield of_tree(row["task"], row["instruction"] or "", parquet.tree_of(row))

    def _nothing(self) -> str:
        if not self.plain and self.place.is_file():
            return f"{self.place} is a file, but no manifest: {MEANT}"
        what, also = ("task and no text", "; or text") if self.plain else ("task", "")
        left = (
            f" ({len(self.left_out)} left out, first {self.left_out[0]})" if self.left_out else ""
        )
        return f"there is no {what} in {self.place}{left}: {MEANT}{also}"

    def _folders(self, about: tuple[str, ...]) -> Iterator[Texts]:
        if not self.place.is_dir():
            if self.plain:
                yield from self._texts(self.place.name, self.place.resolve())
            return
        for marker in (harbor.MARKER, tmax.MARKER):
            none = True
            for name, path in folder.tasks(self.place, marker):
                none = False
                if path.is_symlink():
                    self._leave_out(path, "it is a link")
                    continue
                task = self._task(folder.printable(name), path, marker, about)
                if task.parts.keys() <= {ABOUT}:
                    self._leave_out(path, "it has no instruction, no test and no solution")
                else:
                    yield task
            if not none:
                return
        for path in self._walk(self.place) if self.plain else ():
            yield from self._texts(path.relative_to(self.place).as_posix(), path)

    def _task(self, name: str, path: Path, marker: str, about: tuple[str, ...]) -> Texts:
        parts: dict[str, list[tuple[str, str]]] = {part: [] for part in (*PARTS, ABOUT)}
        own_kit = (path / "tests" / _KIT).is_file()
        left = folder.MOST_BYTES
        for file in self._walk(path):
            inside = file.relative_to(path).parts
            part = ABOUT if inside[0] in about else _part(inside, marker)
            if part is None or (own_kit and inside[0] == "tests" and inside[1] in RESERVED_TESTS):
                continue
            text = self._text(file, left)
            left -= len(text)
            if inside == (tmax.MARKER,):
                for which, said in _told(text):
                    parts[which].append((inside[0], said))
            elif text:
                parts[part].append((folder.printable("/".join(inside)), text))
        return Texts(name, {part: files for part, files in parts.items() if files})

    def _texts(self, name: str, path: Path) -> Iterator[Texts]:
        """What a file that is no task's says; nothing where it says nothing."""
        name, text = folder.printable(name), self._text(path)
        files: Files = [(name, text)]
        if path.suffix == _JSON:
            files = [(name, said) for said in self._strings(path, text)]
        elif path.suffix in _LINES:
            lines = enumerate(text.split("\n"), 1)
            files = [
                (str(n), said)
                for n, line in lines
                if line.strip()
                for said in self._strings(path, line, f"line {n}: ")
            ]
        if any(said for _, said in files):
            yield Texts(name, {PLAIN: files})

    def _strings(self, path: Path, text: str, where: str = "") -> Iterator[str]:
        """The strings of a JSON value, keys aside, in order."""
        try:
            left = [json.loads(text.removeprefix("\ufeff"))] if text else []
        except (ValueError, RecursionError) as error:
            self._leave_out(path, f"{where}not readable as JSON ({error})")
            return
        while left:
            value = left.pop()
            if isinstance(value, str):
                yield value.encode(errors="replace").decode()
            elif isinstance(value, dict | list):
                inside = value.values() if isinstance(value, dict) else value
                left.extend(reversed(inside))

    def _text(self, path: Path, most: int = MOST) -> str:
        """The text of a file; empty where it is binary, or left out."""
        try:
            return decoded(folder.read(path, min(most, MOST)).data)
        except Fault as fault:
            self._leave_out(path, fault.detail)
            return ""

    def _leave_out(self, path: Path, reason: str) -> None:
        self.left_out.append(f"{folder.printable(str(path))}: {folder.printable(reason)}")

    def _walk(self, top: Path) -> Iterator[Path]:
        """Regular files below a folder, in order; links are not followed."""
        for where, folders, names in os.walk(top, followlinks=False):
            if len(Path(where).parts) - len(top.parts) >= MAX_DEPTH and folders:
                self._leave_out(Path(where), f"what is over {MAX_DEPTH} levels deep")
                folders.clear()
            folders.sort()
            for name in sorted([*folders, *names]):
                path = Path(where, name)
                if path.is_symlink():
                    self._leave_out(path, "it is a link")
                elif path.is_file():
                    yield path


def table(place: Path) -> Path | None:
    """What `parquet.read` takes of a corpus; None where it is made of other files.

    Raises:
        Misconfigured: there is neither a file nor a folder.
    """
    try:
        mode = place.stat().st_mode
        manifest = (place / "manifest.parquet").is_file()
    except OSError as error:
        raise Misconfigured(f"{place}: {error.strerror}: {MEANT}") from None
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise Misconfigured(f"{place} is neither a file nor a folder: {MEANT}")
    if manifest:
        return place / "manifest.parquet"
    whole = place.suffix == ".parquet" or parquet.parts(place) != [place]
    return place if whole else None


def of_tree(name: str, instruction: str, tree: FileTree) -> Texts:
    """What a task says, of its folder's files."""
    tests = tree.below("tests")
    given = [p for p in tests if _KIT not in tests or p.split("/")[0] not in RESERVED_TESTS]
    return Texts(
        name,
        {
            "instruction": [("instruction.md", instruction)],
            "tests": _decoded("tests", FileTree({p: tests[p] for p in given})),
            "solution": _decoded("solution", tree.below("solution")),
        },
    )


def decoded(data: bytes) -> str:
    """Bytes as text, UTF-8 or marked as UTF-16; nothing where they are binary."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", errors="replace")
    try:
        return data.decode()
    except UnicodeDecodeError:
        return "" if b"\0" in data else data.decode(errors="replace")


def _decoded(part: str, tree: FileTree) -> list[tuple[str, str]]:
    texts = [(f"{part}/{path}", decoded(file.data)) for path, file in tree.items()]
    return [(path, text) for path, text in texts if text]


def _part(inside: tuple[str, ...], marker: str) -> str | None:
    """Which part of a task a file belongs to."""
    if inside[0] == "steps" and len(inside) > 2:
        inside = inside[2:]
    if inside == ("instruction.md",):
        return "instruction"
    if len(inside) > 1:
        return inside[0] if inside[0] in PARTS else None
    if marker == tmax.MARKER:
        if inside[0].startswith("test_"):
            return "tests"
        return "instruction" if inside[0] == tmax.MARKER else None
    return None


def _told(text: str) -> Iterator[tuple[str, str]]:
    """Instruction and truth in a task.json; its whole text where it is no JSON."""
    try:
        facts = json.loads(text)
    except (ValueError, RecursionError):
        facts = None
    if not isinstance(facts, dict):
        yield "instruction", text
        return
    for key in (*_DESCRIPTIONS, "truth", "solution"):
        if isinstance(said := facts.get(key), str) and said:
            part = {"truth": "tests", "solution": "solution"}.get(key, "instruction")
            yield part, said.encode(errors="replace").decode()
