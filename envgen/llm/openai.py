"""Chat completions: OpenAI, and any server that speaks its format (vLLM, llama.cpp, gateways).

Translation only. The SDK sends, without retries of its own; the answer is read here from its bytes,
for what compatible servers send is not always what the SDK's types promise.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from envgen.llm.keys import hidden
from envgen.llm.line import http_client, line_seen
from envgen.llm.schema import is_strict, loosened
from envgen.llm.trouble import Seen, cleaned, wait_of
from envgen.llm.wire import (
    answered,
    count,
    decoded,
    items,
    mapping,
    missing,
    nudged,
    text_of,
    usage_of,
    whole,
)
from envgen.records import Completion, Finish, Message, Request, ToolCall, Usage

if TYPE_CHECKING:
    import openai
    from openai import AsyncOpenAI

NAME = "openai"
URL = "https://api.openai.com/v1"
PATH = "/chat/completions"
_FINISH: Mapping[str, Finish] = {
    "length": "length",
    "max_tokens": "length",
    "content_filter": "blocked",
}
"""Every other reason is an answer that ended by itself."""


class OpenAI:
    """A model behind chat completions.

    Args:
        key: goes into the Authorization header, and nowhere else.
        base_url: with the version (`http://127.0.0.1:8000/v1`); none = OpenAI itself.
        seconds: most seconds without a byte.
        in_flight: most connections.
        flex: ask for the slow, cheap lane.
    """

    def __init__(
        self,
        key: SecretStr,
        *,
        base_url: str | None = None,
        seconds: float = 300,
        in_flight: int = 64,
        flex: bool = False,
    ) -> None:
        self.own = base_url is not None
        self.flex = flex
        self.key = key
        url = base_url or URL
        self.client = _sdk(key, url, seconds, in_flight)

    async def complete(self, request: Request) -> Completion:
        """Ask once.

        Raises:
            Trouble: no answer.
            Misconfigured: the server refuses such requests.
        """
        import httpx2
        import openai

        sent = body(request, own=self.own)
        if self.flex:
            sent["service_tier"] = "flex"
        try:
            raw = await self.client.post(PATH, body=sent, cast_to=httpx2.Response)
        except openai.OpenAIError as error:
            seen = self.seen(error)
        else:
            return read(raw.content, request.model, self.key)
        return answered(seen, request.model)  # here, where the SDK's error is no context of it

    def seen(self, error: "openai.OpenAIError") -> Seen:
        """What an error of the SDK's says."""
        import openai

        if not isinstance(error, openai.APIStatusError):
            return line_seen(NAME, error.__cause__ or error)
        headers = {name.lower(): text for name, text in error.response.headers.items()}
        said = mapping(error.body)
        said = mapping(said.get("error")) or said
        return fault(said, error.status_code, self.key, wait_of(headers))

    async def close(self) -> None:
        """Close its connections."""
        await self.client.close()


def body(request: Request, *, own: bool) -> dict[str, Any]:
    """The request as chat completions want it.

    Args:
        own: for a server of one's own, whose defaults are not ours and whose schemas are simpler.
            OpenAI itself is sent no sampling parameter that is its default, for its reasoning
            models refuse them.
    """
    temperature, seed = nudged(request)
    sent: dict[str, Any] = {
        "model": request.model.partition(":")[2],
        "messages": [_message(m) for m in request.messages],
        "max_tokens" if own else "max_completion_tokens": request.max_tokens,
    }
    if own or temperature != 1.0:
        sent["temperature"] = temperature
    if own or request.top_p != 1.0:
        sent["top_p"] = request.top_p
    if seed is not None:
        sent["seed"] = seed
    if request.answer_schema is not None:
        schema = json.loads(request.answer_schema)
        wanted = {"name": "answer", "schema": loosened(schema) if own else schema}
        wanted["strict"] = own or is_strict(schema)
        sent["response_format"] = {"type": "json_schema", "json_schema": wanted}
    if request.tools is not None:
        functions = json.loads(request.tools)
        sent["tools"] = [{"type": "function", "function": function} for function in functions]
    return sent


