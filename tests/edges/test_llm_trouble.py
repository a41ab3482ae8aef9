"""The table of what can go wrong with a call: each sign has its class, each class its action."""

from typing import get_args

import pytest

from envgen.errors import Misconfigured, Weather
from envgen.llm.trouble import (
    ACTIONS,
    Answerless,
    Kind,
    QuotaDead,
    Seen,
    Throttled,
    Transient,
    cleaned,
    kind_of,
    trouble,
    wait_of,
)
from envgen.records import Usage


def http(status: int, *codes: str, provider: str = "openai", says: str = "") -> Seen:
    return Seen(provider, "http", status, codes, says)


CASES: list[tuple[Seen, Kind]] = [
    (http(429), "throttled"),
    (http(429, "rate_limit_exceeded", says="generate less"), "throttled"),
    (http(429, "RESOURCE_EXHAUSTED", provider="gemini"), "throttled"),
    (http(429, "RESOURCE_EXHAUSTED", "per_day", provider="gemini"), "quota_dead"),
    (http(429, "insufficient_quota"), "quota_dead"),
    (http(200, "insufficient_quota"), "quota_dead"),
    (http(200, "rate_limit_exceeded"), "throttled"),
    (http(200), "transient"),
    (http(401, "invalid_api_key"), "quota_dead"),
    (http(402), "quota_dead"),
    (http(403, "PERMISSION_DENIED", provider="gemini"), "quota_dead"),
    (http(400, "INVALID_ARGUMENT", "API_KEY_INVALID", provider="gemini"), "quota_dead"),
    (http(400, "FAILED_PRECONDITION", provider="gemini"), "quota_dead"),
    (http(503), "throttled"),
    (http(503, "UNAVAILABLE", provider="gemini"), "throttled"),
    (http(529, "overloaded_error"), "throttled"),
    (http(500), "transient"),
    (http(502), "transient"),
    (http(504, "DEADLINE_EXCEEDED", provider="gemini"), "transient"),
    (http(408), "transient"),
    (http(409), "transient"),
    (http(499, "CANCELLED", provider="gemini"), "transient"),
    (Seen("openai", "timeout"), "transient"),
    (Seen("openai", "dropped"), "transient"),
    (Seen("gemini", "unreachable"), "transient"),
    (Seen("openai", "html", 200), "transient"),
    (Seen("gemini", "empty", 200), "transient"),
    (Seen("openai", "cut", 200), "transient"),
    (Seen("openai", "shape", 200), "transient"),
    (http(400, "context_length_exceeded"), "truncated"),
    (http(400, says="This model's maximum context length is 4096 tokens"), "truncated"),
    (
        http(400, provider="gemini", says="the input exceeds the maximum number of tokens"),
        "truncated",
    ),
    (http(400, "content_filter"), "blocked"),
    (http(400), "bad_request"),
    (http(400, says="the iterate and generate limits"), "bad_request"),
    (http(404, "model_not_found"), "bad_request"),
    (http(422), "bad_request"),
    (http(307), "bad_request"),
]


@pytest.mark.parametrize(("seen", "kind"), CASES, ids=lambda value: str(value)[:60])
def test_every_sign_has_its_class(seen: Seen, kind: Kind) -> None:
    assert kind_of(seen) == kind


def test_every_class_has_its_action() -> None:
    assert set(ACTIONS) == set(get_args(Kind))
    assert ACTIONS["throttled"].attempts == 0
    assert ACTIONS["transient"].attempts == 5


@pytest.mark.parametrize(
    ("seen", "made", "retryable", "stops"),
    [
        (http(429), Throttled, True, False),
        (http(500), Transient, True, False),
        (http(401), QuotaDead, False, True),
        (http(400, "content_filter"), Answerless, False, False),
    ],
)
def test_the_class_decides_what_is_raised(
    seen: Seen, made: type[Weather], retryable: bool, stops: bool
) -> None:
    raised = trouble(seen)
    assert type(raised) is made
    assert (made.retryable, made.stops) == (retryable, stops)


def test_a_bad_request_is_wrong_use_and_says_how_out() -> None:
    raised = trouble(http(404, "model_not_found", says="no model x"))
    assert isinstance(raised, Misconfigured)
    assert str(raised) == (
        "openai: HTTP 404, model_not_found, no model x: every call would end so; check the model's "
        "name, llm.base_url and what the model supports"
    )


@pytest.mark.parametrize(
    ("seen", "unseen"),
    [
        (Seen("openai", "timeout"), True),
        (Seen("openai", "cut"), True),
        (Seen("openai", "unreachable"), False),
        (Seen("openai", "http", 500), False),
        (Seen("openai", "shape", usage=Usage(input=3)), False),
    ],
)
def test_an_answer_that_got_lost_may_be_billed(seen: Seen, unseen: bool) -> None:
    raised = trouble(seen)
    assert isinstance(raised, Transient)
    assert raised.unseen is unseen


@pytest.mark.parametrize(
    ("headers", "delays", "wait"),
    [
        ({}, (), None),
        ({"retry-after": "3"}, (), 3.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, (), 0.25),
        (
            {
                "retry-after": "Wed, 21 Oct 2026 07:28:30 GMT",
                "date": "Wed, 21 Oct 2026 07:28:00 GMT",
            },
            (),
            30.0,
        ),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT"}, (), None),
        (
            {
                "retry-after": "Wed, 21 Oct 2026 07:28:30 GMT",
                "date": "Wed, 21 Oct 2026 07:29:00 GMT",
            },
            (),
            0.0,
        ),
        ({}, ("17s", "1.5s"), 17.0),
        ({"retry-after": "2"}, ("0.5s",), 2.0),
        ({"retry-after": "soon"}, ("later",), None),
        ({"retry-after": "nan"}, ("-3s",), 0.0),
        ({"retry-after": "inf"}, (), None),
        ({"retry-after": "1e30"}, (), 604800.0),
    ],
)
def test_the_wait_is_what_the_provider_asks(
    headers: dict[str, str], delays: tuple[str, ...], wait: float | None
) -> None:
    assert wait_of(headers, delays) == wait


def test_a_message_is_one_short_line_without_the_key() -> None:
    assert cleaned("bad key\nsk-123 \x1b[31m!", "sk-123") == "bad key *** ?[31m!"
    assert len(cleaned("x" * 1000, "")) == 300
