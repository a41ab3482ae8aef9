"""Every attempt is booked: an intent before the call, what it came to after it."""

from envgen.errors import Misconfigured
from envgen.ledger.attempts import Attempts, Outcome
from envgen.llm import Model, receipt
from envgen.llm.prices import Tariff
from envgen.llm.trouble import Trouble
from envgen.records import Completion, Request, Usage


class Booked:
    """A model whose attempts stand in the ledger.

    What ends otherwise (a kill, a cancelled run, a bug) leaves the intent, which reads `unknown`.
    """

    def __init__(self, model: Model, attempts: Attempts, tariff: Tariff) -> None:
        self.model = model
        self.attempts = attempts
        self.tariff = tariff

    async def complete(self, request: Request) -> Completion:
        """The answer, once it is booked."""
        worst = self.tariff.worst(request)
        attempt = self.attempts.begin(receipt(request), request.model, self.tariff.lane, worst)
        try:
            answer = await self.model.complete(request)
        except (Trouble, Misconfigured) as error:
            self.attempts.end(attempt, failed(error, request, self.tariff))
            raise
        self.attempts.end(attempt, finished(answer, request, self.tariff))
        return answer


def finished(answer: Completion, request: Request, tariff: Tariff) -> Outcome:
    """What an answer costs; without a word about usage, up to the most that it can."""
    silent = answer.usage == Usage() and bool(answer.text)
    risk = tariff.worst(request) if silent else 0.0
    return Outcome(answer.finish, answer.usage, tariff.cost(answer.usage), risk)


def failed(error: Trouble | Misconfigured, request: Request, tariff: Tariff) -> Outcome:
    """What a failed attempt costs: what was told, or what may have been billed unseen."""
    if not isinstance(error, Trouble):
        return Outcome("bad_request", detail=str(error))
    usage = error.seen.usage or Usage()
    risk = tariff.worst(request) if error.unseen else 0.0
    return Outcome(error.code, usage, tariff.cost(usage), risk, str(error))
