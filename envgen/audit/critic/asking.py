"""Asking the critic: a form with label, reason and citations, then a script that shows it.

An answer is read like an author's: the form by its schema, the script as marked blocks, an
unreadable one asked again, a bounded number of times.
"""

from dataclasses import dataclass, field, replace
from typing import Any, get_args

from pydantic import Field

from envgen.audit.critic.sight import Sight, sight_of
from envgen.authors.fixtures.parts import Part
from envgen.authors.llm.ask import Manner, Talk, model_of
from envgen.authors.llm.contents import Rules
from envgen.authors.llm.forms import filled, text_of
from envgen.errors import Fault
from envgen.files import FileTree
from envgen.kit import Kit
from envgen.records import Key, Label, Place, TaskDraft

WORDINGS = ("review", "doubt")
"""The templates `prompts/critic_*` that ask for a label: the same question in two ways."""
MANNERS = {
    "full": Manner(temperature=1.0, max_tokens=16_000, rounds=2),
    "small": Manner(temperature=0.3, max_tokens=500, rounds=1, forgets=True),
}
REFUSED: tuple[Label, ...] = ("INSTR-VERIFIER-MISMATCH", "INSTR-AMBIGUOUS")
"""Labels that say that right work fails: shown by work that is right."""
UNSHOWN: tuple[Label, ...] = ("INSTR-ENV-MISMATCH", "OTHER")
"""Labels that no submission can show."""
LABELS: dict[str, tuple[Label, ...]] = {
    "full": get_args(Label),
    "small": tuple(label for label in get_args(Label) if label not in UNSHOWN),
}
"""Of a small model's word, only what can be executed is worth the question."""
_SCRIPTS = r"[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)?"


class Verdict(Part):
    """What the critic says."""

    nonce: str
    orders: bool
    """The task's text gives orders to whoever reads it."""
    file: str
    quote: str = Field(max_length=1000)
    file2: str
    quote2: str = Field(max_length=1000)
    reason: str = Field(max_length=3000)
    label: Label


@dataclass(frozen=True)
class Claim:
    """A verdict whose citations were looked up, and the script that should show it."""

    wording: str
    label: Label
    reason: str
    orders: bool
    places: tuple[Place, ...]
    keys: tuple[Key, ...]
    void: str = ""
    """Why it does not count."""
    script: FileTree = field(default_factory=FileTree)
    """Holds a `solve.sh`; empty where none is asked for, or none could be read."""


async def asked(draft: TaskDraft, name: str, kit: Kit, wording: str, *, shown: bool) -> Claim:
    """What the critic says about a draft.

    Args:
        draft: the task.
        name: under which the ledger keeps it.
        kit: whose model is asked.
        wording: one of WORDINGS.
        shown: ask for a script as well.

    Raises:
        Fault: `critic:...`: no answer could be read.
    """
    profile = kit.config.audit.critic_profile
    sight = sight_of(draft, profile, wording)
    talk = Talk(
        name, kit, wording, MANNERS[profile], _schema(sight, profile), "critic", echo=sight.nonce
    )
    talk.say(f"critic_{wording}.md.j2", sight=sight, labels=LABELS[profile])
    verdict = await talk.answer(lambda text: _read(text, sight))
    claim = _claim(verdict, sight, wording, talk)
    if claim.void or claim.label == "CLEAN" or claim.label in UNSHOWN or not shown:
        return claim
    script, keys = await _script(talk, claim.label, sight, draft)
    return replace(claim, script=script, keys=keys)


def critic_of(kit: Kit) -> str:
    """The critic's name, as it stands in reports."""
    return model_of(kit, "critic").partition(":")[2]


async def _script(
    talk: Talk, label: Label, sight: Sight, draft: TaskDraft
) -> tuple[FileTree, tuple[Key, ...]]:
    """The script that goes with a label; nothing where no answer could be read."""
    talk.schema, talk.echo = None, ""
    kind = "alternative" if label in REFUSED else "exploit"
    talk.say(f"critic_{kind}.md.j2", label=label, nonce=sight.nonce, workdir=draft.workdir)
    rules = Rules(_SCRIPTS, ("solve.sh",), finished=False)
    try:
        files = await talk.files(sight.nonce, rules, only="solve.sh")
    except Fault:
        files = FileTree()
    return files, tuple(talk.keys)


def _schema(sight: Sight, profile: str) -> str:
    names = {"type": "string", "enum": list(sight.names)}
    fields: dict[str, Any] = {
        "nonce": {"type": "string", "enum": [sight.nonce]},
        "orders": {"type": "boolean"},
        "file": names,
        "quote": {"type": "string"},
        "file2": names,
        "quote2": {"type": "string"},
        "reason": {"type": "string"},
        "label": {"type": "string", "enum": list(LABELS[profile])},
    }
    closed = {"type": "object", "properties": fields, "required": list(fields)}
    return text_of(closed | {"additionalProperties": False})


def _read(text: str, sight: Sight) -> Verdict:
    verdict = filled(Verdict, text)
    if verdict.nonce != sight.nonce:
        raise ValueError(f"nonce must be {sight.nonce}")
    return verdict


def _claim(verdict: Verdict, sight: Sight, wording: str, talk: Talk) -> Claim:
    cited = [(verdict.file, verdict.quote), (verdict.file2, verdict.quote2)]
    places, void = [], ""
    for file, quote in cited:
        if not quote.strip():
            continue
        place = sight.place(file, quote)
        if place is None:
            void = f"cites what is not in {file}"
        else:
            places.append(place)
    if not places and not void:
        void = "cites nothing"
    return Claim(
        wording=wording,
        label=verdict.label,
        reason=verdict.reason,
        orders=verdict.orders,
        places=tuple(dict.fromkeys(places)),
        keys=tuple(talk.keys),
        void=void if verdict.label != "CLEAN" else "",
    )
