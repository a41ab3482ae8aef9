"""Episodes of a scripted agent: 25 commands in a session, then the grade; and the same in Harbor.

Harbor is measured when `ENVGEN_HARBOR` names its program (a `DOCKER_CONFIG` with its compose plugin
may be needed beside it); without it there is no ratio, and a line says so.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

from bench.commands import COMMANDS
from envgen.config import ExportConfig, RunConfig
from envgen.export.harbor import draft_folder
from envgen.grade import build_image, graded
from envgen.kit import Kit, open_kit
from envgen.ledger import Use
from envgen.records import Image, TaskDraft
from envgen.sandbox.pool import Pool
from envgen.submission import opening
from tests.box.conftest import draft_of

Figure = tuple[str, float, str]

AT_ONCE = 2
EPISODES = 16
TRIALS = 4
"""In Harbor, for they take long."""
SLEEPS, SLEEPING = 8, 8
"""Episodes whose every command takes a second more, and how many of them at once: they share the
CPUs as episodes do that wait for a model."""
USE = Use("bench", "episodes")


class Took(NamedTuple):
    """Seconds of one episode."""

    ready: float
    """From asking for the sandbox to the end of the first command."""
    commands: float
    """Inside of commands."""
    calls: float
    """From calling `run` to its answer, all commands together."""
    grade: float
    whole: float


def episodes(n: int = EPISODES) -> list[Figure]:
    """(name, value, unit) of our episodes, and of Harbor's where it is there."""
    draft = draft_of()
    with tempfile.TemporaryDirectory(prefix="envgen-bench-") as place:
        folder = Path(place)
        figures, rate = asyncio.run(_ours(draft, folder / "run", n))
        program = os.environ.get("ENVGEN_HARBOR")
        if program is None:
            print("ENVGEN_HARBOR names no program: nothing to compare with", file=sys.stderr)
            return figures
        theirs, trial = _harbor(draft, program, folder)
    return [*figures, *theirs, ("episodes, envgen over Harbor", trial * rate / 60, "times")]


async def _ours(draft: TaskDraft, folder: Path, n: int) -> tuple[list[Figure], float]:
    async with open_kit(RunConfig(), folder) as kit:
        try:
            _, image, _ = await build_image(draft, kit, USE)
            await _many(draft, image, kit, 2, AT_ONCE, 0)  # the first ones warm the caches
            took, wall = await _many(draft, image, kit, n, AT_ONCE, 0)
            slow, _ = await _many(draft, image, kit, SLEEPS, SLEEPING, 1)
            memory = await _memory(draft, image, kit)
        finally:
            kit.sandbox.engine.keep_only(set())
    rate = 60 * n / wall
    shares = [1 - one.commands / one.whole for one in slow]
    overhead = [(one.calls - one.commands) / len(COMMANDS) for one in took]
    return [
        ("episodes of 25 commands, two at once", rate, "per minute"),
        ("seconds of an episode, median", median(t.whole for t in took), "s"),
        ("lease to the end of the first command, median", median(t.ready for t in took), "s"),
        ("capture and grade, median", median(t.grade for t in took), "s"),
        ("overhead of a command, median", 1000 * median(overhead), "ms"),
        ("time not in commands, commands of a second", 100 * median(shares), "%"),
        ("memory of a live sandbox, processes of ours", memory, "MB"),
    ], rate


async def _many(
    draft: TaskDraft, image: Image, kit: Kit, n: int, at_once: int, sleep: float
) -> tuple[list[Took], float]:
    """Play n episodes; what each took, and the seconds of all of them."""
    pool = Pool(kit.sandbox.engine, at_once)
    started = time.perf_counter()
    turns = asyncio.Semaphore(at_once)

    async def one(number: int) -> Took:
        async with turns:
            return await _episode(draft, image, kit, pool, number, sleep)

    took = await asyncio.gather(*(one(number) for number in range(n)))
    return took, time.perf_counter() - started


async def _episode(
    draft: TaskDraft, image: Image, kit: Kit, pool: Pool, number: int, sleep: float
) -> Took:
    clock = time.perf_counter
    asked, ready, commands, calls = clock(), 0.0, 0.0, 0.0
    async with pool.lease(opening(draft, image, 600)) as session:
        for command in (f"true {number}", *COMMANDS):  # no two episodes leave the same ledger key
            before = clock()
            text = f"sleep {sleep}; {command}" if sleep else command
            commands += (await session.run(text, 60)).seconds
            calls += clock() - before
            ready = ready or clock() - asked
        await session.run(f"echo {number} {sleep} > made", 60)
        before = clock()
        left = await session.capture(draft.outputs)
        _, score = await graded(draft, image, left, kit, USE)
        submitting = clock() - before
    if not score.passed:
        raise RuntimeError(f"the scripted agent solves its task, but: {score}")
    return Took(ready, commands, calls, submitting, clock() - asked)


async def _memory(draft: TaskDraft, image: Image, kit: Kit) -> float:
    """Megabytes that the kernel counts for a sandbox at rest, its shim outside included."""
    async with kit.sandbox.engine.open(opening(draft, image, 600)) as session:
        await session.run("true", 60)
        shims = subprocess.run(
            ["ps", "-C", "containerd-shim", "-o", "rss="], capture_output=True, text=True
        )
        used = await session.run(
            "cat /sys/fs/cgroup/memory.current 2>/dev/null "
            "|| cat /sys/fs/cgroup/memory/memory.usage_in_bytes",
            60,
        )
    outside = [int(line) / 1024 for line in shims.stdout.split()]
    return int(used.output) / 2**20 + (median(outside) if outside else 0)


def _harbor(draft: TaskDraft, program: str, folder: Path) -> tuple[list[Figure], float]:
    """The same task and commands in Harbor; seconds a trial, two at once."""
    draft_folder(draft, ExportConfig(network="compose")).write(folder / "tasks" / "numbers")
    job = {
        "job_name": "bench",
        "jobs_dir": str(folder / "jobs"),
        "n_attempts": TRIALS,
        "n_concurrent_trials": AT_ONCE,
        "quiet": True,
        "environment": {"type": "docker"},
        "agents": [{"import_path": "bench.harbor_agent:Scripted"}],
        "datasets": [{"path": str(folder / "tasks")}],
    }
    (folder / "job.yaml").write_text(json.dumps(job))
    root = Path(__file__).parents[1]
    env = os.environ | {"HARBOR_TELEMETRY": "0", "PYTHONPATH": str(root)}
    command = [program, "run", "-c", str(folder / "job.yaml"), "-y"]
    warm = job | {"job_name": "warm", "n_attempts": 1}
    (folder / "warm.yaml").write_text(json.dumps(warm))
    subprocess.run([*command[:3], str(folder / "warm.yaml"), "-y"], env=env, capture_output=True)
    started = time.perf_counter()
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    wall = time.perf_counter() - started
    results = [json.loads(p.read_text()) for p in (folder / "jobs/bench").glob("*/result.json")]
    rewards = [(r.get("verifier_result") or {}).get("rewards") for r in results]
    if len(rewards) != TRIALS or any(r != {"reward": 1.0} for r in rewards):
        raise RuntimeError(f"Harbor's trials came to {rewards}: {done.stdout[-2000:]}")
    trial = wall / TRIALS
    return [("seconds a trial in Harbor, two at once", trial, "s")], trial
