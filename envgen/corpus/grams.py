"""Runs of n words as numbers, millions at once.

A word is a number of 64 bits (BLAKE2b), a run of n words the polynomial of their numbers modulo
2**64 (Rabin and Karp 1987), so that sums over whole corpora are a few passes over flat arrays.
Among m runs of one corpus and k of another, a false match has the chance m * k / 2**64.
"""

from array import array
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any

_FACTOR = 0x9E3779B97F4A7C15
"""Odd, with bits all over."""


def number(word: str) -> int:
    """The number of a word; never 0, which is no word's."""
    return int.from_bytes(blake2b(word.encode(errors="replace"), digest_size=8).digest()) | 1


def flat(numbers: "array[int]") -> Any:
    """Numbers of type code `Q` or `I` as an Arrow array, not copied."""
    import pyarrow as pa

    kind = {"Q": pa.uint64(), "I": pa.uint32()}[numbers.typecode]
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(numbers)])


def runs(numbers: "array[int]", sizes: Sequence[int]) -> Iterator[tuple[int, Any]]:
    """(n, Arrow array of each run of n words) for every n, the smallest first.

    Args:
        numbers: words' numbers, type code `Q`.
        sizes: each at least 1.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    words = flat(numbers)
    factor, found = pa.scalar(_FACTOR, pa.uint64()), words
    for n in range(1, max(sizes) + 1):
        length = max(0, len(words) - n + 1)
        if n > 1:
            found = pc.add(pc.multiply(found.slice(0, length), factor), words.slice(n - 1, length))
        if n in sizes:
            yield n, found
