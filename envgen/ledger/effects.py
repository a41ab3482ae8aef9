"""What was executed, by the digest of its request, and who used it."""

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple, TypeVar

from envgen.digest import digest
from envgen.errors import Misconfigured
from envgen.ledger.attempts import BILLED, TABLE, Attempts
from envgen.ledger.batches import TABLES, Batches
from envgen.ledger.blobs import Blobs
from envgen.ledger.disk import room
from envgen.records import Key, Record

SCHEMA = 2
_TABLES = """
CREATE TABLE IF NOT EXISTS effects (
  key TEXT PRIMARY KEY, kind TEXT NOT NULL, request TEXT NOT NULL, response TEXT NOT NULL,
  seconds REAL NOT NULL, tokens INTEGER NOT NULL DEFAULT 0, cost REAL NOT NULL DEFAULT 0,
  made_at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS uses (
  task TEXT NOT NULL, step TEXT NOT NULL, key TEXT NOT NULL,
  PRIMARY KEY (task, step, key)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS uses_by_key ON uses (key);
CREATE TABLE IF NOT EXISTS retries (task TEXT PRIMARY KEY, times INTEGER NOT NULL) WITHOUT ROWID;
"""

R = TypeVar("R", bound=Record)


class Use(NamedTuple):
    """On whose behalf the edge is asked."""

    task: str
    step: str


