"""Jobs and verdicts of imported tasks: our protocol around a stranger's tests, or their own.

`grade.py` runs them; here they are values.
"""

import math

from envgen import foreign
from envgen.files import FileTree
from envgen.jobs import LOGS, PYTHON, Conditions, job_of, last
from envgen.records import CheckResult, Foreign, Image, Job, JobResult, Put, Score, TaskDraft
from envgen.sandbox import parity

_EMPTY = FileTree()


def grading_job(draft: TaskDraft, image: Image, outputs: str | None, conditions: Conditions) -> Job:
    """The grading of outputs in a fresh container; of a task of the shared form, of nothing.

    Raises:
        ValueError: outputs of the shared form, which cannot be graded elsewhere.
    """
    maker = foreign.of(draft)
    if maker.grading == "shared":
        if outputs is not None:
            raise ValueError(f"{draft.slug} is graded where the agent worked")
        return shared_job(draft, image, _EMPTY, conditions)
    uid = maker.verifier_uid
    return job_of(
        draft,
        image,
        command=foreign.restore_and_test(draft, draft.outputs if outputs else ()),
        uid=0,
        env=maker.env + maker.test_env + conditions.env(),
        cpus=conditions.cpus,
        memory_mb=conditions.memory_mb(draft),
        puts=(
            Put(target="/tests", tree=draft.tests, uid=uid, mode=0o700),
            *log_folders(uid, 0o700),
            *conditions.puts,
        ),
        restore=outputs,
        collect=LOGS,
        seconds=draft.limits.verify_seconds,
    )


def shared_job(draft: TaskDraft, image: Image, solution: FileTree, conditions: Conditions) -> Job:
    """Solution and tests in one container, as the makers of this form have it: forgeable."""
    maker, limits = foreign.of(draft), draft.limits
    env, cpus = dict(conditions.env()), conditions.cpus
    script = foreign.together(
        draft,
        parity.environment(maker.agent_uid, cpus) | env,
        parity.environment(maker.verifier_uid, cpus) | env,
    )
    return job_of(
        draft,
        image,
        command=(*PYTHON, f"{foreign.FOLDER}/shared.py", f"{foreign.FOLDER}/facts.json"),
        uid=0,
        cpus=cpus,
        memory_mb=conditions.memory_mb(draft),
        puts=(
            Put(target=foreign.FOLDER, tree=script, mode=0o700),
            *conditions.puts,
            *([Put(target="/solution", tree=solution)] if solution else []),
        ),
        capture=draft.outputs,
        collect=LOGS,
        seconds=limits.agent_seconds + limits.verify_seconds + foreign.GRACE_SECONDS,
    )


def log_folders(uid: int = 0, mode: int = 0o777) -> tuple[Put, ...]:
    """The folders that a Harbor container has for its logs; `uid` and `mode` of the verifier's."""
    return (
        Put(target="/logs/agent", tree=_EMPTY, mode=0o777),
        Put(target="/logs/artifacts", tree=_EMPTY, mode=0o777),
        Put(target=LOGS, tree=_EMPTY, uid=uid, mode=mode),
    )


def score_of(draft: TaskDraft, result: JobResult) -> Score:
    """The verdict of a stranger's tests. Their own harness may take none for a 0; we do not."""
    if result.status in ("memory", "disk") and result.exit_code != 0:
        over = CheckResult(name=result.status, score=0, detail="used up while grading")
        return Score(reward=0.0, checks=(over,))
    if result.status == "timeout" or result.exit_code == foreign.LATE:
        return Score(invalid=f"verifier_timeout: {last(result)}")
    reward = _reward(foreign.of(draft), result)
    if isinstance(reward, str):
        return Score(invalid=f"{reward}: exit {result.exit_code}: {last(result)}")
    if not (math.isfinite(reward) and 0 <= reward <= 1):
        return Score(invalid="reward_out_of_range")
    return Score(reward=reward, checks=(CheckResult(name="reward", score=reward),))


def _reward(maker: Foreign, result: JobResult) -> float | str:
    if maker.verdict == "file":
        return foreign.reward_of(dict(result.collected))
    return float(result.exit_code == 0) if result.exit_code in (0, 1) else "verifier_status"
