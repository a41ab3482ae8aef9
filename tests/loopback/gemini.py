"""generateContent as the Gemini API writes it."""

from typing import Any

from tests.loopback.server import Reply


def path(model: str, version: str = "v1beta") -> str:
    return f"/{version}/models/{model}:generateContent"


def usage(prompt: Any, output: Any, thoughts: Any = None, cached: Any = None) -> dict[str, Any]:
    found = {
        "promptTokenCount": prompt,
        "candidatesTokenCount": output,
        "thoughtsTokenCount": thoughts,
        "cachedContentTokenCount": cached,
    }
    return {name: count for name, count in found.items() if count is not None}


def body(
    text: str | None,
    finish: str | None = "STOP",
    *,
    use: dict[str, Any] | None = usage(7, 3),  # noqa: B008 - a value
    model: str = "echo-1",
    **more: Any,
) -> dict[str, Any]:
    """The JSON of one answer; `finish=None` has no candidate (give `promptFeedback`)."""
    found: dict[str, Any] = {"modelVersion": model, "responseId": "r-1", **more}
    if finish is not None:
        content: dict[str, Any] = {"role": "model"}
        if text is not None:
            content["parts"] = [{"text": text}]
        found["candidates"] = [{"index": 0, "finishReason": finish, "content": content}]
    if use is not None:
        found["usageMetadata"] = use
    return found


def answer(text: str | None, finish: str | None = "STOP", **more: Any) -> Reply:
    """An answer under 200."""
    return Reply.of(body(text, finish, **more))


def error(status: int, name: str, message: str = "no", *details: dict[str, Any]) -> Reply:
    """An error object with its details (`retry_info`, `quota_failure`)."""
    found = {"code": status, "message": message, "status": name, "details": list(details)}
    return Reply.of({"error": found}, status)


def retry_info(delay: str) -> dict[str, Any]:
    return {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}


def quota_failure(quota: str) -> dict[str, Any]:
    return {
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        "violations": [{"quotaMetric": "m", "quotaId": quota, "quotaValue": "50"}],
    }
