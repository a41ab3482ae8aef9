"""The one realisation of a task: its image, a run as the agent, and a grade in a fresh box.

Gates, audit, repair, rollouts and exports all go through these functions, so a task means the same
thing everywhere.
"""

import json
import math
from functools import cache, lru_cache
from typing import Any

from envgen import dockerfile, foreign
from envgen.files import File, FileTree
from envgen.foreign import imported
from envgen.jobs import LOGS, PYTHON, Conditions, job_of, last
from envgen.kit import Kit
from envgen.ledger import Use
from envgen.records import (
    AGENT_UID,
    BaseImage,
    CheckResult,
    Image,
    ImageRequest,
    InitialState,
    JobResult,
    Key,
    Put,
    Score,
    TaskDraft,
)
from envgen.share import share

CANDIDATE_SHARE = 0.6
"""Share of the verifier's time that all candidate runs together may take: a slow answer then costs
checks, and never the verdict."""
MEMORY = 256
"""Trees of tests kept between the jobs of a task; about as many as tasks are in work."""
STARVED = ("MemoryError", "[Errno 12]", "[Errno 28]", "[Errno 122]")
"""What a grader says that got no memory (12) or no disk (28, 122)."""
_EMPTY = FileTree()
_RESTORE_AND_TEST = (
    'for d in "$@"; do rm -rf -- "$d"; if [ -d "/.outputs$d" ]; then '
    'mkdir -p -- "$(dirname -- "$d")" && mv -T -- "/.outputs$d" "$d"; fi; done; '
    "rm -rf /.outputs; exec /bin/bash /tests/test.sh"
)


def other_conditions(repeat: int) -> Conditions:
    """The circumstances of the n-th repetition (from 1): every one differs from the usual."""
    zones = ("NPT-5:45", "NST3:30", "LINT-14", "AKST9")
    return Conditions(
        hash_seed=1 + 4241 * (repeat - 1),
        zone=zones[(repeat - 1) % len(zones)],
        locale="C" if repeat % 2 else "POSIX",
        cpus=1 if repeat % 2 else 2,
    )


# -- files -------------------------------------------------------------------------------------


@cache
def verifier_kit() -> FileTree:
    """The kit as it stands in every task's tests."""
    read = FileTree.read(share("verifiers"))
    kit = {f"verifiers/{p}": f for p, f in read.items() if p.endswith(".py")}
    return FileTree({**kit, "test.sh": File(read["test.sh"].data, 0o755)})


def tests_tree(draft: TaskDraft) -> FileTree:
    """Everything in `/tests` while grading: of an imported task, what its maker put there."""
    if draft.foreign is not None:
        return draft.tests
    return _merged(draft.tests, _facts(draft))


def _facts(draft: TaskDraft) -> FileTree:
    return _kit_with_facts(
        draft.workdir, draft.outputs, draft.hide, draft.initial, draft.limits.verify_seconds
    )


@lru_cache(maxsize=MEMORY)
def _kit_with_facts(
    workdir: str,
    outputs: tuple[str, ...],
    hide: tuple[str, ...],
    initial: InitialState,
    verify_seconds: int,
) -> FileTree:
    """The kit, and what it has to know about the task: no truth."""
    facts: dict[str, Any] = {
        "candidate_seconds": verify_seconds * CANDIDATE_SHARE,
        "workdir": workdir,
        "outputs": outputs,
        "hide": hide,
        "initial": initial.model_dump(mode="json"),
    }
    text = json.dumps(facts, indent=2, sort_keys=True) + "\n"
    return FileTree({**verifier_kit(), "task.json": text})


@lru_cache(maxsize=MEMORY)
def _merged(tests: FileTree, facts: FileTree) -> FileTree:
    return tests.merged(facts)


# -- image -------------------------------------------------------------------------------------


def image_request(draft: TaskDraft, base: BaseImage) -> ImageRequest:
    """The build of a task's image, as a value."""
    return ImageRequest(
        parent=base.content,
        parent_ref=base.ref,
        dockerfile=dockerfile.task_lines(draft),
        context=dockerfile.context(draft),
        seconds=draft.limits.build_seconds,
        limit_mb=draft.limits.disk_mb,
    )


async def build_image(draft: TaskDraft, kit: Kit, use: Use) -> tuple[Key, Image, BaseImage]:
    """The task's image and the base that it stands on. Raises Fault when it does not build."""
    base = await kit.bases.get(draft.environment.base, draft.environment.packages)
    key, image = await kit.sandbox.image(image_request(draft, base), use)
    return key, image, base


# -- runs --------------------------------------------------------------------------------------


async def check_initial(
    draft: TaskDraft, image: Image, kit: Kit, use: Use
) -> tuple[Key, JobResult]:
    """The initial-state check, in a fresh container."""
    command: tuple[str, ...] = (*PYTHON, "/tests/verifiers/initial.py")
    put = Put(target="/tests", tree=_facts(draft), mode=0o700)
    if draft.foreign is not None:
        command = foreign.initial_command(draft)
        put = Put(target="/initial", tree=draft.foreign.initial)
    job = job_of(
        draft,
        image,
        command=command,
        uid=0,
        env=draft.foreign.env if draft.foreign is not None else (),
        puts=(put,),
        seconds=draft.limits.verify_seconds,
    )
    return await kit.sandbox.run(job, use)


