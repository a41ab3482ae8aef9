"""Servers that mean harm, or do it: what they answer is typed trouble, in time, in little room."""

import gzip
import json
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from envgen.errors import Misconfigured
from envgen.llm.deadline import Timed
from envgen.llm.gemini import Gemini
from envgen.llm.line import ANSWER_BYTES, ERROR_BYTES, plain_error
from envgen.llm.openai import OpenAI
from envgen.llm.trouble import QuotaDead, Throttled, Transient, Trouble
from envgen.records import Completion, Message, Request
from tests.loopback import Loopback, Reply, gemini, openai, script

Do = Callable[[Any], Any]
KEY = SecretStr("sk-very-secret")
BOTH = pytest.mark.parametrize("provider", ["openai", "gemini"])
WIRE = {"openai": openai, "gemini": gemini}
SECONDS = 1.0


async def ask(
    provider: str, reply: Reply, seconds: float = 20.0
) -> tuple[Completion | BaseException, Loopback]:
    """The answer, or what was raised in its place, through adapter and deadline."""
    async with Loopback(script(reply)) as server:
        url = server.url + ("/v1" if provider == "openai" else "")
        adapter = (OpenAI if provider == "openai" else Gemini)(KEY, base_url=url, seconds=5)
        request = Request(model=f"{provider}:m-1", messages=(Message(role="user", text="hello"),))
        try:
            return await Timed(adapter, seconds).complete(request), server
        except (Trouble, Misconfigured) as error:
            return error, server
        finally:
            await adapter.close()


def raw(*lines: str, data: bytes = b"", times: int = 1) -> Reply:
    head = "\r\n".join([*lines, "", ""]).encode("latin-1")
    return Reply(how="raw", head=head, data=data, times=times)


def said(provider: str, text: str = "good") -> bytes:
    return json.dumps(WIRE[provider].body(text)).encode()


# -- too much ----------------------------------------------------------------------------------

OK = "HTTP/1.1 200 OK"
PLAIN = "content-type: application/json"
MEGABYTE = b"x" * (1 << 20)
TOO_MUCH: dict[str, tuple[Reply, str]] = {
    "a gigabyte, announced": (
        raw(OK, PLAIN, f"content-length: {1 << 30}", data=MEGABYTE, times=1024),
        "too large",
    ),
    "a gigabyte, unannounced": (raw(OK, PLAIN, data=MEGABYTE, times=1024), "too large"),
    "a gigabyte of an error": (
        raw("HTTP/1.1 500 No", PLAIN, data=MEGABYTE, times=1024),
        "HTTP 500",
    ),
    "a bomb of gzip": (
        raw(OK, PLAIN, "content-encoding: gzip", data=gzip.compress(b" " * (64 << 20))),
        "packed",
    ),
    "a bomb of gzip as an error": (
        raw("HTTP/1.1 500 No", "content-encoding: gzip", data=gzip.compress(b" " * (64 << 20))),
        "HTTP 500",
    ),
    "headers without end": (
        Reply(how="raw", head=b"HTTP/1.1 200 OK\r\n", data=b"x-more: y\r\n" * 999, times=999),
        "dropped",
    ),
    "early hints without end": (
        raw(
            "HTTP/1.1 103 Early Hints", data=b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100, times=10**6
        ),
        "no answer in time",
    ),
}


@BOTH
@pytest.mark.parametrize(("reply", "words"), TOO_MUCH.values(), ids=TOO_MUCH)
def test_too_much_is_cut_off(provider: str, reply: Reply, words: str, do: Do) -> None:
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    seconds = SECONDS if "in time" in words else 20.0
    error, server = do(ask(provider, reply, seconds))
    assert type(error) is Transient and words in str(error)
    assert time.monotonic() - started < 20 + SECONDS
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 6 * (ANSWER_BYTES >> 10)  # kilobytes
    assert server.total == 1


@BOTH
def test_an_answer_up_to_the_limit_is_read(provider: str, do: Do) -> None:
    data = said(provider).ljust(ANSWER_BYTES)
    answer, _ = do(ask(provider, raw(OK, f"content-length: {len(data)}", data=data)))
    assert isinstance(answer, Completion) and answer.text == "good"
    error, _ = do(ask(provider, raw(OK, f"content-length: {len(data) + 1}", data=data + b" ")))
    assert type(error) is Transient and error.unseen


