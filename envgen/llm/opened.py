"""Models, put together: the one place that says which wrapper stands around which.

From the outside in: recalled or recorded (`Asked`), sent with others in a batch where that is
wanted, retried, paced, capped by the budget, booked attempt by attempt, watched for loops, timed,
translated.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

from envgen.config import LlmConfig, Price
from envgen.digest import digest
from envgen.errors import Misconfigured
from envgen.ledger import Ledger
from envgen.llm import Asked, Model
from envgen.llm.batch import Lane
from envgen.llm.batch.gemini import GeminiJobs
from envgen.llm.batch.jobs import Jobs
from envgen.llm.batch.openai import OpenAIJobs
from envgen.llm.booked import Booked
from envgen.llm.budget import Budget, Capped
from envgen.llm.deadline import Timed
from envgen.llm.gemini import Gemini
from envgen.llm.keys import key_for
from envgen.llm.line import check_url
from envgen.llm.loops import Watched
from envgen.llm.openai import OpenAI
from envgen.llm.pace import Clock, LoopClock
from envgen.llm.paced import Paced
from envgen.llm.prices import Tariff, tariff
from envgen.llm.retried import Retried

Adapter = OpenAI | Gemini
"""A model that holds connections."""
FREE = Tariff(Price(input=0, output=0))
"""Of a model in this process."""


@asynccontextmanager
async def open_models(
    roles: Mapping[str, str],
    config: LlmConfig,
    ledger: Ledger,
    clock: Clock | None = None,
    say: Callable[[str], None] = lambda line: None,
    own: Mapping[str, Model] | None = None,
) -> AsyncIterator[Mapping[str, Asked]]:
    """Models by role, closed after use; one pace a model, one budget for all.

    Args:
        roles: the model (`gemini:NAME`, `openai:NAME`) of each role.
        config: how they are asked.
        ledger: knows what was answered, and what was spent before.
        clock: what waits are measured by.
        say: told what people should know.
        own: models of this process by name (`own:NAME`); they cost nothing, and are not timed.

    Raises:
        Misconfigured: no key, no price, no library, no such provider.
    """
    budget = Budget(None if config.no_budget else config.budget, sum(ledger.attempts.spent()))
    async with AsyncExitStack() as stack:
        made: dict[str, Asked] = {}
        for name in dict.fromkeys(roles.values()):
            if name.startswith("own:"):
                booked = Booked(Watched(_mine(name, own)), ledger.attempts, FREE)
                made[name] = Asked(Retried(booked, clock or LoopClock()), ledger)
                continue
            priced = tariff(name, config)
            adapter = adapt(name, config)
            stack.push_async_callback(adapter.close)
            if before := ledger.attempts.moved(name, address_of(config)):
                say(
                    f"{name} was asked at {before} before: a model is its name, wherever it is "
                    "served, and what was answered there is not asked again; for another model "
                    "use another name or another --run"
                )
            model = around(adapter, config, ledger, budget, priced, clock or LoopClock())
            if config.lane == "batch":
                model = await stack.enter_async_context(
                    Lane(
                        model,
                        jobs_of(adapter, name),
                        ledger,
                        budget,
                        replace(priced, lane="batch"),
                        model=name,
                        run=digest(str(ledger.path.resolve())),
                        hedge_seconds=config.hedge_hours * 3600,
                        pause=(clock or LoopClock()).sleep,
                    )
                )
            made[name] = Asked(model, ledger)
        yield {role: made[name] for role, name in roles.items()}


def around(
    adapter: Model,
    config: LlmConfig,
    ledger: Ledger,
    budget: Budget,
    priced: Tariff,
    clock: Clock,
) -> Model:
    """All wrappers around an adapter."""
    timed = Timed(adapter, config.seconds)
    booked = Booked(Watched(timed), ledger.attempts, priced)
    capped = Capped(booked, budget, priced)
    paced = Paced(
        capped, config.requests_per_minute, config.tokens_per_minute, config.in_flight, clock
    )
    return Retried(paced, clock)


def _mine(name: str, own: Mapping[str, Model] | None) -> Model:
    if own is None or name not in own:
        raise Misconfigured(
            f"model {name!r}: a model of this process is there in `envgen selfgen` only; write "
            "gemini:NAME or openai:NAME"
        )
    return own[name]


def adapt(name: str, config: LlmConfig) -> Adapter:
    """The adapter of a model's provider."""
    provider, colon, model = name.partition(":")
    kinds: Mapping[str, type[OpenAI] | type[Gemini]] = {"openai": OpenAI, "gemini": Gemini}
    if provider not in kinds or not colon or not model:
        raise Misconfigured(f"model {name!r}: write it as gemini:NAME or openai:NAME")
    url = address_of(config) or None
    return kinds[provider](
        key_for(provider, needed=url is None),
        base_url=url,
        seconds=config.seconds,
        in_flight=config.in_flight,
        flex=config.lane == "flex",
    )


def address_of(config: LlmConfig) -> str:
    """Where a server of one's own is; empty for the provider's. Misconfigured when it is none."""
    return "" if config.base_url is None else check_url(config.base_url)


def jobs_of(adapter: Adapter, name: str) -> Jobs:
    """The batch endpoints of a model's provider."""
    if isinstance(adapter, OpenAI):
        return OpenAIJobs(adapter, name)
    return GeminiJobs(adapter, name)
