"""A model that is asked no faster than it may be: requests, tokens, calls at once, patience."""

from envgen.llm import Model
from envgen.llm.pace import Bucket, Clock, Gate
from envgen.llm.prices import bytes_of
from envgen.llm.trouble import Throttled
from envgen.records import Completion, Request

BYTES_PER_TOKEN = 4
"""Of a question, roughly; what was really used is settled after the call."""


class Paced:
    """One pace for all calls to a model; whoever fails hands back what it had reserved.

    Args:
        requests, tokens: most a minute; None = no limit of ours.
        in_flight: most calls at once.
    """

    def __init__(
        self, model: Model, requests: int | None, tokens: int | None, in_flight: int, clock: Clock
    ) -> None:
        self.model = model
        self.gate = Gate(in_flight)
        self.requests = Bucket(requests, clock) if requests else None
        self.tokens = Bucket(tokens, clock) if tokens else None
        self.not_before = 0.0
        self._clock = clock
        self._output = 0.0
        """Moving average of output tokens; the first answers set it."""

    async def complete(self, request: Request) -> Completion:
        """The answer, when it is this call's turn."""
        epoch = await self.gate.enter()
        throttled = success = False
        try:
            answer = await self._in_turn(request)
            success = True
        except Throttled as error:
            throttled = True
            self._wait_for(error)
            raise
        finally:
            self.gate.leave(epoch, throttled=throttled, success=success)
        return answer

    async def _in_turn(self, request: Request) -> Completion:
        while (wait := self.not_before - self._clock.now()) > 0:
            await self._clock.sleep(wait)
        if self.requests is not None:
            await self.requests.take(1)
        if self.tokens is None:
            return await self.model.complete(request)
        reserved = bytes_of(request) / BYTES_PER_TOKEN + self._output
        await self.tokens.take(reserved)
        used = 0.0
        try:
            answer = await self.model.complete(request)
            used = float(answer.usage.input + answer.usage.output) or reserved
            self._output += (answer.usage.output - self._output) / (8 if self._output else 1)
        finally:
            self.tokens.give(reserved - used)
        return answer

    def _wait_for(self, error: Throttled) -> None:
        """Nobody asks before the time that one of us was told."""
        after = error.seen.after or 0.0
        self.not_before = max(self.not_before, self._clock.now() + after)