@BOTH
def test_a_drip_without_end_is_cut_off_in_time(provider: str, do: Do) -> None:
    started = time.monotonic()
    error, _ = do(ask(provider, Reply(data=b" " * 10**6, how="drip", pause=0.05), SECONDS))
    assert type(error) is Transient and "no answer in time" in str(error) and error.unseen
    assert SECONDS <= time.monotonic() - started < 20 * SECONDS


# -- odd, but an answer ------------------------------------------------------------------------

ODD: dict[str, tuple[str, ...]] = {
    "HTTP/1.0, closed at the end": ("HTTP/1.0 200 OK", PLAIN),
    "no content type": (OK,),
    "a page": (OK, "content-type: text/html"),
    "a charset that is not true": (OK, "content-type: application/json; charset=utf-16"),
    "a charset that is no charset": (OK, "content-type: application/json; charset=rot13"),
    "a charset that nobody has": (OK, "content-type: application/json; charset=\xff\xfe"),
    "headers that stand twice": (OK, PLAIN, PLAIN, "retry-after: 1", "retry-after: 2"),
    "a cookie": (OK, PLAIN, "set-cookie: a=b; path=/"),
    "a hint before": ("HTTP/1.1 103 Early Hints", "link: </x>", "", OK, PLAIN),
}


@BOTH
@pytest.mark.parametrize("lines", ODD.values(), ids=ODD)
def test_an_oddly_wrapped_answer_is_one(provider: str, lines: tuple[str, ...], do: Do) -> None:
    answer, server = do(ask(provider, raw(*lines, data=said(provider, "gut: \u00fc"))))
    assert isinstance(answer, Completion) and answer.text == "gut: \u00fc"
    assert server.asked[0].headers["accept-encoding"] == "identity"


# -- odd, and none -----------------------------------------------------------------------------

DEEP = b"[" * 100_000
NONE: dict[str, bytes] = {
    "deeply nested": b'{"choices": ' + DEEP,
    "deeply nested, whole": b'{"choices": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
    "a number of many digits": b'{"choices": ' + b"9" * 10_000 + b"}",
    "no UTF-8": b"\xff\xfe{\x00",
    "a number": b"17",
    "NaN": b"NaN",
    "null": b"null",
}


@BOTH
@pytest.mark.parametrize("data", NONE.values(), ids=NONE)
@pytest.mark.parametrize("status", [200, 201, 500])
def test_json_that_is_no_answer_is_trouble(provider: str, data: bytes, status: int, do: Do) -> None:
    error, _ = do(ask(provider, Reply(status, data)))
    assert type(error) is Transient
    assert len(str(error)) < 500


ERRORS: dict[str, tuple[int, bytes, type[Exception]]] = {
    "latin-1": (500, "d\u00e9faut".encode("latin-1"), Transient),
    "a list": (429, b"[1]", Throttled),
    "a text in place of an object": (401, b'{"error": "no"}', QuotaDead),
    "an odd code": (429, b'{"error": {"code": [1], "status": {}, "details": "x"}}', Throttled),
    "nothing": (503, b"", Throttled),
    "a surrogate": (400, b'{"error": {"message": "\\ud800"}}', Misconfigured),
    "NaN for a code": (500, b'{"error": {"code": NaN, "message": 1e999}}', Transient),
}


@BOTH
@pytest.mark.parametrize(("status", "data", "kind"), ERRORS.values(), ids=ERRORS)
def test_an_odd_error_keeps_its_class(
    provider: str, status: int, data: bytes, kind: type[Exception], do: Do
) -> None:
    error, _ = do(ask(provider, Reply(status, data)))
    assert type(error) is kind
    str(error).encode()


