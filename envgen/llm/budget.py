"""The budget: a call starts only when the most that it can cost still fits."""

import asyncio

from envgen.errors import BudgetSpent, Misconfigured
from envgen.llm import Model
from envgen.llm.booked import failed, finished
from envgen.llm.prices import Tariff
from envgen.llm.trouble import Trouble
from envgen.records import Completion, Request


class Budget:
    """Dollars that all models of a run share.

    Args:
        dollars: most that may be spent; None = no limit.
        spent: what earlier starts of the run spent, or may have spent.
    """

    def __init__(self, dollars: float | None, spent: float = 0.0) -> None:
        self.dollars = dollars
        self.spent = spent
        self.reserved = 0.0
        self._calls = 0
        self._turn = asyncio.Lock()
        self._settled = asyncio.Event()

    async def reserve(self, most: float) -> None:
        """Set aside the most that a call can cost; first come, first served.

        Where it does not fit, calls in flight may still turn out cheaper than was set aside.

        Raises:
            BudgetSpent: it does not fit, and nothing is in flight any more.
        """
        async with self._turn:
            while self.dollars is not None and self.spent + self.reserved + most > self.dollars:
                if not self._calls:
                    raise BudgetSpent(
                        f"the next call may cost ${most:.4f}, and ${self.spent:.4f} of the budget "
                        f"of ${self.dollars:.4f} are spent: raise llm.budget and run again; "
                        "everything paid for is kept"
                    )
                self._settled.clear()
                await self._settled.wait()
            self.reserved += most
            self._calls += 1

    def adopt(self, most: float) -> None:
        """Set aside again what an earlier start may have spent: its call is still in flight."""
        self.spent -= most
        self.reserved += most
        self._calls += 1

    def settle(self, most: float, spent: float) -> None:
        """Put what a call cost in place of what was set aside for it."""
        self._calls -= 1
        self.reserved = self.reserved - most if self._calls else 0.0
        self.spent += spent
        self._settled.set()


class Capped:
    """A model that is not asked beyond the budget."""

    def __init__(self, model: Model, budget: Budget, tariff: Tariff) -> None:
        self.model = model
        self.budget = budget
        self.tariff = tariff

    async def complete(self, request: Request) -> Completion:
        """The answer; BudgetSpent when it may cost too much."""
        most = spent = self.tariff.worst(request)
        await self.budget.reserve(most)
        try:
            answer = await self.model.complete(request)
            outcome = finished(answer, request, self.tariff)
            spent = outcome.cost + outcome.risk
        except (Trouble, Misconfigured) as error:
            outcome = failed(error, request, self.tariff)
            spent = outcome.cost + outcome.risk
            raise
        finally:
            self.budget.settle(most, spent)
        return answer
