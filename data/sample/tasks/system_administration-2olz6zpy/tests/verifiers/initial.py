"""The initial-state check: is what the instruction promises there, before the agent acts?

Reads `initial` of task.json: `present` and `absent` paths, `tools` on the fixed PATH, `commands`
that must return 0 as the agent. Prints one JSON line; exit 0 when all holds, else 1.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
from collections.abc import Sequence
from typing import Any

if "verifiers" not in sys.modules:  # as a script it has no package around it: see run.py
    _here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "__init__.py")
    _spec = importlib.util.spec_from_file_location("verifiers", _here)
    assert _spec is not None and _spec.loader is not None
    sys.modules["verifiers"] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules["verifiers"])

from verifiers import process
from verifiers.checks import clean_text
from verifiers.task import Task


def failures(task: Task, initial: dict[str, Any]) -> list[str]:
    """What does not hold, one sentence each."""
    unknown = set(initial) - {"present", "absent", "tools", "commands"}
    found = [f"task.json: unknown key {key}" for key in sorted(unknown)]
    for path in initial.get("present", ()):
        if not os.path.exists(task.path(path)):
            found.append(f"missing: {path}")
    for path in initial.get("absent", ()):
        if os.path.lexists(task.path(path)):
            found.append(f"already there: {path}")
    for tool in initial.get("tools", ()):
        if not shutil.which(tool, path=process.PATH):
            found.append(f"no such tool: {tool}")
    for argv in initial.get("commands", ()):
        outcome = task.run(argv, timeout=20, memory_mb=0)
        if not outcome.ok:
            tail = outcome.stderr[-200:].decode("utf-8", "replace").strip()
            why = outcome.error or ("timed out" if outcome.timed_out else f"code {outcome.code}")
            found.append(f"command failed ({why}): {' '.join(argv)} {tail}".strip())
    return [clean_text(one, 400) for one in found]


def main(argv: Sequence[str] | None = None) -> int:
    """`initial.py [TESTS_DIR [AGENT_UID]]`; the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    tests = arguments[0] if arguments else "/tests"
    uid = int(arguments[1]) if len(arguments) > 1 else None
    try:
        with open(os.path.join(tests, "task.json"), encoding="utf-8") as file:
            settings = json.load(file)
        task = Task(settings.get("workdir", "/home/agent"), agent_uid=uid, exclusive=True)
        found = failures(task, settings.get("initial", {}))
        task.close()
    except (OSError, ValueError, AttributeError, TypeError) as error:
        found = [clean_text(f"task.json: {type(error).__name__}: {error}", 400)]
    sys.stdout.write(json.dumps({"ok": not found, "failures": found}) + "\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
