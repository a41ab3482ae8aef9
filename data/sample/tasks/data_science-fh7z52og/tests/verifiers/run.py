"""The grader: lock down, run check.py, write the verdict. Started by test.sh as root.

Exit 0: graded, reward.txt and report.json are in the log folder. Exit 3: the verifier itself broke;
then there is a report.json that says so and no reward, because no verdict is not a 0.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import sys
import traceback
from collections.abc import Sequence
from types import ModuleType
from typing import Any

TESTS = "/tests"
SCRATCH = "/tmp/envgen-grade"
BUDGET_SECONDS = 240.0
REWARD_FILES = ("reward.txt", "reward.json", "report.json")
BROKEN = 3


def load(name: str, path: str) -> ModuleType:
    """A module from one file, whatever else on the path has its name."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


if "verifiers" not in sys.modules:  # as a script it has no package around it
    load("verifiers", os.path.join(os.path.dirname(os.path.abspath(__file__)), "__init__.py"))

from verifiers import ending, files, process  # noqa: E402
from verifiers.checks import Verdict, VerifierError, clean_text, combine  # noqa: E402
from verifiers.task import Task, agent_of  # noqa: E402


def main(argv: Sequence[str] | None = None) -> int:
    """Grade; the exit code."""
    options = _options(argv)
    os.umask(0o077)
    os.chdir("/")
    try:
        logs = _own_folder(options.logs)
        for name in REWARD_FILES:  # the folder is ours now: nobody can put them back
            _remove(logs, name)
            _remove(logs, _aside(name))
    except (OSError, files.Refused, VerifierError) as error:
        sys.stderr.write(f"grader: cannot own {options.logs}: {error}\n")
        return BROKEN
    try:
        verdict = grade(options)
    except (Exception, SystemExit) as error:  # noqa: BLE001  the one catcher: report, no reward
        traceback.print_exc()
        said = clean_text(f"{type(error).__name__}: {error}", 400)
        _write(logs, "report.json", json.dumps({"error": said}) + "\n")
        return BROKEN
    _write(logs, "report.json", _report(verdict))
    _write(logs, "reward.txt", verdict.line())  # last: its presence says that all is done
    sys.stdout.write(f"reward {verdict.line().strip()} passed {str(verdict.passed).lower()}\n")
    return 0


def grade(options: argparse.Namespace) -> Verdict:
    """The verdict; raises when the verifier is broken."""
    tests = os.path.abspath(options.tests or TESTS)
    settings = _json(os.path.join(tests, "task.json"))
    workdir = options.workdir or settings.get("workdir") or "/home/agent"
    # In its own place, a sandbox, every process of the agent's uid is the agent's. On a machine
    # where somebody tries a check, other processes of that uid are somebody's work.
    alone = options.alone or options.tests is None
    agent = agent_of(options.agent_uid, workdir, exclusive=alone)
    if os.geteuid() != 0 and agent.uid != os.geteuid():
        raise VerifierError("the grader must run as root")
    _kill_all(agent)
    _lock(tests)
    for path in settings.get("hide", ()):
        _hide(path)
    outputs = [path for path in settings.get("outputs", ()) if os.path.isabs(path)]
    for path in {workdir, *outputs}:
        with contextlib.suppress(files.Refused):  # missing, or a link now: there is no answer then
            files.hand_over(os.path.normpath(path), agent.uid, agent.gid)
    task = Task(
        workdir,
        _json(os.path.join(tests, "truth.json")),
        outputs=outputs,
        agent_uid=agent.uid,
        tests=tests,
        scratch_root=None if options.tests else SCRATCH,
        exclusive=alone,
    )
    process.BUDGET.start(float(settings.get("candidate_seconds", BUDGET_SECONDS)))
    sys.path.append(tests)  # last, for helpers beside check.py: it shadows nothing
    try:
        with task:
            checks = load("check", os.path.join(tests, "check.py")).checks(task)
            verdict = combine(list(checks))
    finally:
        _kill_all(agent)
    return verdict


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Grade a task.", allow_abbrev=False)
    parser.add_argument("--tests", help="default: /tests, in a sandbox of its own")
    parser.add_argument(
        "--alone", action="store_true", help="all processes of the uid may be ended"
    )
    parser.add_argument("--logs", default="/logs/verifier")
    parser.add_argument("--workdir")
    parser.add_argument("--agent-uid", type=int)
    return parser.parse_args(argv)


def _own_folder(path: str) -> int:
    """The log folder, made if it is missing, open and ours alone. No component may be a link."""
    path = os.path.abspath(path)
    missing = []
    while path != "/" and not os.path.lexists(path):
        missing.append(os.path.basename(path))
        path = os.path.dirname(path)
    for name in reversed(missing):
        with contextlib.suppress(FileExistsError):
            os.mkdir(f"{path}/{name}", 0o755)
        path = f"{path.rstrip('/')}/{name}"
    with files.parent_of(path) as (above, name):
        fd = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=above)
    if os.geteuid() == 0:
        os.chown(fd, 0, 0)
    os.chmod(fd, 0o700)
    return fd


def _lock(tests: str) -> None:
    """From here on the agent cannot look into the tests, however they came here."""
    with files.parent_of(tests) as (above, name):
        fd = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=above)
    try:
        if os.geteuid() == 0:
            os.chown(fd, 0, 0)
        os.chmod(fd, 0o700)
    finally:
        os.close(fd)


def _hide(path: str) -> None:
    if not os.path.isabs(path) or len(files.parts(path)) < 2:
        raise VerifierError(f"refusing to hide {path!r}")
    files.remove(path)


def _kill_all(agent: ending.Agent) -> None:
    if not ending.kill_all(agent, seconds=15):
        raise VerifierError("the agent's processes cannot be killed")


def _json(path: str) -> dict[str, Any]:
    """An optional JSON object."""
    try:
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
    except FileNotFoundError:
        return {}
    if not isinstance(value, dict):
        raise VerifierError(f"{os.path.basename(path)} is not a JSON object")
    return value


def _report(verdict: Verdict) -> str:
    checks = [check._asdict() for check in verdict.checks]
    reward = float(verdict.line())
    report = {"reward": reward, "passed": verdict.passed, "checks": checks}
    return json.dumps(report, indent=1, allow_nan=False) + "\n"


def _remove(folder: int, name: str) -> None:
    files.remove(f"/proc/self/fd/{folder}/{name}")


def _aside(name: str) -> str:
    return f".{name}.new"


def _write(folder: int, name: str, text: str) -> None:
    """Whole or not at all, over whatever is there."""
    aside = _aside(name)
    _remove(folder, aside)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(aside, flags, 0o644, dir_fd=folder), "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), 0o644)
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    _remove(folder, name)
    os.rename(aside, name, src_dir_fd=folder, dst_dir_fd=folder)


if __name__ == "__main__":
    sys.exit(main())
