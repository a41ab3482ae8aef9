"""The critic: a model that reads a task and says what is wrong; what it says is then executed.

It sees the hidden tests, so its word alone proves nothing, nor does a script of its that is paid:
`proving` has the rules. A label of CLEAN takes nothing away from what others have found.
"""

import asyncio

from envgen.audit.critic.asking import REFUSED, WORDINGS, Claim, asked, critic_of
from envgen.audit.critic.proving import NAME, Outcome, executed
from envgen.audit.workbench import Workbench
from envgen.errors import Fault
from envgen.records import Finding, Tier, Trial


async def criticised(
    bench: Workbench,
) -> tuple[tuple[Finding, ...], tuple[Trial, ...], Tier]:
    """What the configured critic finds on a task: findings, what ran, and what it said."""
    settings = bench.kit.config.audit
    wordings = WORDINGS if settings.critic_agrees else WORDINGS[:1]
    said = await asyncio.gather(*(_asked(bench, wording) for wording in wordings))
    claims = [claim for claim in said if isinstance(claim, Claim)]
    outcomes = await asyncio.gather(*(_outcome(bench, claim) for claim in claims))
    agree = len(claims) == len(wordings) and len({c.label for c in claims}) == 1
    findings = tuple(o.finding for o in outcomes if o.finding and (agree or o.finding.proven))
    trials = tuple(trial for outcome in outcomes for trial in outcome.trials)
    words = [f"{c.label}{_void(c)}: {o.word}" for c, o in zip(claims, outcomes, strict=True)]
    words += [fault for fault in said if isinstance(fault, str)]
    if not agree and len(wordings) > 1:
        words.append("the two questions got different answers")
    if any(claim.orders for claim in claims):
        words.append("the task's text gives orders to its reader, it says")
    note = f"{critic_of(bench.kit)}: {'; '.join(words)}"
    return findings, trials, Tier(name=NAME, ran=bool(claims), note=note)


async def _asked(bench: Workbench, wording: str) -> Claim | str:
    """The claim; the fault's name and reason where no answer could be read."""
    draft = bench.task.draft
    try:
        return await asked(draft, draft.slug, bench.kit, wording, shown=True)
    except Fault as fault:
        return f"{fault.code}: {' '.join(fault.detail.split())[:200]}"


async def _outcome(bench: Workbench, claim: Claim) -> Outcome:
    if claim.void or claim.label == "CLEAN":
        return Outcome(None, (), claim.void or "nothing to show")
    name = "alternative" if claim.label in REFUSED else "exploit"
    return await executed(bench, claim, f"{name} ({claim.wording})")


def _void(claim: Claim) -> str:
    return " (void)" if claim.void else ""
