"""Forms: what a model is asked to fill in, as JSON. The schema is a wish; validation is ours."""

import json
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

F = TypeVar("F", bound=BaseModel)


def filled(form: type[F], text: str) -> F:
    """The form in an answer. Raises ValueError, in words for the model."""
    return checked(form, parsed(text), "it")


def parsed(text: str) -> dict[str, Any]:
    """The one JSON object of an answer, alone or in one fence. Raises ValueError."""
    body = text.strip().removeprefix("\ufeff")
    if body.startswith("```") and body.endswith("```"):
        body = body.strip("`").removeprefix("json").strip()
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the answer is not one JSON object: {error}") from None
    if not isinstance(value, dict):
        raise ValueError("the answer is not one JSON object")
    return value


def checked(form: type[F], value: object, name: str) -> F:
    """A form from a JSON value. Raises ValueError, with places and reasons.

    Args:
        name: what the value is called where it has no place of its own.
    """
    try:
        return form.model_validate_json(json.dumps(value, default=_plain))
    except ValidationError as error:
        found = [f"{'.'.join(map(str, e['loc'])) or name}: {e['msg']}" for e in error.errors()[:4]]
        raise ValueError("; ".join(found)) from None


def _plain(value: object) -> object:
    if isinstance(value, BaseModel):
        return value.model_dump()
    raise TypeError(f"{type(value).__name__} is no JSON value")


def text_of(schema: dict[str, Any]) -> str:
    """A schema as `Request.answer_schema` wants it. Its fields keep their order: servers that
    enforce a schema let the model fill them in as they stand."""
    return json.dumps(schema, separators=(",", ":"), ensure_ascii=False)
