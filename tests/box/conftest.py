"""What the tests on real containers share: one kit, and a small task with an honest verdict."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import pytest

from envgen.files import FileTree
from envgen.grade import attempt, build_image
from envgen.kit import Kit
from envgen.ledger import Use
from envgen.pipeline import proven
from envgen.records import (
    HOME,
    BuiltTask,
    Environment,
    Image,
    InitialState,
    JobResult,
    Limits,
    Put,
    Rejection,
    Score,
    TaskDraft,
)
from envgen.sandbox.archive import STAGING, files_below
from envgen.sandbox.daemon import OWNER_LABEL
from tests.conftest import opened

USE = Use("box", "test")

CHECK = '''\
"""The sum of the numbers, and a program that adds up any numbers."""

import os

from verifiers import Check, Task, exact_text

MARK = "/tmp/root-was-here"  # left by whatever the agent planted, if it ever runs as root


def checks(task: Task):
    run = task.run(["/bin/bash", "total.sh"], stdin=b"19\\n23\\n", timeout=5)
    said = f"{run.text[:300]}|{run.error}|timeout {run.timed_out}|cut {run.truncated}"
    yield Check("program", float(run.ok and run.text.strip() == "42"), said)
    yield exact_text.match("answer", task.read("answer.txt"), task.truth["answer"])
    yield Check("nothing of the agent's is left running", float(not left()), must=True)
    yield Check("nothing planted ran as root", float(not os.path.exists(MARK)), must=True)


def left():
    return [p for p in os.listdir("/proc") if p.isdigit() and owner(p) == 1000]


def owner(pid):
    try:
        return os.stat(f"/proc/{pid}").st_uid
    except FileNotFoundError:  # it ended just now
        return -1
'''
TRUTH = '{"answer": "5158", "marker": "TRUTH-7f3a9c"}'
ANSWER = "echo 5158 > answer.txt\n"
PROGRAM = "awk '{ s += $1 } END { print s }'"
SOLVE = f"{ANSWER}cat > total.sh <<'END'\n{PROGRAM}\nEND\n"


class Graded(NamedTuple):
    """What an attempt came to."""

    score: Score
    solved: JobResult

    def check(self, name: str) -> float:
        return {check.name: check.score for check in self.score.checks}[name]

    def detail(self, name: str) -> str:
        return {check.name: check.detail for check in self.score.checks}[name]


class Bench:
    """A kit, and short ways to try things on it.

    Attributes:
        ANSWER: script that earns half of the small task's reward; SOLVE earns all of it.
        PROGRAM: the text of a right total.sh.
    """

    ANSWER, PROGRAM, SOLVE, CHECK = ANSWER, PROGRAM, SOLVE, CHECK

    def __init__(self, kit: Kit, do: Callable[..., Any]) -> None:
        self.kit = kit
        self.do = do
        self.draft = draft_of

    def image(self, draft: TaskDraft) -> Image:
        """The draft's image; built once."""
        _, image, _ = self.do(build_image(draft, self.kit, USE))
        return image

    def attempt(
        self, script: str, files: Mapping[str, str | bytes] | None = None, **changes: Any
    ) -> Graded:
        """Run the script as the agent (with `files` beside it in /solution), then grade."""
        draft = draft_of(**changes)
        solution = FileTree({"solve.sh": script, **(files or {})})
        image = self.image(draft)
        _, solved, score = self.do(attempt(draft, image, solution, self.kit, USE))
        return Graded(score, solved)

    def captured(self, result: JobResult) -> dict[str, bytes]:
        """Regular files that a job left in the agent's home, by their path from there."""
        if result.captured is None:
            return {}
        return files_below(self.kit.sandbox.blobs.get(result.captured), f"{STAGING}{HOME}")

    @staticmethod
    def put(target: str, files: Mapping[str, str]) -> Put:
        return Put(target=target, tree=FileTree(files))

    def build(self, draft: TaskDraft) -> BuiltTask | Rejection:
        """The draft after its gates."""
        return self.do(proven(draft, self.kit))


def draft_of(**changes: Any) -> TaskDraft:
    """The small task; `changes` are fields of the draft."""
    numbers = {"home/agent/numbers.txt": "5000\n150\n8\n"}
    fields: dict[str, Any] = {
        "spec": None,
        "author": "test",
        "title": "Add up the numbers",
        "instruction": "Write the sum of numbers.txt to answer.txt, and total.sh, that sums stdin.",
        "environment": Environment(base="data_querying", files=FileTree(numbers)),
        "initial": InitialState(
            present=("/home/agent/numbers.txt",), absent=("/home/agent/answer.txt",), tools=("awk",)
        ),
        "tests": FileTree({"check.py": CHECK, "truth.json": TRUTH}),
        "solution": FileTree({"solve.sh": SOLVE}),
        "limits": Limits(agent_seconds=60, verify_seconds=60, build_seconds=60, disk_mb=128),
    }
    return TaskDraft(**(fields | changes))


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory, do: Callable[..., Any]) -> Iterator[Bench]:
    """One kit for all tests that may share it: images and bases are built once."""
    for kit in opened(tmp_path_factory.mktemp("bench") / "run", do):
        made = Bench(kit, do)
        # A rejection removes its image. Most tests share the small task's: a container holds it.
        engine = kit.sandbox.engine
        api, ours = engine.client.api, {OWNER_LABEL: engine.owner.name}
        image = made.image(draft_of())
        holder = api.create_container(image.ref, ["/bin/true"], labels=ours)["Id"]
        try:
            yield made
        finally:
            api.remove_container(holder)
