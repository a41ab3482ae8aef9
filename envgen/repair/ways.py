"""Mechanical repairs by label, in the order in which they are tried; none needs a model.

A way is a function (draft, finding, what was seen) -> draft, or the reason why it cannot help.
Whoever adds one adds it here.
"""

from collections.abc import Callable
from typing import NamedTuple

from envgen.records import Finding, Label, TaskDraft
from envgen.repair import isolating, leaking, matching, pinning, steadying
from envgen.repair.seen import Seen


class Way(NamedTuple):
    """A mechanical repair."""

    name: str
    label: Label
    findings: tuple[str, ...]
    """By these probes only, or with these codes, also where they are only suspected; empty for
    all that count."""
    change: Callable[[TaskDraft, Finding, Seen], TaskDraft | str]
    does: str
    besides: bool = False
    """Tried also where a way before it helped: one attack seldom shows all that is weak."""


_WEAK: Label = "VERIFIER-TOO-WEAK"
_LEAK: Label = "ANSWER-LEAK"
_UNEQUAL: Label = "INSTR-VERIFIER-MISMATCH"
WAYS = (
    Way("removed", _LEAK, (), leaking.removed,
        "takes the answer out of files, layers, commands and variables; tests keep what they read"),
    Way("hidden", _LEAK, (), leaking.hidden,
        "takes what is given away before programs are graded"),
    Way("fresh", _WEAK, ("forging",), isolating.fresh,
        "grades in a container where the agent never was"),
    Way("declared", _WEAK, ("forging",), isolating.declared,
        "carries every folder over that instruction and tests speak of"),
    Way("guarded", _WEAK, ("forging", "static:runs-as-root", "static:imports-work"),
        isolating.guarded,
        "starts programs and loads modules as the agent, not as the grader"),
    Way("shielded", _WEAK, ("forging",), isolating.shielded,
        "resets the reward, and isolates interpreter and test discovery"),
    Way("pinned", _WEAK, (), pinning.pinned,
        "compares with what right solutions agree on, programs on inputs that nobody has seen",
        besides=True),
    Way("renamed", _UNEQUAL, (), matching.renamed,
        "reads the file that is asked for in place of its twin"),
    Way("repealed", _UNEQUAL, (), matching.repealed,
        "takes back checks of form that right work fails"),
    Way("steadied", "OTHER", ("repeating",), steadying.steadied,
        "lets clock, zone and chance of the tests stand still"),
    Way("baked", "OTHER", ("repeating", "static"), steadying.baked,
        "has in the image what the tests would install"),
)  # fmt: skip
REPAIRABLE: tuple[Label, ...] = tuple(dict.fromkeys(way.label for way in WAYS))
MODELLED: tuple[Label, ...] = (_WEAK, _LEAK, _UNEQUAL)
"""Labels that a model may try as well."""


def fitting(finding: Finding) -> tuple[Way, ...]:
    """The ways that are meant for a finding, in their order."""
    named = (finding.code, finding.code.partition(":")[0])
    return tuple(
        way
        for way in WAYS
        if way.label == finding.label and (not way.findings or set(named) & set(way.findings))
    )


def hardening(finding: Finding) -> tuple[Way, ...]:
    """The ways that name a finding by its code: it is worth mending before anybody proves it."""
    return tuple(way for way in fitting(finding) if finding.code in way.findings)
