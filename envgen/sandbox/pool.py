"""A bounded pool of sandboxes, each held under a lease.

A lease is renewed by using it. One whose holder has stopped is taken away, so that a hung episode
costs its own sandbox and nobody else's turn. What a killed process held is swept at the next start,
by the label of its owner; and a sandbox ends by itself when its seconds are over.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from envgen.errors import LeaseExpired, TooManyFaults, Weather
from envgen.records import Observation, Opening
from envgen.sandbox import Engine, Session

IDLE_SECONDS = 900.0
"""A holder that has not used its sandbox for so long has stopped (a model may take minutes)."""
WINDOW, LEAST = 64, 16
"""Recent episodes that are looked at, and how many there must be before anything is concluded."""


class Gauge:
    """Counts how many of the recent episodes ended in trouble outside of them.

    More than half: nothing that is measured now is worth anything, so nothing more is started.
    """

    def __init__(self, window: int = WINDOW, least: int = LEAST) -> None:
        self._recent: deque[str] = deque(maxlen=window)
        self._least = least

    def note(self, trouble: str) -> None:
        """An episode has ended; the code of its trouble, empty for none."""
        self._recent.append(trouble)

    @property
    def faults(self) -> dict[str, int]:
        """How often each kind of trouble is in the window."""
        codes = sorted({code for code in self._recent if code})
        return {code: self._recent.count(code) for code in codes}

    def check(self) -> None:
        """Raises TooManyFaults when more than half of the recent episodes are lost."""
        lost = sum(self.faults.values())
        if len(self._recent) >= self._least and lost * 2 > len(self._recent):
            kinds = ", ".join(f"{code} {times}" for code, times in self.faults.items())
            raise TooManyFaults(
                f"{lost} of the last {len(self._recent)} episodes were lost to the infrastructure "
                f"({kinds}): mend it and run again, what is done is kept"
            )


class Lease:
    """A `Session` that is taken away when nobody uses it.

    Attributes:
        expired: it was.
    """

    def __init__(self, session: Session, idle: float) -> None:
        self._session = session
        self._idle = idle
        self._until = 0.0
        self.expired = False
        self.renew()

    @property
    def age(self) -> float:
        return self._session.age

    @property
    def left(self) -> float:
        """Seconds until it expires, unless it is renewed."""
        return self._until - asyncio.get_running_loop().time()

    def renew(self, seconds: float = 0.0) -> None:
        """The holder is there, and will be busy for so many seconds before it is idle."""
        self._until = asyncio.get_running_loop().time() + seconds + self._idle

    async def run(self, command: str, seconds: float) -> Observation:
        self._check()
        self.renew(seconds)
        try:
            return await self._session.run(command, seconds)
        except Weather:
            self._check()  # taken away while it ran
            raise
        finally:
            self.renew()

    async def capture(self, folders: tuple[str, ...]) -> str | None:
        self._check()
        self.renew()
        return await self._session.capture(folders)

    async def end(self) -> None:
        await self._session.end()

    def _check(self) -> None:
        if self.expired:
            raise LeaseExpired(f"a sandbox was not used for {self._idle:g} s and taken away")


class Pool:
    """Sandboxes of one engine.

    Args:
        engine: opens them.
        size: most of them at once.
        idle: seconds without use after which a lease expires.
        gauge: told how each lease ended; one that is shared sees them all.
    """

    def __init__(
        self,
        engine: Engine,
        size: int,
        *,
        idle: float = IDLE_SECONDS,
        gauge: Gauge | None = None,
    ) -> None:
        self.engine = engine
        self.gauge = gauge or Gauge()
        self._idle = idle
        self._turn = asyncio.Semaphore(size)

    @asynccontextmanager
    async def lease(self, opening: Opening) -> AsyncIterator[Lease]:
        """A sandbox, in order of asking; waiting for it is on nobody's clock.

        Raises Weather when none can be had, and TooManyFaults when most of them are lost lately.
        """
        turn = _Turn(self._turn)
        await turn.take()
        try:
            self.gauge.check()
            async with self.engine.open(opening) as session:
                lease = Lease(session, self._idle)
                reaper = asyncio.create_task(_reap(lease, turn))
                try:
                    yield lease
                finally:
                    reaper.cancel()
            self.gauge.note("")
        except TooManyFaults:
            raise
        except Weather as weather:
            self.gauge.note(weather.code)
            raise
        finally:
            turn.give_back()


class _Turn:
    """One place in the pool, given back once."""

    def __init__(self, places: asyncio.Semaphore) -> None:
        self._places = places
        self._held = False

    async def take(self) -> None:
        await self._places.acquire()
        self._held = True

    def give_back(self) -> None:
        if self._held:
            self._held = False
            self._places.release()


async def _reap(lease: Lease, turn: _Turn) -> None:
    """Take a sandbox away when its lease has expired, and give its place to the next."""
    while (left := lease.left) > 0:
        await asyncio.sleep(left)
    lease.expired = True
    with suppress(Weather):  # what a dead daemon holds is swept at the next start
        await lease.end()
    turn.give_back()
