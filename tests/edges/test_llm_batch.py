"""The batch lane against both batch protocols: what is answered, billed, asked again and left."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from pydantic import SecretStr

from envgen.config import Price
from envgen.errors import BudgetSpent, Misconfigured
from envgen.ledger import Ledger, Use
from envgen.ledger.batches import ONLINE, Line
from envgen.llm import Asked, batch, receipt
from envgen.llm.batch import Lane
from envgen.llm.batch.gemini import GeminiJobs
from envgen.llm.batch.jobs import MOST_BETWEEN, Jobs
from envgen.llm.batch.openai import OpenAIJobs
from envgen.llm.budget import Budget
from envgen.llm.gemini import Gemini
from envgen.llm.openai import OpenAI
from envgen.llm.prices import Tariff
from envgen.llm.scripted import Scripted
from envgen.llm.trouble import QuotaDead
from envgen.records import Message, Request
from tests.loopback import Loopback, Reply, gemini, openai
from tests.loopback.batches import LOST, Batches, Result

Do = Callable[[Awaitable[Any]], Any]
HOUR = 3600.0
BOTH = ["openai", "gemini"]
USE = Use("task", "author")
WORST = (9 + 2 * 64 + 100) / 2
"""Dollars that `one word0` may cost: its bytes and their wrapping, and the longest answer."""


TARIFF = Tariff(Price(input=1e6, output=1e6, batch=0.5), "batch")
"""A dollar a token, at half the price."""


@dataclass
class Clock:
    """Time that passes when somebody waits."""

    now: float = 1_000_000.0
    waits: list[float] = field(default_factory=list)

    def time(self) -> float:
        return self.now

    async def pause(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


@dataclass
class Bench:
    """A provider with a batch endpoint, a ledger, and lanes between them."""

    provider: str
    server: Batches
    ledger: Ledger
    clock: Clock
    online: Scripted
    inline_bytes: int = 10**6
    hours: float = 24.0
    budget: Budget = field(default_factory=lambda: Budget(None))

    def jobs(self, url: str) -> tuple[Jobs, OpenAI | Gemini]:
        if self.provider == "openai":
            adapter = OpenAI(SecretStr("sk-secret"), base_url=f"{url}/v1", seconds=5)
            return OpenAIJobs(adapter, "openai:small"), adapter
        other = Gemini(SecretStr("sk-secret"), base_url=url, seconds=5)
        return GeminiJobs(other, "gemini:small", self.inline_bytes), other

    async def ask(self, *requests: Request, until: Callable[[], bool] | None = None) -> list[Any]:
        """Ask through a lane of its own; with `until`, as a process that dies when it holds."""
        async with asyncio.timeout(60), Loopback(self.server) as server:
            jobs, adapter = self.jobs(server.url)
            lane = Lane(
                self.online,
                jobs,
                self.ledger,
                self.budget,
                TARIFF,
                model=f"{self.provider}:small",
                run="run",
                hedge_seconds=self.hours * HOUR,
                clock=self.clock.time,
                pause=self.clock.pause,
            )
            async with lane:
                asked = Asked(lane, self.ledger)
                calls = [asyncio.create_task(asked.complete(r, USE)) for r in requests]
                while until is not None and not until():
                    await asyncio.sleep(0.001)
                for call in calls if until is not None else ():
                    call.cancel()
                found = await asyncio.gather(*calls, return_exceptions=True)
            await adapter.close()
        return [item[1].text if isinstance(item, tuple) else item for item in found]

    def request(self, text: str, **more: Any) -> Request:
        message = Message(role="user", text=text)
        return Request(model=f"{self.provider}:small", messages=(message,), max_tokens=100, **more)

    def requests(self, count: int, first: int = 0) -> list[Request]:
        """`one word0`, `one word1`, ...; each answer holds the last word in capitals."""
        numbers = range(first, first + count)
        return [self.request(f"one word{n}", echo=f"WORD{n}") for n in numbers]

    @property
    def billed(self) -> dict[tuple[str, str], tuple[int, float, float]]:
        """(lane, outcome) -> attempts, dollars, dollars at risk."""
        rows = self.ledger.attempts.table()
        return {(row.lane, row.outcome): (row.attempts, row.cost, row.risk) for row in rows}

    @property
    def retried(self) -> list[str]:
        """What was asked online."""
        return [request.messages[-1].text for request in self.online.asked]

    @property
    def untidy(self) -> list[str]:
        """Settled batches whose files are not deleted."""
        return self.ledger.batches.untidy(f"{self.provider}:small")

    def left(self, requests: list[Request]) -> list[str | None]:
        """Batches that requests still wait in."""
        return [self.ledger.batches.of(receipt(request)) for request in requests]


@pytest.fixture(params=BOTH)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    ledger = Ledger(tmp_path / "run")
    online = Scripted(lambda request: f"online {request.messages[-1].text}")
    yield Bench(request.param, Batches(), ledger, Clock(), online)
    ledger.close()


def answers(count: int) -> list[str]:
    return [f"ONE WORD{n}" for n in range(count)]


# -- a job that goes well ----------------------------------------------------------------------


def test_requests_of_a_window_are_one_job(bench: Bench, do: Do) -> None:
    asked = bench.requests(5)
    assert do(bench.ask(*asked)) == answers(5)
    assert bench.server.count("create") == 1
    assert bench.billed == {("batch", "stop"): (5, 10.0, 0.0)}
    assert bench.retried == []
    assert bench.left(asked) == [None] * 5
    assert bench.ledger.batches.open(f"{bench.provider}:small") == []


def test_what_was_answered_is_not_asked_again(bench: Bench, do: Do) -> None:
    do(bench.ask(*bench.requests(3)))
    assert do(bench.ask(*bench.requests(4))) == answers(4)
    assert [len(job.lines) for job in bench.server.jobs.values()] == [3, 1]


def test_an_urgent_request_goes_online(bench: Bench, do: Do) -> None:
    request = bench.request("mend this", urgent=True)
    assert do(bench.ask(request)) == ["online mend this"]
    assert bench.server.served == []


def test_urgency_and_echo_are_no_part_of_a_request(bench: Bench) -> None:
    plain = bench.request("x")
    assert receipt(bench.request("x", urgent=True, echo="X")) == receipt(plain)


def test_the_same_request_twice_is_one_line(bench: Bench, do: Do) -> None:
    """Both under one key; the second does not even come past the ledger."""
    assert do(bench.ask(*bench.requests(1), *bench.requests(1))) == answers(1) * 2
    assert [len(job.lines) for job in bench.server.jobs.values()] == [1]


def test_a_full_window_is_a_job_of_its_own(
    bench: Bench, do: Do, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OpenAIJobs, "most_lines", 2)
    monkeypatch.setattr(GeminiJobs, "most_lines", 2)
    assert do(bench.ask(*bench.requests(5))) == answers(5)
    assert sorted(len(job.lines) for job in bench.server.jobs.values()) == [1, 2, 2]


def test_looks_become_rarer(bench: Bench, do: Do) -> None:
    bench.server.looks = 12
    do(bench.ask(*bench.requests(1)))
    window, *looks = bench.clock.waits
    assert window == batch.WINDOW
    assert len(looks) == 12
    assert looks[:3] == [15.0, 22.5, 33.75]
    assert looks == sorted(looks)
    assert looks[-1] == MOST_BETWEEN


# -- results that do not match -----------------------------------------------------------------


def test_results_come_in_any_order(bench: Bench, do: Do) -> None:
    bench.server.shape = lambda results: results[::-1]
    assert do(bench.ask(*bench.requests(4))) == answers(4)
    assert bench.retried == []


def test_a_result_that_comes_twice_is_billed_once(bench: Bench, do: Do) -> None:
    bench.server.shape = lambda results: [*results, results[0], results[0]]
    assert do(bench.ask(*bench.requests(3))) == answers(3)
    assert bench.billed == {("batch", "stop"): (3, 6.0, 0.0)}


def test_of_two_results_the_right_one_counts(bench: Bench, do: Do) -> None:
    """Another's answer first, then an error, then the request's own."""

    def twice(results: list[Result]) -> list[Result]:
        key, other = results[0].key, results[1]
        wrong = Result(key, other.text, other.prompt)
        return [wrong, Result(key, "", "", 500, "server_error"), *results]

    bench.server.shape = twice
    assert do(bench.ask(*bench.requests(2))) == answers(2)
    assert bench.billed == {("batch", "stop"): (2, 4.0, 0.0)}


def test_a_missing_result_is_asked_online(bench: Bench, do: Do) -> None:
    """Which two are missing hangs on the order of keys, so it is read from what was retried."""
    bench.server.shape = lambda results: results[2:]
    asked = bench.requests(5)
    found = do(bench.ask(*asked))
    assert len(bench.retried) == 2
    wanted = [
        f"online {r.messages[-1].text}" if r.messages[-1].text in bench.retried else text
        for r, text in zip(asked, answers(5), strict=True)
    ]
    assert found == wanted
    assert bench.billed == {("batch", "stop"): (3, 6.0, 0.0), ("batch", "missing"): (2, 0.0, 0.0)}
    assert bench.left(asked).count(ONLINE) == 2


def test_a_result_of_a_stranger_is_passed_over(bench: Bench, do: Do) -> None:
    bench.server.shape = lambda results: [Result("f" * 64, "x", "x"), *results]
    assert do(bench.ask(*bench.requests(2))) == answers(2)
    assert bench.billed == {("batch", "stop"): (2, 4.0, 0.0)}


def test_results_under_each_others_keys_are_refused(bench: Bench, do: Do) -> None:
    """Both were paid for; neither is believed."""

    def swapped(results: list[Result]) -> list[Result]:
        a, b, *rest = results
        return [Result(b.key, a.text, a.prompt), Result(a.key, b.text, b.prompt), *rest]

    bench.server.shape = swapped
    found = do(bench.ask(*bench.requests(4)))
    assert sorted(text.split()[0] for text in found) == ["ONE", "ONE", "online", "online"]
    assert len(bench.retried) == 2
    assert bench.billed == {
        ("batch", "stop"): (2, 4.0, 0.0),
        ("batch", "mismatched"): (2, 4.0, 0.0),
    }


def test_without_an_echo_nothing_can_be_told(bench: Bench, do: Do) -> None:
    """Which is why authors ask for one: this is the wrong answer, and it passes."""

    def swapped(results: list[Result]) -> list[Result]:
        a, b = results
        return [Result(b.key, a.text, a.prompt), Result(a.key, b.text, b.prompt)]

    bench.server.shape = swapped
    asked = [bench.request(f"one word{n}") for n in range(2)]
    assert do(bench.ask(*asked)) == answers(2)[::-1]


# -- lines that failed -------------------------------------------------------------------------


def failing(status: int, code: str) -> Callable[[list[Result]], list[Result]]:
    """The first line with an error in place of its answer."""
    return lambda results: [Result(results[0].key, "", "", status, code), *results[1:]]


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (429, "rate_limit_exceeded", "throttled"),
        (500, "server_error", "transient"),
        (503, "overloaded", "throttled"),
        (400, "invalid_value", "bad_request"),
        (401, "invalid_api_key", "quota_dead"),
    ],
)
def test_a_line_with_an_error_is_asked_online(
    bench: Bench, do: Do, status: int, code: str, kind: str
) -> None:
    bench.server.shape = failing(status, code)
    found = do(bench.ask(*bench.requests(3)))
    assert sorted(text.split()[0] for text in found) == ["ONE", "ONE", "online"]
    assert len(bench.retried) == 1
    assert bench.billed == {("batch", "stop"): (2, 4.0, 0.0), ("batch", kind): (1, 0.0, 0.0)}


@pytest.mark.parametrize("bench", ["openai"], indirect=True)
def test_a_blocked_line_is_an_answer(bench: Bench, do: Do) -> None:
    """Gemini blocks without an error: its answer says so."""
    bench.server.shape = failing(400, "content_filter")
    assert sorted(do(bench.ask(*bench.requests(2))))[0] == ""
    assert bench.retried == []
    assert bench.billed == {("batch", "stop"): (1, 2.0, 0.0), ("batch", "blocked"): (1, 0.0, 0.0)}


def test_a_cut_answer_is_an_answer(bench: Bench, do: Do) -> None:
    def cut(results: list[Result]) -> list[Result]:
        return [Result(r.key, r.text, r.prompt, finish="length") for r in results]

    bench.server.shape = cut
    assert do(bench.ask(*bench.requests(2))) == answers(2)
    assert bench.billed == {("batch", "length"): (2, 4.0, 0.0)}


# -- jobs that end badly -----------------------------------------------------------------------


@pytest.mark.parametrize("ends", ["expired", "partial"])
def test_what_a_job_finished_is_kept(bench: Bench, do: Do, ends: Any) -> None:
    bench.server.ends, bench.server.finished = ends, 3
    found = do(bench.ask(*bench.requests(5)))
    assert sorted(text.split()[0] for text in found) == ["ONE", "ONE", "ONE", "online", "online"]
    assert bench.server.count("cancel") == 0
    assert bench.billed[("batch", "stop")] == (3, 6.0, 0.0)
    assert sum(attempts for attempts, _, _ in bench.billed.values()) == 5
    assert sum(cost for _, cost, _ in bench.billed.values()) == 6.0


@pytest.mark.parametrize("ends", ["never", "paused"])
def test_a_job_that_does_not_end_is_cancelled_at_the_deadline(
    bench: Bench, do: Do, ends: Any
) -> None:
    """What it had finished by then is read; the rest goes online."""
    bench.server.ends, bench.server.finished, bench.hours = ends, 2, 6.0
    begun = bench.clock.now
    found = do(bench.ask(*bench.requests(5)))
    assert sorted(text.split()[0] for text in found) == ["ONE", "ONE", *["online"] * 3]
    assert bench.server.count("cancel") == 1
    assert 6 * HOUR <= bench.clock.now - begun <= 6 * HOUR + batch.WINDOW + batch.GRACE
    assert bench.billed == {("batch", "stop"): (2, 4.0, 0.0), ("batch", "missing"): (3, 0.0, 0.0)}


def test_a_job_that_does_not_even_die_may_be_billed(bench: Bench, do: Do) -> None:
    """It is left behind, and the most that it can cost stands in the ledger."""
    bench.server.ends = "never"
    gone = Reply.of({"error": {"message": "busy", "code": 503}}, 503)
    bench.server.faults["cancel"] = [gone] * 1000
    found = do(bench.ask(*bench.requests(2)))
    assert [text.split()[0] for text in found] == ["online", "online"]
    assert bench.billed == {("batch", "missing"): (2, 0.0, 2 * WORST)}


def test_an_answer_that_ran_in_circles_is_asked_online(bench: Bench, do: Do) -> None:
    def circles(results: list[Result]) -> list[Result]:
        return [
            Result(r.key, f"{r.text} {'la ' * 300}", r.prompt, finish="length") for r in results
        ]

    bench.server.shape = circles
    assert do(bench.ask(*bench.requests(1))) == ["online one word0"]
    assert bench.billed == {("batch", "degenerate"): (1, 152.0, 0.0)}


@pytest.mark.parametrize("bench", ["gemini"], indirect=True)
def test_a_job_that_failed_as_a_whole_goes_online(bench: Bench, do: Do) -> None:
    """OpenAI's fails here for want of room, which is the next test."""
    bench.server.ends = "failed"
    assert do(bench.ask(*bench.requests(2))) == ["online one word0", "online one word1"]
    assert bench.server.count("create") == 1


