"""Overlap with a benchmark and near-duplicates over 15,000 tasks, from a file on disk.

Tasks are made of what the families really write: tasks of all of them, and of each many copies in
which 40 words and all its numbers are others, so that they share about as much as tasks of one
family do. The benchmark is 250 more.
"""

import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from envgen import config, runs
from envgen.authors import procedural
from envgen.authors.procedural.family import Composition
from envgen.digest import digest_bytes
from envgen.export import parquet, schema
from envgen.files import FileTree

Figure = tuple[str, float, str]
TASKS, COMPOSED, BENCHMARK = 15_000, 250, 250
_WORD = re.compile(r"[a-z]{5,}")


def corpora() -> list[Figure]:
    """(name, value, unit) of both commands, each in a process of its own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder / "tasks.parquet", TASKS, seed=1, count=COMPOSED)
        write(folder / "benchmark.parquet", BENCHMARK, seed=2, count=BENCHMARK)
        return measured(folder)


def measured(folder: Path) -> list[Figure]:
    """Figures of both commands on what `write` left in a folder."""
    figures: list[Figure] = []
    tasks, benchmark = str(folder / "tasks.parquet"), str(folder / "benchmark.parquet")
    for words in (["overlap", "--against", benchmark], ["duplicates"]):
        wall, cpu, peak = _used(*words, "--from", tasks, "--json")
        figures += [
            (f"envgen {words[0]}, {TASKS} tasks, wall clock", wall, "s"),
            (f"envgen {words[0]}, {TASKS} tasks, CPU", cpu, "s"),
            (f"envgen {words[0]}, peak RSS of all so far", peak, "MB"),
        ]
    return figures


def write(path: Path, total: int, seed: int, count: int) -> None:
    """A manifest of `total` tasks, made of `count` that were composed; only what is read of it."""
    composed = list(_composed(seed, count))
    empty = dict.fromkeys(schema.manifest().names)
    rows = (empty | _row(*composed[n % count], n) for n in range(total))
    parquet.write_manifest(path, rows)


def _composed(seed: int, count: int) -> Iterator[tuple[str, Composition]]:
    settings = config.load(None, [f"sample.n={count}", f"sample.seed={seed}"])
    for spec in runs.specs_of(settings):
        yield spec.slug, procedural.composition(spec, procedural.family_of(spec))


def _row(slug: str, made: Composition, number: int) -> parquet.Row:
    change = _changes(made, number)
    both = made.tests.under("tests").merged(made.solution.under("solution"))
    archive = FileTree({path: change(file.data) for path, file in both.items()}).tar()
    return {
        "task": f"{slug}-{number}",
        "instruction": change(made.instruction.encode()).decode(),
        "archive": archive,
        "archive_sha256": digest_bytes(archive),
    }


def _changes(made: Composition, number: int) -> Callable[[bytes], bytes]:
    """What a copy says in place of what was composed; the same in all its parts."""
    draw = Random(f"{made.title}-{number}")
    known = sorted(set(_WORD.findall(made.instruction)))
    others = {w: "".join(draw.sample(w, len(w))) for w in draw.sample(known, min(40, len(known)))}
    digits = bytes.maketrans(b"0123456789", "".join(draw.sample("0123456789", 10)).encode())

    def change(data: bytes) -> bytes:
        for word, other in others.items():
            data = data.replace(word.encode(), other.encode())
        return data.translate(digits)

    return change


def _used(*arguments: str) -> tuple[float, float, float]:
    """(wall clock s, CPU s, peak MB) of one command."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "envgen.cli", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu, after.ru_maxrss / 1024
