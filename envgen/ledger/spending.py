"""What effects took: seconds, tokens and dollars, by step and by task."""

import sqlite3
from typing import NamedTuple

_STEPS = """
SELECT kind, step, COUNT(*), SUM(seconds), SUM(tokens), SUM(cost) FROM
(SELECT DISTINCT e.key, kind, step, seconds, tokens, cost
 FROM effects e JOIN uses u ON u.key = e.key)
GROUP BY kind, step ORDER BY 4 DESC
"""
_TASKS = """
SELECT task, SUM(seconds), SUM(cost) FROM
(SELECT DISTINCT u.task, e.key, seconds, cost FROM effects e JOIN uses u ON u.key = e.key)
GROUP BY task
"""
_SLOWEST = """
SELECT MIN(u.task), e.seconds FROM effects e JOIN uses u ON u.key = e.key
WHERE e.kind = ? AND u.step = ? GROUP BY e.key ORDER BY e.seconds DESC LIMIT ?
"""


class StepCost(NamedTuple):
    """All effects of one kind that one step asked for."""

    kind: str
    step: str
    times: int
    seconds: float
    tokens: int
    dollars: float


class TaskCost(NamedTuple):
    """All effects that one task asked for; what several share counts for each."""

    task: str
    seconds: float
    dollars: float


class Slow(NamedTuple):
    """One effect, and a task that asked for it."""

    task: str
    seconds: float


class Spending:
    """What a ledger's effects took when they were made."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def by_step(self) -> tuple[StepCost, ...]:
        """The step that took longest first."""
        return tuple(StepCost(*row) for row in self._db.execute(_STEPS))

    def by_task(self) -> tuple[TaskCost, ...]:
        """In the order of their names."""
        return tuple(TaskCost(*row) for row in self._db.execute(_TASKS))

    def slowest(self, kind: str, step: str, most: int) -> tuple[Slow, ...]:
        """At most `most` effects of a kind and step, the longest first."""
        return tuple(Slow(*row) for row in self._db.execute(_SLOWEST, (kind, step, most)))

    def seconds(self, *kinds: str) -> float:
        """Seconds of all effects of these kinds, each once however many steps asked for it."""
        marks = ", ".join("?" * len(kinds))
        query = f"SELECT COALESCE(SUM(seconds), 0) FROM effects WHERE kind IN ({marks})"
        return float(self._db.execute(query, kinds).fetchone()[0])
