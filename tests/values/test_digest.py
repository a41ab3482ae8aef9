"""Canonical JSON and tagged digests: golden values, and what must not change them."""

import hashlib
import json
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envgen.digest import canonical, digest, digest_bytes, short

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT
FINITE = SCALARS.filter(lambda v: not isinstance(v, float) or abs(v) != float("inf"))
VALUES = st.recursive(FINITE, lambda v: st.lists(v, max_size=4) | st.dictionaries(TEXT, v))

GOLDEN = {
    "{}": ({}, "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"),
    "[]": ([], "sha256:4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"),
    '{"a":[1,2.5,null,true],"b":"é\\n"}': (
        {"b": "é\n", "a": [1, 2.5, None, True]},
        "sha256:cb5e8047073a25fc60019b144d8705d7c6d8be56b5d7fa476e332f631d6f2491",
    ),
}


@pytest.mark.parametrize("text", GOLDEN)
def test_golden_digests(text: str) -> None:
    value, expected = GOLDEN[text]
    assert canonical(value) == text.encode()
    assert digest(value) == expected


def test_digest_is_the_sha256_of_the_canonical_text() -> None:
    assert digest_bytes(b"") == f"sha256:{hashlib.sha256(b'').hexdigest()}"
    assert digest("x") == digest_bytes(b'"x"')


@given(VALUES)
def test_canonical_text_is_json_without_spaces_and_reads_back(value: object) -> None:
    text = canonical(value)
    assert json.loads(text) == value
    assert canonical(json.loads(text)) == text
    assert b"\n" not in text


@given(st.dictionaries(TEXT, FINITE, min_size=2))
def test_the_order_of_keys_changes_nothing(value: dict[str, object]) -> None:
    assert canonical(dict(reversed(value.items()))) == canonical(value)


@given(VALUES, VALUES)
def test_other_text_is_another_digest(one: object, two: object) -> None:
    assert (digest(one) == digest(two)) == (canonical(one) == canonical(two))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_json_cannot_say_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical([value])


def test_short_is_the_beginning_of_the_hex() -> None:
    assert short("sha256:0123456789abcdef") == "0123456789ab"
    assert short(digest({}), 8) == "44136fa3"


def test_the_hash_seed_of_the_process_changes_nothing() -> None:
    script = "from envgen.digest import digest; print(digest({k: k for k in {'a', 'b', 'ü'}}))"
    found = {
        subprocess.run(
            [sys.executable, "-c", script],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert found == {f"{digest({'a': 'a', 'b': 'b', 'ü': 'ü'})}\n".encode()}