@BOTH
@pytest.mark.parametrize("told", ["1e999", "NaN", "1e30", '"' + "9" * 5000 + '"', "-5", "true"])
def test_usage_beyond_all_measure_is_none_that_breaks_a_ledger(
    provider: str, told: str, do: Do
) -> None:
    good = said(provider).decode()
    use = {"openai": '"prompt_tokens": 7', "gemini": '"promptTokenCount": 7'}[provider]
    assert use in good
    data = good.replace(use, use.replace("7", told)).encode()
    answer, _ = do(ask(provider, Reply(200, data)))
    assert isinstance(answer, Completion)
    assert 0 <= answer.usage.input <= 10**9


@BOTH
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_takes_the_key_nowhere(provider: str, status: int, do: Do) -> None:
    async def trap() -> tuple[Any, int]:
        async with Loopback(script(WIRE[provider].answer("stolen"))) as other:
            where = f"{other.url}/v1/elsewhere"
            error, _ = await ask(provider, Reply(status, headers=(("location", where),)))
            return error, other.total

    error, stolen = do(trap())
    assert type(error) is Misconfigured and f"HTTP {status}" in str(error)
    assert stolen == 0


def test_an_error_is_read_as_far_as_it_makes_sense() -> None:
    assert plain_error(b' {"error": {"code": 1}} ') == b'{"error": {"code": 1}}'
    assert json.loads(plain_error(b"<p>no" * 1000)) == {"error": {"message": ("<p>no" * 200)}}
    assert len(plain_error(b"[" * ERROR_BYTES)) < 2000


# -- what the environment may not do -----------------------------------------------------------

TRAPS = {
    "GOOGLE_GENAI_USE_VERTEXAI": "true",
    "GOOGLE_GENAI_USE_ENTERPRISE": "true",
    "GOOGLE_GENAI_API_VERSION": "v9",
    "GOOGLE_GENAI_CLIENT_MODE": "replay",
    "GOOGLE_GENAI_REPLAYS_DIRECTORY": "/nowhere",
    "GOOGLE_GENAI_HTTP_CLIENT": "httpx",
    "GOOGLE_GEMINI_BASE_URL": "http://192.0.2.1",
    "GOOGLE_API_KEY": "another",
    "GOOGLE_CLOUD_PROJECT": "another",
    "GOOGLE_API_USE_CLIENT_CERTIFICATE": "true",
    "GOOGLE_API_USE_MTLS_ENDPOINT": "always",
    "OPENAI_BASE_URL": "http://192.0.2.1",
    "OPENAI_API_KEY": "another",
    "OPENAI_ADMIN_KEY": "another",
    "OPENAI_ORG_ID": "another",
    "OPENAI_PROJECT_ID": "another",
    "OPENAI_WEBHOOK_SECRET": "another",
    "OPENAI_CUSTOM_HEADERS": "x-more: another\nauthorization: Bearer another",
    "OPENAI_API_TYPE": "azure",
    "OPENAI_API_VERSION": "another",
    "AZURE_OPENAI_ENDPOINT": "http://192.0.2.1",
    "HTTP_PROXY": "http://192.0.2.1:3128",
    "ALL_PROXY": "socks5://192.0.2.1:3128",
    "SSLKEYLOGFILE": "/nowhere/keys",
}


@BOTH
def test_the_environment_decides_nothing_but_the_key(
    provider: str, do: Do, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login another password another\n")
    plain, server = do(ask(provider, WIRE[provider].answer("hello")))
    for name, value in {**TRAPS, "NETRC": str(netrc)}.items():
        monkeypatch.setenv(name, value)
    answer, trapped = do(ask(provider, WIRE[provider].answer("hello")))
    assert answer == plain and answer.text == "hello"
    sent, usual = trapped.asked[0], server.asked[0]
    assert (sent.path, sent.data) == (usual.path, usual.data)
    assert sent.headers | {"host": ""} == usual.headers | {"host": ""}


@BOTH
@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("SSL_CERT_FILE", "/nowhere/ca.pem", "the certificates cannot be read"),
        ("HTTPS_PROXY", "gopher://:pw@proxy", "the proxy that the environment names"),
    ],
)
def test_a_setting_that_is_honoured_and_wrong_is_named(
    provider: str, name: str, value: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(Misconfigured, match=words) as caught:
        (OpenAI if provider == "openai" else Gemini)(KEY)
    assert "pw" not in str(caught.value)
