"""The one retry policy of the model edge, as the table of `trouble` says.

Waits are jittered by the request itself: the same request waits the same, two requests do not wait
in step.
"""

from dataclasses import dataclass
from random import Random

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, retry_if_result

from envgen.llm import Model
from envgen.llm.pace import Clock
from envgen.llm.trouble import ACTIONS, Throttled, Trouble
from envgen.records import Completion, Request

FIRST, LONGEST = 1.0, 60.0
"""Seconds that a wait grows from and to, where nobody says how long to wait."""
PATIENCE = 3600.0
"""Seconds that one request waits for a provider that asks for patience; then it is for another
run to ask again."""


class Retried:
    """A model that is asked again where that may help."""

    def __init__(self, model: Model, clock: Clock) -> None:
        self.model = model
        self._clock = clock

    async def complete(self, request: Request) -> Completion:
        """The answer; the last trouble, or the last degenerate answer, when no attempt is left."""
        asking = _Asking(self.model, request)
        policy = AsyncRetrying(
            sleep=self._clock.sleep,
            retry=retry_if_exception(lambda e: isinstance(e, Trouble) and e.retryable)
            | retry_if_result(lambda answer: answer.finish == "degenerate"),
            wait=asking.wait,
            stop=asking.enough,
            retry_error_callback=_last,
        )
        return await policy(asking.once)


@dataclass
class _Asking:
    """One request, and how its attempts went."""

    model: Model
    request: Request
    throttled: int = 0
    failed: int = 0
    degenerate: int = 0
    waited: float = 0.0

    async def once(self) -> Completion:
        request = self.request
        if self.degenerate:
            request = request.model_copy(update={"nudge": self.degenerate})
        try:
            answer = await self.model.complete(request)
        except Throttled:
            self.throttled += 1
            raise
        except Trouble:
            self.failed += 1
            raise
        self.degenerate += answer.finish == "degenerate"
        return answer

    def wait(self, state: RetryCallState) -> float:
        """Seconds until the next attempt."""
        jitter: float = Random(f"{self.request.digest} {state.attempt_number}").random()
        error = state.outcome.exception() if state.outcome else None
        if error is None:
            return 0.0
        if not isinstance(error, Throttled):
            return jitter * _grown(self.failed)
        after = error.seen.after
        if after is None:
            return (1 + jitter) / 2 * _grown(self.throttled)
        return after + jitter * max(FIRST, after / 10)

    def enough(self, state: RetryCallState) -> bool:
        """Whether no attempt is left."""
        if state.outcome and isinstance(state.outcome.exception(), Throttled):
            self.waited += state.upcoming_sleep
            return self.waited > PATIENCE
        return (
            self.failed >= ACTIONS["transient"].attempts
            or self.degenerate >= ACTIONS["degenerate"].attempts
        )


def _grown(times: int) -> float:
    return min(LONGEST, FIRST * 2.0 ** min(times - 1, 16))


def _last(state: RetryCallState) -> Completion:
    assert state.outcome is not None
    answer: Completion = state.outcome.result()
    return answer
