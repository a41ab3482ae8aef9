"""What the batch lane sends, byte for byte, and the schema dialect of Gemini's batch endpoint."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from envgen.config import LlmConfig, Price
from envgen.ledger import Ledger, Use
from envgen.ledger.batches import Line
from envgen.llm import receipt
from envgen.llm.batch.dialect import openapi
from envgen.llm.batch.gemini import GeminiJobs
from envgen.llm.batch.jobs import parsed
from envgen.llm.batch.openai import OpenAIJobs
from envgen.llm.gemini import Gemini
from envgen.llm.openai import OpenAI
from envgen.llm.opened import open_models
from envgen.records import Message, Request
from tests.loopback import Loopback, Reply, openai, script
from tests.loopback.batches import Batches

Do = Callable[[Awaitable[Any]], Any]
SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["title", "size"],
    "properties": {"title": {"type": "string"}, "size": {"type": ["integer", "null"]}},
}


def line(provider: str) -> Line:
    messages = (Message(role="system", text="Be brief."), Message(role="user", text="Grüße\u2028!"))
    request = Request(
        model=f"{provider}:small",
        messages=messages,
        answer_schema=json.dumps(SCHEMA),
        temperature=0.5,
        max_tokens=50,
        seed=7,
    )
    return Line(receipt(request), request)


def sent(provider: str, do: Do) -> tuple[Batches, Line]:
    """What the provider has after one job of one line, uploaded as a file."""
    store, asked = Batches(), line(provider)

    async def create() -> None:
        async with Loopback(store) as server:
            if provider == "openai":
                adapter = OpenAI(SecretStr("k"), base_url=f"{server.url}/v1")
                await OpenAIJobs(adapter, "openai:small").create("envgen-1", [asked])
                await adapter.close()
            else:
                other = Gemini(SecretStr("k"), base_url=server.url)
                await GeminiJobs(other, "gemini:small", 10).create("envgen-1", [asked])
                await other.close()

    do(create())
    return store, asked


def test_a_line_of_openai(do: Do) -> None:
    store, asked = sent("openai", do)
    (data,) = store.files.values()
    (found,) = parsed(data)
    assert found == {
        "custom_id": asked.id,
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {
            "model": "small",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Grüße\u2028!"},
            ],
            "max_tokens": 50,
            "temperature": 0.5,
            "top_p": 1.0,
            "seed": 7,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True},
            },
        },
    }
    assert asked.key == f"sha256:{asked.id}" and len(asked.id) == 64
    assert store.bodies == [
        {
            "completion_window": "24h",
            "endpoint": "/v1/chat/completions",
            "input_file_id": "file-1",
            "metadata": {"envgen": "envgen-1"},
        }
    ]


def test_a_line_of_gemini(do: Do) -> None:
    """Settings stand under generationConfig, and the schema is no JSON Schema."""
    store, asked = sent("gemini", do)
    (data,) = store.files.values()
    (found,) = parsed(data)
    assert found == {
        "key": asked.id,
        "request": {
            "contents": [{"role": "user", "parts": [{"text": "Grüße\u2028!"}]}],
            "systemInstruction": {"role": "user", "parts": [{"text": "Be brief."}]},
            "generationConfig": {
                "temperature": 0.5,
                "topP": 1.0,
                "maxOutputTokens": 50,
                "seed": 7,
                "responseMimeType": "application/json",
                "responseSchema": {
                    "type": "OBJECT",
                    "required": ["title", "size"],
                    "propertyOrdering": ["title", "size"],
                    "properties": {
                        "title": {"type": "STRING"},
                        "size": {"type": "INTEGER", "nullable": True},
                    },
                },
            },
        },
    }
    assert store.bodies == [
        {"displayName": "envgen-1", "inputConfig": {"fileName": "files/file-1"}}
    ]


@pytest.mark.parametrize(
    ("schema", "dialect"),
    [
        ({"type": ["string", "null"]}, {"type": "STRING", "nullable": True}),
        ({"const": "a"}, {"type": "STRING", "enum": ["a"]}),
        ({"enum": [1, 2]}, {"type": "INTEGER"}),
        ({"type": "string", "enum": ["a", "b"]}, {"type": "STRING", "enum": ["a", "b"]}),
        (
            {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            {"type": "INTEGER", "nullable": True},
        ),
        (
            {"oneOf": [{"type": "string"}, {"type": "number"}]},
            {"anyOf": [{"type": "STRING"}, {"type": "NUMBER"}]},
        ),
        (
            {"type": "array", "items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"type": "boolean"}}},
            {"type": "ARRAY", "items": {"type": "BOOLEAN"}},
        ),
        (
            {"type": "object", "properties": {"enum": {"type": "string", "title": "E"}}},
            {
                "type": "OBJECT",
                "properties": {"enum": {"type": "STRING"}},
                "propertyOrdering": ["enum"],
            },
        ),
        (
            {"type": "object", "additionalProperties": {"type": "string"}, "$schema": "x"},
            {"type": "OBJECT"},
        ),
    ],
)
def test_schemas_are_translated(schema: dict[str, Any], dialect: dict[str, Any]) -> None:
    assert openapi(schema) == dialect


def test_a_schema_that_contains_itself_ends_somewhere() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
    made = json.dumps(openapi({"$ref": "#/$defs/node", "$defs": {"node": node}}))
    assert 5 < made.count('"next": {') < 30


def test_a_file_of_lines_is_read_past_what_is_broken() -> None:
    data = b'{"a": 1}\n\n[1]\n{"b": "\xe2\x80\xa8"}\r\n{"c": \xff}\n{"d": 4'
    assert list(parsed(data)) == [{"a": 1}, {"b": "\u2028"}]


class Fast:
    """A clock on which waiting takes no time."""

    def now(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)


@pytest.mark.parametrize(("lane", "jobs", "cost"), [("online", 0, 8.0), ("batch", 1, 6.0)])
def test_the_configuration_chooses_the_lane(
    tmp_path: Path, do: Do, lane: Any, jobs: int, cost: float
) -> None:
    """One first draft and one mend, through everything that stands around an adapter."""
    reply = Reply.of(openai.body("ONLINE", use=openai.usage(2, 2)))
    store = Batches(online=script(reply))
    draft = Request(model="openai:small", messages=(Message(role="user", text="a draft"),))
    mend = draft.model_copy(update={"sample": 1, "urgent": True})
    ledger = Ledger(tmp_path / "run")

    async def ask() -> list[str]:
        async with Loopback(store) as server:
            config = LlmConfig(
                base_url=f"{server.url}/v1",
                lane=lane,
                prices={"openai:small": Price(input=1e6, output=1e6, batch=0.5)},
                no_budget=True,
            )
            roles = {"author": "openai:small"}
            async with open_models(roles, config, ledger, Fast()) as models:
                use = Use("task", "author")
                asked = [models["author"].complete(request, use) for request in (draft, mend)]
                return [answer.text for _, answer in await asyncio.gather(*asked)]

    text = "A DRAFT" if lane == "batch" else "ONLINE"
    assert do(ask()) == [text, "ONLINE"]
    assert len(store.jobs) == jobs
    assert ledger.attempts.spent() == (cost, 0.0)
    ledger.close()
