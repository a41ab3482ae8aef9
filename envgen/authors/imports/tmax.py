"""TMax folders: task.json, two pytest files, an Apptainer definition, perhaps fixtures.

Their harness grades in the agent's own live container, as root: a wrapper writes the test file to
`/tmp`, runs it with whatever `python3` the path finds first, and writes 1 or 0. A reward file that
was there before stays there when the wrapper ends early. All of that is kept.
"""

from pathlib import Path
from typing import Any, Literal

from envgen.authors.imports import definition, drafts, folder, runner
from envgen.authors.imports.options import Options
from envgen.errors import Fault
from envgen.files import File, FileTree
from envgen.records import TaskDraft

MARKER = "task.json"
INITIAL, FINAL = "test_initial_state.py", "test_final_state.py"
_BESIDE = (MARKER, INITIAL, FINAL, "container.def", "setup.sh", "task_summary.txt")
_WRAPPER = """\
#!/bin/bash
set -e
mkdir -p /logs/verifier
cat /tests/test_final_state.py > /tmp/test_final_state.py
if python3 -m pytest -x -q /tmp/test_final_state.py; then
  echo 1 > /logs/verifier/reward.txt
else
  echo 0 > /logs/verifier/reward.txt
fi
"""


def read(path: Path, origin: str, options: Options) -> TaskDraft:
    """The draft of one folder. Raises Fault with the reason why there is none."""
    return wrapped(path, origin, options, _WRAPPER, "file")


def wrapped(
    path: Path, origin: str, options: Options, wrapper: str, verdict: Literal["file", "status"]
) -> TaskDraft:
    """The draft of a folder of this form, graded by a wrapper.

    Args:
        path: the folder.
        origin: where it came from.
        options: the user's.
        wrapper: test.sh.
        verdict: where the wrapper leaves its verdict.
    """
    facts = drafts.json_object(folder.text(path / MARKER), MARKER)
    files = folder.tree(path)
    final = _file(files, FINAL)
    container = definition.read(
        _file(files, "container.def").data.decode(errors="replace"), files, options, _image(facts)
    )
    tests: dict[str, File] = {FINAL: final, "test.sh": File(wrapper.encode(), 0o755)}
    if truth := _text(facts, "truth"):
        tests["truth.txt"] = File(truth.encode())
    initial = FileTree({INITIAL: files[INITIAL]} if INITIAL in files else {})
    container.add_python("pytest")
    runner.add_imported(FileTree({**initial, FINAL: final}), container)
    notes = ["solution: none, so nothing that needs a reference can be shown"]
    outputs = drafts.spoken_of(FileTree({FINAL: final})) or ("/home/user",)
    notes.append(f"outputs: {', '.join(outputs)} carry over in the fresh form: the tests name them")
    grading = options.grading or "shared"
    tree = FileTree(tests)
    home = outputs[0] if outputs[0].startswith("/home/") else "/root"
    return drafts.draft(
        origin=origin,
        title=_text(facts, "description"),
        instruction=_text(facts, "description") or _text(facts, "task_description"),
        finished=container.finish(),
        tests=runner.shielded(tree, notes) if grading == "fresh" else tree,
        solution=folder.tree(path / "solution"),
        workdir=home,
        outputs=outputs,
        limits=drafts.limits([], memory_mb=4096, verify_seconds=600, build_seconds=600),
        grading=grading,
        notes=notes,
        agent_env=drafts.agent_env(0, "root", "/root"),
        verdict=verdict,
        stale=True,
        initial=initial,
    )


def _image(facts: dict[str, Any]) -> str | None:
    """The base that task.json names; the definition knows the rest."""
    base = facts.get("base_image")
    return base if isinstance(base, str) and base else None


def _text(facts: dict[str, Any], key: str) -> str:
    value = facts.get(key, "")
    if not isinstance(value, str):
        raise Fault("import:json", f"{key} in {MARKER} is not text")
    return value


def _file(files: FileTree, name: str) -> File:
    if name not in files:
        raise Fault("import:missing", f"{name} is missing")
    return files[name]
