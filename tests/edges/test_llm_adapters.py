"""Both adapters against a loopback server: what is sent, and what is made of what comes back."""

import asyncio
import json
import os
import socket
from collections.abc import Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from envgen.errors import Misconfigured
from envgen.llm import gemini as google
from envgen.llm import openai as open_ai
from envgen.llm.gemini import Gemini
from envgen.llm.line import check_url, is_loopback, proxy_for
from envgen.llm.openai import OpenAI
from envgen.llm.trouble import QuotaDead, Throttled, Transient, Trouble
from envgen.records import Completion, Message, Request, ToolCall, Usage
from tests.loopback import Loopback, Reply, gemini, openai, script

Do = Callable[[Any], Any]
KEY = SecretStr("sk-very-secret")
BOTH = pytest.mark.parametrize("provider", ["openai", "gemini"])
WIRE = {"openai": openai, "gemini": gemini}
READ = {"openai": open_ai.read, "gemini": google.read}
SCHEMA = {
    "type": "object",
    "properties": {"pattern": {"type": "string", "pattern": "^a", "maxLength": 3000}},
    "required": ["pattern"],
    "additionalProperties": False,
}


def ask(provider: str, **values: Any) -> Request:
    messages = (Message(role="system", text="be brief"), Message(role="user", text="hello"))
    return Request(**{"model": f"{provider}:m-1", "messages": messages, **values})


@asynccontextmanager
async def asking(provider: str, *replies: Reply, **options: Any) -> Any:
    async with Loopback(script(*replies)) as server:
        url = server.url + ("/v1" if provider == "openai" else "")
        kind = OpenAI if provider == "openai" else Gemini
        adapter = kind(KEY, base_url=url, **{"seconds": 5, **options})
        try:
            yield adapter, server
        finally:
            await adapter.close()


async def answered(provider: str, reply: Reply, request: Request | None = None) -> Any:
    async with asking(provider, reply) as (adapter, server):
        return await adapter.complete(request or ask(provider)), server


async def failed(provider: str, reply: Reply, **options: Any) -> BaseException:
    async with asking(provider, reply, **options) as (adapter, server):
        with pytest.raises((Trouble, Misconfigured)) as caught:
            await adapter.complete(ask(provider))
        assert server.total == 1, "the SDK asked again by itself"
        return caught.value


# -- what is sent ------------------------------------------------------------------------------


def test_a_server_of_ones_own_gets_plain_chat_completions(do: Do) -> None:
    request = ask("openai", answer_schema=json.dumps(SCHEMA), temperature=0.5, seed=4, max_tokens=9)
    _, server = do(answered("openai", openai.answer("x"), request))
    sent = server.asked[0]
    assert (sent.path, sent.headers["authorization"]) == (openai.PATH, "Bearer sk-very-secret")
    assert sent.body == {
        "model": "m-1",
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "hello"},
        ],
        "max_tokens": 9,
        "temperature": 0.5,
        "top_p": 1.0,
        "seed": 4,
        "response_format": {
            "type": "json_schema",
            "json_schema": {
                "name": "answer",
                "strict": True,
                "schema": SCHEMA | {"properties": {"pattern": {"type": "string"}}},
            },
        },
    }