@pytest.mark.parametrize("bench", ["openai"], indirect=True)
def test_a_job_that_found_no_room_is_made_again(bench: Bench, do: Do) -> None:
    """Gemini says so when the job is made: 429."""
    bench.server.ends = "failed"
    made = bench.server.jobs

    async def later() -> list[Any]:
        asked = asyncio.create_task(bench.ask(*bench.requests(2)))
        while len(made) < 3:
            await asyncio.sleep(0.001)
        bench.server.ends = "done"
        return await asked

    assert do(later()) == answers(2)
    assert len(made) >= 3
    assert bench.billed == {("batch", "stop"): (2, 4.0, 0.0)}


def test_a_job_that_is_gone_goes_online(bench: Bench, do: Do) -> None:
    not_found = (
        openai.error(404, None) if bench.provider == "openai" else gemini.error(404, "NOT_FOUND")
    )
    bench.server.faults["look"] = [not_found] * 2
    assert do(bench.ask(*bench.requests(1))) == ["online one word0"]


# -- trouble on the way to a job ---------------------------------------------------------------


def busy(bench: Bench) -> Reply:
    if bench.provider == "openai":
        return openai.error(429, "rate_limit_exceeded", retry_after="90")
    return gemini.error(429, "RESOURCE_EXHAUSTED", "slow", gemini.retry_info("90s"))


