"""The model edge: one method, `complete`. Answers are recorded, weather is retried.

`Asked` is what the steps see: a model behind the ledger. Everything else here stands between it and
a provider: adapters translate (one file a provider), wrappers add one thing each, `opened` puts
them together.
"""

from typing import Protocol

from envgen.ledger import Ledger, Use, key_of
from envgen.records import Completion, Key, Request

KIND = "completion"
"""What the ledger calls an answer."""


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
            KIND, request, lambda: self.model.complete(request), use, Completion
        )


def receipt(request: Request) -> Key:
    """The ledger's key of a request."""
    return key_of(KIND, request)


__all__ = ["KIND", "Asked", "Model", "receipt"]
