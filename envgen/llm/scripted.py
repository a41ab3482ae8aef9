"""Doubles that ship with the package: a model of scripted answers, a clock that does not wait."""

import asyncio
from collections.abc import Callable

from envgen.records import Completion, Request, Usage

Script = Callable[[Request], Completion | str]


class Scripted:
    """A `Model` without a provider.

    Args:
        script: answers requests; a plain string is an answer that ended by itself, with one token
            a word.
    """

    def __init__(self, script: Script) -> None:
        self.script = script
        self.asked: list[Request] = []

    async def complete(self, request: Request) -> Completion:
        self.asked.append(request)
        answer = self.script(request)
        if isinstance(answer, Completion):
            return answer
        words = sum(len(message.text.split()) for message in request.messages)
        usage = Usage(input=words, output=len(answer.split()))
        return Completion(text=answer, finish="stop", usage=usage, model=request.model)


class Hurried:
    """A clock whose time passes when somebody waits.

    Attributes:
        waited: seconds of each wait, in order.
    """

    def __init__(self) -> None:
        self.time = 0.0
        self.waited: list[float] = []

    def now(self) -> float:
        """Seconds since the start."""
        return self.time

    async def sleep(self, seconds: float) -> None:
        """Let others run, then be later."""
        self.waited.append(seconds)
        until = self.time + seconds
        await asyncio.sleep(0)
        self.time = max(self.time, until)