def test_a_429_on_creation_is_waited_out(bench: Bench, do: Do) -> None:
    bench.server.faults["create"] = [busy(bench)] * 3
    assert do(bench.ask(*bench.requests(2))) == answers(2)
    assert bench.server.count("create") == 4
    assert len(bench.server.jobs) == 1
    assert bench.clock.waits[1:4] == [90.0] * 3
    assert bench.billed == {("batch", "stop"): (2, 4.0, 0.0)}


def test_nothing_but_429_ends_at_the_deadline(bench: Bench, do: Do) -> None:
    bench.server.faults["create"] = [busy(bench)] * 5000
    bench.hours = 2.0
    assert do(bench.ask(*bench.requests(1))) == ["online one word0"]
    assert bench.billed == {("batch", "missing"): (1, 0.0, 0.0)}


def test_an_upload_that_fails_is_made_again(bench: Bench, do: Do) -> None:
    bench.inline_bytes = 10  # so that Gemini uploads, too
    bench.server.faults["upload"] = [Reply(how="drop"), Reply.of({}, 500)]
    assert do(bench.ask(*bench.requests(2))) == answers(2)
    assert len(bench.server.jobs) == 1


def test_a_large_job_is_a_file(bench: Bench, do: Do) -> None:
    bench.inline_bytes = 10
    assert do(bench.ask(*bench.requests(5))) == answers(5)
    assert bench.server.count("upload") == (1 if bench.provider == "openai" else 2)
    assert bench.server.count("results") == 1


