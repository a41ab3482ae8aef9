"""JSON Schemas as servers take them: the dialects differ, so each gets what it understands."""

import json
from typing import Any

LOOSE = frozenset({"minLength", "maxLength", "pattern", "format", "minItems", "maxItems"})
"""Words that local grammars refuse or mistake; whoever asks validates again anyway."""
_NAMED = frozenset({"properties", "$defs", "definitions", "patternProperties"})
"""Under these stand names, not words of the dialect."""


def loosened(schema: Any) -> Any:
    """A schema without the words that local servers trip over."""
    if isinstance(schema, list):
        return [loosened(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        word: {name: loosened(inner) for name, inner in value.items()}
        if word in _NAMED and isinstance(value, dict)
        else loosened(value)
        for word, value in schema.items()
        if word not in LOOSE
    }


def spelled(schema: str) -> str:
    """The JSON text of a schema, loosened."""
    return json.dumps(loosened(json.loads(schema)))


def is_strict(schema: Any) -> bool:
    """Whether OpenAI's strict mode takes it: every object is closed and wants all its fields."""
    if isinstance(schema, list):
        return all(is_strict(item) for item in schema)
    if not isinstance(schema, dict):
        return True
    if "properties" in schema or schema.get("type") == "object":
        fields = schema.get("properties", {})
        if schema.get("additionalProperties") is not False:
            return False
        if set(schema.get("required", ())) != set(fields):
            return False
    return all(is_strict(value) for value in schema.values())
