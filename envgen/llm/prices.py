"""What calls cost: dated list prices, overridable. An unknown price is no price of nothing."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import ValidationError

from envgen.config import LlmConfig, Price
from envgen.errors import Misconfigured
from envgen.records import Request, Usage
from envgen.share import share

Lane = Literal["online", "flex", "batch"]
PER = 1_000_000
OVERHEAD = 64
"""Tokens that a provider may put around each message, and around the whole."""


@dataclass(frozen=True)
class Tariff:
    """A price in a lane.

    Attributes:
        known: whether the price is; if not, everything counts as nothing.
    """

    price: Price
    lane: Lane = "online"
    known: bool = True

    def cost(self, usage: Usage) -> float:
        """Dollars of what one call used."""
        return self.total(usage, 1)

    def total(self, usage: Usage, calls: int) -> float:
        """Dollars of what so many calls, about as long as each other, used together."""
        price = self.price
        long = price.long is not None and usage.input > price.long.over * calls
        rates = price.long if price.long is not None and long else price
        cached = rates.input if rates.cached is None else rates.cached
        factor, on_cached = self._factors()
        fresh = (usage.input - usage.cached) * rates.input + usage.output * rates.output
        return (factor * fresh + on_cached * usage.cached * cached) / PER

    def _factors(self) -> tuple[float, float]:
        """The lane's part of the list price, and of that of cached tokens."""
        price = self.price
        if self.lane == "batch":
            whole = price.batch
            return whole, whole if price.batch_cached is None else price.batch_cached
        factor = price.flex if self.lane == "flex" else 1.0
        return factor, factor

    def worst(self, request: Request) -> float:
        """The most dollars that a request can cost: a token is at least a byte."""
        usage = Usage(input=bytes_of(request), output=request.max_tokens)
        return self.cost(usage)


def bytes_of(request: Request) -> int:
    """An upper bound of a question's tokens."""
    texts = [
        message.text + "".join(call.name + call.arguments for call in message.calls)
        for message in request.messages
    ]
    texts.append((request.answer_schema or "") + (request.tools or ""))
    return sum(len(text.encode("utf-8", "replace")) + OVERHEAD for text in texts)


def tariff(model: str, config: LlmConfig) -> Tariff:
    """The price of a model in the online lanes.

    Raises:
        Misconfigured: no price, or a price and neither a budget nor the wish to have none.
    """
    price = {**_shipped(), **_own(config.prices)}.get(model)
    lane: Lane = "flex" if config.lane == "flex" else "online"
    if price is None:
        if config.no_budget:
            return Tariff(Price(input=0, output=0), lane, known=False)
        raise Misconfigured(
            f"no price is known for {model}: add it to llm.prices (dollars per million tokens; a "
            "server of your own may cost 0), or set llm.no_budget"
        )
    free = price.input == price.output == 0
    if config.budget is None and not config.no_budget and not free:
        raise Misconfigured(
            f"{model} costs money: set llm.budget (dollars for the whole run), or llm.no_budget"
        )
    return Tariff(price, lane)


def _own(prices: Mapping[str, Price] | str) -> Mapping[str, Price]:
    return _read(Path(prices)) if isinstance(prices, str) else prices


def _shipped() -> Mapping[str, Price]:
    return _read(share("data/prices.yaml"))


def _read(path: Path) -> Mapping[str, Price]:
    try:
        tree: Any = yaml.safe_load(path.read_text())
        models = tree["models"]
        return {str(name): Price.model_validate(value) for name, value in models.items()}
    except FileNotFoundError:
        raise Misconfigured(f"llm.prices: the file {path} does not exist") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError) as error:
        reason = " ".join(str(error).split())
    except (KeyError, TypeError, AttributeError):
        reason = "it has no mapping `models`"
    raise Misconfigured(f"llm.prices: {path} cannot be read: {reason}")
