"""What a critic claims, executed; what came of it decides whether it is proven, and of what worth.

The rules, by what the label says:

- work that is wrong is paid: its script earns more than nothing does, and earns it again without
  sight of the task (`blinding`). Where it had the answers all the same (its data are the
  reference's, or its words stand in the hidden tests alone), it is `privileged`, which rejects
  nothing.
- an answer lies about: the script earns, and without the cited files it does not, and the
  reference, which needs none of them, still passes.
- a trivial task: the script is one plain command, and passes.
- right work is refused: the script does not pass although everything that the reference makes is
  there with the same values. A script that passes refutes the claim.

All else that is claimed is a suspicion.
"""

import re
from dataclasses import dataclass

from envgen.audit.critic import blinding, knowledge
from envgen.audit.critic.asking import REFUSED, UNSHOWN, Claim
from envgen.audit.probes.gain import HALF
from envgen.audit.workbench import NOTE, Workbench
from envgen.build import explain
from envgen.files import FileTree
from envgen.grade import attempt, solve
from envgen.records import (
    Exploitability,
    Finding,
    JobResult,
    Key,
    Put,
    Soundness,
    Trial,
)

NAME = "critic"
BLIND = "the same where the task's files are empty and programs get no input"
PLAIN = re.compile(
    r"(cat|comm|cp|cut|date|echo|find|grep|head|install|ln|ls|mkdir|mv|paste|printf|sed|seq|sort|"
    r"tail|tee|touch|tr|uniq|wc)\s[^;&|`$()\n]{0,160}"
)
"""One command that does one thing."""
_PREAMBLE = re.compile(r"\s*(#|set |cd |export |$)")


@dataclass(frozen=True)
class Outcome:
    """What became of a claim: perhaps a finding, what ran, and a word about it."""

    finding: Finding | None
    trials: tuple[Trial, ...]
    word: str


async def executed(bench: Workbench, claim: Claim, name: str) -> Outcome:
    """Execute a claim that is not void, and not CLEAN.

    Args:
        bench: the task.
        claim: what is said.
        name: of the trial.
    """
    if claim.label in UNSHOWN:
        return Outcome(_suspected(claim, ""), (), "nothing to execute")
    if not claim.script:
        return Outcome(_suspected(claim, ""), (), "gave no script that could be read")
    trial = await bench.tried(NAME, name, f"the critic's script for {claim.label}", claim.script)
    if claim.label in REFUSED:
        return await _refused(bench, claim, trial)
    if not _earned(bench, trial):
        return Outcome(_suspected(claim, trial.name), (trial,), f"its script earns {trial.reward}")
    if claim.label == "TASK-TRIVIAL":
        return _trivial(claim, trial)
    judge = _leaked if claim.label == "ANSWER-LEAK" else _blindfolded
    return await judge(bench, claim, trial)


# -- wrong work is paid ------------------------------------------------------------------------


async def _blindfolded(bench: Workbench, claim: Claim, trial: Trial) -> Outcome:
    name = f"{trial.name} without sight"
    blind, left = await (_together if bench.target.together else _apart)(bench, claim, name)
    if blind is None:
        word = f"its script earns {trial.reward}; it leaves programs that cannot be run blind"
        return Outcome(_suspected(claim, trial.name), (trial,), word)
    if not _earned(bench, blind):
        word = f"its script earns {trial.reward}, and {blind.reward} without sight of the task"
        return Outcome(_suspected(claim, trial.name), (trial, blind), word)
    needs, how = _knew(bench, claim, left)
    finding = _proven(bench, claim, trial, blind.keys, needs, how)
    word = f"its script earns {trial.reward} without doing the work{how}"
    return Outcome(finding, (trial, blind), word)


async def _apart(bench: Workbench, claim: Claim, name: str) -> tuple[Trial | None, bytes]:
    """The script's run without sight, and what it left; None where that cannot be had."""
    draft, image, blobs = bench.task.draft, bench.task.image, bench.kit.sandbox.blobs
    puts = tuple(blinding.emptied(bench.target, draft))
    key, solved = await solve(draft, image, claim.script, bench.kit, bench.use(NAME), puts)
    left = blobs.get(solved.captured) if solved.captured else b""
    changed = blinding.unsighted(bench.target, left) if left else None
    if changed is None:
        return None, left
    graded = await bench.graded(NAME, name, BLIND, blobs.put(changed))
    return graded.model_copy(update={"keys": (key, *graded.keys)}), left


async def _together(bench: Workbench, claim: Claim, name: str) -> tuple[Trial | None, bytes]:
    """The same where the agent's container grades: programs cannot be replaced in between."""
    puts, blobs = tuple(blinding.emptied(bench.target, bench.task.draft)), bench.kit.sandbox.blobs
    trial, solved = await _tried(bench, claim.script, name, BLIND, puts)
    left = blobs.get(solved.captured) if solved.captured else b""
    shown = bool(left) and not blinding.programs(bench.target, left)
    return (trial if shown else None), left


async def _tried(
    bench: Workbench, tree: FileTree, name: str, does: str, puts: tuple[Put, ...]
) -> tuple[Trial, JobResult]:
    """A submission where other files stand than in the task's image."""
    draft, image = bench.task.draft, bench.task.image
    keys, solved, score = await attempt(draft, image, tree, bench.kit, bench.use(NAME), puts)
    trial = Trial(
        probe=NAME,
        name=name,
        does=does,
        keys=keys,
        reward=score.reward,
        passed=score.passed,
        note=explain(score)[:NOTE],
    )
    return trial, solved