def _message(message: Message) -> dict[str, Any]:
    """A message; the calls that an assistant made stand beside its text."""
    sent: dict[str, Any] = {"role": message.role, "content": whole(message.text)}
    if message.answers:
        sent["tool_call_id"] = message.answers
    if message.calls:
        sent["tool_calls"] = [
            {
                "id": call.ref,
                "type": "function",
                "function": {"name": call.name, "arguments": whole(call.arguments)},
            }
            for call in message.calls
        ]
    return sent


def read(data: bytes | str, model: str, key: SecretStr) -> Completion:
    """The answer in the bytes of a response under 200.

    Raises:
        Trouble: there is none; what was billed all the same is with it.
    """
    value = decoded(NAME, data)
    usage = _usage(mapping(value.get("usage")))
    choice = mapping(next(iter(items(value.get("choices"))), None))
    message = choice.get("message")
    if not isinstance(message, dict):
        said = mapping(value.get("error"))
        seen = fault(said, count(said.get("code")) or 200, key)
        seen = seen if said else Seen(NAME, "shape", 200, says="no choices")
        return answered(seen._replace(usage=usage if usage != Usage() else None), model)
    finish = _FINISH.get(text_of(choice.get("finish_reason")), "stop")
    text = _text(message.get("content"))
    if refusal := text_of(message.get("refusal")):
        text, finish = text or refusal, "refused"
    answered_by = text_of(value.get("model")) or model.partition(":")[2]
    return Completion(
        text=text,
        finish=finish,
        usage=usage,
        model=answered_by,
        calls=_calls(message.get("tool_calls")),
        thinking=text_of(message.get("reasoning_content")) or text_of(message.get("reasoning")),
    )


def _calls(told: object) -> tuple[ToolCall, ...]:
    """Calls of functions; one without a name of its own gets its place for one."""
    found = []
    for place, call in enumerate(map(mapping, items(told))):
        function = mapping(call.get("function"))
        arguments = function.get("arguments")
        if isinstance(arguments, dict):  # some servers send them parsed
            arguments = json.dumps(arguments)
        found.append(
            ToolCall(
                ref=text_of(call.get("id")) or f"call-{place}",
                name=text_of(function.get("name")),
                arguments=text_of(arguments),
            )
        )
    return tuple(found)


def fault(said: Mapping[str, Any], status: int, key: SecretStr, after: float | None = None) -> Seen:
    """An error object as a sign."""
    secret = key.get_secret_value()
    names = (said.get("code"), said.get("type"))
    codes = tuple(cleaned(name, secret, 60) for name in names if isinstance(name, str) and name)
    return Seen(NAME, "http", status, codes, cleaned(said.get("message") or "", secret), after)


def _usage(told: Mapping[str, Any]) -> Usage:
    """Completion tokens include the thinking."""
    cached = mapping(told.get("prompt_tokens_details")).get("cached_tokens")
    thinking = mapping(told.get("completion_tokens_details")).get("reasoning_tokens")
    return usage_of(
        count(told.get("prompt_tokens")),
        count(cached),
        count(told.get("completion_tokens")),
        count(thinking),
    )


def _text(content: object) -> str:
    """Text, or the text parts of a list."""
    parts = [mapping(part).get("text") for part in items(content)]
    return text_of(content) + "".join(text_of(part) for part in parts)


def _sdk(key: SecretStr, url: str, seconds: float, in_flight: int) -> "AsyncOpenAI":
    try:
        with hidden():
            from openai import AsyncOpenAI

            return AsyncOpenAI(
                api_key=key.get_secret_value(),
                base_url=url,
                timeout=seconds,
                max_retries=0,
                http_client=http_client(url, seconds, in_flight),
            )
    except ImportError:
        raise missing(NAME) from None
