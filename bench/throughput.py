"""The model edge under load: many calls in flight against a slow server, on one core.

The server is a process of its own. The ideal is `in flight / latency` calls a second; what is
measured is the whole edge: adapter, deadline, attempts in a ledger on disk, budget, pacing, retry.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from envgen.config import LlmConfig, Price
from envgen.ledger import Ledger, Use
from envgen.llm import Asked
from envgen.llm.opened import open_models
from envgen.records import Message, Request

Figure = tuple[str, float, str]
IN_FLIGHT, LATENCY, WAVES = 500, 2.0, 10
"""The first and the last of `WAVES + 2` waves are not measured: all start, or end, at once."""
EVERY = 50
"""Calls between two marks."""
QUESTION = "Describe what the file holds, in one sentence. " * 40


def throughput() -> list[Figure]:
    """(name, value, unit) for both wire formats."""
    figures: list[Figure] = []
    for provider in ("openai", "gemini"):
        figures += [(f"{provider}, {name}", *rest) for name, *rest in measured(provider)]
    return figures


def measured(provider: str) -> list[Figure]:
    """Figures of one provider's adapter, in a process of its own, pinned to one core."""
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.loopback", str(LATENCY)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        command = [sys.executable, "-m", "bench.throughput", provider, url]
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    finally:
        server.terminate()
        server.wait()
        server.stdout.close()
    rate, cpu, half, last = map(float, out.split())
    return [
        (f"{IN_FLIGHT} calls in flight", rate, "calls/s"),
        ("of the ideal rate", 100 * rate * LATENCY / IN_FLIGHT, "%"),
        ("CPU a call", 1000 * cpu, "ms"),
        ("RSS half way", half, "MB"),
        ("RSS growth in the second half", last - half, "MB"),
    ]


async def load(provider: str, url: str, folder: Path) -> None:
    """Ask many times what is in flight, always so many at once, and print what was measured."""
    model = f"{provider}:echo"
    config = LlmConfig(
        base_url=f"{url}/v1" if provider == "openai" else url,
        in_flight=IN_FLIGHT,
        budget=1000,
        prices={model: Price(input=0.1, output=0.4)},
    )
    ledger = Ledger(folder)
    async with open_models({"author": model}, config, ledger) as models:
        numbers = iter(range(IN_FLIGHT * (WAVES + 2)))
        seen: list[Mark] = []
        asking = (keep_asking(models["author"], model, numbers, seen) for _ in range(IN_FLIGHT))
        await asyncio.gather(*asking)
    assert ledger.made == IN_FLIGHT * (WAVES + 2)
    ledger.close()
    first, half, last = (seen[IN_FLIGHT // EVERY * wave] for wave in (1, 1 + WAVES // 2, 1 + WAVES))
    calls = IN_FLIGHT * WAVES
    print(calls / (last.wall - first.wall), (last.cpu - first.cpu) / calls, half.rss, last.rss)


class Mark(NamedTuple):
    """What had been used when a call ended."""

    wall: float
    cpu: float
    rss: float


async def keep_asking(asked: Asked, model: str, numbers: Iterator[int], seen: list[Mark]) -> None:
    """One call after the other, until nothing is left to ask."""
    for number in numbers:
        text = f"{number}: {QUESTION}"
        request = Request(model=model, messages=(Message(role="user", text=text),), max_tokens=64)
        await asked.complete(request, Use(f"task-{number}", "author"))
        if asked.ledger.made % EVERY == 0:
            seen.append(Mark(time.perf_counter(), time.process_time(), rss()))


def rss() -> float:
    """Megabytes that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


if __name__ == "__main__":
    os.environ |= {"OPENAI_API_KEY": "none", "GEMINI_API_KEY": "none"}
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(load(sys.argv[1], sys.argv[2], Path(folder)))
