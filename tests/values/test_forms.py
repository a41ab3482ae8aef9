"""Forms of the full profile: bounded, strict, and in the subset of JSON Schema that all take."""

import json
from typing import Any

import pytest

from envgen.authors.fixtures.parts import schema_of
from envgen.authors.llm.forms import filled, text_of
from envgen.authors.llm.full.brief import Brief
from envgen.llm.schema import is_strict
from tests.pipeline.writer import BRIEF

BAD: dict[str, tuple[dict[str, Any], str]] = {
    "a field too many": ({"extra": 1}, "extra: Extra inputs"),
    "a file of root's": ({"files": [{"path": "/root/x", "purpose": "x"}]}, "not a place"),
    "a file that climbs": ({"files": [{"path": "/opt/../etc/x", "purpose": "x"}]}, "not a place"),
    "a pattern as a path": ({"files": [{"path": "/opt/a(b", "purpose": "x"}]}, "not a place"),
    "a relative path": ({"files": [{"path": "x", "purpose": "x"}]}, "not a place"),
    "too many files": ({"files": [{"path": f"/opt/{n}", "purpose": ""} for n in range(17)]}, "16"),
    "a result elsewhere": ({"absent": ["/opt/x"]}, "below /home/agent only"),
    "an option as a package": ({"packages": ["-o=x"]}, "not the name of a Debian package"),
    "two lines of set-up": ({"setup": ["true\nfalse"]}, "not one short line"),
    "a sentence as a tool": ({"tools": ["rm -rf"]}, "not the name of a program"),
    "a short secret": ({"secrets": ["42"]}, "too short"),
    "no time": ({"agent_seconds": 0}, "agent_seconds"),
    "a number as a text": ({"title": 7}, "title"),
    "a control character": ({"title": "a\u0007bcd"}, "one plain line"),
}


@pytest.mark.parametrize("name", BAD)
def test_refused_forms(name: str) -> None:
    change, reason = BAD[name]
    with pytest.raises(ValueError, match=reason):
        filled(Brief, json.dumps(BRIEF | change))


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", "{}", "{'a': 1}", '{"title": ', "[" * 5000, '"' + "x" * 99, "\x00", "1e999"],
)
def test_what_is_no_form_is_said(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        filled(Brief, text)


def test_a_form_may_come_in_a_fence_and_in_no_other_company() -> None:
    text = json.dumps(BRIEF)
    assert filled(Brief, f"```json\n{text}\n```") == filled(Brief, text)
    for other in (f"Here: {text}", f"{text}\n{text}", f"{text} and more"):
        with pytest.raises(ValueError, match="not one JSON object"):
            filled(Brief, other)


def test_the_schema_is_one_that_every_provider_takes() -> None:
    schema = schema_of(Brief)
    assert is_strict(schema)
    text = text_of(schema)
    assert json.loads(text) == schema
    for word in ("$ref", "$defs", "oneOf", "pattern", "default", "discriminator"):
        assert f'"{word}"' not in text
    assert next(iter(schema["properties"])) == "title"
