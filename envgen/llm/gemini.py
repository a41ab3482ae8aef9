"""Gemini's generateContent, through google-genai. Translation only.

The SDK sends, without retries, whatever the environment says. The question is written here as JSON:
the SDK's own translation looks at every type of every field, which costs more than all the rest of
a call. The answer is read here from its bytes, so that usage is known before anything else can
fail.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from envgen.llm.keys import hidden
from envgen.llm.line import http_client, line_seen
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
from envgen.records import Completion, Finish, Request, Usage

if TYPE_CHECKING:
    import httpx2
    from google.genai import Client
    from google.genai.errors import APIError

NAME = "gemini"
URL = "https://generativelanguage.googleapis.com"
VERSION = "v1"
_FINISH: Mapping[str, Finish] = {
    "STOP": "stop",
    "": "stop",
    "FINISH_REASON_UNSPECIFIED": "stop",
    "MAX_TOKENS": "length",
    "CONTINUATION": "length",
}
"""Every other reason is a block (SAFETY, RECITATION, PROHIBITED_CONTENT, SPII, ...)."""


class Gemini:
    """A model behind generateContent.

    Args:
        key: goes into a header, and nowhere else.
        base_url: without the version; none = Google's.
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
        self.flex = flex
        self.key = key
        url = base_url or URL
        self.client, self._http = _sdk(key, url, seconds, in_flight)

    async def complete(self, request: Request) -> Completion:
        """Ask once.

        Raises:
            Trouble: no answer.
            Misconfigured: the provider refuses such requests.
        """
        import httpx2
        from google.genai import errors

        sent = body(request)
        if self.flex:
            sent["serviceTier"] = "flex"
        path = f"models/{request.model.partition(':')[2]}:generateContent"
        try:
            raw = await self.client._api_client.async_request("post", path, sent)
        except errors.APIError as error:
            seen = self.seen(error)
        except httpx2.HTTPError as error:
            seen = line_seen(NAME, error)
        else:
            return read(raw.body or "", request.model, self.key)
        return answered(seen, request.model)  # here, where the SDK's error is no context of it

    def seen(self, error: "APIError") -> Seen:
        """What an error of the SDK's says."""
        headers = getattr(error.response, "headers", {}) or {}
        told = {str(name).lower(): str(text) for name, text in headers.items()}
        said = mapping(error.details)
        return fault(mapping(said.get("error")) or said, count(error.code), self.key, told)

    async def close(self) -> None:
        """Close its connections."""
        await self.client.aio.aclose()
        self.client.close()
        await self._http.aclose()


def body(request: Request) -> dict[str, Any]:
    """The request as generateContent wants it; its schema stands under `responseJsonSchema`."""
    temperature, seed = nudged(request)
    config: dict[str, Any] = {
        "temperature": temperature,
        "topP": request.top_p,
        "maxOutputTokens": request.max_tokens,
    }
    if seed is not None:
        config["seed"] = seed
    if request.answer_schema is not None:
        config["responseMimeType"] = "application/json"
        config["responseJsonSchema"] = json.loads(request.answer_schema)
    sent: dict[str, Any] = {
        "contents": [
            {
                "role": "model" if m.role == "assistant" else "user",
                "parts": [{"text": whole(m.text)}],
            }
            for m in request.messages
            if m.role != "system"
        ],
        "generationConfig": config,
    }
    if system := [whole(m.text) for m in request.messages if m.role == "system"]:
        sent["systemInstruction"] = {"role": "user", "parts": [{"text": "\n\n".join(system)}]}
    return sent


def read(data: bytes | str, model: str, key: SecretStr) -> Completion:
    """The answer in the bytes of a response under 200.

    Raises:
        Trouble: there is none; what was billed all the same is with it.
    """
    value = decoded(NAME, data)
    usage = _usage(mapping(value.get("usageMetadata")))
    answered_by = text_of(value.get("modelVersion")) or model.partition(":")[2]
    candidate = mapping(next(iter(items(value.get("candidates"))), None))
    if candidate:
        parts = map(mapping, items(mapping(candidate.get("content")).get("parts")))
        text = "".join(text_of(part.get("text")) for part in parts if not part.get("thought"))
        finish = _FINISH.get(text_of(candidate.get("finishReason")), "blocked")
        return Completion(text=text, finish=finish, usage=usage, model=answered_by)
    if mapping(value.get("promptFeedback")).get("blockReason"):
        return Completion(text="", finish="blocked", usage=usage, model=answered_by)
    said = mapping(value.get("error"))
    seen = fault(said, count(said.get("code")) or 200, key, {})
    seen = seen if said else Seen(NAME, "shape", 200, says="no candidates")
    return answered(seen._replace(usage=usage if usage != Usage() else None), model)


def fault(said: Mapping[str, Any], status: int, key: SecretStr, headers: Mapping[str, str]) -> Seen:
    """An error object, with what its details name, as a sign."""
    secret = key.get_secret_value()
    details = [mapping(detail) for detail in items(said.get("details"))]
    names = [said.get("status"), *(detail.get("reason") for detail in details)]
    quotas = [
        text_of(mapping(violation).get("quotaId"))
        for detail in details
        for violation in items(detail.get("violations"))
    ]
    if any("PerDay" in quota for quota in quotas):
        names.append("per_day")
    codes = tuple(cleaned(name, secret, 60) for name in names if isinstance(name, str) and name)
    delays = tuple(text_of(detail.get("retryDelay")) for detail in details)
    says = cleaned(said.get("message") or "", secret)
    return Seen(NAME, "http", status, codes, says, wait_of(headers, delays))


def _usage(told: Mapping[str, Any]) -> Usage:
    """Candidates exclude the thoughts, which are billed as output all the same."""
    thoughts = count(told.get("thoughtsTokenCount"))
    return usage_of(
        count(told.get("promptTokenCount")) + count(told.get("toolUsePromptTokenCount")),
        count(told.get("cachedContentTokenCount")),
        count(told.get("candidatesTokenCount")) + thoughts,
        thoughts,
    )


def _sdk(
    key: SecretStr, url: str, seconds: float, in_flight: int
) -> "tuple[Client, httpx2.AsyncClient]":
    """A client that takes nothing from the environment: no Vertex, no version, no recording."""
    try:
        with hidden():
            import httpx2
            from google.genai import Client, types
            from google.genai.client import DebugConfig

            http = http_client(url, seconds, in_flight)
            options = types.HttpOptions(
                base_url=url,
                api_version=VERSION,
                timeout=int(seconds * 1000),
                httpx_async_client=http,
                httpx_client=httpx2.Client(verify=False, trust_env=False),  # never used
            )
            client = Client(
                vertexai=False,
                api_key=key.get_secret_value(),
                debug_config=DebugConfig(client_mode=None, replays_directory=None, replay_id=None),
                http_options=options,
            )
    except ImportError:
        raise missing(NAME) from None
    return client, http
