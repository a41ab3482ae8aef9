"""The form of grading that can be forged: solution, then tests, in one container.

A script of its own: it is put into a container and run there as root by the image's `python3 -I`,
so it uses the standard library only (3.9 and later) and imports nothing of envgen.

    shared.py FACTS.json

Nothing of the agent's is ended, cleaned or checked before the tests run: that is the form. What a
harness of this form does keep apart is when the tests arrive. They do so after the agent has
finished, and here they wait in the memory of this process, which cannot be read without ptrace.
Exit: that of the tests; 97 when they took too long, and then there is no reward.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

LOGS, TESTS = "/logs", "/tests"
REWARDS = ("reward.txt", "reward.json", "report.json")
LATE = 97
_PR_SET_DUMPABLE = 4

File = tuple[str, int, bytes]


def main(argv: Sequence[str]) -> int:
    """Solve, then test; the exit code."""
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    with open(argv[0], encoding="utf-8") as file:
        facts: dict[str, Any] = json.load(file)
    tests = read(facts["tests"])
    shutil.rmtree(os.path.dirname(argv[0]))
    for name in ("agent", "artifacts", "verifier"):
        os.makedirs(f"{LOGS}/{name}", exist_ok=True)
        os.chmod(f"{LOGS}/{name}", 0o777)
    if os.path.exists("/solution/solve.sh"):
        said = run(["/bin/bash", "/solution/solve.sh"], facts, facts["agent"])
        print(f"[the agent's status: {'over its time' if said is None else said}]", flush=True)
    if not facts["stale"]:
        remove_rewards()
    write(tests)
    status = run(["/bin/bash", f"{TESTS}/test.sh"], facts, facts["verifier"])
    if status is None:
        remove_rewards()
        return LATE
    return status if status >= 0 else 128 - status


def run(command: list[str], facts: dict[str, Any], who: dict[str, Any]) -> int | None:
    """Run as somebody, for so many seconds: the exit status, or None when it took too long.

    What it left running in the background lives on, as it does in the harness.
    """
    uid = who["uid"]
    process = subprocess.Popen(
        command,
        cwd=facts["workdir"],
        env=who["env"],
        user=uid,
        group=uid,
        extra_groups=[],
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return process.wait(timeout=who["seconds"])
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None


def read(folder: str) -> list[File]:
    """All files below a folder: relative path, permission bits, bytes."""
    found = []
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            with open(path, "rb") as file:
                mode = os.fstat(file.fileno()).st_mode & 0o777
                found.append((os.path.relpath(path, folder), mode, file.read()))
    return found


def write(tests: list[File]) -> None:
    """Upload the tests as a harness does: over whatever is there, without looking."""
    for name, mode, data in tests:
        path = f"{TESTS}/{name}"
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(data)
            os.chmod(path, mode)
        except OSError as error:
            print(f"[upload of {path}: {error.strerror}]", flush=True)


def remove_rewards() -> None:
    """Whatever has the name of a reward file."""
    for name in REWARDS:
        path = f"{LOGS}/verifier/{name}"
        if os.path.islink(path) or os.path.isfile(path):
            os.unlink(path)
        elif os.path.isdir(path):
            shutil.rmtree(path)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
