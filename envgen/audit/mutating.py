"""Wrong work must fail: mutants of what the reference leaves, each graded by itself."""

import asyncio

from envgen.audit import mutants
from envgen.audit.workbench import Workbench
from envgen.records import Finding, Place, Trial


async def mutated(bench: Workbench) -> tuple[tuple[Finding, ...], tuple[Trial, ...]]:
    """All mutants; a finding for each that passes."""
    outputs = bench.kit.sandbox.blobs.get(bench.outputs)
    made = mutants.mutants(bench.target, outputs, bench.kit.config.audit.mutants)
    trials = await asyncio.gather(
        *(bench.graded("mutating", m.name, f"the reference's outputs, {m.name}", m.outputs)
          for m in made)
    )  # fmt: skip
    survived = [
        _finding(mutant, trial) for mutant, trial in zip(made, trials, strict=True) if trial.passed
    ]
    return tuple(survived), tuple(trials)


def _finding(mutant: mutants.Mutant, trial: Trial) -> Finding:
    """A survivor without an answer is a proof; one with a small mistake is a suspicion."""
    return Finding(
        label="VERIFIER-TOO-WEAK",
        code=f"mutating:{mutant.name}",
        severity=3 if mutant.destructive else 1,
        message=f"passes as well with {mutant.name}",
        soundness="accepts-wrong",
        exploitability="reward",
        places=(Place(file="tests/check.py"),),
        trial=f"{trial.probe}:{trial.name}",
        proof=trial.keys if mutant.destructive else (),
    )
