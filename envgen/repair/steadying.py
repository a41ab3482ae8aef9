"""What drifts, pinned: clock, zone and locale of the tests, and what they would install."""

import re

from envgen.authors.imports import installs
from envgen.authors.imports.images import names
from envgen.errors import Fault
from envgen.files import File, FileTree
from envgen.records import Finding, TaskDraft
from envgen.repair.seen import Seen
from envgen.repair.verifier import facts_of, wrapped

_STILL = "export TZ=UTC0 LC_ALL=C.UTF-8 PYTHONHASHSEED=0\n"


def steadied(draft: TaskDraft, finding: Finding, seen: Seen) -> TaskDraft | str:
    """The draft whose checks run at one time, in one zone."""
    if draft.foreign is None:
        if facts_of(draft)["still"]:
            return "the clock of the checks stands already"
        return wrapped(draft, still=True)
    text = draft.tests["test.sh"].data.decode(errors="surrogateescape")
    if _STILL in text:
        return "zone and locale of the tests are pinned already"
    first, _, rest = text.partition("\n")
    text = f"{first}\n{_STILL}{rest}" if first.startswith("#!") else _STILL + text
    mode = draft.tests["test.sh"].mode
    file = File(text.encode(errors="surrogateescape"), mode)
    return draft.model_copy(update={"tests": FileTree({**draft.tests, "test.sh": file})})


def baked(draft: TaskDraft, finding: Finding, seen: Seen) -> TaskDraft | str:
    """The draft whose image holds what scripts among the tests would install."""
    if draft.foreign is None:
        return "our verifiers install nothing"
    tests, packages = dict(draft.tests), list(draft.environment.packages)
    for path, file in draft.tests.items():
        if not path.endswith(".sh"):
            continue
        text = file.data.decode(errors="surrogateescape")
        try:
            changed, found = installs.extract(text, {}, lambda name: "")
        except Fault as fault:
            return f"{path}: {fault.detail}"
        known = names()["python"]
        wanted = [re.split(r"[=<>~! \[]", r)[0].lower() for r in found.requirements]
        if unknown := [name for name in wanted if name not in known]:
            return f"{path} installs {unknown[0]}, of which no Debian package is known"
        packages += [*found.packages, *(known[name][0] for name in wanted)]
        tests[path] = File(changed.encode(errors="surrogateescape"), file.mode)
    if tests == dict(draft.tests):
        return "the tests install nothing"
    environment = draft.environment.model_copy(update={"packages": tuple(dict.fromkeys(packages))})
    return draft.model_copy(update={"tests": FileTree(tests), "environment": environment})
