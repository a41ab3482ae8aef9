"""The model edge: one method, `complete`. Answers are recorded, weather is retried.

`Asked` is what the steps see: a model behind the ledger. Everything else here stands between it and
a provider: adapters translate (one file a provider), wrappers add one thing each.
"""

from typing import Protocol

from envgen.ledger import Ledger, Use
from envgen.records import Completion, Key, Request


class Model(Protocol):
    """A model. Raises Weather for trouble of the provider's or of the line."""

    async def complete(self, request: Request) -> Completion:
        """The answer, whatever it is worth; its usage is booked before anything is parsed."""
        ...


class Asked:
    """A model behind the ledger: each request is answered, and paid, once."""

    def __init__(self, model: Model, ledger: Ledger) -> None:
        self.model = model
        self.ledger = ledger

    async def complete(self, request: Request, use: Use) -> tuple[Key, Completion]:
        """Ask, or recall."""
        return await self.ledger.once(
            "completion", request, lambda: self.model.complete(request), use, Completion
        )


__all__ = ["Asked", "Model"]
