"""The whole edge against loopback servers: for each trouble its class, what was asked again, what
was billed, and what remained in the ledger.
"""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from envgen.config import LlmConfig, Price
from envgen.errors import BudgetSpent, Misconfigured, Weather
from envgen.ledger import Ledger, Use
from envgen.llm import receipt
from envgen.llm.opened import open_models
from envgen.llm.probe import enforces_schemas, question
from envgen.llm.scripted import Hurried
from envgen.llm.trouble import QuotaDead, Throttled, Transient
from envgen.records import Completion, Message, Request, Usage
from tests.loopback import Ask, Loopback, Reply, gemini, openai, script

Do = Callable[[Any], Any]
USE = Use("task-1", "author")
PRICE = Price(input=1, cached=0.5, output=10)


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ledger]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    monkeypatch.setenv("GEMINI_API_KEY", "sk-very-secret")
    made = Ledger(tmp_path / "run")
    yield made
    made.close()


def ask(provider: str = "openai", text: str = "hello", **values: Any) -> Request:
    messages = (Message(role="user", text=text),)
    return Request(model=f"{provider}:m-1", messages=messages, max_tokens=100, **values)


class World(NamedTuple):
    asked: Any
    server: Loopback
    clock: Hurried


@asynccontextmanager
async def world(ledger: Ledger, answer: Any, provider: str = "openai", **settings: Any) -> Any:
    clock = Hurried()
    async with Loopback(answer) as server:
        values = {
            "base_url": server.url + ("/v1" if provider == "openai" else ""),
            "prices": {"openai:m-1": PRICE, "gemini:m-1": PRICE},
            "budget": 100.0,
            **settings,
        }
        roles = {"author": f"{provider}:m-1"}
        async with open_models(roles, LlmConfig(**values), ledger, clock) as models:
            yield World(models["author"], server, clock)


def outcomes(ledger: Ledger) -> list[str]:
    """Of all attempts, in order."""
    rows = ledger._db.execute("SELECT outcome FROM attempts ORDER BY made_at")
    return [row[0] for row in rows]


def worst(request: Request) -> float:
    return (len(request.messages[0].text) + 2 * 64 + 10 * 100) / 1e6


# -- one trouble after the other ---------------------------------------------------------------


class Row(NamedTuple):
    """Replies, and what they come to."""

    provider: str
    replies: tuple[Reply, ...]
    attempts: list[str]
    result: Completion | type[Exception]
    waits: list[tuple[float, float]]
    """Bounds of each wait."""
    cost: float
    """Micro-dollars billed."""
    unsure: int = 0
    """Attempts that may have been billed without a word."""
    settings: dict[str, Any] = {}  # noqa: RUF012 - a value


def good(text: str = "ok", finish: str = "stop", usage: Usage = Usage(input=7, output=3)) -> Any:  # noqa: B008
    return Completion(text=text, finish=finish, usage=usage, model="echo-1")


