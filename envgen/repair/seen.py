"""What a repairer looks at besides the draft: outputs of right solutions, and how they were graded.

Mechanical repairs are pure. What they need of the world is executed here, through the ledger, with
what the gates and the audit have executed before: the reference and the valid alternatives.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from envgen.audit import captured, naming
from envgen.audit.target import Target
from envgen.audit.workbench import Workbench
from envgen.files import FileTree
from envgen.grade import attempt, grade, solve
from envgen.ledger import Use
from envgen.records import AuditReport
from envgen.repair import watching

Run = Mapping[str, bytes]
"""Absolute paths of files that a solution leaves, and their contents."""


@dataclass(frozen=True)
class Seen:
    """What was seen of a task.

    Attributes:
        target: the task as it looks from outside.
        report: of its audit.
        reference: files that the reference leaves; empty when there is none.
        others: the same of valid alternatives, by name.
        answers: what programs answered, for the reference first and then for each alternative;
            where the verifier is too weak.
        failed: names of checks that an alternative fails and the reference passes.
        checks: how many checks there are.
    """

    target: Target
    report: AuditReport
    reference: Run
    others: Mapping[str, Run]
    answers: tuple[watching.Answers, ...] = ()
    failed: tuple[str, ...] = ()
    checks: int = 0

    @property
    def given(self) -> Run:
        """What the agent finds."""
        return {e.path: e.data for e in self.target.entries if not e.removed}

    @property
    def files(self) -> Iterator[tuple[str, bytes]]:
        """What is asked for and no program, as the reference leaves it."""
        given, target = self.given, self.target
        for path, data in self.reference.items():
            named = path in target.outputs or path in target.changed or target.told(path)
            if named and given.get(path) != data and path not in target.programs:
                yield path, data

    @property
    def programs(self) -> tuple[str, ...]:
        """Programs that are asked for; those that are given and stay are not."""
        given, target = self.given, self.target
        return tuple(
            path
            for path in target.programs
            if naming.is_program(path, target.instruction)
            and self.reference.get(path) != given.get(path)
        )


async def look(bench: Workbench, report: AuditReport, valid: Mapping[str, FileTree]) -> Seen:
    """Run what has to be run, or recall it."""
    if not bench.outputs:
        return Seen(bench.target, report, {}, {})
    trees = [bench.task.draft.solution, *(tree for _, tree in sorted(valid.items()))]
    weak = any(f.label == "VERIFIER-TOO-WEAK" for f in report.findings)
    graded = await _graded(bench, valid)
    answers = await _watched(bench, trees) if weak else ()
    failed = dict.fromkeys(name for _, names in graded.values() for name in names)
    if any(f.trial == "swapping:rewritten" for f in report.findings):
        failed |= dict.fromkeys(await _rewritten(bench, report))
    return Seen(
        target=bench.target,
        report=report,
        reference=_files(bench, bench.outputs),
        others={name: run for name, (run, _) in graded.items()},
        answers=answers,
        failed=tuple(failed),
        checks=len(bench.score.checks) if bench.score else 0,
    )


def _files(bench: Workbench, blob: str) -> Run:
    found = captured.entries(bench.kit.sandbox.blobs.get(blob))
    return {path: data for path, _, data in captured.files(found)}


async def _graded(
    bench: Workbench, valid: Mapping[str, FileTree]
) -> dict[str, tuple[Run, tuple[str, ...]]]:
    """What each alternative leaves, and the checks that it fails: as the audit ran them."""
    found = {}
    for name, tree in sorted(valid.items()):
        draft, image = bench.task.draft, bench.task.image
        use = bench.use("swapping")
        _, solved, score = await attempt(draft, image, tree, bench.kit, use)
        run = _files(bench, solved.captured) if solved.captured else {}
        found[name] = run, tuple(check.name for check in score.checks if check.score < 1)
    return found


async def _rewritten(bench: Workbench, report: AuditReport) -> tuple[str, ...]:
    """Checks that fail where the reference's JSON is written in another way."""
    blob = next(t.outputs for t in report.trials if (t.probe, t.name) == ("swapping", "rewritten"))
    use = bench.use("swapping")
    _, score = await grade(bench.task.draft, bench.task.image, blob, bench.kit, use)
    return tuple(check.name for check in score.checks if check.score < 1)


async def _watched(bench: Workbench, trees: list[FileTree]) -> tuple[watching.Answers, ...]:
    """What the programs of right solutions answer to inputs that are made from those at hand.

    Nothing where one of them could not be asked: its solution leaves no time, or no room, for it.
    """
    draft, image = bench.task.draft, bench.task.image
    found = []
    for tree in trees:
        watcher = watching.watcher(bench.target, tree)
        if watcher is None:
            return ()
        use = Use(draft.slug, "repair:watch")
        _, done = await solve(draft, image, watcher, bench.kit, use)
        files = _files(bench, done.captured) if done.captured else {}
        text = files.get(f"{draft.workdir}/{watching.ANSWERS}")
        if text is None:
            return ()
        found.append(watching.parsed(json.loads(text)))
    return tuple(found)
