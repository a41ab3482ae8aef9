"""Chat completions as OpenAI and compatible servers write them."""

from typing import Any

from tests.loopback.server import Reply

PATH = "/v1/chat/completions"


def usage(prompt: Any, output: Any, cached: Any = None, thinking: Any = None) -> dict[str, Any]:
    found: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": output}
    if cached is not None:
        found["prompt_tokens_details"] = {"cached_tokens": cached}
    if thinking is not None:
        found["completion_tokens_details"] = {"reasoning_tokens": thinking}
    return found


def body(
    text: str | None,
    finish: str = "stop",
    *,
    use: dict[str, Any] | None = usage(7, 3),  # noqa: B008 - a value
    model: str = "echo-1",
    **message: Any,
) -> dict[str, Any]:
    """The JSON of one answer; more fields of the message by name (`refusal`)."""
    found: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": text, **message},
            }
        ],
    }
    if use is not None:
        found["usage"] = use
    return found


def answer(text: str | None, finish: str = "stop", **more: Any) -> Reply:
    """An answer under 200."""
    return Reply.of(body(text, finish, **more))


def error(
    status: int, code: str | None, message: str = "no", kind: str = "", **headers: str
) -> Reply:
    """An error object; `retry_after="3"` for headers."""
    found = {"message": message, "type": kind or "error", "param": None, "code": code}
    return Reply.of({"error": found}, status, **headers)
