"""Attacks: each family is a file with data and two pure functions.

`attacks(target)` gives the submissions that a family tries on a task, weakest first; `judge` says
what a trial means. Rows of the catalogue of known tricks that a family covers stand in its
docstring. Whoever adds a family adds it to `PROBES`, at the place of what it needs to know: an
attack that knows less and passes makes those behind it prove nothing more.
"""

from collections.abc import Callable
from typing import NamedTuple

from envgen.audit.probes import (
    copying,
    emptying,
    filling,
    forging,
    one_line,
    predicting,
    standing_in,
)
from envgen.audit.target import Target
from envgen.records import Attack, Finding, Trial


class Probe(NamedTuple):
    """A family of attacks."""

    name: str
    attacks: Callable[[Target], tuple[Attack, ...]]
    judge: Callable[[Target, Attack, Trial], Finding | None]


PROBES = (
    Probe("filling", filling.attacks, filling.judge),
    Probe("emptying", emptying.attacks, emptying.judge),
    Probe("standing_in", standing_in.attacks, standing_in.judge),
    Probe("one_line", one_line.attacks, one_line.judge),
    Probe("predicting", predicting.attacks, predicting.judge),
    Probe("forging", forging.attacks, forging.judge),
    Probe("copying", copying.attacks, copying.judge),
)
