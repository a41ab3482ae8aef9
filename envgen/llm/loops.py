"""Answers that run in circles until they are cut: blanks, digits, one passage again and again.

Only an answer that was cut at its limit is looked at. One that ended by itself may repeat what it
likes: files do.
"""

from envgen.llm import Model
from envgen.records import Completion, Request

TAIL = 2000
"""Characters at the end that are looked at."""
SHORTEST = 400
"""Characters of one loop, at least."""
TIMES = 6
"""Repetitions of its passage, at least."""


class Watched:
    """A model whose looping answers are called `degenerate`, but where any answer counts."""

    def __init__(self, model: Model) -> None:
        self.model = model

    async def complete(self, request: Request) -> Completion:
        """The answer, with its true finish."""
        answer = await self.model.complete(request)
        if answer.finish == "length" and not request.as_is and loops(answer.text):
            return answer.model_copy(update={"finish": "degenerate"})
        return answer


def loops(text: str) -> bool:
    """Whether a cut text ends in a loop."""
    if len(text) < SHORTEST:
        return False
    blanks = sum(c.isspace() for c in text)
    tail = text[-TAIL:]
    return 2 * blanks > len(text) or _digits(tail) or repeated(tail) >= SHORTEST


def _digits(tail: str) -> bool:
    """One number without end."""
    return all(c in "0123456789.+-eE" for c in tail[-SHORTEST:])


def repeated(tail: str) -> int:
    """Length of the longest end of a text that is one passage at least `TIMES` times over.

    The prefix function of the reversed text gives the shortest period of every end in one pass.
    """
    back, best, border = tail[::-1], 0, [0] * len(tail)
    for end in range(1, len(back)):
        length = border[end - 1]
        while length and back[end] != back[length]:
            length = border[length - 1]
        border[end] = length + (back[end] == back[length])
        period = end + 1 - border[end]
        if period * TIMES <= end + 1:
            best = end + 1
    return best
