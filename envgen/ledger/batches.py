"""Which request waits in which batch: written before a job is made, so that a killed run finds it.

A line is deleted when its answer is an effect. A line that its batch did not answer stays, and says
that its request goes online. A batch is open, then settled, then tidy: its files are deleted too.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from envgen.digest import digest, short
from envgen.ledger.disk import room
from envgen.records import Key, Request

TABLES = """
CREATE TABLE IF NOT EXISTS batches (
  number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, model TEXT NOT NULL,
  job TEXT NOT NULL DEFAULT '', made REAL NOT NULL, settled INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS batch_lines (
  key TEXT PRIMARY KEY, batch TEXT NOT NULL, request TEXT NOT NULL, echo TEXT NOT NULL,
  attempt TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS lines_by_batch ON batch_lines (batch);
"""
SETTLED, TIDY = 1, 2
"""How far a batch is; 0 = open."""
ONLINE = ""
"""The batch of a request that its batch did not answer."""


class Line(NamedTuple):
    """One request in a batch, under its ledger key."""

    key: Key
    request: Request
    attempt: str = ""
    """When its attempt was begun (`Attempt.made_at`)."""

    @property
    def id(self) -> str:
        """The key without its tag: 64 hex characters, which every provider takes for a name."""
        return self.key.rpartition(":")[2]


class Batch(NamedTuple):
    """A batch as it was written down."""

    name: str
    """Ours; the job carries it, and is found by it."""
    job: str
    """The provider's; empty while no job is known."""
    made: float
    """When it was written down, in seconds of the lane's clock."""


class Batches:
    """The tables `batches` and `batch_lines` of a ledger."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self._db = db
        self._path = path

    def intend(self, run: str, model: str, lines: Sequence[Line], now: float) -> str:
        """Write down a batch before anything is sent; within a transaction.

        Args:
            run: sets the name apart from those of other runs under the same API key.
            model: of all the lines.
            lines: what waits in it.
            now: seconds of the lane's clock.

        Returns:
            Its name, which no other batch has: a digest of the run, a number and the keys.
        """
        counted = self._db.execute("SELECT COALESCE(MAX(number), 0) + 1 FROM batches")
        number = int(counted.fetchone()[0])
        name = f"envgen-{short(digest([run, number, sorted(x.key for x in lines)]), 24)}"
        self._db.execute(
            "INSERT INTO batches (number, name, model, made) VALUES (?, ?, ?, ?)",
            (number, name, model, now),
        )
        self._db.executemany(
            "INSERT INTO batch_lines VALUES (?, ?, ?, ?, ?)",
            [(x.key, name, x.request.identity, x.request.echo, x.attempt) for x in lines],
        )
        return name

    def open(self, model: str) -> list[str]:
        """Names of the batches of a model that are not settled, the oldest first."""
        query = "SELECT name FROM batches WHERE NOT settled AND model = ? ORDER BY number"
        return [name for (name,) in self._db.execute(query, (model,))]

    def untidy(self, model: str) -> list[str]:
        """Names of the settled batches of a model whose files may still be with the provider."""
        query = "SELECT name FROM batches WHERE settled = ? AND job <> '' AND model = ?"
        return [name for (name,) in self._db.execute(query, (SETTLED, model))]

    def tidied(self, name: str) -> None:
        """Note that the files of a settled batch are gone."""
        with room(self._path):
            self._db.execute("UPDATE batches SET settled = ? WHERE name = ?", (TIDY, name))

    def get(self, name: str) -> Batch:
        """What is known of a batch."""
        query = "SELECT name, job, made FROM batches WHERE name = ?"
        return Batch(*self._db.execute(query, (name,)).fetchone())

    def of(self, key: Key) -> str | None:
        """The batch that a request waits in; `ONLINE`, or None where it never was in one."""
        query = "SELECT batch FROM batch_lines WHERE key = ?"
        row = self._db.execute(query, (key,)).fetchone()
        return None if row is None else str(row[0])

    def lines(self, name: str) -> list[Line]:
        """What waits in a batch."""
        query = "SELECT key, request, echo, attempt FROM batch_lines WHERE batch = ? ORDER BY key"
        return [
            Line(key, Request.model_validate_json(text).model_copy(update={"echo": echo}), attempt)
            for key, text, echo, attempt in self._db.execute(query, (name,))
        ]

    def found(self, name: str, job: str) -> None:
        """Note the provider's name of the job; empty when it has to be made again."""
        with room(self._path):
            self._db.execute("UPDATE batches SET job = ? WHERE name = ?", (job, name))

    def settle(self, name: str, answered: Iterable[Key]) -> None:
        """Close a batch whose answers are effects by now; its other requests go online. Within the
        transaction that records the answers."""
        self._db.executemany("DELETE FROM batch_lines WHERE key = ?", [(key,) for key in answered])
        self._db.execute("UPDATE batch_lines SET batch = ? WHERE batch = ?", (ONLINE, name))
        self._db.execute("UPDATE batches SET settled = ? WHERE name = ?", (SETTLED, name))

    def merge(self, other: "Batches") -> None:
        """Take over another ledger's batches, within a transaction and after its effects.

        An open one is followed from here on, by the name under which its job was made. What either
        ledger settled is settled; a request that waits in a batch here goes on waiting there.
        """
        columns = "name, model, job, made, settled"
        self._db.executemany(
            f"INSERT INTO batches ({columns}) VALUES (?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE "
            "SET settled = MAX(settled, excluded.settled), job = MAX(job, excluded.job)",
            other._db.execute(f"SELECT {columns} FROM batches ORDER BY number"),
        )
        self._db.executemany(
            "INSERT OR IGNORE INTO batch_lines VALUES (?, ?, ?, ?, ?)",
            other._db.execute("SELECT * FROM batch_lines"),
        )
        done = "batch IN (SELECT name FROM batches WHERE settled)"
        self._db.execute(
            f"DELETE FROM batch_lines WHERE {done} AND key IN (SELECT key FROM effects)"
        )
        self._db.execute(f"UPDATE batch_lines SET batch = ? WHERE {done}", (ONLINE,))
