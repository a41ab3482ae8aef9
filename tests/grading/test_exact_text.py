"""Text with one right answer."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from verifiers import exact_text

words = st.text("abcdefghijkmnopqrstuvwxyz0123456789", min_size=4, max_size=12)
texts = st.lists(words, min_size=1, max_size=12).map("\n".join)


@pytest.mark.parametrize(
    ("actual", "expected", "rules", "score"),
    [
        (b"a\nb\n", "a\nb", exact_text.NORMALISE, 1),
        (b"a \r\nb\t\r\n\r\n", "a\nb", exact_text.NORMALISE, 1),
        (b"a\nb\n", "a\nb", (), 0),
        (b"a\nb", "a\nb", (), 1),
        (b" a", "a", exact_text.NORMALISE, 0),
        (b"A  b", "a b", ("case", "inner_space"), 1),
        (b"b\n\na\n", "a\nb", ("blank_lines", "order", "final_newline"), 1),
        (b"\xff\xfe", "a", exact_text.NORMALISE, 0),
        (None, "", exact_text.NORMALISE, 0),
        (b"", "", exact_text.NORMALISE, 1),
        ("a\n", "a", exact_text.NORMALISE, 1),
    ],
)
def test_match(actual: bytes | None, expected: str, rules: tuple[str, ...], score: float) -> None:
    assert exact_text.match("m", actual, expected, normalise=rules).score == score


def test_unknown_normalisation_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown normalisation"):
        exact_text.match("m", b"", "", normalise=("newline",))


@pytest.mark.parametrize(
    ("actual", "share"),
    [
        (b"a\nb\nc\nd\n", 1.0),
        (b"a\nb\nc\n", 0.75),
        (b"d\nc\nb\na\n", 0.25),
        (b"a\nx\nb\ny\nc\nz\nd\nq\n", 0.5),
        (b"", 0.0),
        (b"x", 0.0),
        (None, 0.0),
    ],
)
def test_lines(actual: bytes | None, share: float) -> None:
    assert exact_text.lines("l", actual, "a\nb\nc\nd\n").score == share


def test_dumping_everything_earns_little() -> None:
    everything = "\n".join(f"{n:04d}" for n in range(5000)).encode()
    assert exact_text.lines("l", everything, "0042\n1234\n4999").score < 0.001


@given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abc"), max_size=12))
def test_common_is_the_longest_common_subsequence(first: list[str], second: list[str]) -> None:
    table = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, one in enumerate(first):
        for j, other in enumerate(second):
            longer = max(table[i][j + 1], table[i + 1][j])
            table[i + 1][j + 1] = table[i][j] + 1 if one == other else longer
    assert exact_text.common(first, second) == table[-1][-1]


@given(st.one_of(st.none(), st.binary(max_size=200)), texts)
def test_never_raises_and_is_bounded(actual: bytes | None, expected: str) -> None:
    for grade in (exact_text.match, exact_text.lines):
        check = grade("g", actual, expected)
        assert 0 <= check.score <= 1
        assert check == grade("g", actual, expected)
        assert grade("g", expected.encode(), expected).score == 1
        if check.score == 1:
            assert actual is not None


@given(texts, st.lists(st.one_of(words, st.just("")), max_size=12).map("\n".join))
def test_no_detail_holds_an_expected_token(expected: str, actual: str) -> None:
    # Details are made of these words whatever is graded; a token that is one of them tells nothing.
    fixed = "equal not normalised newlines trailing space final lines right order byte output"
    assume(not set(expected.split()) & set(fixed.split()))
    for grade in (exact_text.match, exact_text.lines):
        for given_text in (actual.encode(), expected.encode(), b"", None):
            detail = grade("g", given_text, expected).detail
            assert not [token for token in expected.split() if token in detail.split()]


@given(texts, st.data())
def test_more_right_lines_never_earn_less(expected: str, data: st.DataObject) -> None:
    lines = expected.split("\n")
    cut = data.draw(st.integers(1, len(lines)))
    less, more = lines[: cut - 1], lines[:cut]
    scores = [
        exact_text.lines("l", "\n".join(part).encode(), expected).score for part in (less, more)
    ]
    assert scores[0] <= scores[1]


def test_large_texts_are_bounded_in_time() -> None:
    big = ("\n".join(str(n % 977) for n in range(60_000))).encode()
    assert 0 < exact_text.lines("l", big, big.decode()[::-1]).score < 1