def test_tools_calls_and_their_answers_are_sent(do: Do) -> None:
    call = ToolCall(ref="c1", name="bash", arguments='{"command": "ls"}')
    messages = (
        Message(role="user", text="hello"),
        Message(role="assistant", text="", calls=(call,)),
        Message(role="tool", text="a.txt", answers="c1"),
    )
    tools = '[{"name": "bash", "parameters": {"type": "object"}}]'
    request = ask("openai", messages=messages, tools=tools)
    _, server = do(answered("openai", openai.answer("x"), request))
    sent = server.asked[0].body
    assert sent["messages"][1:] == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "bash", "arguments": '{"command": "ls"}'},
                }
            ],
        },
        {"role": "tool", "content": "a.txt", "tool_call_id": "c1"},
    ]
    assert sent["tools"] == [
        {"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}
    ]


def test_openai_itself_gets_no_default_and_the_whole_schema() -> None:
    sent = open_ai.body(ask("openai", answer_schema=json.dumps(SCHEMA)), own=False)
    assert sent["max_completion_tokens"] == 8192
    assert {"temperature", "top_p", "seed", "max_tokens"} & set(sent) == set()
    assert sent["response_format"]["json_schema"]["schema"] == SCHEMA
    assert sent["response_format"]["json_schema"]["strict"] is True
    loose = SCHEMA | {"required": []}
    sent = open_ai.body(ask("openai", answer_schema=json.dumps(loose)), own=False)
    assert sent["response_format"]["json_schema"]["strict"] is False


def test_gemini_gets_generate_content(do: Do) -> None:
    messages = (
        Message(role="system", text="be brief"),
        Message(role="user", text="hello"),
        Message(role="assistant", text="yes?"),
        Message(role="user", text="go on"),
    )
    request = ask("gemini", messages=messages, answer_schema=json.dumps(SCHEMA), seed=4)
    _, server = do(answered("gemini", gemini.answer("x"), request))
    sent = server.asked[0]
    assert sent.path == gemini.path("m-1", "v1")
    assert sent.headers["x-goog-api-key"] == "sk-very-secret"
    assert sent.body["contents"] == [
        {"role": "user", "parts": [{"text": "hello"}]},
        {"role": "model", "parts": [{"text": "yes?"}]},
        {"role": "user", "parts": [{"text": "go on"}]},
    ]
    assert sent.body["systemInstruction"]["parts"] == [{"text": "be brief"}]
    assert sent.body["generationConfig"] == {
        "temperature": 1.0,
        "topP": 1.0,
        "maxOutputTokens": 8192,
        "seed": 4,
        "responseMimeType": "application/json",
        "responseJsonSchema": SCHEMA,
    }


@BOTH
def test_after_a_degenerate_answer_seed_and_temperature_are_others(provider: str, do: Do) -> None:
    request = ask(provider, temperature=0.2, seed=4)
    nudged = request.model_copy(update={"nudge": 2})
    assert nudged.digest == request.digest
    _, server = do(answered(provider, WIRE[provider].answer("x"), nudged))
    body = server.asked[0].body
    sent = body if provider == "openai" else body["generationConfig"]
    assert (sent["temperature"], sent["seed"]) == (0.7, 6)


@BOTH
def test_flex_is_asked_for(provider: str, do: Do) -> None:
    async def lane() -> Any:
        async with asking(provider, WIRE[provider].answer("x"), flex=True) as (adapter, server):
            await adapter.complete(ask(provider))
            return server.asked[0].body

    body = do(lane())
    assert (body.get("service_tier") or body["serviceTier"]) == "flex"


@BOTH
def test_lone_surrogates_pass_neither_way(provider: str, do: Do) -> None:
    request = ask(provider, messages=(Message(role="user", text="a\ud800b\U0001f600"),))
    reply = Reply(data=json.dumps(WIRE[provider].body("c\ud800d\U0001f600")).encode())
    answer, server = do(answered(provider, reply, request))
    assert answer.text == "c\ufffdd\U0001f600"
    answer.model_dump_json().encode()
    sent = server.asked[0].body
    part = sent["messages"][0]["content"] if provider == "openai" else sent["contents"][0]["parts"]
    assert "a\ufffdb\U0001f600" in (part, part[0] if provider == "openai" else part[0]["text"])


# -- what the environment may not do -----------------------------------------------------------


def test_a_proxy_is_for_other_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    monkeypatch.setenv("NO_PROXY", "near.example")
    assert proxy_for("https://far.example/v1") == "http://proxy:3128"
    assert proxy_for("https://near.example/v1") is None
    assert proxy_for("https://localhost/v1") is None
    monkeypatch.setenv("HTTPS_PROXY", "proxy:3128")
    assert proxy_for("https://far.example/v1") == "http://proxy:3128"
    assert [is_loopback(f"http://{h}:1") for h in ("127.9.9.9", "[::1]", "10.0.0.1")] == [1, 1, 0]


@pytest.mark.parametrize("url", ["", "127.0.0.1:80", "ftp://x/v1", "http://u:p@x/v1", "http://["])
def test_an_address_that_cannot_be_asked_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(Misconfigured, match="write it as") as caught:
        check_url(url)
    assert "u:p" not in str(caught.value)
    assert check_url("http://x/v1/") == "http://x/v1"


def test_no_test_reaches_another_machine() -> None:
    with pytest.raises(RuntimeError, match=r"wants to reach 192\.0\.2\.1"):
        socket.create_connection(("192.0.2.1", 80), timeout=1)
    with pytest.raises(RuntimeError, match=r"wants to reach api\.openai\.com"):
        socket.getaddrinfo("api.openai.com", 443)
    assert [name for name in os.environ if name.startswith(("OPENAI_", "GEMINI_"))] == []


# -- what comes back ---------------------------------------------------------------------------

USAGE = Usage(input=7, output=3)


def case(
    provider: str, reply: Reply, text: str, finish: str, usage: Usage = USAGE, **more: Any
) -> Any:
    made = Completion(text=text, finish=finish, usage=usage, model="echo-1", **more)
    return provider, reply, made


CASES = {
    "stop": case("openai", openai.answer("hi"), "hi", "stop"),
    "cut": case("openai", openai.answer("hi", "length"), "hi", "length"),
    "refused": case("openai", openai.answer(None, refusal="no"), "no", "refused"),
    "filtered": case("openai", openai.answer("h", "content_filter"), "h", "blocked"),
    "no text": case("openai", openai.answer(None), "", "stop"),
    "reasoning aside": case(
        "openai", openai.answer("a", reasoning_content="hm"), "a", "stop", thinking="hm"
    ),
    "reasoning by its other name": case(
        "openai", openai.answer("a", reasoning="hm"), "a", "stop", thinking="hm"
    ),
    "calls": case(
        "openai",
        openai.answer(
            None,
            "tool_calls",
            tool_calls=[
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "bash", "arguments": '{"a": 1}'},
                },
                {"type": "function", "function": {"name": "bash", "arguments": {"a": 2}}},
                {"id": 7, "function": None},
                "nonsense",
            ],
        ),
        "",
        "stop",
        calls=(
            ToolCall(ref="c1", name="bash", arguments='{"a": 1}'),
            ToolCall(ref="call-1", name="bash", arguments='{"a": 2}'),
            ToolCall(ref="call-2", name="", arguments=""),
            ToolCall(ref="call-3", name="", arguments=""),
        ),
    ),
    "parts": case(
        "openai",
        openai.answer([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),  # type: ignore[arg-type]
        "ab",
        "stop",
    ),
    "thinking is output": case(
        "openai",
        openai.answer("a", use=openai.usage(100, 50, cached=40, thinking=30)),
        "a",
        "stop",
        Usage(input=100, cached=40, output=50, thinking=30),
    ),
    "numbers as text": case(
        "openai", openai.answer("a", use=openai.usage("7", None)), "a", "stop", Usage(input=7)
    ),
    "no usage": case("openai", openai.answer("a", use=None), "a", "stop", Usage()),
    "mad usage": case(
        "openai",
        openai.answer("a", use=openai.usage(-4, 1e400, cached="x", thinking=[])),
        "a",
        "stop",
        Usage(),
    ),
    "gemini stop": case("gemini", gemini.answer("hi"), "hi", "stop"),
    "gemini cut": case("gemini", gemini.answer("hi", "MAX_TOKENS"), "hi", "length"),
    "cut while thinking": case(
        "gemini",
        gemini.answer(None, "MAX_TOKENS", use=gemini.usage(7, None, thoughts=90)),
        "",
        "length",
        Usage(input=7, output=90, thinking=90),
    ),
    "thoughts are output too": case(
        "gemini",
        gemini.answer("a", use=gemini.usage(100, 20, thoughts=30, cached=40)),
        "a",
        "stop",
        Usage(input=100, cached=40, output=50, thinking=30),
    ),
    "safety": case("gemini", gemini.answer(None, "SAFETY"), "", "blocked"),
    "recitation": case("gemini", gemini.answer("par", "RECITATION"), "par", "blocked"),
    "a new reason": case("gemini", gemini.answer(None, "SOMETHING_NEW"), "", "blocked"),
    "prompt blocked": case(
        "gemini",
        gemini.answer(None, None, promptFeedback={"blockReason": "SAFETY"}),
        "",
        "blocked",
    ),
    "not continued": case("gemini", gemini.answer("a", "CONTINUATION"), "a", "length"),
}