def test_a_job_whose_creation_was_not_confirmed_is_found(bench: Bench, do: Do) -> None:
    """The connection drops after the provider made the job: it is not made twice."""
    bench.server.faults["create"] = [LOST]
    assert do(bench.ask(*bench.requests(3))) == answers(3)
    assert bench.server.count("create") == 1
    assert len(bench.server.jobs) == 1


@pytest.mark.parametrize("route", ["look", "results", "list"])
def test_trouble_on_the_line_is_waited_out(bench: Bench, do: Do, route: str) -> None:
    bench.inline_bytes = 10
    web = Reply(200, b"<html>maintenance</html>", (("content-type", "text/html"),))
    bench.server.faults[route] = [Reply(how="drop"), Reply.of({}, 502), Reply.of({}, 503)]
    if route != "results":
        bench.server.faults[route].append(web)
    assert do(bench.ask(*bench.requests(2))) == answers(2)
    assert len(bench.server.jobs) == 1


def test_a_dead_account_stops_at_once(bench: Bench, do: Do) -> None:
    dead = (
        openai.error(429, "insufficient_quota")
        if bench.provider == "openai"
        else gemini.error(403, "PERMISSION_DENIED")
    )
    bench.server.faults["create"] = [dead]
    found = do(bench.ask(*bench.requests(2)))
    assert [type(error) for error in found] == [QuotaDead, QuotaDead]
    assert bench.server.count("create") == 1
    assert do(bench.ask(*bench.requests(2))) == answers(2)
    assert len(bench.server.jobs) == 1


