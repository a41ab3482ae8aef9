"""One task on the table: what the executed parts of an audit need, and how submissions run."""

from dataclasses import dataclass

from envgen.audit.target import Target
from envgen.build import explain
from envgen.errors import Fault
from envgen.files import FileTree
from envgen.grade import attempt, grade
from envgen.kit import Kit
from envgen.ledger import Use
from envgen.records import BuiltTask, Key, Score, Trial

NOTE = 500


@dataclass(frozen=True)
class Workbench:
    """A built task, its outside view, and what its reference leaves."""

    task: BuiltTask
    target: Target
    kit: Kit
    outputs: str = ""
    """Blob: the reference's captured outputs; empty where the task has no reference."""
    score: Score | None = None
    """Their grade."""

    @property
    def regrades(self) -> bool:
        """Whether outputs can be graded without the run that left them."""
        return not self.target.together and bool(self.outputs)

    def use(self, probe: str) -> Use:
        return Use(self.task.draft.slug, f"audit:{probe}")

    async def tried(self, probe: str, name: str, does: str, tree: FileTree) -> Trial:
        """Run a submission as the agent, and grade it."""
        draft, image = self.task.draft, self.task.image
        keys, solved, score = await attempt(draft, image, tree, self.kit, self.use(probe))
        note = explain(score)
        if not solved.ok:
            note += f" [{solved.status}, exit {solved.exit_code}] {solved.output.strip()[-200:]}"
        return Trial(
            probe=probe,
            name=name,
            does=does,
            keys=keys,
            reward=score.reward,
            passed=score.passed,
            note=note[:NOTE],
            tree=tree,
        )

    async def graded(self, probe: str, name: str, does: str, outputs: str) -> Trial:
        """Grade outputs (a blob) that no submission made."""
        draft, image = self.task.draft, self.task.image
        key, score = await grade(draft, image, outputs, self.kit, self.use(probe))
        return Trial(
            probe=probe,
            name=name,
            does=does,
            keys=(key,),
            reward=score.reward,
            passed=score.passed,
            note=explain(score)[:NOTE],
            outputs=outputs,
        )


async def workbench(task: BuiltTask, target: Target, kit: Kit) -> Workbench:
    """The bench for a task; the reference's run and grade are recalled from the gates."""
    if not task.draft.solution:
        return Workbench(task, target, kit)
    use = Use(task.draft.slug, "audit:reference")
    keys, solved, score = await attempt(task.draft, task.image, task.draft.solution, kit, use)
    if solved.captured is None:
        raise Fault("audit:reference", "the reference left no outputs", keys)
    return Workbench(task, target, kit, solved.captured, score)


def noop_keys(task: BuiltTask) -> tuple[Key, ...]:
    """The receipt of the untouched container's grade."""
    return next(e.keys for e in task.evidence if e.gate == "noop")