OK, G_OK = openai.answer("ok"), gemini.answer("ok")
ONE = 7 + 30
LOOP = openai.answer("blah " * 300, "length", use=openai.usage(7, 100))
HOUR = openai.error(429, None, retry_after="3500")
TABLE = {
    "429 with Retry-After": Row(
        "openai",
        (openai.error(429, None, retry_after="30"), OK),
        ["throttled", "stop"],
        good(),
        [(30, 33)],
        ONE,
    ),
    "429 with RetryInfo": Row(
        "gemini",
        (gemini.error(429, "RESOURCE_EXHAUSTED", "wait", gemini.retry_info("53s")), G_OK),
        ["throttled", "stop"],
        good(),
        [(53, 58.3)],
        ONE,
    ),
    "429 without": Row(
        "openai",
        (openai.error(429, None), openai.error(429, None), OK),
        ["throttled", "throttled", "stop"],
        good(),
        [(0.5, 1), (1, 2)],
        ONE,
    ),
    "a storm of 429 uses no attempt": Row(
        "openai",
        (*[openai.error(429, None, retry_after="1")] * 30, OK),
        ["throttled"] * 30 + ["stop"],
        good(),
        [(1, 2)] * 30,
        ONE,
    ),
    "patience ends": Row("openai", (HOUR,), ["throttled"] * 2, Throttled, [(3500, 3850)], 0),
    "overloaded": Row(
        "gemini",
        (gemini.error(503, "UNAVAILABLE"), G_OK),
        ["throttled", "stop"],
        good(),
        [(0.5, 1)],
        ONE,
    ),
    "quota exhausted": Row(
        "openai", (openai.error(429, "insufficient_quota"),), ["quota_dead"], QuotaDead, [], 0
    ),
    "quota of the day": Row(
        "gemini",
        (gemini.error(429, "RESOURCE_EXHAUSTED", "m", gemini.quota_failure("PerDayPerModel")),),
        ["quota_dead"],
        QuotaDead,
        [],
        0,
    ),
    "500, then well": Row(
        "openai", (openai.error(500, None), OK), ["transient", "stop"], good(), [(0, 1)], ONE
    ),
    "500 for good": Row(
        "openai",
        (openai.error(500, None),),
        ["transient"] * 5,
        Transient,
        [(0, 1), (0, 2), (0, 4), (0, 8)],
        0,
    ),
    "dropped": Row(
        "openai", (Reply(how="drop"), OK), ["transient", "stop"], good(), [(0, 1)], ONE, 1
    ),
    "half a body": Row(
        "gemini",
        (G_OK.but(how="half"), G_OK),
        ["transient", "stop"],
        good(),
        [(0, 1)],
        ONE,
        1,
    ),
    "dripped": Row(
        "openai",
        (OK.but(how="drip", pause=0.05), OK),
        ["transient", "stop"],
        good(),
        [(0, 1)],
        ONE,
        1,
        {"seconds": 0.3},
    ),
    "a web page": Row(
        "openai",
        (Reply(data=b"<html>"), OK),
        ["transient", "stop"],
        good(),
        [(0, 1)],
        ONE,
    ),
    "empty": Row("gemini", (Reply(), G_OK), ["transient", "stop"], good(), [(0, 1)], ONE, 1),
    "cut JSON": Row(
        "openai", (Reply(data=b'{"a'), OK), ["transient", "stop"], good(), [(0, 1)], ONE, 1
    ),
    "billed without an answer": Row(
        "openai",
        (Reply.of({"choices": [], "usage": openai.usage(70, 30)}), OK),
        ["transient", "stop"],
        good(),
        [(0, 1)],
        ONE + 370,
    ),
    "refusal": Row(
        "openai", (openai.answer(None, refusal="no"),), ["refused"], good("no", "refused"), [], ONE
    ),
    "safety": Row(
        "gemini", (gemini.answer(None, "SAFETY"),), ["blocked"], good("", "blocked"), [], ONE
    ),
    "cut while thinking": Row(
        "gemini",
        (gemini.answer(None, "MAX_TOKENS", use=gemini.usage(7, None, thoughts=90)),),
        ["length"],
        good("", "length", Usage(input=7, output=90, thinking=90)),
        [],
        907,
    ),
    "a loop, then well": Row(
        "openai", (LOOP, OK), ["degenerate", "stop"], good(), [(0, 0)], 1007 + ONE
    ),
    "a loop for good": Row(
        "openai",
        (LOOP,),
        ["degenerate"] * 3,
        good("blah " * 300, "degenerate", Usage(input=7, output=100)),
        [(0, 0)] * 2,
        3 * 1007,
    ),
    "no usage": Row(
        "openai", (openai.answer("ok", use=None),), ["stop"], good(usage=Usage()), [], 0, 1
    ),
    "bad request": Row(
        "openai", (openai.error(404, "model_not_found"),), ["bad_request"], Misconfigured, [], 0
    ),
}


@pytest.mark.parametrize("row", TABLE.values(), ids=TABLE)
def test_each_trouble_is_classed_retried_billed_and_leaves_what_it_should(
    row: Row, ledger: Ledger, do: Do
) -> None:
    async def run() -> tuple[Any, World]:
        async with world(ledger, script(*row.replies), row.provider, **row.settings) as made:
            try:
                return await made.asked.complete(ask(row.provider), USE), made
            except (Weather, Misconfigured) as error:
                return error, made

    result, made = do(run())
    key = receipt(ask(row.provider))
    assert outcomes(ledger) == row.attempts
    assert made.server.total == len(row.attempts)
    assert len(made.clock.waited) == len(row.waits)
    for waited, (least, most) in zip(made.clock.waited, row.waits, strict=True):
        assert least <= waited <= most
    billed, risk = ledger.attempts.spent()
    assert billed == pytest.approx(row.cost / 1e6)
    assert risk == pytest.approx(row.unsure * worst(ask(row.provider)))
    if isinstance(row.result, Completion):
        assert result == (key, row.result)
        assert ledger.knows(key)
        tokens, cost = ledger._db.execute("SELECT tokens, cost FROM effects").fetchone()
        assert cost == pytest.approx(row.cost / 1e6)
        assert tokens == sum(s.input + s.output for s in ledger.attempts.table())
    else:
        assert type(result) is row.result
        assert not ledger.knows(key)