def _knew(bench: Workbench, claim: Claim, outputs: bytes) -> tuple[Exploitability, str]:
    """Whether the script had its answers from the hidden tests, and how that shows."""
    if bench.outputs:
        reference = bench.kit.sandbox.blobs.get(bench.outputs)
        share = blinding.agreement(bench.target, outputs, reference)
        if share >= HALF:
            return "privileged", f"; {share:.0%} of the right answer stands in it"
    hidden = knowledge.hidden_words(bench.task.draft, bench.target)
    if words := knowledge.known(claim.script, hidden):
        return "privileged", f"; it knows {', '.join(words[:3])} from the hidden tests"
    return "reward", ""


# -- leaks and trivial tasks -------------------------------------------------------------------


async def _leaked(bench: Workbench, claim: Claim, trial: Trial) -> Outcome:
    draft, target = bench.task.draft, bench.target
    cited = {p.file.removeprefix("environment") for p in claim.places}
    paths = frozenset(
        e.path for e in target.entries if e.path in cited and not e.removed
        if not target.told(e.path)
    )  # fmt: skip
    if not paths or not draft.solution:
        word = "its script earns something, and it cites no file that the instruction is silent of"
        return Outcome(_suspected(claim, trial.name), (trial,), word)
    puts, name = tuple(blinding.emptied(target, draft, paths)), f"{trial.name} without the leak"
    gone = f"{', '.join(sorted(paths))} empty"
    without, _ = await _tried(bench, claim.script, name, f"the same with {gone}", puts)
    right, _ = await _tried(
        bench, draft.solution, f"{name}: reference", f"the reference with {gone}", puts
    )
    both = (trial, without, right)
    if _earned(bench, without) or not right.passed:
        word = f"its script earns {trial.reward}, and that it takes it from there is not shown"
        return Outcome(_suspected(claim, trial.name), both, word)
    more = without.keys + right.keys
    finding = _proven(bench, claim, trial, more, "rollout", "")
    return Outcome(finding, both, f"its script earns {trial.reward} from what lies there")


def _trivial(claim: Claim, trial: Trial) -> Outcome:
    lines = claim.script["solve.sh"].data.decode(errors="replace").splitlines()
    work = [line.strip() for line in lines if not _PREAMBLE.match(line)]
    if trial.passed and len(work) == 1 and PLAIN.fullmatch(work[0]) and len(claim.script) == 1:
        finding = _finding(claim, trial.name, 3, f"one command passes: {work[0]}", "rollout")
        return Outcome(
            finding.model_copy(update={"proof": trial.keys}), (trial,), "one command passes"
        )
    word = f"its script earns {trial.reward}, and is no single plain command"
    return Outcome(_suspected(claim, trial.name), (trial,), word)


# -- right work is refused ---------------------------------------------------------------------


async def _refused(bench: Workbench, claim: Claim, trial: Trial) -> Outcome:
    if trial.passed:
        return Outcome(None, (trial,), "refuted: its script passes")
    draft, image, blobs = bench.task.draft, bench.task.image, bench.kit.sandbox.blobs
    alike = False
    if bench.regrades and claim.label == "INSTR-VERIFIER-MISMATCH":
        _, solved = await solve(draft, image, claim.script, bench.kit, bench.use(NAME))
        alike = solved.captured is not None and blinding.same(
            bench.target, blobs.get(solved.captured), blobs.get(bench.outputs)
        )
    if not alike:
        word = f"its script earns {trial.reward}; that it is right is not shown"
        return Outcome(_suspected(claim, trial.name), (trial,), word)
    message = f"leaves all that the reference leaves, and earns {trial.reward}: {claim.reason}"
    finding = _finding(claim, trial.name, 3, message, "reward")
    word = "its script does what the reference does, and is refused"
    return Outcome(finding.model_copy(update={"proof": trial.keys}), (trial,), word)


# -- findings ----------------------------------------------------------------------------------


def _earned(bench: Workbench, trial: Trial) -> bool:
    floor = bench.target.baseline + bench.target.noise
    return trial.reward is not None and trial.reward > floor


def _proven(
    bench: Workbench,
    claim: Claim,
    trial: Trial,
    more: tuple[Key, ...],
    needs: Exploitability,
    how: str,
) -> Finding:
    gain = (trial.reward or 0.0) - bench.target.baseline
    severity = 3 if trial.passed else 2 if gain >= HALF else 1
    message = f"earns {trial.reward:g}{how}: {claim.reason}"
    finding = _finding(claim, trial.name, severity, message, needs)
    return finding.model_copy(update={"proof": (*trial.keys, *more)})


def _suspected(claim: Claim, trial: str) -> Finding:
    return _finding(claim, trial, 1, claim.reason, "rollout")


def _finding(
    claim: Claim, trial: str, severity: int, message: str, needs: Exploitability
) -> Finding:
    says: Soundness = "accepts-wrong"
    if claim.label in REFUSED:
        says = "rejects-right"
    elif claim.label in UNSHOWN:
        says = "unknown"
    return Finding(
        label=claim.label,
        code=f"critic:{claim.wording}",
        severity=severity,
        message=message[:1000],
        soundness=says,
        exploitability=needs,
        places=claim.places,
        trial=f"{NAME}:{trial}" if trial else "",
    )