@pytest.mark.parametrize(("provider", "reply", "expected"), CASES.values(), ids=CASES)
def test_an_answer_is_read(provider: str, reply: Reply, expected: Completion, do: Do) -> None:
    answer, server = do(answered(provider, reply))
    assert answer == expected
    assert server.total == 1


def test_thoughts_are_no_part_of_the_answer() -> None:
    value = gemini.body("seen")
    value["candidates"][0]["content"]["parts"].insert(0, {"text": "unseen", "thought": True})
    assert google.read(json.dumps(value), "gemini:m", KEY).text == "seen"


LOST: dict[str, tuple[Reply, str, bool]] = {
    "dropped": (Reply(how="drop"), "the connection was dropped", True),
    "dropped after the headers": (Reply(data=b"{}", how="reset"), "connection was dropped", True),
    "half a body": (Reply(data=b'{"choices": []}', how="half"), "connection was dropped", True),
    "a web page": (Reply(data=b"<html>Sign in</html>"), "a web page in place", False),
    "nothing": (Reply(), "an empty answer", True),
    "cut JSON": (Reply(data=b'{"choices": [{"mess'), "an answer that breaks off", True),
    "a list": (Reply(data=b"[]"), "an answer of another shape", False),
    "no choices": (Reply.of({"id": "x"}), "an answer of another shape, no c", False),
    "500": (Reply(500, b"oops"), "HTTP 500", False),
    "too slow": (Reply(data=b"{}", delay=1), "no answer in time", True),
}


