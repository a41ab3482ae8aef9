"""Which of the results under a key is the answer to its request, if any is, and what it cost."""

from collections.abc import Sequence
from typing import NamedTuple

from envgen.ledger.attempts import Outcome
from envgen.llm.batch.jobs import Result
from envgen.llm.booked import failed, finished
from envgen.llm.loops import loops
from envgen.llm.prices import Tariff
from envgen.llm.trouble import trouble
from envgen.records import Completion, Request


class Verdict(NamedTuple):
    """What a line came to; without a completion, its request is asked again online."""

    outcome: Outcome
    """As for any attempt; also `missing` (no result) and `mismatched` (the answer to another)."""
    completion: Completion | None = None


def verdict(request: Request, found: Sequence[Result], tariff: Tariff) -> Verdict:
    """Judge the results of one key: the first right answer counts, however often it came."""
    answers = [result.completion for result in found if result.completion is not None]
    for answer in answers:
        if is_right(request, answer):
            outcome = finished(answer, request, tariff)
            if answer.finish == "length" and loops(answer.text):
                return Verdict(outcome._replace(outcome="degenerate"))
            return Verdict(outcome, answer)
    if answers:
        return Verdict(finished(answers[0], request, tariff)._replace(outcome="mismatched"))
    for result in found:
        if result.seen is not None:
            return Verdict(failed(trouble(result.seen), request, tariff))
    return Verdict(Outcome("missing"))


def is_right(request: Request, answer: Completion) -> bool:
    """Whether an answer can belong to a request: it holds the echo, or has no text to hold it."""
    return not request.echo or not answer.text or request.echo in answer.text
