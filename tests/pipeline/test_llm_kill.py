"""A model author under faults and SIGKILL: the same drafts, and nothing paid twice.

The full measurement:
    ENVGEN_LLM_SPECS=2000 ENVGEN_LLM_KILLS=5 pytest -s tests/pipeline/test_llm_kill.py
"""

import asyncio
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from envgen.files import FileTree
from envgen.ledger import Ledger
from envgen.records import Message, Request
from envgen.share import share
from tests.loopback import Ask, Loopback, Reply, openai
from tests.pipeline.writer import writer

pytestmark = pytest.mark.box

SPECS = int(os.environ.get("ENVGEN_LLM_SPECS", "40"))
KILLS = int(os.environ.get("ENVGEN_LLM_KILLS", "2"))
SEED = int(os.environ.get("ENVGEN_LLM_SEED", "7"))
EVERY = 20 if SPECS > 500 else 4
"""One question in so many meets a fault."""
IN_FLIGHT = 64
LATENCY = 0.05
WORST = 0.1
"""Dollars that one call may cost at most, so a budget can end that much early."""
OTHERS = "image: 0, audio: 0, video: 0, stripped_binary: 0, vendored_package: 0, multi_service: 0"
PRESET = (
    "\n  - name: text\n    text: Nothing but text.\n"
    f"    weights: {{fixture: {{text_only: 1, {OTHERS}}}}}\n"
)
LOST = {
    "throttled": openai.error(429, "rate_limit_exceeded", retry_after="0.2"),
    "throttled without a word": openai.error(429, "rate_limit_exceeded"),
    "overloaded": openai.error(503, None),
    "broken": openai.error(500, None),
    "dropped": openai.answer("x").but(how="drop"),
    "reset": openai.answer("x").but(how="reset"),
    "half a body": openai.answer("x" * 400).but(how="half"),
    "a page": Reply(200, b"<html>busy</html>", (("content-type", "text/html"),)),
    "nothing": Reply(200, b""),
    "cut JSON": Reply(200, b'{"id": "chatcmpl-1", "choi'),
    "loops": openai.answer("\n" * 6000, "length", use=openai.usage(100, 6000)),
}
"""Befall the first asking of a question, which is then asked again."""
CHANGED = ("length", "refusal")
"""Facts about a question: every asking meets them."""
FAULTS = (*LOST, *CHANGED)


def said(body: dict[str, object]) -> str:
    """What the writer says to the messages of a chat completion."""
    messages = tuple(Message(role=m["role"], text=m["content"]) for m in body["messages"])
    answer = writer()(Request(model="openai:writer", messages=messages))
    assert isinstance(answer, str)
    return answer