@BOTH
@pytest.mark.parametrize(("reply", "words", "unseen"), LOST.values(), ids=LOST)
def test_no_answer_is_transient(
    provider: str, reply: Reply, words: str, unseen: bool, do: Do
) -> None:
    seconds = 0.2 if reply.delay else 5
    error = do(failed(provider, reply, seconds=seconds))
    assert type(error) is Transient
    assert f"{provider}: " in str(error) and words in str(error)
    assert error.unseen is unseen


@BOTH
def test_what_was_billed_for_no_answer_is_kept(provider: str, do: Do) -> None:
    use = {"usage": openai.usage(70, 30), "usageMetadata": gemini.usage(70, 30)}
    error = do(failed(provider, Reply.of({"choices": [], "candidates": [], **use})))
    assert error.seen.usage == Usage(input=70, output=30)
    assert not error.unseen


@BOTH
def test_a_server_that_is_not_there_is_transient(provider: str, do: Do) -> None:
    async def nobody() -> BaseException:
        async with asking(provider, Reply()) as (adapter, server):
            server._server.close()
            await server._server.wait_closed()
            with pytest.raises(Transient) as caught:
                await adapter.complete(ask(provider))
            return caught.value

    error = do(nobody())
    assert str(error) == f"{provider}: no connection"
    assert not error.unseen


REFUSED: dict[str, tuple[str, Reply, type[Exception], float | None]] = {
    "429": ("openai", openai.error(429, "rate_limit_exceeded"), Throttled, None),
    "429 with seconds": ("openai", openai.error(429, None, retry_after="3"), Throttled, 3.0),
    "429 with ms": ("openai", openai.error(429, None, retry_after_ms="250"), Throttled, 0.25),
    "error under 200": ("openai", openai.error(200, "rate_limit_exceeded"), Throttled, None),
    "429 as a number under 200": (
        "openai",
        Reply.of({"error": {"code": 429, "message": "later"}}),
        Throttled,
        None,
    ),
    "quota": ("openai", openai.error(429, "insufficient_quota"), QuotaDead, None),
    "401": ("openai", openai.error(401, "invalid_api_key"), QuotaDead, None),
    "404": ("openai", openai.error(404, "model_not_found"), Misconfigured, None),
    "400": ("openai", openai.error(400, None, "no such parameter"), Misconfigured, None),
    "redirect": ("openai", Reply(307, headers=(("location", "/v2"),)), Misconfigured, None),
    "gemini 429": (
        "gemini",
        gemini.error(429, "RESOURCE_EXHAUSTED", "wait", gemini.retry_info("17s")),
        Throttled,
        17.0,
    ),
    "gemini 503": ("gemini", gemini.error(503, "UNAVAILABLE"), Throttled, None),
    "gemini day": (
        "gemini",
        gemini.error(
            429,
            "RESOURCE_EXHAUSTED",
            "m",
            gemini.quota_failure("GenerateRequestsPerDayPerProject"),
            gemini.retry_info("17s"),
        ),
        QuotaDead,
        17.0,
    ),
    "gemini minute": (
        "gemini",
        gemini.error(429, "RESOURCE_EXHAUSTED", "m", gemini.quota_failure("RequestsPerMinute")),
        Throttled,
        None,
    ),
    "gemini key": (
        "gemini",
        gemini.error(400, "INVALID_ARGUMENT", "bad key", {"reason": "API_KEY_INVALID"}),
        QuotaDead,
        None,
    ),
    "gemini 400": ("gemini", gemini.error(400, "INVALID_ARGUMENT"), Misconfigured, None),
    "gemini redirect": ("gemini", Reply(307, headers=(("location", "/v2"),)), Misconfigured, None),
}


