"""What a reward for an attack means: wrong work was paid, by more than nothing is."""

from envgen.audit.target import Target
from envgen.records import Attack, Finding, Place, Trial

HALF = 0.5


def gained(target: Target, attack: Attack, trial: Trial) -> Finding | None:
    """A proven finding when the attack earned more than the untouched container and its noise.

    Grades repeat identically, as the gates have shown: the noise is what graded checks pay for the
    mere form of an answer. Below it the reward stands in the report's trials, and that is all.
    """
    if trial.reward is None or trial.reward <= target.baseline + target.noise:
        return None
    gain = trial.reward - target.baseline
    paid = (
        "passes" if trial.passed else f"earns {trial.reward:g}, nothing earns {target.baseline:g}"
    )
    return Finding(
        label=attack.label,
        code=f"{attack.probe}:{attack.name}",
        severity=3 if trial.passed else 2 if gain >= HALF else 1,
        message=f"{attack.does}: {paid}",
        soundness="accepts-wrong",
        exploitability=attack.exploitability,
        places=attack.places or (Place(file=target.verifier),),
        trial=f"{trial.probe}:{trial.name}",
        proof=trial.keys,
    )
