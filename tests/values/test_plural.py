"""Counts in words."""

from envgen.plural import many


def test_one_is_not_many() -> None:
    assert [many(n, "file") for n in (0, 1, 2, 1234567, -1)] == [
        "0 files", "1 file", "2 files", "1,234,567 files", "-1 files"
    ]  # fmt: skip
    assert [many(n, "retry", "retries") for n in (1, 2)] == ["1 retry", "2 retries"]
    assert [many(n, "task is", "tasks are") for n in (1, 2)] == ["1 task is", "2 tasks are"]
