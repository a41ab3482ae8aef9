"""An imported task's image and jobs: what differs from our own tasks, as values.

A stranger's steps run in their order, as root or as whom they name, in one RUN of the builder
(`build.sh`). Nothing that they make is trusted: a fresh grading container protects the verdict
from the agent, and nothing protects it from the image's maker.
"""

import json
import re
import shlex
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from envgen.digest import digest_bytes, short
from envgen.files import File, FileTree
from envgen.records import BuildStep, Foreign, TaskDraft

FOLDER = "/.import"
WHEELS = ".import/wheels"
"""Below it `Environment.files` holds wheels for the build: they are not in the final image."""
NEEDED = re.compile(
    r"/|/(bin|boot|dev|etc|lib\w*|logs|proc|run|sbin|sys|tests|usr|var)(/(bin|lib))?"
)
"""What a grading container needs for itself: no outputs may replace it."""
LATE = 97
"""Exit code of `shared.py` when the tests took too long."""
GRACE_SECONDS = 20
"""On top of the two time limits, for what a shared job does between them."""
_RESTORE = (
    'for d in "$@"; do rm -rf -- "$d"; if [ -e "/.outputs$d" ]; then '
    'mkdir -p -- "$(dirname -- "$d")" && mv -T -- "/.outputs$d" "$d"; fi; done; rm -rf /.outputs; '
)


@cache
def script(name: str) -> bytes:
    """A file of this package, as it is put into a container."""
    return (Path(__file__).parent / name).read_bytes()


# -- image -------------------------------------------------------------------------------------


def context(draft: TaskDraft) -> FileTree:
    """The build context: `import/` with the driver, and a folder for each step."""
    return _context(draft.environment.files, of(draft).steps)


@lru_cache(maxsize=64)
def _context(files: FileTree, steps: tuple[BuildStep, ...]) -> FileTree:
    made: dict[str, File | bytes | str] = {f"import/{_driver(files, steps)}": script("build.sh")}
    for path, file in files.below(WHEELS).items():
        made[f"import/wheels/{path}"] = file
    for number, step in enumerate(steps):
        here = f"import/steps/{number:03}"
        made |= {f"{here}/tree/{path}": files[path] for path in step.files}
        if step.files:
            made[f"{here}/owner"] = step.owner
        if step.run:
            made[f"{here}/run"] = step.run if step.run.endswith("\n") else f"{step.run}\n"
            made[f"{here}/shell"] = "".join(f"{word}\n" for word in step.shell)
            made[f"{here}/user"] = step.user
            made[f"{here}/cwd"] = step.cwd
            made[f"{here}/env"] = "".join(f"{name}={value}\0" for name, value in step.env)
    return FileTree(made)


def files_of(context: FileTree) -> FileTree:
    """The environment's files, back from the context that was made of them."""
    files: dict[str, File] = {}
    for path, file in context.below("import").items():
        parts = path.split("/", 3)
        if parts[0] == "wheels":
            files[f"{WHEELS}/{path.partition('/')[2]}"] = file
        elif parts[0] == "steps" and parts[2] == "tree":
            files[parts[3]] = file
    return FileTree(files)


def task_lines(draft: TaskDraft) -> str:
    """Everything of an imported task's Dockerfile below the parent's lines."""
    driver = _driver(draft.environment.files, of(draft).steps)
    blocks = draft.limits.disk_mb * 1024
    return (
        f"WORKDIR /\nCOPY import/ {FOLDER}/\nRUN /bin/bash {FOLDER}/{driver} {blocks}\n"
        f"WORKDIR {draft.workdir}\n"
    )


def _driver(files: FileTree, steps: tuple[BuildStep, ...]) -> str:
    """A name of its own for each build, by which the watch on its size knows it."""
    known = "".join([files.digest, *(step.digest for step in steps)])
    return f"build-{short(digest_bytes(known.encode()))}.sh"


# -- jobs --------------------------------------------------------------------------------------


def restore_and_test(draft: TaskDraft, folders: tuple[str, ...]) -> tuple[str, ...]:
    """The command of a fresh grading container, run as root."""
    uid = of(draft).verifier_uid
    who = f"setpriv --reuid={uid} --regid={uid} --clear-groups " if uid else ""
    cwd = shlex.quote(draft.workdir)
    test = f"cd {cwd} 2>/dev/null || cd /; exec {who}/bin/bash /tests/test.sh"
    return ("/bin/sh", "-c", _RESTORE + test, "restore", *folders)


def initial_command(draft: TaskDraft) -> tuple[str, ...]:
    """The maker's own check of the untouched container; else, that the task's folder is there."""
    names = [shlex.quote(f"/initial/{p}") for p in of(draft).initial if p.endswith(".py")]
    check = f"test -d {shlex.quote(draft.workdir)}"
    if names:
        check = f"cd /initial && exec python3 -m pytest -q -p no:cacheprovider {' '.join(names)}"
    return ("/bin/sh", "-c", check)


def together(draft: TaskDraft, agent: dict[str, str], verifier: dict[str, str]) -> FileTree:
    """What `shared.py` needs: itself, the tests, and who runs what in which environment."""
    foreign = of(draft)
    facts: dict[str, Any] = {
        "tests": f"{FOLDER}/tests",
        "workdir": draft.workdir,
        "stale": foreign.stale,
        "agent": {
            "uid": foreign.agent_uid,
            "seconds": draft.limits.agent_seconds,
            "env": agent | dict(foreign.env) | dict(foreign.agent_env),
        },
        "verifier": {
            "uid": foreign.verifier_uid,
            "seconds": draft.limits.verify_seconds,
            "env": verifier | dict(foreign.env) | dict(foreign.test_env),
        },
    }
    text = json.dumps(facts, sort_keys=True)
    tests = draft.tests.under("tests")
    return tests.merged(FileTree({"shared.py": script("shared.py"), "facts.json": text}))


# -- verdict -----------------------------------------------------------------------------------


def reward_of(collected: dict[str, str]) -> float | str:
    """The reward in a stranger's log folder, or a reason code why there is none.

    As Harbor reads it: reward.json before reward.txt; an object's `reward`, or its only number.
    """
    if "reward.json" in collected:
        try:
            value = json.loads(collected["reward.json"])
        except (ValueError, RecursionError):
            return "reward_unreadable"
        if isinstance(value, dict):
            numbers = [v for v in value.values() if isinstance(v, int | float)]
            value = value.get("reward", numbers[0] if len(numbers) == 1 else None)
        if not isinstance(value, int | float):
            return "reward_unreadable"
        return float(value)
    text = collected.get("reward.txt")
    if text is None:
        return "no_reward"
    if not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text.strip(), re.ASCII):
        return "reward_unreadable"
    return float(text)


def of(draft: TaskDraft) -> Foreign:
    """What only an imported task has; ValueError for one of ours."""
    if draft.foreign is None:
        raise ValueError(f"{draft.slug} is no imported task")
    return draft.foreign
