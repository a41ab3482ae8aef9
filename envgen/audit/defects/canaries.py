"""Tasks with a known label that are put to the critic in every run: how much is its word worth?

They are clean procedural drafts and drafts with a planted defect, asked about with the same words
as any other task; nothing of them is built or executed.
"""

import asyncio
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from envgen.audit.critic.asking import WORDINGS, asked, critic_of
from envgen.audit.defects import KINDS
from envgen.audit.defects.benchmark import CLEAN, Case, cases, sketch
from envgen.audit.verdict import ORDER
from envgen.errors import Fault
from envgen.kit import Kit
from envgen.records import Label, TaskDraft

CANARIES = 8
"""In every run."""


class Said(NamedTuple):
    """What the critic said about a canary."""

    kind: str
    """The planted kind, or CLEAN."""
    truth: Label
    said: str
    """A label; `void` where its citations do not exist, `unreadable` where there was no answer."""


async def measured(kit: Kit, number: int = CANARIES) -> tuple[Said, ...]:
    """The critic's word on so many canaries, half of them clean."""
    chosen = canaries(number)
    return tuple(await asyncio.gather(*(_said(case, draft, kit) for case, draft in chosen)))


@cache
def canaries(number: int) -> tuple[tuple[Case, TaskDraft], ...]:
    """That many cases with their drafts: clean ones and defects in turn."""
    return tuple(_canaries(number))


def _canaries(number: int) -> Iterator[tuple[Case, TaskDraft]]:
    kinds = _kinds(number // 2)
    planted = cases(1, 0, kinds=kinds) if kinds else ()
    defective = sorted(planted, key=lambda case: kinds.index(case.kind))
    clean = list(cases(0, number - len(defective)))
    for place in range(len(clean)):
        for case in clean[place : place + 1] + defective[place : place + 1]:
            draft = sketch(case.spec, case.family)
            changed = case.planted.plant(draft) if case.planted else draft
            assert changed is not None, case
            yield case, changed


def summary(found: tuple[Said, ...], kit: Kit) -> dict[str, Any]:
    """The critic and its accuracy, as JSON values; shares are of all canaries."""
    right = sum(one.said == one.truth for one in found)
    sides = sum(_told_apart(one) for one in found)
    return {
        "model": critic_of(kit),
        "profile": kit.config.audit.critic_profile,
        "agrees": kit.config.audit.critic_agrees,
        "canaries": len(found),
        "right_label": right / len(found) if found else None,
        "right_side": sides / len(found) if found else None,
        "answers": [one._asdict() for one in found],
    }


def _told_apart(one: Said) -> bool:
    """Whether defective or clean was said, and so it is."""
    return one.said not in ("void", "unreadable") and (one.said == CLEAN) == (one.truth == CLEAN)


async def _said(case: Case, draft: TaskDraft, kit: Kit) -> Said:
    name = f"canary {case.kind} {draft.slug}"
    try:
        claim = await asked(draft, name, kit, WORDINGS[0], shown=False)
    except Fault:
        return Said(case.kind, case.truth, "unreadable")
    return Said(case.kind, case.truth, "void" if claim.void else claim.label)


def _kinds(number: int) -> tuple[str, ...]:
    """Names of kinds, one of each label first, then the second of each, and so on."""
    rounds = [[k.name for k in KINDS if k.label == label] for label in ORDER]
    longest = max(map(len, rounds))
    turns = [names[n] for n in range(longest) for names in rounds if n < len(names)]
    return tuple(turns[:number])
