"""Numbers between a floor and a target, and the metrics that measure them."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from verifiers import VerifierError
from verifiers import metric_threshold as metric

finite = st.floats(-1e6, 1e6)


@pytest.mark.parametrize(
    ("value", "floor", "target", "score"),
    [
        (0.5, 0.5, 0.9, 0.0),
        (0.7, 0.5, 0.9, 0.5),
        (0.9, 0.5, 0.9, 1.0),
        (2.0, 0.5, 0.9, 1.0),
        (-5.0, 0.5, 0.9, 0.0),
        (10.0, 10.0, 2.0, 0.0),
        (6.0, 10.0, 2.0, 0.5),
        (2.0, 10.0, 2.0, 1.0),
        (0.0, 10.0, 2.0, 1.0),
        (11.0, 10.0, 2.0, 0.0),
        (3.0, 3.0, 3.0, 1.0),
        (2.9, 3.0, 3.0, 0.0),
        (math.nan, 0.0, 1.0, 0.0),
        (math.inf, 0.0, 1.0, 0.0),
        (-math.inf, 1.0, 0.0, 0.0),
        (None, 0.0, 1.0, 0.0),
        (10**400, 0.0, 1.0, 0.0),
        (True, 0.0, 1.0, 0.0),
    ],
)
def test_grade(value: float | None, floor: float, target: float, score: float) -> None:
    assert metric.grade("g", value, floor, target).score == pytest.approx(score, abs=1e-12)


def test_a_floor_that_is_no_number_is_the_verifiers_fault() -> None:
    with pytest.raises(VerifierError):
        metric.grade("g", 1.0, math.nan, 1.0)


@given(finite, finite, finite, finite)
def test_bounded_and_monotone(first: float, second: float, floor: float, target: float) -> None:
    assume(floor != target)
    low, high = sorted((first, second), reverse=floor > target)
    worse, better = (metric.grade("g", value, floor, target).score for value in (low, high))
    assert 0 <= worse <= better <= 1
    reached = high >= target if target > floor else high <= target
    assert (better == 1) == reached


@pytest.mark.parametrize(
    ("data", "numbers"),
    [
        (b"1 2.5\n-3e2", [1, 2.5, -300]),
        ("1,2;3", [1, 2, 3]),
        (b"\xef\xbb\xbf4", [4]),
        (b"", []),
        (b"1 x", None),
        (b"nan", None),
        (b"1_000", None),
        ("١", None),
        (b"1e999", None),
        (b"\xff", None),
        (None, None),
    ],
)
def test_parse_numbers(data: bytes | str | None, numbers: list[float] | None) -> None:
    assert metric.parse_numbers(data) == numbers


def test_parse_number_wants_exactly_one() -> None:
    assert metric.parse_number(b" 3.5\n") == 3.5
    assert metric.parse_number(b"3 5") is None
    assert metric.parse_number(b"") is None


def test_parse_csv_column() -> None:
    table = b'id,score\n1, 0.5\n2,"0.25"\n\n'
    assert metric.parse_csv_column(table, "score") == ["0.5", "0.25"]
    assert metric.parse_csv_column(table, 0) == ["id", "1", "2"]
    assert metric.parse_csv_column(table, "missing") is None
    assert metric.parse_csv_column(b"a\n1\n", 3) is None
    assert metric.parse_csv_column(b'"' + b"x" * 200_000, 0) is None
    assert metric.to_numbers(["1", "x"]) is None
    assert metric.to_numbers(["1", "2"]) == [1, 2]


def test_metrics() -> None:
    assert metric.accuracy(["a", "b", "c"], ["a", "b", "d"]) == pytest.approx(2 / 3)
    assert metric.macro_f1(["a", "a", "a", "a"], ["a", "a", "a", "b"]) == pytest.approx(3 / 7)
    assert metric.mae([1, 2], [2, 4]) == 1.5
    assert metric.rmse([0, 0], [3, 4]) == pytest.approx(math.sqrt(12.5))
    assert metric.r2([1, 2, 3], [1, 2, 3]) == 1
    assert metric.r2([2, 2, 2], [1, 2, 3]) == 0
    assert metric.char_accuracy(b"kitten", "sitting") == pytest.approx(1 - 3 / 7)
    assert metric.word_accuracy("The cat, sat.", "the cat sat down") == 0.75


@pytest.mark.parametrize("measure", [metric.mae, metric.rmse, metric.r2])
def test_hostile_numbers_measure_nothing(measure: object) -> None:
    assert callable(measure)
    for given_values in (None, [1.0], [1.0, math.nan], [1.0, math.inf], [1e308, -1e308]):
        value = measure(given_values, [1.0, 2.0])
        assert value is None or math.isfinite(value)
        assert metric.grade("g", value, 0.0, 1.0).score <= 1


def test_hostile_labels_measure_nothing() -> None:
    for measure in (metric.accuracy, metric.macro_f1):
        assert measure(None, ["a"]) is None
        assert measure(["a", "a"], ["a"]) is None
    assert metric.char_accuracy(b"\xff", "a") is None
    assert metric.char_accuracy("x" * 100_000, "a") is None
    assert metric.char_accuracy(b"", "abc") == 0


@given(st.text("ab", max_size=9), st.text("ab", max_size=9))
def test_distance_is_the_edit_distance(first: str, second: str) -> None:
    row = list(range(len(second) + 1))
    for i, one in enumerate(first, start=1):
        corner, row[0] = row[0], i
        for j, other in enumerate(second, start=1):
            corner, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, corner + (one != other))
    assert metric.distance(first, second) == row[-1]


@given(st.binary(max_size=100))
def test_parsers_never_raise(data: bytes) -> None:
    for parsed in (metric.parse_numbers(data), metric.to_numbers(metric.parse_csv_column(data, 0))):
        assert parsed is None or all(math.isfinite(value) for value in parsed)
    accuracy = metric.char_accuracy(data, "reference text")
    assert accuracy is None or 0 <= accuracy <= 1