# -- many calls --------------------------------------------------------------------------------


def test_a_stopped_provider_says_so_and_is_not_retried(ledger: Ledger, do: Do) -> None:
    async def run() -> BaseException:
        answer = script(openai.error(401, "invalid_api_key", "Incorrect API key: sk-very-secret"))
        async with world(ledger, answer) as made:
            with pytest.raises(QuotaDead) as caught:
                await made.asked.complete(ask(), USE)
            return caught.value

    error = do(run())
    assert (error.retryable, error.stops, error.code) == (False, True, "quota_dead")
    assert str(error) == "openai: HTTP 401, invalid_api_key error, Incorrect API key: ***"


def test_a_dead_letter_of_weather_is_asked_again_by_the_next_run(ledger: Ledger, do: Do) -> None:
    replies = script(*[openai.error(500, None)] * 5, OK)

    async def run() -> Any:
        async with world(ledger, replies) as made:
            with pytest.raises(Transient):
                await made.asked.complete(ask(), USE)
            return await made.asked.complete(ask(), USE)

    assert do(run())[1] == good()


def test_tasks_that_ask_the_same_are_answered_by_one_call(ledger: Ledger, do: Do) -> None:
    async def run() -> int:
        async with world(ledger, script(OK)) as made:
            await asyncio.gather(*(made.asked.complete(ask(), USE) for _ in range(20)))
            await made.asked.complete(ask(), Use("task-2", "author"))
            return made.server.total

    assert do(run()) == 1
    assert outcomes(ledger) == ["stop"]


def test_the_budget_stops_before_it_is_overspent_and_a_larger_one_goes_on(
    ledger: Ledger, do: Do
) -> None:
    """Each call costs 37 micro-dollars, and may cost 1133."""
    requests = [ask(text=f"{n:05}") for n in range(60)]
    most = worst(requests[0])

    async def run(dollars: float) -> list[Any]:
        async with world(ledger, script(OK), budget=dollars) as made:
            asking = (made.asked.complete(request, USE) for request in requests)
            return await asyncio.gather(*asking, return_exceptions=True)

    first = do(run(most + 29.5 * ONE / 1e6))
    kept = [result for result in first if isinstance(result, tuple)]
    stopped = [result for result in first if isinstance(result, BudgetSpent)]
    assert (len(kept), len(stopped)) == (30, 30)
    assert "raise llm.budget and run again; everything paid for is kept" in str(stopped[0])
    assert ledger.attempts.spent() == (pytest.approx(30 * ONE / 1e6), 0)
    second = do(run(1.0))
    assert [type(result) for result in second] == [tuple] * 60
    assert ledger.attempts.spent() == (pytest.approx(60 * ONE / 1e6), 0)
    assert outcomes(ledger) == ["stop"] * 60


def test_what_may_have_been_billed_counts_against_the_budget(ledger: Ledger, do: Do) -> None:
    ledger.attempts.begin("sha256:k", "openai:m-1", "online", 99.9999)

    async def run() -> BaseException:
        async with world(ledger, script(OK), budget=100.0) as made:
            with pytest.raises(BudgetSpent) as caught:
                await made.asked.complete(ask(), USE)
            assert made.server.total == 0
            return caught.value

    assert "$99.9999 of the budget of $100.0000 are spent" in str(do(run()))


def test_calls_at_once_halve_when_asked_for_patience_and_recover(ledger: Ledger, do: Do) -> None:
    """The server refuses whenever more than ten are being answered; nobody dies of it."""

    async def run() -> Loopback:
        async with Loopback(script(OK)) as server:

            def crowded(ask_: Ask) -> Reply:
                refusal = openai.error(429, None, retry_after="1")
                return refusal if server.busy > 10 else OK.but(delay=0.01)

            server.answer = crowded
            values = {
                "base_url": f"{server.url}/v1",
                "prices": {"openai:m-1": PRICE},
                "budget": 9.0,
            }
            config = LlmConfig(in_flight=40, **values)
            async with open_models({"a": "openai:m-1"}, config, ledger, Hurried()) as models:
                asking = (models["a"].complete(ask(text=str(n)), USE) for n in range(200))
                await asyncio.gather(*asking)
            return server

    server = do(run())
    found = outcomes(ledger)
    assert found.count("stop") == 200
    assert set(found) <= {"stop", "throttled"}
    assert server.total == len(found)
    assert server.most <= 40


def test_two_roles_of_one_model_share_pace_and_budget(ledger: Ledger, do: Do) -> None:
    async def run() -> bool:
        roles = {"author": "openai:m-1", "critic": "openai:m-1"}
        config = LlmConfig(base_url="http://127.0.0.1:9/v1", no_budget=True)
        async with open_models(roles, config, ledger) as models:
            return models["author"] is models["critic"]

    assert do(run())


