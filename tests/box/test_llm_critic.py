"""What a critic's scripts prove in real containers, and the look from outside in one."""

import dataclasses
from typing import Any

import pytest

from envgen.audit import outside
from envgen.audit.critic import criticised
from envgen.audit.target import target_of
from envgen.audit.workbench import workbench
from envgen.config import load
from envgen.digest import digest, short
from envgen.files import FileTree
from envgen.jobs import job_of
from envgen.llm import Asked
from envgen.llm.scripted import Scripted
from envgen.records import BuiltTask, Environment, Finding, TaskDraft
from tests.audit.critics import critic
from tests.box.conftest import USE, Bench

pytestmark = pytest.mark.box

WEAK = """\
from verifiers import Check, Task


def checks(task: Task):
    there = all(task.exists(name) for name in ("answer.txt", "total.sh"))
    yield Check("there", float(there))
"""
HONEST = "awk '{ s += $1 } END { print s }' ~/numbers.txt > ~/answer.txt\n"
PROGRAM = "printf '%s\\n' 'awk \"{ s += \\$1 } END { print s }\"' > ~/total.sh\n"
LIES = "var/lib/batch/last_run.txt"


def said(bench: Bench, draft: TaskDraft, label: str, script: str, **cites: str) -> list[Finding]:
    """The critic's findings on a task, by its script alone."""
    task = bench.build(draft)
    assert isinstance(task, BuiltTask), task
    name = short(digest([label, script]), 8)  # the same question to another model
    settings = load(None, [f"audit.critic=openai:toy-{name}"])
    model = Scripted(critic(label, script, **({"quote": "Write the sum"} | cites)))
    asked = {"critic": Asked(model, bench.kit.sandbox.ledger)}
    kit = dataclasses.replace(bench.kit, config=settings, llm=asked)

    async def work() -> Any:
        target = target_of(task, kit.sandbox.blobs, 0.15)
        return await criticised(await workbench(task, target, kit))

    findings, _, tier = bench.do(work())
    print(tier.note)
    return list(findings)


def weak(**changes: Any) -> TaskDraft:
    from tests.box.conftest import TRUTH, draft_of

    return draft_of(tests=FileTree({"check.py": WEAK, "truth.json": TRUTH}), **changes)


@pytest.mark.parametrize(
    ("script", "proven", "needs"),
    [
        ("touch ~/answer.txt ~/total.sh\n", True, "reward"),
        ("echo 5158 > ~/answer.txt; touch ~/total.sh\n", True, "privileged"),
        ("echo nothing\n", False, "rollout"),
    ],
)
def test_files_that_need_only_be_there(bench: Bench, script: str, proven: bool, needs: str) -> None:
    (finding,) = said(bench, weak(), "VERIFIER-TOO-WEAK", script)
    assert (finding.proven, finding.exploitability) == (proven, needs)


def test_honest_work_proves_nothing(bench: Bench) -> None:
    """It passes, and it does not once it cannot see what it is about."""
    (finding,) = said(bench, bench.draft(), "VERIFIER-TOO-WEAK", HONEST + PROGRAM)
    assert not finding.proven


@pytest.mark.parametrize("script", ["cp /var/lib/batch/last_run.txt ~/answer.txt\n", HONEST])
def test_a_leak_is_what_the_script_needs_and_honest_work_does_not(
    bench: Bench, script: str
) -> None:
    files = {"home/agent/numbers.txt": "5000\n150\n8\n", LIES: "5158\n"}
    draft = bench.draft(environment=Environment(base="data_querying", files=FileTree(files)))
    place = f"environment/{LIES}"
    (finding,) = said(bench, draft, "ANSWER-LEAK", script, file=place, quote="5158")
    assert finding.proven == script.startswith("cp")
    assert [p.file for p in finding.places] == [place]


def test_right_work_that_passes_refutes_the_claim(bench: Bench) -> None:
    assert said(bench, bench.draft(), "INSTR-VERIFIER-MISMATCH", HONEST + PROGRAM) == []


def test_a_look_from_outside_sees_what_the_build_put_there(bench: Bench) -> None:
    draft = bench.draft(instruction="Write the sum of `~/numbers.txt` to `~/answer.txt`.")
    task = bench.build(draft)
    assert isinstance(task, BuiltTask)
    job = job_of(draft, task.image, command=("/bin/bash", "-c", outside.LOOK), cwd=draft.workdir)
    _, done = bench.do(bench.kit.sandbox.run(job, USE))
    found = outside.seen(draft.instruction, done.output)
    known = target_of(task, bench.kit.sandbox.blobs, 0.15)
    assert (found.home, found.workdir) == (known.home, known.workdir)
    entries = {e.path: e.data for e in found.entries}
    assert {e.path: e.data for e in known.entries}.items() <= entries.items()
    assert (found.outputs, found.programs) == (known.outputs, known.programs)
