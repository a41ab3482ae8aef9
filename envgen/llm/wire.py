"""What both adapters share: tolerant readers, clean text, honest errors.

Servers that call themselves compatible send numbers as text, null for nothing, web pages under 200.
Readers here give a value or nothing; they do not raise on what a server sent.
"""

import json
from collections.abc import Mapping
from typing import Any

from envgen.errors import Misconfigured
from envgen.llm.trouble import Seen, kind_of, trouble
from envgen.records import Completion, Request, Usage

EXTRA = "pip install 'envgen[llm]'"


def missing(provider: str) -> Misconfigured:
    """The SDK of a provider cannot be imported."""
    return Misconfigured(f"the library for {provider} models is not installed: {EXTRA}")


# -- text --------------------------------------------------------------------------------------


def whole(text: str) -> str:
    """Text that UTF-8 can carry: pairs of surrogates joined, lone ones replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def nudged(request: Request) -> tuple[float, int | None]:
    """Temperature and seed of a request; after degenerate answers, others than were asked."""
    warmer = min(1.0, request.temperature + 0.25 * request.nudge)
    seed = None if request.seed is None else request.seed + request.nudge
    return max(request.temperature, warmer), seed


# -- tolerant readers --------------------------------------------------------------------------


def mapping(value: object) -> Mapping[str, Any]:
    """The value when it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """The value when it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def text_of(value: object) -> str:
    """The value when it is text, else none."""
    return whole(value) if isinstance(value, str) else ""


MOST = 10**9
"""More tokens than any answer has: larger numbers are no counts, and no database holds them."""


def count(value: object) -> int:
    """A number of tokens, however it is written."""
    try:
        number = int(value) if isinstance(value, int | float | str) else 0
    except (ValueError, OverflowError):
        return 0
    return min(max(0, number), MOST)


def usage_of(entered: int, cached: int, produced: int, thinking: int) -> Usage:
    """Usage whose parts are not more than their wholes."""
    return Usage(
        input=entered,
        cached=min(cached, entered),
        output=produced,
        thinking=min(thinking, produced),
    )


def decoded(provider: str, data: bytes | str) -> Mapping[str, Any]:
    """The JSON object of an answer under 200.

    Raises:
        Trouble: it is none.
    """
    text = data.strip()
    text = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    if not text:
        raise trouble(Seen(provider, "empty", 200))
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # broken, or a number of thousands of digits
        value = None
    if isinstance(value, dict):
        return value
    if value is None and text.startswith("{"):
        raise trouble(Seen(provider, "cut", 200))
    raise trouble(Seen(provider, "html" if text.startswith("<") else "shape", 200))


# -- errors ------------------------------------------------------------------------------------


def answered(seen: Seen, model: str) -> Completion:
    """What a fault of this question alone comes to: an answer without text.

    Raises:
        Trouble, Misconfigured: it is no fault of the question.
    """
    kind = kind_of(seen)
    usage = seen.usage or Usage()
    if kind == "truncated":
        return Completion(text="", finish="length", usage=usage, model=model)
    if kind in ("blocked", "refused"):
        return Completion(text="", finish="blocked", usage=usage, model=model)
    raise trouble(seen)
