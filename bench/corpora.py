"""Overlap with a benchmark and near-duplicates over 15,000 tasks, from a file on disk.

Tasks are made of what the families really write: tasks of all of them, and of each many copies in
which 40 words and all its numbers are others, so that they share about as much as tasks of one
family do. The benchmark is 250 more.
"""

import re
import subprocess
import sys
import tempfile
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
TASKS, COMPOSED, BENCHMARK, CHANGED = 15_000, 250, 250, 10
_MEASURE = """
import os, resource, sys, time
started = time.perf_counter()
sys.stdout = open(os.devnull, "w")
from envgen.cli import app
app(standalone_mode=False)
used = resource.getrusage(resource.RUSAGE_SELF)
wall, cpu = time.perf_counter() - started, used.ru_utime + used.ru_stime
print(wall, cpu, used.ru_maxrss / 1024, file=sys.stderr)
"""
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
    tasks, benchmark = str(folder / "tasks.parquet"), str(folder / "benchmark.parquet")
    figures: list[Figure] = []
    for name, more in (("overlap", ("--against", benchmark)), ("duplicates", ())):
        command = ["-c", _MEASURE, name, "--from", tasks, "--json", *more]
        done = subprocess.run([sys.executable, *command], check=True, stderr=subprocess.PIPE)
        wall, cpu, peak = map(float, done.stderr.split()[-3:])
        figures += [
            (f"envgen {name}, {TASKS} tasks, wall clock", wall, "s"),
            (f"envgen {name}, {TASKS} tasks, CPU", cpu, "s"),
            (f"envgen {name}, {TASKS} tasks, peak RSS", peak, "MB"),
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
    others = {
        w: "".join(draw.sample(w, len(w))) for w in draw.sample(known, min(CHANGED, len(known)))
    }
    digits = bytes.maketrans(b"0123456789", "".join(draw.sample("0123456789", 10)).encode())

    def change(data: bytes) -> bytes:
        for word, other in others.items():
            data = data.replace(word.encode(), other.encode())
        return data.translate(digits)

    return change
