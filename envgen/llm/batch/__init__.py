"""The batch lane: requests that can wait are sent together, as a job, at half the price.

What is in no hurry is collected for a short while and written down, then becomes one job; each
caller gets its answer when the job was read. A request that the job does not answer rightly, or
not by the deadline, is asked online. A killed run finds its jobs again, by the name that they
carry, and pays for none of them twice.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self, TypeVar

from envgen.errors import Misconfigured
from envgen.ledger import Ledger
from envgen.ledger.attempts import Attempt
from envgen.ledger.batches import ONLINE, Line
from envgen.llm import KIND, Model, receipt
from envgen.llm.batch.jobs import Jobs, Result, State, growing
from envgen.llm.batch.verdict import verdict
from envgen.llm.budget import Budget
from envgen.llm.prices import Tariff
from envgen.llm.trouble import Trouble
from envgen.records import Completion, Key, Request

WINDOW = 20.0
"""Seconds that requests are collected for."""
CALL_SECONDS = 900.0
"""Most that one call to the provider may take: a job's file can be large."""
TIDY_SECONDS = 60.0
"""Most that the deletion of a job's files may take; what is left over is for the next start."""
GRACE = 900.0
"""Seconds that a cancelled job has to end in, so that what it finished can be read."""

T = TypeVar("T")
Answers = Mapping[Key, Completion]


class _Late(Exception):
    """The deadline passed: what is not answered goes online."""


@dataclass
class _Window:
    """Requests being collected for one job."""

    lines: dict[Key, Line] = field(default_factory=dict)
    size: int = 0
    name: str = ""
    task: asyncio.Task[Answers] | None = None


