"""JSON Schema as Gemini's `responseSchema` takes it, which is all that its batch endpoint honours.

The dialect is that of OpenAPI: no references, no closed objects, null as a flag, constants as
enums, types in capitals, fields in the order that is told. What it cannot say is left out, for
whoever asks validates the answer anyway.
"""

from collections.abc import Mapping
from typing import Any

_KEPT = frozenset(
    {"type", "format", "description", "nullable", "enum", "required", "pattern"}
    | {"minItems", "maxItems", "minLength", "maxLength", "minimum", "maximum"}
)
_TYPES = {bool: "boolean", int: "integer", float: "number"}
_DEEPEST = 24
"""Levels that are translated; a schema that contains itself ends there."""


def openapi(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema in the dialect."""
    return _translated(schema, {**schema.get("definitions", {}), **schema.get("$defs", {})}, 0)


def _translated(schema: Mapping[str, Any], named: Mapping[str, Any], depth: int) -> dict[str, Any]:
    if depth > _DEEPEST:
        return {"type": "OBJECT"}
    if "$ref" in schema:
        target = named.get(str(schema["$ref"]).rpartition("/")[2], {})
        rest = {word: value for word, value in schema.items() if word != "$ref"}
        return _translated({**target, **rest}, named, depth + 1)
    found = {word: value for word, value in schema.items() if word in _KEPT}
    _one_of(found, schema.get("enum", [schema["const"]] if "const" in schema else []))
    _nullable(found)
    if "type" in found:
        found["type"] = found["type"].upper()
    if "properties" in schema:
        found["properties"] = {
            name: _translated(inner, named, depth + 1)
            for name, inner in schema["properties"].items()
        }
        found["propertyOrdering"] = list(schema["properties"])
    if "items" in schema:
        found["items"] = _translated(schema["items"], named, depth + 1)
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        some = [c for c in choices if c.get("type") != "null"]
        if len(some) < len(choices):
            found["nullable"] = True
        made = [_translated(choice, named, depth + 1) for choice in some]
        found |= made[0] if len(made) == 1 else {"anyOf": made}
    return found


def _one_of(found: dict[str, Any], values: list[Any]) -> None:
    """Fixed values: the dialect has them for strings only, else their type is what is left."""
    found.pop("enum", None)
    if not values:
        return
    if all(isinstance(value, str) for value in values):
        found["enum"] = values
    found.setdefault("type", _TYPES.get(type(values[0]), "string"))


def _nullable(found: dict[str, Any]) -> None:
    """A list of types as one type, and whether null is another."""
    kinds = found.get("type")
    if isinstance(kinds, list):
        some = [kind for kind in kinds if kind != "null"]
        found["type"] = some[0] if some else "null"
        if len(some) < len(kinds):
            found["nullable"] = True
