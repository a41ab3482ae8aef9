"""The static tier: rules over instruction, environment, tests and solution. Nothing runs.

What a rule says is a candidate: it orders the probes and is kept as a suspicion, never as a proof.
Published experience with such rules is that most of what they flag is benign.
"""

from collections.abc import Callable, Iterator

from envgen.audit.static import checks, files
from envgen.records import Finding, TaskDraft

Rule = Callable[[TaskDraft], Iterator[Finding]]

RULES: tuple[Rule, ...] = (*files.RULES, *checks.RULES)


def look(draft: TaskDraft) -> tuple[Finding, ...]:
    """What the rules suspect, in the order of the rules."""
    return tuple(dict.fromkeys(finding for rule in RULES for finding in rule(draft)))
