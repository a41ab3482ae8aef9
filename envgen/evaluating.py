"""Evaluations: a policy plays the tasks of a run k times each, and what that comes to.

Episodes are effects in the ledger. Called again, an evaluation recalls those that are there and
plays the rest: what was in flight, and what ended in a fault.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import NamedTuple

from envgen import evaluated
from envgen.agent.detecting import flags
from envgen.agent.episode import episode
from envgen.agent.players import check, player
from envgen.axes import AXES
from envgen.errors import Misconfigured
from envgen.export import parquet, rollouts
from envgen.grade import solve
from envgen.kit import Kit
from envgen.ledger import Use
from envgen.pipeline import Item, Items, Stop, produce
from envgen.pipeline import run as run_all
from envgen.records import BuiltTask, Episode, Flag, Rejection, TaskDraft
from envgen.runs import RunFolder, crash
from envgen.sandbox.pool import Pool
from envgen.spool import Spool
from envgen.submission import check_gradable
from envgen.tally import Tally

Where = Mapping[str, frozenset[str]]
"""Values by axis; of each axis, one must be a task's."""


class Sample(NamedTuple):
    """One attempt to be made."""

    item: Item
    number: int

    @property
    def slug(self) -> str:
        return self.item.slug


class Played(NamedTuple):
    """An attempt that was made."""

    task: BuiltTask
    episode: Episode
    flags: tuple[Flag, ...]


def where_of(words: Sequence[str]) -> Where:
    """`axis=value` or `axis=value,value`, each. Misconfigured when it is none of these."""
    found: dict[str, frozenset[str]] = {}
    for word in words:
        axis, equals, values = word.partition("=")
        if axis not in AXES or not equals:
            raise Misconfigured(
                f"--where {word!r}: write AXIS=VALUE or AXIS=VALUE,VALUE; axes are "
                + ", ".join(AXES)
            )
        found[axis] = frozenset(value.strip() for value in values.split(","))
    return found


def chosen(folder: RunFolder, items: Items, where: Where, limit: int | None) -> list[Item]:
    """The items of a run's manifest that are wanted, in its order; repaired ones as they are now.

    Raises:
        Misconfigured: no manifest, nothing is left, or a task that cannot be graded.
    """
    if not folder.manifest.exists():
        raise Misconfigured(
            f"run {folder.path.name!r} has no manifest: `envgen run` makes the tasks first"
        )
    rows = list(parquet.read(folder.manifest, ["task", "revision", *where]))
    meant = [row for row in rows if all(_has(row[a], v) for a, v in where.items())]
    names = {row["task"] for row in meant}
    known = {item.slug: item for item in items if item.slug in names}
    meant = [row for row in meant if row["revision"] or row["task"] in known][:limit]
    known |= _revised(folder, {row["task"] for row in meant if row["revision"]})
    found = [known[row["task"]] for row in meant]
    if not found:
        values = {a: sorted({x for row in rows for x in _values(row[a])}) for a in where}
        told = "; ".join(f"{a} is {', '.join(seen)}" for a, seen in values.items())
        raise Misconfigured(
            f"no task of run {folder.path.name!r} is meant" + (told and f": {told}")
        )
    for item in found:
        if isinstance(item, TaskDraft):
            check_gradable(item)
    return found


def _revised(folder: RunFolder, names: set[str]) -> dict[str, Item]:
    """Drafts as the manifest has them. What a repair made of a task is nowhere else."""
    if not names:
        return {}
    rows = parquet.read(folder.manifest, ["task", "archive", "archive_sha256"])
    return {row["task"]: parquet.draft_of(row) for row in rows if row["task"] in names}


def _values(cell: object) -> tuple[str, ...]:
    return tuple(cell) if isinstance(cell, list) else (str(cell),)


def _has(cell: object, values: frozenset[str]) -> bool:
    return not values.isdisjoint(_values(cell))