def test_a_job_that_is_refused_is_wrong_use(bench: Bench, do: Do) -> None:
    refused = (
        openai.error(400, "invalid_value")
        if bench.provider == "openai"
        else gemini.error(400, "INVALID_ARGUMENT")
    )
    bench.server.faults["create"] = [refused]
    (error,) = do(bench.ask(*bench.requests(1)))
    assert isinstance(error, Misconfigured)
    assert "sk-secret" not in repr(error)


# -- the budget --------------------------------------------------------------------------------


def test_what_does_not_fit_the_budget_waits_for_what_is_under_way(bench: Bench, do: Do) -> None:
    """Room for two of five at their worst; they turn out cheap, so all five fit in the end."""
    bench.budget = Budget(2 * WORST + 20)
    assert do(bench.ask(*bench.requests(5))) == answers(5)
    assert sorted(len(job.lines) for job in bench.server.jobs.values()) == [1, 2, 2]
    assert (bench.budget.spent, bench.budget.reserved) == (10.0, 0.0)


def test_what_can_not_fit_is_refused(bench: Bench, do: Do) -> None:
    bench.budget = Budget(WORST + 1)
    found = do(bench.ask(*bench.requests(3)))
    assert [type(end) for end in found] == [str, BudgetSpent, BudgetSpent]
    assert bench.billed == {("batch", "stop"): (1, 2.0, 0.0)}


