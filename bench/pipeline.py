"""What envgen itself costs: 15,000 specs through `runs.finish` with scripted edges, cold and again.

Everything is real (ledger, lint, leak scan, Harbor folders, manifest) but the containers, and but
the families' computing: each composes `POOL` tasks, and every later task is one of these made
distinct in each of its trees. So the figures are those of the pipeline; what composing costs stands
beside them. Each pass runs in an interpreter of its own.
"""

import asyncio
import hashlib
import importlib
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from envgen import axes, runs
from envgen.authors import procedural
from envgen.authors.procedural.family import Composition, Family
from envgen.config import RunConfig, SampleConfig
from envgen.files import File, FileTree
from envgen.kit import Bases, Kit
from envgen.ledger import Ledger
from envgen.pipeline import Stop
from envgen.records import AGENT_UID, Job, JobResult, TaskSpec
from envgen.sandbox import Recorded
from envgen.sandbox.archive import STAGING
from envgen.sandbox.scripted import Scripted

Figure = tuple[str, float, str]

N = 15_000
POOL = 12
FIXTURE_BYTES = 8_000

COMPOSED: defaultdict[str, list[float]] = defaultdict(list)
"""CPU seconds of every real composition, by family."""

MARKING: list[float] = []
"""CPU seconds of making the others distinct; no cost of the pipeline either."""


def pipeline(n: int = N) -> list[Figure]:
    """(name, value, unit) of both passes, and of composing."""
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="envgen-bench-") as folder:
        for name in ("cold", "replayed"):
            command = [sys.executable, "-m", "bench.pipeline", folder, str(n)]
            out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
            found = json.loads(out)
            title = f"pipeline {n} specs {name}"
            figures += [
                (f"{title}, wall clock", found["wall"], "s"),
                (f"{title}, CPU", found["cpu"], "s"),
                (f"{title}, peak RSS", found["peak"], "MB"),
                (f"{title}, kept", found["kept"], "tasks"),
            ]
        for family, seconds in sorted(found["composed"].items()):
            mean = 1000 * sum(seconds) / len(seconds)
            figures.append((f"compose {family}, CPU", mean, "ms"))
    return figures


def measure(folder: Path, n: int) -> dict[str, object]:
    """One pass in this process, less what composing took."""
    for name in procedural.names():
        module = importlib.import_module(f"{procedural.__name__}.{name}")
        vars(module)["FAMILY"] = _pooled(module.FAMILY)
    wall, cpu = time.perf_counter(), time.process_time()
    tally = asyncio.run(_pass(runs.RunFolder(folder), RunConfig(sample=SampleConfig(n=n))))
    own = sum(map(sum, COMPOSED.values())) + sum(MARKING)
    used = resource.getrusage(resource.RUSAGE_SELF)
    assert tally.done == n and not tally.bugs, tally.last_trouble
    return {
        "wall": time.perf_counter() - wall - own,
        "cpu": time.process_time() - cpu - own,
        "peak": used.ru_maxrss / 1024,
        "kept": tally.kept,
        "rejected": dict(tally.rejected),
        "composed": COMPOSED,
    }


async def _pass(folder: runs.RunFolder, config: RunConfig) -> runs.Tally:
    axes.write_specs(folder.specs, _specs(config))
    ledger = Ledger(folder.path)
    engine = Scripted(ledger.blobs)
    engine.script = lambda job: _answer(engine, job)
    held = folder.path / "engine.json"  # an engine keeps its images from one run to the next
    engine.images = set(json.loads(held.read_text())) if held.exists() else set()
    kit = Kit(config, Recorded(engine, ledger), Bases(engine, folder.path / "locks"))
    tally = await runs.finish(folder, axes.read_specs(folder.specs), kit, Stop())
    held.write_text(json.dumps(sorted(engine.images)))
    ledger.close()
    return tally


def _specs(config: RunConfig) -> Iterator[axes.Row]:
    """Specs of two seeds: of one seed the families realise fewer distinct ones than 15,000."""
    catalogue, support = runs.catalogue_of(config), runs.support_of(config)
    n, index = config.sample.n, 0
    for seed, wanted in ((0, n - n // 2), (1, n // 2)):
        for row in axes.sample(catalogue, seed, wanted, support=support):
            numbered = row._replace(index=index)
            yield numbered._replace(slug=axes.slug_of(numbered))
            index += 1


def _answer(engine: Scripted, job: Job) -> JobResult:
    """As the double does, but a recipe leaves a fixture, and every solution its own outputs."""
    if not job.capture:
        return engine.sound(job)
    data = random.Random(job.digest).randbytes(FIXTURE_BYTES)
    made = FileTree({f"{folder.strip('/')}/made.bin": data for folder in job.capture})
    archive = made.tar(uid=AGENT_UID, root=STAGING)
    return JobResult(status="done", exit_code=0, output="", captured=engine.blobs.put(archive))


def _pooled(family: Family) -> Family:
    """The family, composing in earnest only `POOL` times."""
    pool: list[Composition] = []

    def compose(spec: TaskSpec, rng: random.Random) -> Composition:
        if len(pool) < POOL:
            started = time.process_time()
            pool.append(family.compose(spec, rng))
            COMPOSED[family.name].append(time.process_time() - started)
        started = time.process_time()
        made = _marked(pool[rng.randrange(len(pool))], spec.slug)
        MARKING.append(time.process_time() - started)
        return made

    return replace(family, compose=compose)


def _marked(made: Composition, slug: str) -> Composition:
    """The same task with other bytes in every tree, and no digest known beforehand."""
    recipes = tuple(replace(r, files=_other(r.files, "recipe.txt", slug)) for r in made.recipes)
    return replace(
        made,
        instruction=f"{made.instruction}\nThe name of this piece of work is {slug}.\n",
        files=_other(made.files, f"{made.workdir.strip('/')}/work.txt", slug),
        tests=_other(made.tests, "work.txt", slug),
        solution=_other(made.solution, "work.txt", slug),
        recipes=recipes,
    )


def _other(tree: FileTree, path: str, slug: str) -> FileTree:
    fresh = {p: File(f.data, f.mode) for p, f in tree.items()}
    return FileTree({**fresh, path: f"{hashlib.sha256(f'{path} {slug}'.encode()).hexdigest()}\n"})


if __name__ == "__main__":
    json.dump(measure(Path(sys.argv[1]), int(sys.argv[2])), sys.stdout)
