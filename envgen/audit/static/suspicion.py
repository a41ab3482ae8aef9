"""What rules give: a finding without a receipt, at a file and a line."""

from typing import NamedTuple

from envgen.records import Exploitability, Finding, Label, Place, Soundness


class Kind(NamedTuple):
    """A rule's name and what it speaks of."""

    code: str
    label: Label
    message: str
    soundness: Soundness = "accepts-wrong"
    exploitability: Exploitability = "rollout"


def suspected(kind: Kind, file: str, line: int = 0, detail: str = "") -> Finding:
    """The finding of a rule."""
    return Finding(
        label=kind.label,
        code=f"static:{kind.code}",
        severity=1,
        message=f"{kind.message}: {detail[:200]}" if detail else kind.message,
        soundness=kind.soundness,
        exploitability=kind.exploitability,
        places=(Place(file=file, line=line),),
    )


def line_of(text: str, offset: int) -> int:
    """The number of the line that holds a character."""
    return text.count("\n", 0, offset) + 1