def test_the_probe_tells_servers_that_enforce_schemas(ledger: Ledger, do: Do) -> None:
    async def run(text: str) -> bool:
        ledger.drop(receipt(question("openai:m-1")))
        async with world(ledger, script(openai.answer(text))) as made:
            first = await enforces_schemas(made.asked, "openai:m-1")
            assert await enforces_schemas(made.asked, "openai:m-1") is first
            assert made.server.total == 1
            return first

    assert do(run('{"colour": "ochre"}')) is True
    assert do(run("blue")) is False
    assert do(run('{"colour": "blue"}')) is False


# -- the key -----------------------------------------------------------------------------------


def test_the_key_stands_nowhere_on_disk(ledger: Ledger, do: Do, tmp_path: Path) -> None:
    leaky = script(
        openai.error(500, None, "Authorization: Bearer sk-very-secret"),
        openai.error(429, "sk-very-secret", "sk-very-secret"),
        OK,
    )

    async def run() -> str:
        async with world(ledger, leaky) as made:
            await made.asked.complete(ask(), USE)
            return made.server.asked[0].headers["authorization"]

    assert do(run()) == "Bearer sk-very-secret"
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) >= 1
    assert [path.name for path in files if b"sk-very-secret" in path.read_bytes()] == []


def test_no_key_is_wrong_use_only_where_one_is_needed(
    ledger: Ledger, do: Do, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")

    async def run(**values: Any) -> str:
        async with Loopback(script(OK)) as server:
            if "base_url" in values:
                values["base_url"] = f"{server.url}/v1"
            config = LlmConfig(no_budget=True, **values)
            async with open_models({"a": "openai:m-1"}, config, ledger) as models:
                await models["a"].complete(ask(), USE)
            return server.asked[0].headers["authorization"]

    with pytest.raises(Misconfigured, match="set OPENAI_API_KEY in the environment"):
        do(run())
    assert do(run(base_url="")) == "Bearer none"


def test_a_price_must_be_known(ledger: Ledger, do: Do) -> None:
    async def run(**values: Any) -> None:
        async with open_models({"a": "openai:nobody"}, LlmConfig(**values), ledger):
            pass

    with pytest.raises(Misconfigured, match="no price is known for openai:nobody"):
        do(run(budget=3))
    with pytest.raises(Misconfigured, match=r"costs money: set llm\.budget"):
        do(run(prices={"openai:nobody": PRICE}))
    do(run(prices={"openai:nobody": Price(input=0, output=0)}))
    do(run(no_budget=True))


def test_the_request_that_is_recorded_is_the_one_that_was_asked(ledger: Ledger, do: Do) -> None:
    request = ask(seed=5, temperature=0.0)

    async def run() -> list[Any]:
        async with world(ledger, script(LOOP, LOOP, OK)) as made:
            await made.asked.complete(request, USE)
            return [one.body for one in made.server.asked]

    bodies = do(run())
    assert [(body["seed"], body["temperature"]) for body in bodies] == [(5, 0), (6, 0.25), (7, 0.5)]
    recorded = ledger._db.execute("SELECT request FROM effects").fetchone()[0]
    assert json.loads(recorded) == json.loads(request.identity)
    assert (json.loads(recorded)["seed"], json.loads(recorded)["temperature"]) == (5, 0.0)
    keys = ledger._db.execute("SELECT DISTINCT key FROM attempts").fetchall()
    assert keys == [(receipt(request),)]


def test_a_model_that_moved_is_said_and_not_asked_again(ledger: Ledger, do: Do) -> None:
    said: list[str] = []

    async def start(config: LlmConfig) -> None:
        roles = {"a": "openai:mine"}
        async with open_models(roles, config, ledger, Hurried(), say=said.append) as models:
            await models["a"].complete(ask().model_copy(update={"model": "openai:mine"}), USE)

    async def main() -> tuple[int, int]:
        free = {"openai:mine": Price(input=0, output=0)}
        async with Loopback(script(openai.answer("one"))) as one, Loopback(script()) as two:
            for url in (f"{one.url}/v1", f"{one.url}/v1/", f"{two.url}/v1", f"{two.url}/v1"):
                await start(LlmConfig(base_url=url, prices=free))
            await start(LlmConfig(prices=free))
            return one.total, two.total

    assert do(main()) == (1, 0)
    assert [line.partition(" before")[0][:34] for line in said] == [
        "openai:mine was asked at http://12",
        "openai:mine was asked at http://12",
    ]