def test_a_later_run_counts_a_job_under_way_once(bench: Bench, do: Do) -> None:
    """Its worst case stands in the ledger from the start, and makes way for what it cost."""
    bench.server.ends = "never"
    do(bench.ask(*bench.requests(2), until=lambda: bool(bench.server.jobs)))
    spent = sum(bench.ledger.attempts.spent())
    assert spent == 2 * WORST
    bench.server.ends, bench.budget = "done", Budget(1000.0, spent)
    assert do(bench.ask(*bench.requests(2))) == answers(2)
    assert (bench.budget.spent, bench.budget.reserved) == (4.0, 0.0)
    assert sum(bench.ledger.attempts.spent()) == 4.0


# -- killed runs -------------------------------------------------------------------------------


class Killed(NamedTuple):
    """Where a run dies: before its job is known, while it runs, or with results to read."""

    name: str
    at: Callable[[Bench], bool]


KILLS = [
    Killed("made", lambda bench: len(bench.server.jobs) > 0),
    Killed("looked", lambda bench: bench.server.count("look") > 2),
]


@pytest.mark.parametrize("killed", KILLS, ids=[kill.name for kill in KILLS])
def test_a_killed_run_finds_its_job_again(bench: Bench, do: Do, killed: Killed) -> None:
    """Even when the tasks ask in another order, and for more."""
    bench.server.ends = "never"
    asked = bench.requests(4)
    died = do(bench.ask(*asked, until=lambda: killed.at(bench)))
    assert all(isinstance(end, asyncio.CancelledError) for end in died)
    bench.server.ends = "done"
    assert do(bench.ask(*bench.requests(6)[::-1])) == answers(6)[::-1]
    assert sorted(len(job.lines) for job in bench.server.jobs.values()) == [2, 4]
    assert bench.retried == []
    assert bench.billed == {("batch", "stop"): (6, 12.0, 0.0)}


def test_a_run_killed_between_creation_and_saving_pays_once(bench: Bench, do: Do) -> None:
    """The job exists, its name is not in the ledger: it is found by ours."""
    bench.server.ends = "never"
    do(bench.ask(*bench.requests(3), until=lambda: bool(bench.server.jobs)))
    (name,) = bench.ledger.batches.open(f"{bench.provider}:small")
    bench.ledger.batches.found(name, "")
    bench.server.ends = "done"
    assert do(bench.ask(*bench.requests(3))) == answers(3)
    assert len(bench.server.jobs) == 1
    assert [job.name for job in bench.server.jobs.values()] == [name]


def test_a_run_killed_before_creation_makes_its_job_later(bench: Bench, do: Do) -> None:
    bench.server.faults["create"] = [busy(bench)] * 5000
    do(bench.ask(*bench.requests(3), until=lambda: bench.server.count("create") > 1))
    assert bench.server.jobs == {}
    bench.server.faults.clear()
    assert do(bench.ask(*bench.requests(3))) == answers(3)
    assert [len(job.lines) for job in bench.server.jobs.values()] == [3]
    assert bench.billed == {("batch", "stop"): (3, 6.0, 0.0)}


def test_answers_that_nobody_waits_for_are_recorded(bench: Bench, do: Do) -> None:
    """A later run reads the old job before its tasks ask; then they recall the answers."""
    bench.server.ends = "never"
    asked = bench.requests(3)
    do(bench.ask(*asked, until=lambda: bench.server.count("look") > 1))
    bench.server.ends = "done"
    known = [receipt(request) for request in asked]
    do(bench.ask(until=lambda: all(map(bench.ledger.knows, known)) and not bench.untidy))
    served = len(bench.server.served)
    assert do(bench.ask(*asked)) == answers(3)
    assert len(bench.server.served) == served
    assert bench.billed == {("batch", "stop"): (3, 6.0, 0.0)}


# -- files -------------------------------------------------------------------------------------


def test_the_files_of_a_job_are_deleted_once_it_is_read(bench: Bench, do: Do) -> None:
    bench.inline_bytes = 10
    assert do(bench.ask(*bench.requests(2))) == answers(2)
    assert bench.server.count("delete") == 2  # questions and answers
    assert bench.server.files == {} and bench.untidy == []


