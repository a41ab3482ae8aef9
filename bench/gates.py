"""Tasks gated per minute: envgen against a plain shell loop, on the same tasks, in the same run.

Both take the same drafts through the same gates on the same engine. Bases are there beforehand and
no layer of a task is. envgen runs from a fresh ledger; the loop (`plain.sh`) calls `docker build`,
`docker create`, `docker cp` and `docker start` on the exported folders, one task after the other.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from envgen import axes, runs
from envgen.config import RunConfig, SampleConfig
from envgen.export import harbor
from envgen.kit import Kit, open_kit
from envgen.pipeline import Stop, authored, bounded, proven
from envgen.records import AGENT_UID, BuiltTask, Rejection, TaskDraft
from envgen.sandbox.parity import environment

Figure = tuple[str, float, str]

N = 12
SEED = 20_240_612
"""Of no other run, so that no image of another run lends its layers."""
PLAIN = Path(__file__).with_name("plain.sh")


def gates(n: int = N) -> list[Figure]:
    """(name, value, unit) of both contestants, and of the bytes that a task's image adds."""
    config = RunConfig(sample=SampleConfig(n=n, seed=SEED))
    with tempfile.TemporaryDirectory(prefix="envgen-bench-") as place:
        folder = Path(place)
        drafts = asyncio.run(_prepare(config, folder))
        (folder / "plain.txt").touch()
        seconds, tasks = asyncio.run(_envgen(config, drafts, folder / "envgen"))
        plain, theirs, sizes = _plain(folder)
    added = [task.image.bytes_added for task in tasks.values() if isinstance(task, BuiltTask)]
    return [
        ("gates, tasks", len(tasks), "tasks"),
        ("gates, kept", len(added), "tasks"),
        ("gates, verdicts that differ", _differing(tasks, theirs), "tasks"),
        ("gates, envgen", 60 * len(tasks) / seconds, "tasks/min"),
        ("gates, plain shell loop", 60 * len(tasks) / plain, "tasks/min"),
        ("gates, envgen over plain", plain / seconds, "times"),
        ("image bytes added, median", median(added) / 1e6, "MB"),
        ("image bytes added, most", max(added) / 1e6, "MB"),
        ("image size over base by the engine, median", median(sizes) / 1e6, "MB"),
    ]


def _differing(ours: dict[str, BuiltTask | Rejection], theirs: dict[str, str]) -> int:
    """How many verdicts differ, each said; a comparison of speed needs equal ones."""
    count = 0
    for slug, task in ours.items():
        said = f"{task.code}: {task.detail}" if isinstance(task, Rejection) else "ok"
        if (said == "ok") != (theirs[slug] == "ok"):
            print(f"{slug}: envgen says {said[:500]}, the loop {theirs[slug]}", file=sys.stderr)
            count += 1
    return count


async def _prepare(config: RunConfig, folder: Path) -> list[TaskDraft]:
    """Draft everything, bases included, into `drafts/`, with what the loop has to be told."""
    async with open_kit(config, folder / "prepare") as kit:
        drafts = await _drafts(config, kit)
        for draft in drafts:
            base = await kit.bases.get(draft.environment.base, draft.environment.packages)
            target = folder / "drafts" / draft.slug
            harbor.write(harbor.draft_folder(draft, config.export), target)
            limits = draft.limits
            told = {
                "BASE": base.ref,
                "WORKDIR": draft.workdir,
                "OUTPUTS": " ".join(draft.outputs),
                "MEMORY": limits.memory_mb,
                "PIDS": limits.pids,
                "FSIZE": limits.disk_mb << 20,
                "AGENT_SECONDS": limits.agent_seconds,
                "VERIFY_SECONDS": limits.verify_seconds,
            }
            lines = [f"{name}='{value}'\n" for name, value in told.items()]
            target.with_suffix(".limits").write_text("".join(lines))
    for name, uid in (("agent", AGENT_UID), ("root", 0)):
        lines = [f"{key}={value}\n" for key, value in environment(uid, 2).items()]
        (folder / f"{name}.env").write_text("".join(lines))
    return drafts


async def _drafts(config: RunConfig, kit: Kit) -> list[TaskDraft]:
    catalogue, support = runs.catalogue_of(config), runs.support_of(config)
    rows = axes.sample(catalogue, SEED, config.sample.n, support=support)
    made = [await authored(axes.spec_of(row), kit) for row in rows]
    return [draft for draft in made if isinstance(draft, TaskDraft)]


async def _envgen(
    config: RunConfig, drafts: list[TaskDraft], folder: Path
) -> tuple[float, dict[str, BuiltTask | Rejection]]:
    """Seconds for all gates of all tasks, from a fresh ledger and with nothing built."""
    started = time.perf_counter()
    async with open_kit(config, folder, rebuild=True) as kit:

        async def one(draft: TaskDraft) -> tuple[str, BuiltTask | Rejection]:
            return draft.slug, await proven(draft, kit)

        limit = config.engine.in_flight
        done = dict([pair async for pair in bounded(one, drafts, limit, Stop())])
        seconds = time.perf_counter() - started
        kit.sandbox.engine.keep_only(set())
    return seconds, dict(sorted(done.items()))


def _plain(folder: Path) -> tuple[float, dict[str, str], list[int]]:
    """Seconds of the loop, its verdicts, and the bytes over the base by the engine's count."""
    environ = {**os.environ, "DOCKER_BUILDKIT": "0"}
    command = ["bash", str(PLAIN), str(folder)]
    started = time.perf_counter()
    subprocess.run(command, check=True, env=environ, stdin=subprocess.DEVNULL)
    seconds = time.perf_counter() - started
    lines = [line.split() for line in (folder / "plain.txt").read_text().splitlines()]
    images = [f"envgen-bench/{slug}" for slug, _, _ in lines]
    subprocess.run(["docker", "rmi", "-f", *images], check=False, capture_output=True)
    return seconds, {slug: said for slug, said, _ in lines}, [int(n) for *_, n in lines]
