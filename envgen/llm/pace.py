"""Pacing: buckets that refill by the minute, and a gate that narrows when asked for patience."""

import asyncio
from collections import deque
from typing import Protocol

BURST = 1 / 20
"""Of a minute's worth, which a bucket holds when full."""
TICK = 0.001
"""Seconds of the shortest wait: fractions that time cannot tell apart are not waited for."""


class Clock(Protocol):
    """Seconds, and waiting for them."""

    def now(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...


class LoopClock:
    """The clock of the event loop."""

    def now(self) -> float:
        """Seconds since some start."""
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


class Bucket:
    """So much a minute, evenly.

    An amount larger than the bucket gets through when it is full, and leaves a debt that is paid
    before the next one.
    """

    def __init__(self, per_minute: float, clock: Clock) -> None:
        self.rate = per_minute / 60
        self.size = max(1.0, per_minute * BURST)
        self.level = self.size
        self._clock = clock
        self._seen = -1.0
        self._turn = asyncio.Lock()

    async def take(self, amount: float) -> None:
        """Wait until there is so much, then take it; first come, first served."""
        async with self._turn:
            need = min(amount, self.size)
            while self._fill() < need:
                await self._clock.sleep(max(TICK, (need - self.level) / self.rate))
            self.level -= amount

    def give(self, amount: float) -> None:
        """Hand back what was not used; less than nothing = used on top."""
        self._fill()
        self.level = min(self.size, self.level + amount)

    def _fill(self) -> float:
        now = self._clock.now()
        since = now - self._seen if self._seen >= 0 else 0.0
        self._seen = now
        self.level = min(self.size, self.level + since * self.rate)
        return self.level


class Gate:
    """Calls at once: halves when the provider asks for patience, and recovers one by one.

    A call carries the gate's epoch from when it started; trouble halves once an epoch, so that many
    refusals of calls that were in flight together count as one. A whole gate of successes widens it
    by one.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.width = float(most)
        self.busy = 0
        self.epoch = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def enter(self) -> int:
        """Wait for a place; the epoch to leave with."""
        if self._waiting or self.busy >= int(self.width):
            place = asyncio.get_running_loop().create_future()
            self._waiting.append(place)
            try:
                await place
            except asyncio.CancelledError:
                if place.cancelled():
                    self._waiting.remove(place)
                else:
                    self._leave()  # the place was given just now
                raise
        else:
            self.busy += 1
        return self.epoch

    def leave(self, epoch: int, *, throttled: bool, success: bool) -> None:
        """Give the place back, and learn."""
        if throttled and epoch == self.epoch:
            self.width = max(1.0, self.width / 2)
            self.epoch += 1
        if success:
            self.width = min(float(self.most), self.width + 1 / self.width)
        self._leave()

    def _leave(self) -> None:
        self.busy -= 1
        while self._waiting and self.busy < int(self.width):
            place = self._waiting.popleft()
            if not place.done():
                self.busy += 1
                place.set_result(None)
