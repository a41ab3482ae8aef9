"""Running attacks: what knows least first, combined ones split, none once everything is earned."""

from collections.abc import Callable, Iterable, Iterator

from envgen.audit.probes import PROBES, Probe
from envgen.audit.workbench import Workbench
from envgen.records import Attack, Finding, Trial

CANDIDATES = {
    "static:graded-together": "forging",
    "static:runs-as-root": "forging",
    "static:imports-work": "forging",
    "static:ignored-status": "forging",
    "static:own-input": "emptying",
    "static:one-line": "one_line",
    "static:hidden-name": "copying",
    "static:telling-name": "copying",
    "static:compiled": "copying",
    "static:recorded": "copying",
    "static:generator": "copying",
    "static:removed": "copying",
}
"""Which attacks a suspicion brings forward."""


async def attacked(
    bench: Workbench, suspicions: tuple[Finding, ...], only: Callable[[str, str], bool]
) -> tuple[tuple[Finding, ...], tuple[Trial, ...]]:
    """Try the attacks that fit, until one passes: it knew the least, so the rest prove no more."""
    findings: list[Finding] = []
    trials: list[Trial] = []
    for probe in ordered(suspicions):
        for attack in _chosen(probe.attacks(bench.target), only):
            found, ran = await _tried(bench, probe, attack)
            findings += found
            trials += ran
            if any(trial.passed for trial in ran):
                return tuple(findings), tuple(trials)
    return tuple(findings), tuple(trials)


def _chosen(attacks: Iterable[Attack], only: Callable[[str, str], bool]) -> Iterator[Attack]:
    """The attacks that are wanted; of a combined one that is not wanted whole, its parts."""
    for attack in attacks:
        if all(only(part.probe, part.name) for part in attack.parts or (attack,)):
            yield attack
        else:
            yield from (part for part in attack.parts if only(part.probe, part.name))


def ordered(suspicions: tuple[Finding, ...]) -> list[Probe]:
    """The families in the order in which they are tried on a task.

    Filling stays first, whatever is suspected: where it passes, everything does.
    """
    wanted = {CANDIDATES.get(finding.code) for finding in suspicions}
    first, *rest = PROBES
    return [first, *sorted(rest, key=lambda probe: probe.name not in wanted)]


async def _tried(
    bench: Workbench, probe: Probe, attack: Attack
) -> tuple[list[Finding], list[Trial]]:
    trial = await bench.tried(attack.probe, attack.name, attack.does, attack.tree)
    finding = probe.judge(bench.target, attack, trial)
    if finding is None or not attack.parts:
        return [finding] if finding else [], [trial]
    findings, trials = [], [trial]
    for part in attack.parts:
        found, ran = await _tried(bench, probe, part)
        findings += found
        trials += ran
    best = max((f.severity for f in findings), default=0)
    if best < finding.severity:  # only together do they earn as much
        findings.insert(0, finding)
    return findings, trials