class Lane:
    """A `Model` that answers through batch jobs, and online where they do not.

    Use it as an async context: it follows the jobs of an earlier process from the start, and
    leaves unfinished ones to the next.

    Args:
        online: answers what is urgent and what no job answered.
        jobs: the provider's batch endpoints.
        ledger: answers, attempts and batches are written down in it.
        budget: what jobs may cost is set aside in it.
        tariff: the model's price in this lane.
        model: whose jobs these are.
        run: tells them apart from those of other runs under the same API key.
        hedge_seconds: age at which a job is given up.
        clock, pause: the time, and how to let it pass.
    """

    def __init__(
        self,
        online: Model,
        jobs: Jobs,
        ledger: Ledger,
        budget: Budget,
        tariff: Tariff,
        *,
        model: str,
        run: str,
        hedge_seconds: float,
        clock: Callable[[], float] = time.time,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.online = online
        self.jobs = jobs
        self.ledger = ledger
        self.budget = budget
        self.tariff = tariff
        self.model = model
        self.run = run
        self.hedge_seconds = hedge_seconds
        self.clock = clock
        self.pause = pause
        self._window: _Window | None = None
        self._collecting: set[asyncio.Task[Answers]] = set()
        self._running: dict[str, asyncio.Task[Answers]] = {}
        self._tidying: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        for name in self.ledger.batches.open(self.model):
            for line in self.ledger.batches.lines(name):
                self.budget.adopt(self.tariff.worst(line.request))
            self._follow(name)
        for name in self.ledger.batches.untidy(self.model):
            self._tidying.append(asyncio.create_task(self._tidy(name)))
        return self

    async def __aexit__(self, *_: object) -> None:
        running = [*self._running.values(), *self._collecting, *self._tidying]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def complete(self, request: Request) -> Completion:
        """The answer of a job, or the online one."""
        answer = None if request.urgent else await self._from_batch(request)
        return await self.online.complete(request) if answer is None else answer

    async def _from_batch(self, request: Request) -> Completion | None:
        line = Line(receipt(request), request)
        name = self.ledger.batches.of(line.key)
        if name == ONLINE:
            return None
        task = self._follow(name) if name is not None else await self._join(line)
        return (await asyncio.shield(task)).get(line.key)

    # -- collecting -------------------------------------------------------------------------

    async def _join(self, line: Line) -> asyncio.Task[Answers]:
        """Put a line into the open window, or into a new one, once the budget has room for it."""
        worst = self.tariff.worst(line.request)
        await self.budget.reserve(worst)
        size = self.jobs.size(line)
        if self._window is not None and self._full(self._window, size):
            self._close(self._window)
        if self._window is None:
            self._window = _Window()
            self._window.task = asyncio.create_task(self._collect(self._window))
            self._collecting.add(self._window.task)
        window = self._window
        if line.key in window.lines:
            self.budget.settle(worst, 0.0)
        else:
            window.lines[line.key] = line
            window.size += size
        assert window.task is not None
        return window.task

    def _full(self, window: _Window, size: int) -> bool:
        return (
            len(window.lines) >= self.jobs.most_lines or window.size + size > self.jobs.most_bytes
        )

    async def _collect(self, window: _Window) -> Answers:
        await self.pause(WINDOW)
        self._close(window)
        return await self._run(window.name)

    def _close(self, window: _Window) -> None:
        """Write a window down as a batch; later requests open another."""
        if window.name:
            return
        with self.ledger.at_once():
            lines = [self._begun(line) for line in window.lines.values()]
            window.name = self.ledger.batches.intend(self.run, self.model, lines, self.clock())
        assert window.task is not None
        self._running[window.name] = window.task
        self._collecting.discard(window.task)
        if self._window is window:
            self._window = None

    def _begun(self, line: Line) -> Line:
        worst = self.tariff.worst(line.request)
        attempt = self.ledger.attempts.begin(line.key, self.model, self.tariff.lane, worst)
        return line._replace(attempt=attempt.made_at)

    def _follow(self, name: str) -> asyncio.Task[Answers]:
        """The task that brings a batch to its end."""
        task = self._running.get(name)
        if task is None or (task.done() and (task.cancelled() or task.exception())):
            task = self._running[name] = asyncio.create_task(self._run(name))
        return task

    # -- from a batch to its answers --------------------------------------------------------

    async def _run(self, name: str) -> Answers:
        lines = self.ledger.batches.lines(name)
        deadline = self.ledger.batches.get(name).made + self.hedge_seconds
        try:
            job = await self._ended(name, lines, deadline)
            read = await self._patiently(lambda: self.jobs.results(job), self.clock() + GRACE)
        except _Late:
            read = None
        answers = self._settle(name, lines, read)
        del self._running[name]
        if read is not None:
            await self._tidy(name)
        return answers

    async def _tidy(self, name: str) -> None:
        """Delete a job's files, for what was in them is kept; trouble is for the next start."""
        try:
            async with asyncio.timeout(TIDY_SECONDS):
                await self.jobs.tidy(self.ledger.batches.get(name).job)
        except (TimeoutError, Trouble, Misconfigured):
            return
        self.ledger.batches.tidied(name)

    async def _ended(self, name: str, lines: Sequence[Line], deadline: float) -> str:
        """The job of a batch, once it ended; a job that found no room is made again."""
        waits = growing()
        while True:
            job = self.ledger.batches.get(name).job or await self._make(name, lines, deadline)
            if await self._end(job, deadline) != "full":
                return job
            self.ledger.batches.found(name, "")
            await self._wait(next(waits), deadline)

    async def _make(self, name: str, lines: Sequence[Line], deadline: float) -> str:
        """Create the job, unless an earlier try, also of a killed process, made it after all."""

        async def find_or_create() -> str:
            if (job := await self.jobs.find(name)) is not None:
                return job
            if self.clock() >= deadline:
                raise _Late
            return await self.jobs.create(name, lines)

        job = await self._patiently(find_or_create, deadline)
        self.ledger.batches.found(name, job)
        return job

    async def _end(self, job: str, deadline: float) -> State:
        """Look at a job until it ended; at the deadline cancel it, and wait a little longer."""
        try:
            return await self._look(job, deadline)
        except _Late:
            last = self.clock() + GRACE
        await self._patiently(lambda: self.jobs.cancel(job), last)
        return await self._look(job, last)

    async def _look(self, job: str, deadline: float) -> State:
        waits = growing()
        while True:
            state = await self._patiently(lambda: self.jobs.look(job), deadline)
            if state != "running":
                return state
            await self._wait(next(waits), deadline)

    async def _patiently(self, call: Callable[[], Awaitable[T]], deadline: float) -> T:
        """Call until it works; trouble that does not pass propagates."""
        waits = growing()
        while True:
            try:
                async with asyncio.timeout(CALL_SECONDS):
                    return await call()
            except TimeoutError:
                told = None
            except Trouble as error:
                if not error.retryable:
                    raise
                told = error.seen.after
            await self._wait(max(next(waits), told or 0.0), deadline)

    async def _wait(self, seconds: float, deadline: float) -> None:
        left = deadline - self.clock()
        if left <= 0:
            raise _Late
        await self.pause(min(seconds, left))

    def _settle(self, name: str, lines: Sequence[Line], read: Sequence[Result] | None) -> Answers:
        """Book and record what a job came to; one that was not read may be billed all the same."""
        found: dict[str, list[Result]] = {}
        for result in read or ():
            found.setdefault(result.id, []).append(result)
        batch = self.ledger.batches.get(name)
        unread = read is None and batch.job != ""
        begun = time.monotonic() - (self.clock() - batch.made)
        answers: dict[Key, Completion] = {}
        costs: list[tuple[float, float]] = []
        with self.ledger.at_once():
            for line in lines:
                worst = self.tariff.worst(line.request)
                outcome, answer = verdict(line.request, found.get(line.id, ()), self.tariff)
                outcome = outcome._replace(risk=worst) if unread else outcome
                self.ledger.attempts.end(Attempt(line.key, line.attempt, begun), outcome)
                costs.append((worst, outcome.cost + outcome.risk))
                if answer is not None:
                    if not self.ledger.knows(line.key):  # by a merge: the first answer counts
                        self.ledger.keep(line.key, KIND, line.request, answer)
                    answers[line.key] = answer
            self.ledger.batches.settle(name, answers)
        for worst, cost in costs:
            self.budget.settle(worst, cost)
        return answers
