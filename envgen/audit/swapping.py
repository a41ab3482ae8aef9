"""The other direction: right work that differs from the reference must pass."""

from collections.abc import Mapping

from envgen.audit import mutants
from envgen.audit.workbench import Workbench
from envgen.files import FileTree
from envgen.records import Finding, Place, Trial


async def swapped(
    bench: Workbench, alternatives: Mapping[str, FileTree]
) -> tuple[tuple[Finding, ...], tuple[Trial, ...]]:
    """Known-valid solutions, and the reference's data written in another way."""
    trials = [
        await bench.tried("swapping", name, f"the valid alternative {name}", tree)
        for name, tree in sorted(alternatives.items())
    ]
    blobs = bench.kit.sandbox.blobs
    if bench.regrades and (other := mutants.rewritten(bench.target, blobs.get(bench.outputs))):
        does = "the reference's JSON with other spaces and another order of keys"
        trials.append(await bench.graded("swapping", "rewritten", does, blobs.put(other)))
    verifier = bench.target.verifier
    return tuple(_finding(t, verifier) for t in trials if not t.passed), tuple(trials)


def _finding(trial: Trial, verifier: str) -> Finding:
    return Finding(
        label="INSTR-VERIFIER-MISMATCH",
        code=f"swapping:{trial.name}",
        severity=3,
        message=f"{trial.does} does what is asked, and does not pass: {trial.note[:200]}",
        soundness="rejects-right",
        exploitability="reward",
        places=(Place(file=verifier),),
        trial=f"{trial.probe}:{trial.name}",
        proof=trial.keys,
    )
