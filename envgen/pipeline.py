"""Whole runs: `produce` one task; `run` many of them under a bound.

The program reads like its description: a spec is authored, the draft goes through the gates, may
be mended after what they saw, and what comes out is a built task or a rejection. An imported draft
begins at the gates. The ledger makes a second run free, so there is no other notion of being done.
"""

import asyncio
import traceback
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from envgen.audit import audit
from envgen.authors import author, rounds
from envgen.build import build
from envgen.errors import Fault, ImageMissing, Misconfigured, Weather
from envgen.grade import image_request
from envgen.kit import Kit
from envgen.records import AuditReport, BuiltTask, Rejection, TaskDraft, TaskSpec

A = TypeVar("A")
B = TypeVar("B")
Item = TaskSpec | TaskDraft | Rejection
"""What a run is made of: specs to author; or, of an import, drafts and the reasons for none."""
S = TypeVar("S", bound="Named")

GIVE_UP = 8
"""Tasks in a row that weather or a bug may end before the run stops feeding new ones."""


class Named(Protocol):
    """What a step takes: anything with a name to report it by."""

    @property
    def slug(self) -> str: ...


class Items(Protocol):
    """Many of them, counted beforehand and gone through any number of times."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Item]: ...


async def produce(item: Item, kit: Kit) -> BuiltTask | Rejection:
    """One task from what there is of it: a built task, or the rejection that says why not."""
    if isinstance(item, Rejection):
        return item
    return await (proven(item, kit) if isinstance(item, TaskDraft) else _written(item, kit))


async def _written(spec: TaskSpec, kit: Kit) -> BuiltTask | Rejection:
    """What a gate saw goes back to an author who can mend, a bounded number of times."""
    trail: list[Rejection] = []
    while True:
        draft = await authored(spec, kit, trail)
        if isinstance(draft, Rejection):
            return draft
        outcome = await proven(draft, kit)
        if isinstance(outcome, BuiltTask) or len(trail) >= rounds(kit):
            return outcome
        trail.append(outcome)


async def authored(
    spec: TaskSpec, kit: Kit, trail: Sequence[Rejection] = ()
) -> TaskDraft | Rejection:
    """The author's draft; what an author cannot do is a rejection."""
    try:
        return await author(spec, kit, trail)
    except Fault as fault:
        return Rejection(
            spec=spec,
            slug=spec.slug,
            step="author",
            code=fault.code,
            detail=fault.detail,
            proof=fault.proof,
        )


async def audited(item: Item, kit: Kit) -> AuditReport | Rejection:
    """The audit of one task, made (or recalled) from what there is of it."""
    task = await produce(item, kit)
    return task if isinstance(task, Rejection) else await audit(task, kit)


async def proven(draft: TaskDraft, kit: Kit) -> BuiltTask | Rejection:
    """The draft after its gates, with its image in the engine.

    Receipts are recalled from the ledger; an image that the engine has lost since is built again,
    and where its content is then another, everything that ran in it runs again.
    """
    for _ in range(2):
        try:
            task = await build(draft, kit)
        except ImageMissing:
            pass
        else:
            if isinstance(task, Rejection) or kit.sandbox.engine.has(task.image):
                return task
        base = await kit.bases.get(draft.environment.base, draft.environment.packages)
        kit.sandbox.forget_image(image_request(draft, base))
    raise ImageMissing(f"the engine keeps losing the image of {draft.slug}")


@dataclass(frozen=True)
class Unfinished:
    """A task that trouble outside of it ended; running again takes it up."""

    slug: str
    reason: str
    bug: bool = False
    stops: bool = False
    """Every other task would meet it as well."""


Outcome = BuiltTask | Rejection | Unfinished


@dataclass
class Stop:
    """Asks a run to end: `drain` finishes what is in work and starts nothing more."""

    drain: bool = False
    _in_a_row: int = field(default=0)

    def saw(self, outcome: object) -> None:
        """When everything fails for outside reasons, feeding more makes it no better."""
        if not isinstance(outcome, Unfinished):
            self._in_a_row = 0
            return
        self._in_a_row += 1
        if outcome.stops or self._in_a_row >= GIVE_UP:
            self.drain = True


async def run(
    items: Iterable[S],
    kit: Kit,
    stop: Stop,
    step: Callable[[S, Kit], Awaitable[A]],
) -> AsyncGenerator[tuple[int, A | Unfinished], None]:
    """Take many items through a step (`produce`, `authored`), in order of completion.

    Yields an item's number, from 0 in their order, and what became of it.

    The one place that catches what nobody expected: a bug ends its task with a traceback, not the
    run. Misconfigured ends the run, for every other task would meet it too.
    """

    async def guarded(numbered: tuple[int, S]) -> tuple[int, A | Unfinished]:
        number, item = numbered
        try:
            return number, await step(item, kit)
        except Weather as weather:
            reason = f"{weather.code}: {weather}"
            return number, Unfinished(item.slug, reason, stops=weather.stops)
        except Misconfigured:
            raise
        except Exception:  # noqa: BLE001 - the one catcher
            return number, Unfinished(item.slug, traceback.format_exc(), bug=True)

    limit = kit.config.engine.in_flight
    async with aclosing(bounded(guarded, enumerate(items), limit, stop)) as outcomes:
        async for number, outcome in outcomes:
            stop.saw(outcome)
            yield number, outcome


async def bounded(
    call: Callable[[A], Awaitable[B]], items: Iterable[A], limit: int, stop: Stop
) -> AsyncGenerator[B, None]:
    """`call` over items, at most `limit` at once, results as they come; an error ends the rest.

    Whoever may stop early closes it (`aclosing`), so that nothing is left running behind.
    """
    waiting, done, rest = set[asyncio.Future[B]](), set[asyncio.Future[B]](), iter(items)
    try:
        while True:
            while len(waiting) < limit and not stop.drain:
                try:
                    item = next(rest)
                except StopIteration:
                    break
                waiting.add(asyncio.ensure_future(call(item)))
            if not waiting:
                return
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for future in done:
                yield future.result()
    finally:
        for future in waiting:
            future.cancel()
        await asyncio.gather(*waiting, *done, return_exceptions=True)
