"""Wrong work must fail: mutants of what the reference leaves, each graded by itself."""

import asyncio
from collections.abc import Callable

from envgen.audit import mutants, recording
from envgen.audit.workbench import Workbench
from envgen.records import Finding, Place, Trial

LOOKUP = "lookup"
MOST = 8
"""Mutants of a task's outputs: each costs a grade."""


async def mutated(
    bench: Workbench, only: Callable[[str, str], bool]
) -> tuple[tuple[Finding, ...], tuple[Trial, ...]]:
    """All mutants, and a lookup in place of a program; a finding for each that passes."""
    if not bench.outputs:
        return (), ()
    outputs = bench.kit.sandbox.blobs.get(bench.outputs)
    made = mutants.mutants(bench.target, outputs, MOST) if bench.regrades else ()
    made = tuple(mutant for mutant in made if only("mutating", mutant.name))
    blobs = [bench.kit.sandbox.blobs.put(mutants.applied(m, outputs)) for m in made]
    graded = (
        bench.graded("mutating", m.name, f"the reference's outputs, {m.name}", blob)
        for m, blob in zip(made, blobs, strict=True)
    )
    trials = await asyncio.gather(*graded)
    destructive = {mutant.name: mutant.destructive for mutant in made} | {LOOKUP: True}
    lookup = recording.lookup(
        bench.target, bench.task.draft.solution, mutants.done(bench.target, outputs)
    )
    if lookup is not None and only("mutating", LOOKUP):
        does = "the reference's program replaced by its answers to the inputs at hand"
        trials.append(await bench.tried("mutating", LOOKUP, does, lookup))
    survived = [
        _finding(trial, destructive[trial.name], bench.target.verifier)
        for trial in trials
        if trial.passed
    ]
    return tuple(survived), tuple(trials)


def _finding(trial: Trial, destructive: bool, verifier: str) -> Finding:
    """A survivor without an answer is a proof; one with a small mistake is a suspicion."""
    return Finding(
        label="VERIFIER-TOO-WEAK",
        code=f"mutating:{trial.name}",
        severity=2 if destructive else 1,
        message=f"passes as well with {trial.name}",
        soundness="accepts-wrong",
        exploitability="reward",
        places=(Place(file=verifier),),
        trial=f"{trial.probe}:{trial.name}",
        proof=trial.keys if destructive else (),
    )