def test_files_that_were_not_deleted_are_by_the_next_start(bench: Bench, do: Do) -> None:
    bench.inline_bytes = 10
    bench.server.faults["delete"] = [Reply(500)]
    assert do(bench.ask(*bench.requests(2))) == answers(2)
    assert len(bench.server.files) == 2 and len(bench.untidy) == 1
    do(bench.ask(until=lambda: bench.untidy == []))
    assert bench.server.files == {}


def test_a_provider_that_deletes_nothing_is_no_trouble(bench: Bench, do: Do) -> None:
    bench.inline_bytes = 10
    bench.server.faults["delete"] = [Reply(405)] * 2
    assert do(bench.ask(*bench.requests(2))) == answers(2)
    assert bench.untidy == []


def test_a_job_that_was_refused_leaves_no_file(bench: Bench, do: Do) -> None:
    bench.inline_bytes = 10
    bench.server.faults["create"] = [busy(bench)] * 3
    assert do(bench.ask(*bench.requests(2))) == answers(2)
    assert bench.server.count("create") == 4
    assert bench.server.files == {}


def test_files_of_a_job_that_nobody_read_stay(bench: Bench, do: Do) -> None:
    """It may still run, and the next look may find it ended."""
    bench.inline_bytes, bench.hours, bench.server.ends = 10, 0.01, "never"
    bench.server.faults["cancel"] = [Reply(409)] * 100
    assert do(bench.ask(*bench.requests(1))) == ["online one word0"]
    assert bench.server.count("delete") == 0 and len(bench.server.files) == 1


# -- merged ledgers ----------------------------------------------------------------------------


def merged(bench: Bench, tmp_path: Path) -> Bench:
    """A bench whose ledger took over another's, at the same provider."""
    ledger = Ledger(tmp_path / "other")
    ledger.merge(bench.ledger)
    return replace(bench, ledger=ledger)


def test_a_merge_takes_over_jobs_under_way(bench: Bench, do: Do, tmp_path: Path) -> None:
    bench.server.ends = "never"
    asked = bench.requests(3)
    do(bench.ask(*asked, until=lambda: bench.server.count("look") > 0))
    other = merged(bench, tmp_path)
    assert len(set(other.left(asked))) == 1 and None not in other.left(asked)
    bench.server.ends = "done"
    assert do(other.ask(*asked)) == answers(3)
    assert len(bench.server.jobs) == 1 and other.retried == []
    assert other.billed == {("batch", "stop"): (3, 6.0, 0.0)}
    bench.ledger.merge(other.ledger)  # and back: what was begun here has ended there
    assert bench.billed == other.billed
    assert bench.left(asked) == [None] * 3
    assert bench.ledger.batches.open(f"{bench.provider}:small") == []
    other.ledger.close()


def test_a_merge_keeps_what_is_answered_here(bench: Bench, do: Do, tmp_path: Path) -> None:
    """The job that is taken over is read and paid; the answer that tasks were made of stays."""
    bench.server.ends = "never"
    (asked,) = bench.requests(1)
    do(bench.ask(asked, until=lambda: bool(bench.server.jobs)))
    here = replace(bench, ledger=Ledger(tmp_path / "here"))
    urgent = asked.model_copy(update={"urgent": True})
    assert do(here.ask(urgent)) == ["online one word0"]
    here.ledger.merge(bench.ledger)
    bench.server.ends = "done"
    do(here.ask(until=lambda: here.ledger.batches.open(f"{here.provider}:small") == []))
    assert do(here.ask(asked)) == ["online one word0"]
    assert here.billed[("batch", "stop")] == (1, 2.0, 0.0)
    here.ledger.close()


def test_a_merge_leaves_a_request_in_the_batch_it_waits_in(
    bench: Bench, do: Do, tmp_path: Path
) -> None:
    bench.server.ends = "never"
    (asked,) = bench.requests(1)
    do(bench.ask(asked, until=lambda: bool(bench.server.jobs)))
    here = replace(bench, ledger=Ledger(tmp_path / "here"))
    with here.ledger.at_once():
        lines = [Line(receipt(asked), asked)]
        name = here.ledger.batches.intend("another run", f"{here.provider}:small", lines, 0.0)
    here.ledger.merge(bench.ledger)
    assert here.left([asked]) == [name]
    assert len(here.ledger.batches.open(f"{here.provider}:small")) == 2
    here.ledger.close()