@dataclass
class Provider:
    """Answers by the question alone, and meters; some questions meet a fault."""

    askings: Counter[str] = field(default_factory=Counter)
    paid: Counter[str] = field(default_factory=Counter)
    """Answers that were billed, by question."""
    faults: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)

    def __call__(self, ask: Ask) -> Reply:
        name = hashlib.sha256(ask.data).hexdigest()
        self.askings[name] += 1
        struck = int(name[:4], 16) % EVERY == 0
        fault = FAULTS[int(name[4:12], 16) % len(FAULTS)] if struck else ""
        if fault in CHANGED or (fault and self.askings[name] == 1):
            self.faults[fault] += 1
        else:
            fault = ""
        return self._metered(name, self._reply(ask, fault)).but(delay=LATENCY)

    def _reply(self, ask: Ask, fault: str) -> Reply:
        if fault in LOST:
            return LOST[fault]
        use = openai.usage(len(ask.data) // 4, 500)
        if fault == "refusal":
            return openai.answer(None, use=use, refusal="I would rather not.")
        text = said(ask.body)
        if fault == "length":
            return openai.answer(text[: len(text) // 2], "length", use=use)
        return openai.answer(text, use=use)

    def _metered(self, name: str, reply: Reply) -> Reply:
        if reply.status == 200 and reply.how == "whole" and b'"usage"' in reply.data:
            self.paid[name] += 1
            use = json.loads(reply.data)["usage"]
            self.tokens["input"] += use["prompt_tokens"]
            self.tokens["output"] += use["completion_tokens"]
        return reply


def twice(provider: Provider) -> int:
    """Answers that were billed beyond the first one to the same question."""
    return sum(times - 1 for times in provider.paid.values())


@contextmanager
def serving(provider: Provider) -> Iterator[str]:
    """The provider on a loopback server in a thread of its own; its address."""
    ready, done, place = threading.Event(), asyncio.Event(), list[str]()
    loops = list[asyncio.AbstractEventLoop]()

    async def serve() -> None:
        async with Loopback(provider, keep=0) as server:
            place.append(f"{server.url}/v1")
            loops.append(asyncio.get_running_loop())
            ready.set()
            await done.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert ready.wait(30)
    try:
        yield place[0]
    finally:
        loops[0].call_soon_threadsafe(done.set)
        thread.join(30)


def command(data: Path, url: str, budget: float) -> list[str]:
    words = [sys.executable, "-m", "envgen.cli", "generate", "--data", str(data)]
    words += ["--author", "llm", "--model", "openai:writer", "--base-url", url]
    words += ["--n", str(SPECS), "--seed", str(SEED), "--budget", f"{budget:.6f}"]
    words += ["--axes", str(data / "axes"), "--preset", "text"]
    words += ["--set", "llm.prices={openai:writer: {input: 1.0, output: 2.0}}"]
    return [*words, "--set", f"llm.in_flight={IN_FLIGHT}"]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """Folders for data, each with axes whose preset asks for nothing but text."""
    for name in ("quiet", "killed", "poor"):
        shutil.copytree(share("axes"), tmp_path / name / "axes")
        with (tmp_path / name / "axes" / "presets.yaml").open("a") as presets:
            presets.write(PRESET)
    yield tmp_path


def finished(words: list[str], *codes: int) -> str:
    """Run to the end; with 1 where some tasks were refused. What it said."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode in (codes or (0, 1)), done.stderr
    return done.stderr


def drafts(data: Path) -> dict[str, str]:
    folder = data / "runs" / "default" / "drafts"
    return {path.name: FileTree.read(path).digest for path in folder.iterdir()}


@dataclass(frozen=True)
class Booked:
    """What the ledger says."""

    attempts: int
    unknown: int
    billed: int
    """Attempts with tokens."""
    input: int
    output: int
    dollars: float
    risk: float
    """Dollars that lost answers may have cost; they count against the budget."""


def booked(data: Path) -> Booked:
    ledger = Ledger(data / "runs" / "default")
    rows, (dollars, risk) = ledger.attempts.table(), ledger.attempts.spent()
    ledger.close()
    return Booked(
        attempts=sum(row.attempts for row in rows),
        unknown=sum(row.attempts for row in rows if row.outcome == "unknown"),
        billed=sum(row.attempts for row in rows if row.output),
        input=sum(row.input for row in rows),
        output=sum(row.output for row in rows),
        dollars=dollars,
        risk=risk,
    )


def killed(words: list[str], provider: Provider, moments: random.Random, all_: int) -> int:
    """Start, and kill once so many more questions have come in; a run that is over is no kill."""
    before, wanted = provider.askings.total(), moments.randint(1, max(2, all_ // (KILLS + 1)))
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while provider.askings.total() - before < wanted:
        assert process.poll() is None, "it ended before its kill"
        time.sleep(0.01)
    process.kill()
    process.wait()
    return wanted


def test_faults_kills_and_a_budget_change_nothing_but_the_time(place: Path) -> None:
    quiet = Provider()
    with serving(quiet) as url:
        finished(command(place / "quiet", url, 1000))
    counted = booked(place / "quiet")
    print(f"faults {dict(quiet.faults)}; {counted}")
    assert len(quiet.faults) >= len(FAULTS) // 2
    assert (counted.attempts, counted.unknown) == (quiet.askings.total(), 0)
    assert counted.billed == quiet.paid.total()
    assert twice(quiet) <= quiet.faults["loops"]  # an answer in circles is billed, and asked anew
    assert (counted.input, counted.output) == (quiet.tokens["input"], quiet.tokens["output"])
    assert counted.dollars == pytest.approx((counted.input + 2 * counted.output) / 1e6)

    provider, moments = Provider(), random.Random(SEED)
    with serving(provider) as url:
        words = command(place / "killed", url, 1000)
        lived = [killed(words, provider, moments, quiet.askings.total()) for _ in range(KILLS)]
        finished(words)
    after = booked(place / "killed")
    print(f"killed after {lived} more questions; {twice(provider)} paid twice; {after}")
    assert drafts(place / "killed") == drafts(place / "quiet")
    assert twice(provider) - twice(quiet) <= after.unknown <= KILLS * IN_FLIGHT
    assert 0 <= provider.paid.total() - after.billed <= after.unknown
    assert set(provider.paid) == set(quiet.paid)

    poor = Provider()
    with serving(poor) as url:
        half = counted.dollars / 2
        told = finished(command(place / "poor", url, half), 3)
        assert "raise llm.budget and run again" in told
        spent = booked(place / "poor")
        assert half - WORST < spent.dollars + spent.risk and spent.dollars <= half
        finished(command(place / "poor", url, 1000))
    assert drafts(place / "poor") == drafts(place / "quiet")
    assert poor.paid == quiet.paid
    assert booked(place / "poor").dollars == pytest.approx(counted.dollars)
    print(
        f"budget of ${half:.4f}: stopped at ${spent.dollars:.4f}, ended at ${counted.dollars:.4f}"
    )
