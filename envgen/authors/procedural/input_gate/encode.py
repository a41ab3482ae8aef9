"""Spellings of the same text: percent escapes, repeated escapes, fullwidth forms."""

import random

from envgen.authors.procedural.input_gate.policy import Policy


def escape(rng: random.Random, text: str, chars: str, times: int = 1) -> str:
    """Percent-encode `chars` within `text`, `times` times over, hex digits in either case."""
    out = text
    for turn in range(times):
        target = chars if turn == 0 else "%"
        out = "".join(_escaped(rng, char) if char in target else char for char in out)
    return out


def _escaped(rng: random.Random, char: str) -> str:
    shape = rng.choice(("%{:02x}", "%{:02X}"))
    return "".join(shape.format(byte) for byte in char.encode())


def wide(text: str, chars: str) -> str:
    """Fullwidth forms of `chars` within `text`."""
    return "".join(
        chr(ord(char) + 0xFEE0) if char in chars and "!" <= char <= "~" else char for char in text
    )


def dress(rng: random.Random, policy: Policy, text: str, chars: str) -> str:
    """A spelling of `text` whose canonical form is `text`: anything from plain to fully escaped."""
    times = rng.choice((0, 1, 1, *range(1, policy.rounds + 1)))
    some = "".join(char for char in chars if rng.random() < 0.8) or chars
    if policy.fold and rng.random() < 0.35:
        widened = wide(text, some)
        high = "".join(sorted({char for char in widened if char > "~"}))
        return escape(rng, widened, high, 1) if times and rng.random() < 0.5 else widened
    return escape(rng, text, some, times) if times else text


def buried(rng: random.Random, policy: Policy, text: str, chars: str) -> str:
    """A spelling that is still escaped after all the rounds that the policy grants."""
    return escape(rng, text, chars, policy.rounds + 1 + rng.randrange(2))