@dataclass
class Evaluation:
    """Samples of items, as a step for `run`.

    Attributes:
        kit: its configuration says who plays.
        k: attempts at each task.
        pool: of sandboxes.
    """

    kit: Kit
    k: int
    pool: Pool
    _tasks: dict[str, asyncio.Task[BuiltTask | Rejection]] = field(default_factory=dict)
    _left: Counter[str] = field(default_factory=Counter)

    def samples(self, items: Sequence[Item]) -> Iterator[Sample]:
        """All attempts, task by task."""
        return (Sample(item, number) for item in items for number in range(self.k))

    async def played(self, sample: Sample, kit: Kit) -> Played | Rejection:
        """Play one. Rejection when the task does not pass its gates any more."""
        task = await self._task(sample)
        if isinstance(task, Rejection):
            return task
        models = {role: asked.model for role, asked in kit.llm.items()}
        who = player(kit.config.agent, models, task.draft)
        done = await episode(task.draft, task.image, who, self.pool, kit, sample.number)
        return Played(task, done, await self._flags(task, done))

    async def _flags(self, task: BuiltTask, done: Episode) -> tuple[Flag, ...]:
        """What is worth a look, beside what the reference does: its gate is recalled."""
        if done.trajectory is None:
            return ()
        draft, reference = task.draft, None
        if "solve.sh" in draft.solution:
            use = Use(draft.slug, "reference")  # the gate's own: `forget --step eval` leaves it
            _, solved = await solve(draft, task.image, draft.solution, self.kit, use)
            reference = solved.captured
        return flags(task, done.trajectory, reference, self.kit.sandbox.blobs)

    async def _task(self, sample: Sample) -> BuiltTask | Rejection:
        """The task of a sample: recalled once for all samples of it."""
        slug = sample.slug
        if slug not in self._tasks:
            self._tasks[slug] = asyncio.create_task(produce(sample.item, self.kit))
        made = self._tasks[slug]
        self._left[slug] += 1
        if self._left[slug] == self.k:
            del self._tasks[slug], self._left[slug]
        return await asyncio.shield(made)


async def evaluate(
    folder: RunFolder,
    items: Sequence[Item],
    k: int,
    kit: Kit,
    stop: Stop,
    watch: Callable[[Tally], None] = lambda tally: None,
) -> Tally:
    """Play every item k times; write `rollouts/` and `pass_at_k` of the manifest.

    In the tally, kept are the episodes that passed; the others are counted as `failed`, `invalid`
    (the grader gave no verdict), `faults` (ours, and played again next time) or `gates`.
    """
    check(kit.config.agent)
    tally = Tally(k * len(items), good="passed")
    evaluation = Evaluation(kit, k, Pool(kit.sandbox.engine, kit.config.engine.in_flight))
    rows, new = Spool(folder.path), set[tuple[str, int]]()
    path = evaluated.file_of(folder.rollouts, kit.config.agent).path
    try:
        samples = evaluation.samples(items)
        async with aclosing(run_all(samples, kit, stop, evaluation.played)) as outcomes:
            async for number, outcome in outcomes:
                if isinstance(outcome, Played):
                    rows.add(number, rollouts.row(*outcome))
                    new.add((outcome.episode.slug, outcome.episode.play.sample))
                    _count(tally, outcome.episode)
                elif isinstance(outcome, Rejection):
                    tally.rejected["gates"] += 1
                else:
                    tally.count(outcome)
                    crash(folder, outcome)
                watch(tally)
                await asyncio.sleep(0)
        if new:
            rollouts.write(path, rows.rows(), new)
            rollouts.note_manifest(folder.manifest, folder.rollouts)
    finally:
        rows.close()
    return tally


def _count(tally: Tally, done: Episode) -> None:
    if done.passed:
        tally.kept += 1
    elif done.fault:
        tally.rejected["faults"] += 1
        tally.last_trouble = done.fault
    elif done.valid:
        tally.rejected["failed"] += 1
    else:
        tally.rejected["invalid"] += 1
