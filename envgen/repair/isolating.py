"""Rewards that can be forged: programs kept from the grader, a box of its own for the verdict."""

import re

from envgen.authors.imports import drafts, runner
from envgen.files import File, FileTree
from envgen.foreign import NEEDED
from envgen.records import Finding, TaskDraft
from envgen.repair.seen import Seen
from envgen.repair.watching import script

_SUBSTITUTES = (
    (rb"^(\s*)import subprocess[ \t]*$", rb"\1import guarded as subprocess"),
    (rb"^(\s*)from subprocess import", rb"\1from guarded import"),
    (rb"\bos\.(system|popen)\(", rb"__import__('guarded').\1("),
    (rb"\bimportlib\.util\.(spec_from_file_location|module_from_spec)\(",
     rb"__import__('guarded').\1("),
    (rb"\brunpy\.run_path\(", rb"__import__('guarded').run_path("),
)  # fmt: skip
_OURS = ("verifiers/", "guarded.py")
FIRST_LINES = """\
unset PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONUSERBASE PYTEST_ADDOPTS PYTEST_PLUGINS BASH_ENV ENV
unset LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin PYTHONNOUSERSITE=1
/bin/rm -rf /logs/verifier/reward.txt /logs/verifier/reward.json
"""


def guarded(draft: TaskDraft, finding: Finding, seen: Seen) -> TaskDraft | str:
    """The draft whose tests start programs, and load modules, as the agent."""
    changed = {}
    for path, file in draft.tests.items():
        if path.endswith(".py") and not path.startswith(_OURS):
            data = file.data
            for pattern, new in _SUBSTITUTES:
                data = re.sub(pattern, new, data, flags=re.MULTILINE)
            if data != file.data:
                changed[path] = File(data, file.mode)
    if not changed:
        return "the tests start nothing of the agent's past the kit"
    beside = {f"{path.rpartition('/')[0]}/guarded.py".lstrip("/") for path in changed}
    brought = {path: File(script("guarded.py").encode()) for path in beside}
    return draft.model_copy(update={"tests": FileTree({**draft.tests, **changed, **brought})})


def fresh(draft: TaskDraft, finding: Finding, seen: Seen) -> TaskDraft | str:
    """The draft that is graded in a container where the agent never was."""
    maker = draft.foreign
    if maker is None or maker.grading == "fresh":
        return "it is graded in a fresh container already"
    notes = list(maker.notes)
    tests = runner.shielded(draft.tests, notes)
    update = {"grading": "fresh", "stale": False, "notes": tuple(notes)}
    made = {"tests": tests, "foreign": maker.model_copy(update=update)}
    return draft.model_copy(update=made)


def declared(draft: TaskDraft, finding: Finding, seen: Seen) -> TaskDraft | str:
    """The draft with every folder that instruction and tests speak of among its outputs."""
    if draft.foreign is None:
        return "the outputs are its author's choice"
    named = [path.rpartition("/")[0] for path in seen.target.named]
    found = [*draft.outputs, *drafts.spoken_of(draft.tests), *named]
    usable = {p for p in found if p and not NEEDED.fullmatch(p)}
    outer = {p for p in usable if not any(o != p and f"{p}/".startswith(f"{o}/") for o in usable)}
    if outer == set(draft.outputs):
        return "every folder that is spoken of is among the outputs"
    return draft.model_copy(update={"outputs": tuple(sorted(outer))})


def shielded(draft: TaskDraft, finding: Finding, seen: Seen) -> TaskDraft | str:
    """The draft whose test.sh resets the reward and takes up nothing that was planted."""
    if draft.foreign is None:
        return "the kit is isolated already"
    text = draft.tests["test.sh"].data.decode(errors="surrogateescape")
    if FIRST_LINES in text:
        return "the script is shielded already"
    first, _, rest = text.partition("\n")
    shebang = first.startswith("#!")
    body = rest if shebang else text
    pytest = re.compile(r"(-m pytest)(?! -c )")
    body = pytest.sub(
        r"\1 -c /dev/null --rootdir=/tests --confcutdir=/tests -p no:cacheprovider", body
    )
    made = (f"{first}\n" if shebang else "") + FIRST_LINES + body
    script_file = File(made.encode(errors="surrogateescape"), draft.tests["test.sh"].mode)
    changed = draft.model_copy(update={"tests": FileTree({**draft.tests, "test.sh": script_file})})
    again = runner.shielded(changed.tests, [])
    return changed.model_copy(update={"tests": again})
