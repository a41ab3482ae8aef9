"""The wrappers alone: deadline, retry, pace, budget, loops; prices and schemas as values."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envgen.config import LlmConfig, Price
from envgen.errors import BudgetSpent, Misconfigured
from envgen.llm.budget import Budget
from envgen.llm.deadline import Timed
from envgen.llm.loops import TAIL, Watched, loops, repeated
from envgen.llm.pace import Bucket, Gate
from envgen.llm.paced import Paced
from envgen.llm.prices import Tariff, bytes_of, tariff
from envgen.llm.retried import Retried
from envgen.llm.schema import is_strict, loosened
from envgen.llm.scripted import Hurried, Scripted
from envgen.llm.trouble import Seen, Throttled, Transient, trouble
from envgen.records import Completion, Finish, Message, Request, Usage

Do = Callable[[Any], Any]


def ask(text: str = "hello", **values: Any) -> Request:
    return Request(model="openai:m", messages=(Message(role="user", text=text),), **values)


def answer(text: str = "ok", finish: Finish = "stop", output: int = 3) -> Completion:
    usage = Usage(input=7, output=output)
    return Completion(text=text, finish=finish, usage=usage, model="m")


def throttled(after: float | None = None) -> Throttled:
    found = trouble(Seen("openai", "http", 429, after=after))
    assert isinstance(found, Throttled)
    return found


# -- deadline ----------------------------------------------------------------------------------


class Slow:
    async def complete(self, request: Request) -> Completion:
        await asyncio.sleep(10)
        raise AssertionError("nobody waits so long")


def test_a_deadline_is_total(do: Do) -> None:
    with pytest.raises(Transient, match=r"no answer in time, 0\.01 s have passed") as caught:
        do(Timed(Slow(), 0.01).complete(ask()))
    assert caught.value.unseen
    assert caught.value.__context__ is None


def test_a_cancellation_is_no_deadline(do: Do) -> None:
    async def run() -> None:
        await asyncio.wait_for(Timed(Slow(), 5).complete(ask()), 0.01)

    with pytest.raises(TimeoutError):
        do(run())


# -- retry -------------------------------------------------------------------------------------


def waits_of(request: Request, errors: list[Exception], do: Do) -> list[float]:
    clock, left = Hurried(), list(errors)

    def reply(_: Request) -> Completion:
        if left:
            raise left.pop(0)
        return answer()

    assert do(Retried(Scripted(reply), clock).complete(request)) == answer()
    return clock.waited


def test_the_same_request_waits_the_same_and_another_does_not(do: Do) -> None:
    down = [trouble(Seen("openai", "http", 500))] * 4
    first = waits_of(ask("a"), down, do)
    assert first == waits_of(ask("a"), down, do)
    assert first != waits_of(ask("b"), down, do)
    assert all(0 <= wait <= 2**n for n, wait in enumerate(first))


def test_waits_without_advice_grow_to_a_minute(do: Do) -> None:
    waits = waits_of(ask(), [throttled()] * 12, do)
    assert all(wait <= 60 for wait in waits)
    assert all(wait >= 30 for wait in waits[6:])


def test_throttling_does_not_use_up_attempts(do: Do) -> None:
    down = trouble(Seen("openai", "http", 500))
    mixed = [down, throttled(1), down, throttled(1), down, throttled(1), down, throttled(1)]
    assert len(waits_of(ask(), mixed, do)) == 8


def test_a_bug_is_not_retried(do: Do) -> None:
    def reply(_: Request) -> Completion:
        raise KeyError("bug")

    model = Scripted(reply)
    with pytest.raises(KeyError):
        do(Retried(model, Hurried()).complete(ask()))
    assert len(model.asked) == 1


# -- pace --------------------------------------------------------------------------------------


def test_a_bucket_keeps_its_rate(do: Do) -> None:
    """120 a minute, six at once at the start: 66 take half a minute."""
    clock = Hurried()

    async def run() -> None:
        bucket = Bucket(120, clock)
        for _ in range(66):
            await bucket.take(1)

    do(run())
    assert clock.time == pytest.approx(30, abs=0.01)


def test_an_amount_larger_than_the_bucket_leaves_a_debt(do: Do) -> None:
    """6,000 a minute, 300 at once: 1,000 go at once, and are paid before the next."""
    clock = Hurried()

    async def run() -> list[float]:
        bucket = Bucket(6000, clock)
        await bucket.take(1000)
        first = clock.time
        await bucket.take(100)
        return [first, clock.time]

    assert do(run()) == [0, pytest.approx(8, abs=0.01)]


def test_what_is_handed_back_can_be_taken_at_once(do: Do) -> None:
    clock = Hurried()

    async def run() -> float:
        bucket = Bucket(6000, clock)
        for _ in range(100):
            await bucket.take(300)
            bucket.give(300)
        return clock.time

    assert do(run()) == pytest.approx(0, abs=1e-6)


@given(st.lists(st.floats(0.1, 5000), min_size=1, max_size=60))
def test_a_bucket_never_gives_more_than_it_may(amounts: list[float]) -> None:
    """However large the pieces: what was taken before the last is covered by time and burst."""
    clock = Hurried()

    async def run() -> None:
        bucket = Bucket(6000, clock)
        taken = 0.0
        for amount in amounts:
            await bucket.take(amount)
            assert taken + min(amount, bucket.size) <= bucket.size + 100 * clock.time + 1e-3
            taken += amount

    asyncio.run(run())


def test_many_refusals_of_one_moment_halve_once(do: Do) -> None:
    async def run() -> list[float]:
        gate, widths = Gate(64), []
        for _ in range(2):
            epochs = [await gate.enter() for _ in range(int(gate.width))]
            for epoch in epochs:
                gate.leave(epoch, throttled=True, success=False)
            widths.append(gate.width)
        return [*widths, gate.busy]

    assert do(run()) == [32, 16, 0]


def test_a_gate_of_successes_widens_it_by_one(do: Do) -> None:
    async def run() -> list[float]:
        gate = Gate(8)
        gate.leave(await gate.enter(), throttled=True, success=False)
        widths = []
        for calls in (4, 5, 6, 7, 8):
            for _ in range(calls):
                gate.leave(await gate.enter(), throttled=False, success=True)
            widths.append(round(gate.width, 1))
        return widths

    assert do(run()) == [pytest.approx(w, abs=0.3) for w in (5, 6, 7, 8, 8)]


def test_a_gate_lets_in_no_more_than_its_width_and_forgets_nobody(do: Do) -> None:
    async def run() -> tuple[int, int, int]:
        gate, most, through = Gate(3), 0, 0

        async def one(number: int) -> None:
            nonlocal most, through
            epoch = await gate.enter()
            most = max(most, gate.busy)
            await asyncio.sleep(0)
            gate.leave(epoch, throttled=number % 7 == 0, success=number % 7 != 0)
            through += 1

        tasks = [asyncio.create_task(one(number)) for number in range(100)]
        await asyncio.sleep(0)
        for task in tasks[10:20]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return most, through, gate.busy

    assert do(run()) == (3, 90, 0)


def test_failing_calls_hand_back_what_they_reserved(do: Do) -> None:
    """600 tokens a minute; a question of about 25 would wait 2.5 seconds, did failures keep any."""
    clock = Hurried()
    left = 50

    def reply(_: Request) -> Completion:
        nonlocal left
        if left:
            left -= 1
            raise trouble(Seen("openai", "http", 500))
        return answer()

    async def run() -> float:
        paced = Paced(Scripted(reply), None, 600, 4, clock)
        for _ in range(50):
            with pytest.raises(Transient):
                await paced.complete(ask("x" * 36))
        await paced.complete(ask("x" * 36))
        return clock.time

    assert do(run()) == pytest.approx(0, abs=1e-6)


def test_tokens_are_settled_by_what_was_used(do: Do) -> None:
    """Each call uses 1,007 tokens of 60,420 a minute: one a second, once answers are known."""
    clock = Hurried()

    async def run() -> float:
        paced = Paced(Scripted(lambda _: answer(output=1000)), None, 60_420, 4, clock)
        for _ in range(63):
            await paced.complete(ask())
        return clock.time

    assert do(run()) == pytest.approx(60, abs=1.5)


def test_nobody_asks_before_the_time_that_one_was_told(do: Do) -> None:
    clock, times = Hurried(), []

    def reply(request: Request) -> Completion:
        times.append(clock.time)
        if len(times) == 1:
            raise throttled(20)
        return answer()

    async def run() -> None:
        paced = Paced(Scripted(reply), None, None, 4, clock)
        with pytest.raises(Throttled):
            await paced.complete(ask("a"))
        await asyncio.gather(*(paced.complete(ask(str(n))) for n in range(3)))

    do(run())
    assert times == [0, 20, 20, 20]


# -- budget ------------------------------------------------------------------------------------


def test_a_call_waits_for_those_in_flight_before_the_budget_is_called_spent(do: Do) -> None:
    async def run() -> list[str]:
        budget, seen = Budget(10.0), []

        async def one(name: str, most: float, cost: float) -> None:
            try:
                await budget.reserve(most)
            except BudgetSpent:
                seen.append(f"{name} stopped")
                return
            seen.append(name)
            await asyncio.sleep(0)
            budget.settle(most, cost)

        await asyncio.gather(one("a", 8, 1), one("b", 8, 1), one("c", 8, 6), one("d", 8, 1))
        assert (budget.spent, budget.reserved) == (8, 0)
        return seen

    assert do(run()) == ["a", "b", "c", "d stopped"]


@given(
    st.floats(0, 50),
    st.lists(st.tuples(st.floats(0, 5), st.floats(0, 1)), max_size=40),
)
def test_a_budget_is_never_overspent(dollars: float, calls: list[tuple[float, float]]) -> None:
    async def run() -> None:
        budget = Budget(dollars)

        async def one(most: float, part: float) -> None:
            try:
                await budget.reserve(most)
            except BudgetSpent:
                return
            assert budget.spent + budget.reserved <= dollars + 1e-9
            await asyncio.sleep(0)
            budget.settle(most, most * part)

        await asyncio.gather(*(one(most, part) for most, part in calls))
        assert budget.reserved == 0
        assert budget.spent <= dollars + 1e-9

    asyncio.run(run())


# -- loops -------------------------------------------------------------------------------------

LOOPS = {
    "blanks": '{"a":' + "\n" * 500,
    "tabs among words": ("x" + " \t\n" * 3) * 60,
    "digits": "The value is 0." + "".join(str(n * n % 7919) for n in range(400)),
    "one word": "I think so. " + "so " * 400,
    "a passage": "Once. " + "The tool reads the file, then it writes the file anew. " * 12,
    "one letter": "a" * 400,
}
SOUND = {
    "short": "so so so so so so",
    "code": Path(__file__).read_text(),
    "a table": "\n".join(f"{n},{n * n % 97},{n * 31 % 89}" for n in range(300)),
    "a passage twice": ("The quick brown fox jumps over the lazy dog. " * 9 + "And more. ") * 4,
    "a rule": "Title\n" + "-" * 300 + "\ntext that goes on and then stops",
}


@pytest.mark.parametrize("text", LOOPS.values(), ids=LOOPS)
def test_a_loop_is_seen(text: str) -> None:
    assert loops(text)


@pytest.mark.parametrize("text", SOUND.values(), ids=SOUND)
def test_what_only_repeats_itself_is_no_loop(text: str) -> None:
    assert not loops(text)


def test_a_policys_loop_counts_as_what_it_is(do: Do) -> None:
    model = Watched(Scripted(lambda request: answer("a" * 400, "length")))
    assert do(model.complete(ask())).finish == "degenerate"
    assert do(model.complete(ask(as_is=True))).finish == "length"


@given(st.text("abc", min_size=1, max_size=60), st.integers(6, 12), st.text("xyz", max_size=40))
def test_the_repeated_end_is_found_whatever_it_repeats(
    passage: str, times: int, before: str
) -> None:
    tail = (before + passage * times)[-TAIL:]
    assert repeated(tail) >= min(len(passage) * times, TAIL)


@pytest.mark.parametrize(
    ("finish", "text", "seen"),
    [
        ("length", "so " * 400, "degenerate"),
        ("stop", "so " * 400, "stop"),
        ("length", "fine", "length"),
    ],
)
def test_only_answers_that_were_cut_are_called_degenerate(
    finish: Finish, text: str, seen: Finish, do: Do
) -> None:
    model = Watched(Scripted(lambda _: answer(text, finish)))
    assert do(model.complete(ask())).finish == seen


# -- prices ------------------------------------------------------------------------------------


def test_a_call_costs_what_each_kind_of_token_costs() -> None:
    usage = Usage(input=1000, cached=400, output=100, thinking=60)
    price = Price(input=2, cached=0.5, output=10, batch=0.5, flex=0.25)
    dollars = (600 * 2 + 400 * 0.5 + 100 * 10) / 1e6
    assert Tariff(price).cost(usage) == pytest.approx(dollars)
    assert Tariff(price, "batch").cost(usage) == pytest.approx(dollars / 2)
    assert Tariff(price, "flex").cost(usage) == pytest.approx(dollars / 4)
    assert Tariff(Price(input=2, output=10)).cost(usage) == pytest.approx(0.003)


def test_a_long_question_costs_more_from_its_first_token_on() -> None:
    price = tariff("gemini:gemini-2.5-pro", LlmConfig(budget=1)).price
    at, over = Usage(input=200_000, cached=100, output=10), Usage(input=200_001, cached=100)
    assert Tariff(price).cost(at) == pytest.approx((199_900 * 1.25 + 100 * 0.125 + 100) / 1e6)
    assert Tariff(price).cost(over) == pytest.approx((199_901 * 2.5 + 100 * 0.25) / 1e6)
    batch = Tariff(price, "batch").cost(over)
    assert batch == pytest.approx(
        (199_901 * 1.25 + 100 * 0.25) / 1e6
    )  # Google caches at full price
    assert Tariff(price).total(Usage(input=400_000), 2) == pytest.approx(0.4 * 1.25)
    assert Tariff(price).total(Usage(input=400_001), 2) == pytest.approx(0.400_001 * 2.5)


def test_the_budget_sets_aside_the_long_price_where_a_question_may_be_long() -> None:
    priced = tariff("gemini:gemini-2.5-pro", LlmConfig(budget=1))
    short, long = (ask("x" * size, max_tokens=100) for size in (199_872, 199_873))
    assert (bytes_of(short), bytes_of(long)) == (200_000, 200_001)
    assert priced.worst(short) == pytest.approx((200_000 * 1.25 + 100 * 10) / 1e6)
    assert priced.worst(long) == pytest.approx((200_001 * 2.5 + 100 * 15) / 1e6)


def test_the_worst_case_takes_every_byte_for_a_token() -> None:
    request = ask("é" * 100, max_tokens=50, answer_schema="{}")
    assert bytes_of(request) == 200 + 64 + 2 + 64
    assert Tariff(Price(input=1, output=10)).worst(request) == pytest.approx(830 / 1e6)


def test_shipped_prices_are_found_and_ones_own_win(tmp_path: Path) -> None:
    shipped = tariff("openai:gpt-4.1-mini", LlmConfig(budget=1))
    assert shipped.price == Price(input=0.4, cached=0.1, output=1.6, batch=0.5)
    own = {"openai:gpt-4.1-mini": Price(input=9, output=9)}
    assert tariff("openai:gpt-4.1-mini", LlmConfig(budget=1, prices=own)).price.input == 9
    file = tmp_path / "prices.yaml"
    file.write_text("models:\n  openai:gpt-4.1-mini: {input: 8, output: 8}\n")
    assert tariff("openai:gpt-4.1-mini", LlmConfig(budget=1, prices=str(file))).price.input == 8


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "does not exist"),
        ("[", "cannot be read"),
        ("a: 1", "no mapping `models`"),
        ("models: 3", "no mapping `models`"),
        ("models: {m: {input: -1, output: 2}}", "greater than or equal to 0"),
        ("models: {m: {input: 1}}", "Field required"),
    ],
)
def test_a_bad_price_file_is_named(text: str | None, words: str, tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(Misconfigured, match=words) as caught:
        tariff("openai:m", LlmConfig(budget=1, prices=str(file)))
    assert str(file) in str(caught.value)


# -- schemas -----------------------------------------------------------------------------------


def test_words_that_local_servers_refuse_go_and_fields_of_their_names_stay() -> None:
    schema = {
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "pattern": "^a", "minLength": 1},
            "list": {"type": "array", "maxItems": 3, "items": {"maxLength": 4000}},
        },
        "$defs": {"format": {"format": "date", "type": "string"}},
        "anyOf": [{"pattern": "x"}, {"enum": ["a"]}],
    }
    assert loosened(schema) == {
        "type": "object",
        "properties": {
            "pattern": {"type": "string"},
            "list": {"type": "array", "items": {}},
        },
        "$defs": {"format": {"type": "string"}},
        "anyOf": [{}, {"enum": ["a"]}],
    }


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        ({"type": "string"}, True),
        ({"type": "object", "properties": {}, "additionalProperties": False}, True),
        ({"type": "object", "properties": {"a": {}}, "additionalProperties": False}, False),
        ({"type": "object", "properties": {"a": {}}, "required": ["a"]}, False),
        ({"type": "array", "items": {"type": "object"}}, False),
    ],
)
def test_strict_mode_is_for_closed_objects(schema: dict[str, Any], strict: bool) -> None:
    assert is_strict(schema) is strict
