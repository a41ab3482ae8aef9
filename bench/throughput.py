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
from itertools import islice
from pathlib import Path

from envgen.config import LlmConfig, Price
from envgen.ledger import Ledger, Use
from envgen.llm import Asked
from envgen.llm.opened import open_models
from envgen.records import Message, Request

Figure = tuple[str, float, str]
IN_FLIGHT, LATENCY, WAVES = 500, 2.0, 10
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
    """Ask `WAVES` times what is in flight, always so many at once, and print what was measured."""
    model = f"{provider}:echo"
    config = LlmConfig(
        base_url=f"{url}/v1" if provider == "openai" else url,
        in_flight=IN_FLIGHT,
        budget=1000,
        prices={model: Price(input=0.1, output=0.4)},
    )
    ledger = Ledger(folder)
    async with open_models({"author": model}, config, ledger) as models:
        asked, numbers = models["author"], iter(range(IN_FLIGHT * (WAVES + 1)))
        await crowd(asked, model, islice(numbers, IN_FLIGHT))  # connects
        started, used = time.perf_counter(), time.process_time()
        held = await crowd(asked, model, numbers)
        wall, cpu = time.perf_counter() - started, time.process_time() - used
    calls = IN_FLIGHT * WAVES
    assert ledger.made == calls + IN_FLIGHT
    ledger.close()
    print(calls / wall, cpu / calls, held[len(held) // 2], held[-1])


async def crowd(asked: Asked, model: str, numbers: Iterator[int]) -> list[float]:
    """Ask each number once, always `IN_FLIGHT` at a time; megabytes held after each."""
    held: list[float] = []
    await asyncio.gather(*(keep_asking(asked, model, numbers, held) for _ in range(IN_FLIGHT)))
    return held


async def keep_asking(asked: Asked, model: str, numbers: Iterator[int], held: list[float]) -> None:
    """One call after the other, until nothing is left to ask."""
    for number in numbers:
        text = f"{number}: {QUESTION}"
        request = Request(model=model, messages=(Message(role="user", text=text),), max_tokens=64)
        await asked.complete(request, Use(f"task-{number}", "author"))
        held.append(rss())


def rss() -> float:
    """Megabytes that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


if __name__ == "__main__":
    os.environ |= {"OPENAI_API_KEY": "none", "GEMINI_API_KEY": "none"}
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(load(sys.argv[1], sys.argv[2], Path(folder)))