def test_a_job_that_ended_long_ago_is_still_read(bench: Bench, do: Do) -> None:
    """Its deadline passed while nobody looked; it is neither cancelled nor paid again."""
    do(bench.ask(*bench.requests(2), until=lambda: bool(bench.server.jobs)))
    bench.clock.now += 1000 * HOUR
    bench.server.looks = 0
    assert do(bench.ask(*bench.requests(2))) == answers(2)
    assert bench.server.count("cancel") == 0
    assert len(bench.server.jobs) == 1


def test_an_intention_past_its_deadline_goes_online(bench: Bench, do: Do) -> None:
    bench.server.faults["create"] = [busy(bench)] * 5000
    do(bench.ask(*bench.requests(2), until=lambda: bench.server.count("create") > 0))
    bench.server.faults.clear()
    bench.clock.now += 1000 * HOUR
    assert do(bench.ask(*bench.requests(2))) == ["online one word0", "online one word1"]
    assert bench.server.jobs == {}


def test_two_runs_do_not_take_each_others_jobs(bench: Bench) -> None:
    lines = [Line(receipt(request), request) for request in bench.requests(2)]
    intend = bench.ledger.batches.intend
    with bench.ledger.at_once():
        first, second = (intend(run, "m", [x], 0.0) for run, x in zip("ab", lines, strict=True))
    assert first != second


@pytest.mark.parametrize("seed", range(3))
def test_whatever_goes_wrong_each_request_gets_its_own_answer(
    bench: Bench, do: Do, seed: int
) -> None:
    """Lines shuffled, doubled, swapped, lost and failed, 429 and lost answers, five kills."""
    rng = Random(seed)
    asked = bench.requests(60, 100)  # no word is the beginning of another
    spoilt_jobs = []

    def spoilt(results: list[Result]) -> list[Result]:
        rng.shuffle(results)
        if len(results) < 4:
            return results
        a, b, c, lost, *rest = results
        spoilt_jobs.append(lost.key)
        swapped = [Result(b.key, a.text, a.prompt), Result(a.key, b.text, b.prompt)]
        return [*swapped, Result(c.key, "", "", 500, "server_error"), *rest, *rest[:3]]

    bench.server.shape = spoilt
    for _ in range(5):
        bench.server.looks = rng.randrange(2, 5)
        bench.server.faults = {
            "create": [busy(bench), LOST][: rng.randrange(3)],
            "look": [Reply(how="drop")] * rng.randrange(3),
        }
        served = len(bench.server.served) + rng.randrange(1, 9)
        some = rng.sample(asked, 12)
        everything = [receipt(request) for request in some]
        do(
            bench.ask(
                *some,
                until=lambda served=served, keys=everything: (
                    len(bench.server.served) >= served or all(map(bench.ledger.knows, keys))
                ),
            )
        )
    bench.server.faults.clear()
    found = do(bench.ask(*asked))
    words = [(text.split()[0], text.split()[-1].lower()) for text in found]
    assert [word for _, word in words] == [f"word{n}" for n in range(100, 160)]
    lines = [key for job in bench.server.jobs.values() for key, _ in job.lines]
    assert len(lines) == len(set(lines)) == 60
    jobs = len(spoilt_jobs)
    assert jobs >= 3
    assert [who for who, _ in words].count("online") == len(bench.retried) == 4 * jobs
    assert {outcome: row[0] for (_, outcome), row in bench.billed.items()} == {
        "stop": 60 - 4 * jobs,
        "mismatched": 2 * jobs,
        "transient": jobs,
        "missing": jobs,
    }
    assert bench.ledger.attempts.spent() == (2.0 * (60 - 2 * jobs), 0.0)


# -- what is sent ------------------------------------------------------------------------------


def test_an_id_that_stands_twice_is_refused_before_anything_is_sent(bench: Bench, do: Do) -> None:
    async def create() -> None:
        async with Loopback(bench.server) as server:
            jobs, adapter = bench.jobs(server.url)
            line = Line(receipt(bench.request("x")), bench.request("x"))
            await jobs.create("name", [line, line])
            await adapter.close()

    with pytest.raises(ValueError, match="1 requests stand twice"):
        do(create())
    assert bench.server.served == []


def test_the_key_is_in_no_job_and_no_ledger(bench: Bench, do: Do) -> None:
    do(bench.ask(*bench.requests(2)))
    assert "sk-secret" not in json.dumps(bench.server.bodies)
    assert b"sk-secret" not in bench.ledger.path.read_bytes()