@pytest.mark.parametrize(("provider", "reply", "kind", "after"), REFUSED.values(), ids=REFUSED)
def test_a_refusal_has_its_class(
    provider: str, reply: Reply, kind: type[Exception], after: float | None, do: Do
) -> None:
    error = do(failed(provider, reply))
    assert type(error) is kind
    if isinstance(error, Trouble):
        assert error.seen.after == after


@pytest.mark.parametrize(
    ("provider", "reply", "finish"),
    [
        ("openai", openai.error(400, "context_length_exceeded"), "length"),
        ("openai", openai.error(400, "content_filter"), "blocked"),
        ("gemini", gemini.error(400, "INVALID_ARGUMENT", "maximum number of tokens"), "length"),
    ],
)
def test_a_fault_of_the_question_alone_is_an_answer_without_text(
    provider: str, reply: Reply, finish: str, do: Do
) -> None:
    answer, _ = do(answered(provider, reply))
    assert answer == Completion(text="", finish=finish, usage=Usage(), model=f"{provider}:m-1")


@BOTH
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "choices",
                        "candidates",
                        "message",
                        "content",
                        "parts",
                        "text",
                        "usage",
                        "error",
                        "usageMetadata",
                        "prompt_tokens",
                        "promptFeedback",
                        "finish_reason",
                        "code",
                        "details",
                    ]
                ),
                inner,
            )
        ),
        max_leaves=30,
    )
)
def test_whatever_json_comes_back_is_an_answer_or_trouble(provider: str, value: Any) -> None:
    try:
        answer = READ[provider](json.dumps(value), f"{provider}:m", KEY)
    except (Trouble, Misconfigured):
        return
    answer.model_dump_json().encode()


@BOTH
def test_an_answer_cut_anywhere_is_never_half_accepted(provider: str) -> None:
    data = json.dumps(WIRE[provider].body("a whole answer")).encode()
    for end in range(len(data)):
        with pytest.raises(Transient):
            READ[provider](data[:end], f"{provider}:m", KEY)
    assert READ[provider](data, f"{provider}:m", KEY).text == "a whole answer"


# -- the key -----------------------------------------------------------------------------------


def chained(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        if (one := waiting.pop()) is not None and one not in found:
            found.append(one)
            waiting += [one.__cause__, one.__context__]
    return found


LEAKY = {
    "in the message": openai.error(401, "invalid_api_key", "bad key sk-very-secret"),
    "in the code": openai.error(400, "sk-very-secret"),
    "bad request": openai.error(400, None, "header Authorization: Bearer sk-very-secret"),
    "dropped": Reply(how="drop"),
    "a page": Reply(data=b"<html>sk-very-secret"),
    "500": Reply(500, b"sk-very-secret"),
    "gemini": gemini.error(
        403, "PERMISSION_DENIED", "key sk-very-secret", {"reason": "sk-very-secret"}
    ),
}


@BOTH
@pytest.mark.parametrize("reply", LEAKY.values(), ids=LEAKY)
def test_the_key_is_in_no_error_however_deep(provider: str, reply: Reply, do: Do) -> None:
    error = do(failed(provider, reply))
    chain = chained(error)
    assert chain == [error], "the SDK's own error, with its headers, is in the chain"
    for one in chain:
        assert "sk-very-secret" not in f"{one!s} {one!r} {vars(one)!r}"


@BOTH
def test_the_key_is_in_no_repr(provider: str, do: Do) -> None:
    async def reprs() -> str:
        async with asking(provider, Reply()) as (adapter, _):
            return f"{adapter!r} {vars(adapter)!r}"

    assert "sk-very-secret" not in do(reprs())


@BOTH
def test_a_cancelled_call_is_cancelled(provider: str, do: Do) -> None:
    async def cancel() -> bool:
        async with asking(provider, Reply(delay=9)) as (adapter, _):
            task = asyncio.create_task(adapter.complete(ask(provider)))
            await asyncio.sleep(0.1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return task.cancelled()

    assert do(cancel())