class Ledger:
    """`once(kind, request, call)`: recall, or do and record."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / "ledger.sqlite"
        self.blobs = Blobs(folder / "blobs")
        self.recalled = self.made = 0
        self._in_flight: dict[Key, asyncio.Future[str]] = {}
        try:
            self._db = _open(self.path)
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError as error:
            raise _unreadable(self.path, error) from error
        self.attempts = Attempts(self._db, self.path)
        self.batches = Batches(self._db, self.path)

    async def once(
        self,
        kind: str,
        request: Record,
        call: Callable[[], Awaitable[R]],
        use: Use,
        model: type[R],
        turn: AbstractAsyncContextManager[object] | None = None,
    ) -> tuple[Key, R]:
        """The recorded response to a request; calls only when there is none.

        Tasks that ask for the same thing at the same time share one call (single flight).

        Args:
            turn: held during the call; waiting for it does not count as seconds of the effect.
        """
        key = key_of(kind, request)
        recorded = self._get(key)
        if recorded is None and key in self._in_flight:
            recorded = await asyncio.shield(self._in_flight[key])
        if recorded is not None:
            self.recalled += 1
            self._use(use, key)
            return key, model.model_validate_json(recorded)
        return key, await self._make(key, kind, request, call, use, turn or nullcontext())

    async def _make(
        self,
        key: Key,
        kind: str,
        request: Record,
        call: Callable[[], Awaitable[R]],
        use: Use,
        turn: AbstractAsyncContextManager[object],
    ) -> R:
        flight: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._in_flight[key] = flight
        try:
            async with turn:
                started = time.monotonic()
                response = await call()
                seconds = time.monotonic() - started
            text = response.model_dump_json()
            self._put(key, kind, request, text, seconds, use)
            flight.set_result(text)
        except BaseException as error:
            if isinstance(error, Exception):
                flight.set_exception(error)
                flight.exception()  # nobody may be waiting; that is no reason to warn
            else:
                flight.cancel()
            raise
        finally:
            del self._in_flight[key]
        self.made += 1
        return response

    def _get(self, key: Key) -> str | None:
        query = "SELECT response FROM effects WHERE key = ?"
        try:
            row = self._db.execute(query, (key,)).fetchone()
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError as error:
            raise _unreadable(self.path, error) from error
        return None if row is None else str(row[0])

    def _put(
        self, key: Key, kind: str, request: Record, text: str, seconds: float, use: Use
    ) -> None:
        with self.at_once():
            self._write(key, kind, request, text, seconds)
            self._use(use, key)

    def keep(self, key: Key, kind: str, request: Record, response: Record) -> None:
        """Record a response that came when nobody was waiting for it; it has no use yet."""
        with room(self.path):
            self._write(key, kind, request, response.model_dump_json(), 0.0)

    def _write(self, key: Key, kind: str, request: Record, text: str, seconds: float) -> None:
        made_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self._db.execute(
            f"INSERT OR REPLACE INTO effects VALUES (?1, ?2, ?3, ?4, ?5, {BILLED}, ?6)",
            (key, kind, request.identity, text, seconds, made_at),
        )

    def _use(self, use: Use, key: Key) -> None:
        self._db.execute("INSERT OR IGNORE INTO uses VALUES (?, ?, ?)", (use.task, use.step, key))

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Writes inside are one transaction: all of them or none, and one wait for the disk."""
        with room(self.path), self._db:
            self._db.execute("BEGIN")
            yield

    def knows(self, key: Key) -> bool:
        """Whether the request of this key was executed."""
        return self._get(key) is not None

    def drop(self, key: Key) -> None:
        """Forget one effect: asking again does it again."""
        self._db.execute("DELETE FROM effects WHERE key = ?", (key,))

    def used(self, task: str, kind: str) -> list[tuple[str, Key, str]]:
        """(step, key, response) of a task's effects of a kind, in the order of execution."""
        return self._db.execute(
            "SELECT u.step, e.key, e.response FROM uses u JOIN effects e ON e.key = u.key "
            "WHERE u.task = ? AND e.kind = ? ORDER BY e.rowid",
            (task, kind),
        ).fetchall()

    def retries(self, task: str) -> int:
        """Times that a task was given another chance: its model is asked for another sample."""
        row = self._db.execute("SELECT times FROM retries WHERE task = ?", (task,)).fetchone()
        return int(row[0]) if row else 0

    def retry(self, task: str) -> None:
        """Give a task another chance; what was answered before stays where it is."""
        self._db.execute(
            "INSERT INTO retries VALUES (?, 1) ON CONFLICT (task) DO UPDATE SET times = times + 1",
            (task,),
        )

    def forget(self, *, step: str | None = None, task: str | None = None) -> int:
        """Delete the effects used by a step or a task (or both); returns how many."""
        where = " AND ".join(
            ["1", *(["step = ?"] if step else []), *(["task = ?"] if task else [])]
        )
        values = [v for v in (step, task) if v]
        with self._db:
            self._db.execute("BEGIN")
            gone = self._db.execute(
                f"DELETE FROM effects WHERE key IN (SELECT key FROM uses WHERE {where})", values
            ).rowcount
            self._db.execute(f"DELETE FROM uses WHERE {where}", values)
        return gone

    def seconds(self, keys: Iterable[Key]) -> float:
        """Seconds spent on the given effects, when they were made."""
        found = (
            self._db.execute("SELECT seconds FROM effects WHERE key = ?", (key,)).fetchone()
            for key in keys
        )
        return float(sum(row[0] for row in found if row))

    def summary(self) -> list[tuple[str, str, int, float]]:
        """Rows of (kind, step, effects, seconds), the dearest first."""
        return self._db.execute(
            "SELECT kind, step, COUNT(*), SUM(seconds) FROM (SELECT DISTINCT e.key, kind, step, "
            "seconds FROM effects e JOIN uses u ON u.key = e.key) GROUP BY kind, step "
            "ORDER BY 4 DESC"
        ).fetchall()

    def show(self, key: Key) -> tuple[str, str, str, float, str] | None:
        """(kind, request, response, seconds, made_at) of the one effect whose key starts so."""
        rows: list[tuple[str, str, str, float, str]] = self._db.execute(
            "SELECT kind, request, response, seconds, made_at FROM effects WHERE key >= ? "
            "AND key < ? LIMIT 2",
            (key, key + "~"),
        ).fetchall()
        return rows[0] if len(rows) == 1 else None

    def merge(self, other: "Ledger") -> int:
        """Take over what another ledger knows (insert or ignore); returns effects gained."""
        before = self._db.total_changes
        with self._db:
            self._db.execute("BEGIN")
            self._db.executemany(
                "INSERT OR IGNORE INTO effects VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                other._db.execute("SELECT * FROM effects"),
            )
            gained = self._db.total_changes - before
            self._db.executemany(
                "INSERT OR IGNORE INTO uses VALUES (?, ?, ?)",
                other._db.execute("SELECT * FROM uses"),
            )
            self._db.executemany(
                "INSERT INTO retries VALUES (?, ?) ON CONFLICT (task) DO UPDATE "
                "SET times = MAX(times, excluded.times)",
                other._db.execute("SELECT * FROM retries"),
            )
            self.attempts.merge(other.attempts)
            self.batches.merge(other.batches)
        for blob in other.blobs.folder.glob("??/*"):
            self.blobs.put(blob.read_bytes())
        return gained

    def close(self) -> None:
        self._db.close()


def key_of(kind: str, request: Record) -> Key:
    """The receipt of a request: its tagged digest, with the kind of edge."""
    return digest([kind, request.digest])


def _unreadable(path: Path, error: sqlite3.DatabaseError) -> Misconfigured:
    return Misconfigured(
        f"{path} is not a readable ledger ({error}): move it away and run again; everything in it "
        "will be executed anew"
    )


def _open(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None, timeout=30)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version > SCHEMA:
            raise Misconfigured(
                f"{path} was written by a newer envgen (schema {version}, this one knows "
                f"{SCHEMA}): upgrade envgen, or use another run"
            )
        db.executescript(_TABLES + TABLE + TABLES)
        db.execute(f"PRAGMA user_version = {SCHEMA}")
    except BaseException:
        db.close()
        raise
    return db
