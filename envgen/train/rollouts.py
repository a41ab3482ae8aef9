"""Groups of episodes, in work while the trainer steps, until they fill a batch.

`Source` says which task is next, `Rollouts` keeps so many groups in work, and its `batch` takes
what is finished, judges it, and asks for more until there are enough useful groups. There is no
producer that could die unseen: every group is a task of its own whose end, good or bad, arrives in
the one queue that the trainer reads.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from envgen.config import TrainConfig
from envgen.errors import Weather
from envgen.plural import many
from envgen.sandbox.pool import Gauge
from envgen.train.batch import Group, Outcome, Rollout, Row, judged

Play = Callable[[str, int, int], Awaitable[Rollout]]
"""One episode: of a task, by the number of its group and its own number in it."""
CHANCES = 3
"""Times that a task whose group was masked is asked again before the next task takes its place."""


class NoBatch(Weather):
    """No batch came together in the set time."""

    code = "no_batch"
    retryable = False
    stops = True


@dataclass
class Source:
    """Tasks in an endless order that its seed fixes: all of them, then all in another order.

    Attributes:
        tasks: names, already in order of difficulty where that is asked for.
        seed: of the order.
        shuffled: whether each pass has an order of its own.
        begun: groups begun so far.
        taken: tasks drawn from the order so far.
        open: groups that were begun and are not consumed, by number.
        again: groups to be begun before any new one: number (None for a new one), task, and how
            often it was asked already.
    """

    tasks: Sequence[str]
    seed: int
    shuffled: bool = True
    begun: int = 0
    taken: int = 0
    open: dict[int, tuple[str, int]] = field(default_factory=dict)
    again: list[tuple[int | None, str, int]] = field(default_factory=list)

    def next(self) -> tuple[int, str]:
        """The number of a new group, and its task."""
        if self.again:
            number, task, chances = self.again.pop(0)
        else:
            number, task, chances = None, self._drawn(), 0
            self.taken += 1
        if number is None:
            number = self.begun
            self.begun += 1
        self.open[number] = (task, chances)
        return number, task

    def _drawn(self) -> str:
        turn, place = divmod(self.taken, len(self.tasks))
        if not self.shuffled:
            return self.tasks[place]
        order = list(self.tasks)
        Random(f"{self.seed}:{turn}").shuffle(order)
        return order[place]

    def done(self, number: int, *, again: bool = False) -> None:
        """A group is consumed; or its task is asked again, a bounded number of times."""
        task, chances = self.open.pop(number)
        if again and chances < CHANCES:
            self.again.append((None, task, chances + 1))

    def state(self) -> dict[str, Any]:
        """What a later process needs to go on: what was in work is begun anew, as it was."""
        waiting = [(number, *self.open[number]) for number in sorted(self.open)]
        return {"begun": self.begun, "taken": self.taken, "again": [*waiting, *self.again]}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state, without tasks that are not to be drawn (any more)."""
        known = set(self.tasks)
        self.again = [
            (number, task, chances) for number, task, chances in state["again"] if task in known
        ]
        self.begun, self.taken = state["begun"], state["taken"]
        self.open = {}


@dataclass(frozen=True)
class Batch:
    """What one optimiser step is made of, and what was left out on the way to it."""

    rows: tuple[Row, ...]
    groups: tuple[Group, ...]
    """All groups that were looked at, in the order in which they came."""
    outcomes: tuple[Outcome, ...]
    """Of those groups."""

    @property
    def counts(self) -> dict[str, int]:
        return dict(Counter(self.outcomes))

    @property
    def faults(self) -> dict[str, int]:
        """Rollouts that were left out, by the first word of the reason."""
        reasons = (r.unusable for group in self.groups for r in group.rollouts)
        return dict(Counter(reason.split(":")[0] for reason in reasons if reason))


async def gathered(plays: Iterable[Awaitable[Rollout]]) -> list[Rollout]:
    """All of them at once; when one fails, none goes on."""
    tasks = [asyncio.ensure_future(play) for play in plays]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class Rollouts:
    """Groups in work. Use as a context: leaving it cancels what is still running.

    Args:
        source: which task is next.
        play: plays an episode.
        settings: of the training.
    """

    def __init__(self, source: Source, play: Play, settings: TrainConfig) -> None:
        self.source = source
        self.play = play
        self.settings = settings
        self._running: set[asyncio.Task[Group]] = set()
        self._ended: asyncio.Queue[asyncio.Task[Group]] = asyncio.Queue()
        batch = settings.group * settings.groups
        self._gauge = Gauge(window=batch, least=batch)

    async def __aenter__(self) -> "Rollouts":
        self._fill()
        return self

    async def __aexit__(self, *_: object) -> None:
        left = list(self._running)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        while not self._ended.empty():  # whoever leaves has its own reason
            self._ended.get_nowait().exception()

    async def batch(self, version: int) -> Batch:
        """The next full batch, at the optimiser step `version`.

        Raises:
            NoBatch: it did not come together in `alarm_seconds`.
            TooManyFaults: more than half of the recent rollouts gave nothing to train on.
            Whatever ended a group.
        """
        rows: list[Row] = []
        seen: list[tuple[Group, Outcome]] = []
        useful = 0
        try:
            async with asyncio.timeout(self.settings.alarm_seconds):
                while useful < self.settings.groups:
                    self._fill()
                    group = (await self._ended.get()).result()
                    self._gauge.check()  # masking alone would let it go on with next to nothing
                    outcome, of_group = judged(group, version, self.settings.stale)
                    self.source.done(group.number, again=outcome in ("masked", "stale"))
                    seen.append((group, outcome))
                    rows += of_group
                    useful += outcome == "useful"
        except TimeoutError:
            raise NoBatch(self._why(seen, useful)) from None
        self._fill()
        return Batch(tuple(rows), tuple(g for g, _ in seen), tuple(o for _, o in seen))

    def _fill(self) -> None:
        """Groups in work or waiting, up to the bound."""
        while len(self._running) + self._ended.qsize() < self.settings.ahead * self.settings.groups:
            number, task = self.source.next()
            group = asyncio.create_task(self._group(number, task), name=f"group {number}: {task}")
            self._running.add(group)
            group.add_done_callback(self._end)

    def _end(self, group: "asyncio.Task[Group]") -> None:
        self._running.discard(group)
        if not group.cancelled():
            self._ended.put_nowait(group)

    async def _group(self, number: int, task: str) -> Group:
        members = range(self.settings.group)
        rollouts = await gathered(self.play(task, number, member) for member in members)
        for rollout in rollouts:
            self._gauge.note(rollout.unusable.partition(":")[0])
        return Group(task, number, tuple(rollouts))

    def _why(self, seen: Sequence[tuple[Group, Outcome]], useful: int) -> str:
        counts = ", ".join(f"{n} {o}" for o, n in Counter(o for _, o in seen).items()) or "none"
        return (
            f"no batch came together in {self.settings.alarm_seconds:g} s: "
            f"{many(useful, 'useful group')} of {self.settings.groups}; groups that ended: "
            f"{counts}; in work: {len(self._running)}. Tasks that are never or always solved teach "
            "nothing: see the pass rates, or raise train.alarm_seconds"
        )
