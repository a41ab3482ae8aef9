"""A total deadline: the SDKs' own timeouts start anew with every byte."""

import asyncio

from envgen.llm import Model
from envgen.llm.trouble import Seen, trouble
from envgen.records import Completion, Request


class Timed:
    """A model that answers within some seconds, or not at all."""

    def __init__(self, model: Model, seconds: float) -> None:
        self.model = model
        self.seconds = seconds

    async def complete(self, request: Request) -> Completion:
        """The answer; Transient when it takes too long."""
        try:
            async with asyncio.timeout(self.seconds):
                return await self.model.complete(request)
        except TimeoutError:
            pass
        provider = request.model.partition(":")[0]
        raise trouble(Seen(provider, "timeout", says=f"{self.seconds:g} s have passed"))