async def solve(
    draft: TaskDraft,
    image: Image,
    solution: FileTree,
    kit: Kit,
    use: Use,
    puts: tuple[Put, ...] = (),
) -> tuple[Key, JobResult]:
    """Run a solution as the agent, under the task's own limits; its outputs are captured.

    Args:
        puts: what else stands in its container, over what the image has there.
    """
    maker = draft.foreign
    job = job_of(
        draft,
        image,
        command=("/bin/bash", "/solution/solve.sh"),
        uid=AGENT_UID if maker is None else maker.agent_uid,
        cwd=draft.workdir,
        env=() if maker is None else maker.env + maker.agent_env,
        puts=(
            Put(target="/solution", tree=solution),
            *(imported.log_folders() if maker else ()),
            *puts,
        ),
        capture=draft.outputs,
        seconds=draft.limits.agent_seconds,
    )
    return await kit.sandbox.run(job, use)


async def grade(
    draft: TaskDraft,
    image: Image,
    outputs: str | None,
    kit: Kit,
    use: Use,
    conditions: Conditions | None = None,
) -> tuple[Key, Score]:
    """Grade captured outputs (or, with None, the untouched image) in a fresh container.

    Outputs of a task that is graded where the agent worked cannot be graded elsewhere: see
    `attempt` and `again`.
    """
    conditions = conditions or Conditions()
    if draft.foreign is not None:
        job = imported.grading_job(draft, image, outputs, conditions)
        key, result = await kit.sandbox.run(job, use)
        return key, imported.score_of(draft, result)
    folders = draft.outputs if outputs else ()
    job = job_of(
        draft,
        image,
        command=("/bin/sh", "-c", _RESTORE_AND_TEST, "restore", *folders),
        uid=0,
        env=conditions.env(),
        cpus=conditions.cpus,
        memory_mb=conditions.memory_mb(draft),
        puts=(
            Put(target="/tests", tree=tests_tree(draft), mode=0o700),
            Put(target=LOGS, tree=_EMPTY, mode=0o700),
            *conditions.puts,
        ),
        restore=outputs,
        collect=LOGS,
        seconds=draft.limits.verify_seconds,
    )
    key, result = await kit.sandbox.run(job, use)
    return key, score_of(result)


async def attempt(
    draft: TaskDraft,
    image: Image,
    solution: FileTree,
    kit: Kit,
    use: Use,
    puts: tuple[Put, ...] = (),
) -> tuple[tuple[Key, ...], JobResult, Score]:
    """Solve, then grade. What the agent did wrong (too much output) is a failed score."""
    if draft.foreign is not None and draft.foreign.grading == "shared":
        key, solved, score = await _shared(draft, image, solution, kit, use, Conditions(puts=puts))
        return (key,), solved, score
    solved_key, solved = await solve(draft, image, solution, kit, use, puts)
    keys, score = await graded(draft, image, solved.captured, kit, use)
    return (solved_key, *keys), solved, score


async def graded(
    draft: TaskDraft, image: Image, captured: str | None, kit: Kit, use: Use
) -> tuple[tuple[Key, ...], Score]:
    """The grade of what was captured; None is what was over the cap, and earns nothing."""
    if captured is None:
        detail = f"over {draft.limits.outputs_mb} MB or too many files"
        over = CheckResult(name="outputs", score=0, detail=detail)
        return (), Score(reward=0.0, checks=(over,))
    key, score = await grade(draft, image, captured, kit, use)
    return (key,), score


async def again(
    draft: TaskDraft, image: Image, outputs: str | None, kit: Kit, use: Use, conditions: Conditions
) -> tuple[Key, Score]:
    """The reference's grade under other circumstances; with it, where it must be, the solving."""
    if outputs and draft.foreign is not None and draft.foreign.grading == "shared":
        key, _, score = await _shared(draft, image, draft.solution, kit, use, conditions)
        return key, score
    return await grade(draft, image, outputs, kit, use, conditions)


async def _shared(
    draft: TaskDraft, image: Image, solution: FileTree, kit: Kit, use: Use, conditions: Conditions
) -> tuple[Key, JobResult, Score]:
    """Solution and tests of an imported task in one container."""
    job = imported.shared_job(draft, image, solution, conditions)
    key, result = await kit.sandbox.run(job, use)
    return key, result, imported.score_of(draft, result)


# -- verdict -----------------------------------------------------------------------------------


def score_of(result: JobResult) -> Score:
    """The verdict that a grading job left in its log folder; anything else is invalid.

    A grader that candidates starved of memory or disk is no invalid one: the gates have shown that
    it has enough of both when the outputs are sound, so this is what the outputs earn. It was
    starved when it was killed, or says so; one that broke for another reason is invalid, whatever
    ran out of memory beside it.
    """
    if result.status in ("memory", "disk") and result.exit_code != 0 and _starved(result):
        detail = f"used up while grading: exit {result.exit_code}"
        over = CheckResult(name=result.status, score=0, detail=detail)
        return Score(reward=0.0, checks=(over,))
    if result.status == "timeout":
        return Score(invalid=f"verifier_timeout: {last(result)}")
    try:
        report = json.loads(result.file("report.json") or "{}")
    except (ValueError, RecursionError):
        return Score(invalid="report_unreadable")
    text = result.file("reward.txt")
    if text is None or result.exit_code != 0:
        reason = report.get("error") if isinstance(report, dict) else None
        return Score(invalid=f"no_reward: exit {result.exit_code}: {reason or last(result)}")
    try:
        reward = float(text)
    except ValueError:
        return Score(invalid="reward_unreadable")
    if not (math.isfinite(reward) and 0 <= reward <= 1):
        return Score(invalid="reward_out_of_range")
    try:
        checks = tuple(CheckResult(**check) for check in report["checks"])
    except (KeyError, TypeError, ValueError):
        return Score(invalid="report_unreadable")
    return Score(reward=reward, checks=checks)


def _starved(result: JobResult) -> bool:
    """Whether a grader that left no verdict had no room left, or else broke by itself."""
    report = result.file("report.json") or ""
    return '"error"' not in report or any(sign in report for sign in STARVED)
