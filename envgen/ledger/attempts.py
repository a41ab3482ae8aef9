"""Every attempt at asking a model, as it is billed: also those that failed or were cut.

A row is written before the call (the intent) and completed after it, so what was in flight when a
run was killed shows as `unknown`: the provider may have billed it. Nothing here is ever deleted.
"""

import sqlite3
import time
from pathlib import Path
from typing import NamedTuple

from envgen.ledger.disk import room
from envgen.records import Key, Usage

TABLE = """
CREATE TABLE IF NOT EXISTS attempts (
  key TEXT NOT NULL, made_at TEXT NOT NULL, model TEXT NOT NULL, lane TEXT NOT NULL,
  outcome TEXT NOT NULL DEFAULT 'unknown', detail TEXT NOT NULL DEFAULT '',
  input INTEGER NOT NULL DEFAULT 0, cached INTEGER NOT NULL DEFAULT 0,
  output INTEGER NOT NULL DEFAULT 0, thinking INTEGER NOT NULL DEFAULT 0,
  cost REAL NOT NULL DEFAULT 0, risk REAL NOT NULL DEFAULT 0, seconds REAL NOT NULL DEFAULT 0,
  PRIMARY KEY (key, made_at)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS addresses (model TEXT PRIMARY KEY, url TEXT NOT NULL) WITHOUT ROWID;
"""
ENDED = (
    *("outcome", "detail", "input", "cached", "output", "thinking"),
    *("cost", "risk", "seconds"),
)
"""Columns that the end of an attempt fills in."""
BILLED = (
    "(SELECT COALESCE(SUM(input + output), 0) FROM attempts WHERE key = ?1), "
    "(SELECT COALESCE(SUM(cost), 0) FROM attempts WHERE key = ?1)"
)
"""SQL: tokens and dollars of all attempts at one request."""


class Attempt(NamedTuple):
    """One attempt that was begun."""

    key: Key
    made_at: str
    started: float


class Outcome(NamedTuple):
    """What one attempt came to."""

    outcome: str
    """How the answer finished (`stop`, `length`, ...), or the class of the trouble."""
    usage: Usage = Usage()
    cost: float = 0.0
    """Dollars billed, by the usage that was told."""
    risk: float = 0.0
    """Dollars that may have been billed without a word."""
    detail: str = ""


class Spent(NamedTuple):
    """All attempts at one model in one lane that came to the same."""

    model: str
    lane: str
    outcome: str
    attempts: int
    input: int
    cached: int
    output: int
    thinking: int
    cost: float
    risk: float
    seconds: float


class Attempts:
    """The table `attempts` of a ledger."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self._db = db
        self._path = path

    def begin(self, key: Key, model: str, lane: str, risk: float) -> Attempt:
        """Write the intent, before the call.

        Args:
            key: of the request.
            model: provider and name.
            lane: `online`, `flex` or `batch`.
            risk: the most that it can cost, in dollars.
        """
        seconds, nanos = divmod(time.time_ns(), 10**9)
        made_at = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{nanos:09d}Z"
        with room(self._path):
            self._db.execute(
                "INSERT INTO attempts (key, made_at, model, lane, risk) VALUES (?, ?, ?, ?, ?)",
                (key, made_at, model, lane, risk),
            )
        return Attempt(key, made_at, time.monotonic())

    def end(self, attempt: Attempt, came_to: Outcome) -> None:
        """Write the outcome, before anything else is done with the answer."""
        usage = came_to.usage
        with room(self._path):
            self._db.execute(
                "UPDATE attempts SET outcome = ?, detail = ?, input = ?, cached = ?, output = ?, "
                "thinking = ?, cost = ?, risk = ?, seconds = ? WHERE key = ? AND made_at = ?",
                (
                    *(came_to.outcome, came_to.detail),
                    *(usage.input, usage.cached, usage.output, usage.thinking),
                    *(came_to.cost, came_to.risk, time.monotonic() - attempt.started),
                    *(attempt.key, attempt.made_at),
                ),
            )

    def spent(self) -> tuple[float, float]:
        """Dollars billed, and dollars that may have been billed without a word."""
        row = self._db.execute(
            "SELECT COALESCE(SUM(cost), 0.0), COALESCE(SUM(risk), 0.0) FROM attempts"
        ).fetchone()
        return float(row[0]), float(row[1])

    def table(self) -> list[Spent]:
        """What was asked and paid, by model, lane and outcome; the dearest first."""
        rows = self._db.execute(
            "SELECT model, lane, outcome, COUNT(*), SUM(input), SUM(cached), SUM(output), "
            "SUM(thinking), SUM(cost), SUM(risk), SUM(seconds) FROM attempts "
            "GROUP BY model, lane, outcome ORDER BY SUM(cost) DESC, COUNT(*) DESC, outcome"
        )
        return [Spent(*row) for row in rows]

    def moved(self, model: str, url: str) -> str:
        """Note where a model is asked from now on; where it was before, if that was elsewhere.

        Args:
            model: provider and name.
            url: a server of one's own; empty = the provider's.
        """
        query = "SELECT url FROM addresses WHERE model = ?"
        row = self._db.execute(query, (model,)).fetchone()
        with room(self._path):
            self._db.execute("INSERT OR REPLACE INTO addresses VALUES (?, ?)", (model, url))
        before = url if row is None else str(row[0])
        return "" if before == url else before or "the provider's"

    def merge(self, other: "Attempts") -> None:
        """Take over another ledger's attempts, within a transaction; what is known of one here
        stays, unless it was only begun."""
        self._db.executemany(
            f"INSERT INTO attempts VALUES ({', '.join('?' * 13)}) ON CONFLICT (key, made_at) "
            f"DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in ENDED)} "
            "WHERE attempts.outcome = 'unknown'",
            other._db.execute("SELECT * FROM attempts"),
        )
