"""Counts in words, for people."""


def many(count: int, one: str, more: str = "") -> str:
    """`1 file`, `2 files`, `1,000 files`; `more` where an s does not make it the plural."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"
