"""A bounded pool of sandboxes, each held under a lease.

A lease is renewed by using it. One whose holder stopped is taken away, so that a hung episode costs
its own sandbox and nobody else's turn.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from envgen.records import Opening
from envgen.sandbox import Engine, Session


class Pool:
    """Sandboxes of one engine.

    Args:
        engine: opens them.
        size: most of them at once.
    """

    def __init__(self, engine: Engine, size: int) -> None:
        self.engine = engine
        self._turn = asyncio.Semaphore(size)

    @asynccontextmanager
    async def lease(self, opening: Opening) -> AsyncIterator[Session]:
        """A sandbox, in order of asking; waiting for it is on nobody's clock.

        Raises Weather when none can be had.
        """
        async with self._turn, self.engine.open(opening) as session:
            yield session
