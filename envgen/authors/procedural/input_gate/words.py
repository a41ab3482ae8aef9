"""Small pieces that the values of all rules are made of."""

import random
from collections.abc import Sequence

from envgen.authors.procedural.input_gate.encode import escape

Values = tuple[str, ...]


def a_word(rng: random.Random, words: Sequence[str]) -> str:
    return rng.choice(words)


def a_name(rng: random.Random, words: Sequence[str]) -> str:
    number = rng.choice(("", str(rng.randrange(99))))
    return rng.choice("-_").join(rng.sample(list(words), 2)) + number


def a_file(rng: random.Random, words: Sequence[str]) -> str:
    return f"{a_name(rng, words)}.{rng.choice(('txt', 'csv', 'pdf', 'tar', 'log', 'json'))}"


def no_control(rng: random.Random, text: str) -> str:
    """Control bytes percent-encoded: records are lines, so they cannot stand there bare."""
    return escape(rng, text, "\0\t\r\n")
