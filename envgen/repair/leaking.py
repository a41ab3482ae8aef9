"""Answers that lie in the image: taken out of all that makes a layer, or hidden from grading.

A check that a result differs from what leaked is no repair, so none is ever added: an appended
comment beats it. What the verifier itself reads moves into the tests.
"""

import re
from pathlib import PurePosixPath

from envgen.audit import unpacking
from envgen.audit.target import ENVIRONMENT, Target
from envgen.files import File, FileTree
from envgen.records import AuditReport, BuildStep, Finding, Foreign, TaskDraft
from envgen.repair.seen import Seen

VARIABLES = f"environment{ENVIRONMENT}"
"""The place of all variables of the image."""
MOVED = "moved"
LEAST = 8
"""Shorter contents stand anywhere, and prove nothing by being there."""


def places_of(finding: Finding) -> tuple[str, ...]:
    """Paths in the image, without the leading slash, that a finding speaks of."""
    files = (place.file for place in finding.places if place.file != VARIABLES)
    return tuple(f.removeprefix("environment/") for f in files if f.startswith("environment/"))


def variables_of(report: AuditReport, finding: Finding) -> tuple[str, ...]:
    """The variables that the work which proves a finding reads."""
    trial = next((t for t in report.trials if f"{t.probe}:{t.name}" == finding.trial), None)
    if trial is None or all(place.file != VARIABLES for place in finding.places):
        return ()
    texts = "\n".join(file.data.decode(errors="replace") for file in trial.tree.values())
    return tuple(dict.fromkeys(re.findall(r"(?:\benv:|\$\{?|environ\W+)([A-Za-z_]\w*)", texts)))


def leaked(target: Target, report: AuditReport, finding: Finding) -> tuple[bytes, ...]:
    """The contents that a finding speaks of, also as they are packed; not what is given."""
    paths = {f"/{path}" for path in places_of(finding) if not target.told(f"/{path}")}
    names = {f"env:{name}" for name in variables_of(report, finding)}
    found = list[bytes]()
    for entry in target.entries:
        views = unpacking.views(entry.data)
        if entry.path in paths:
            found += views.values()
        elif entry.path == ENVIRONMENT:
            found += [view for name, view in views.items() if name in names]
    return tuple(dict.fromkeys(data for data in found if len(data.strip()) >= LEAST))


def removed(draft: TaskDraft, finding: Finding, seen: Seen) -> TaskDraft | str:
    """The draft without the files, commands and variables that give the answer."""
    paths, names = places_of(finding), variables_of(seen.report, finding)
    if not paths and not names:
        return "the finding does not say where the answer lies"
    if told := [p for p in paths if seen.target.told(f"/{p}")]:
        return f"the instruction speaks of /{told[0]}: it is given, and cannot be taken away"
    gone = _with_equals(draft, paths, leaked(seen.target, seen.report, finding), seen)
    tests = _moved(draft, gone)
    changed = without(draft, gone, names)
    if changed == draft:
        return "what makes the answer cannot be told from what makes the rest of the image"
    changed = changed.model_copy(update={"tests": tests})
    if names and changed.foreign is not None and _reads(draft.tests, names):
        changed = _for_tests(changed, draft, names)
    present = tuple(p for p in draft.initial.present if p[1:] not in gone)
    initial = draft.initial.model_copy(update={"present": present})
    return changed.model_copy(update={"initial": initial})


def hidden(draft: TaskDraft, finding: Finding, seen: Seen) -> TaskDraft | str:
    """The draft in which what is given is not there any more while results are graded."""
    if draft.foreign is not None:
        return "a stranger's verifier hides nothing"
    if finding.exploitability != "grading":
        return "it is of use before anything is graded"
    more = [f"/{path}" for path in places_of(finding) if f"/{path}" not in draft.hide]
    if not more:
        return "it is hidden from grading already"
    return draft.model_copy(update={"hide": (*draft.hide, *more)})


def _with_equals(
    draft: TaskDraft, paths: tuple[str, ...], data: tuple[bytes, ...], seen: Seen
) -> frozenset[str]:
    """The paths, and those of other files that hold the same, packed or not."""
    same = {
        path
        for path, file in draft.environment.files.items()
        if not seen.target.told(f"/{path}") and data_in(file, data)
    }
    return frozenset({*paths, *same})


def data_in(file: File, data: tuple[bytes, ...]) -> bool:
    """Whether a file holds one of the contents, packed or not."""
    views = unpacking.views(file.data).values()
    return any(one.strip() in view for one in data for view in views)


def without(draft: TaskDraft, gone: frozenset[str], names: tuple[str, ...]) -> TaskDraft:
    """The draft without these files, the commands that speak of them, and these variables."""
    environment = draft.environment
    kept = FileTree({p: f for p, f in environment.files.items() if p not in gone})
    setup = tuple(line for line in environment.setup if not _speaks_of(line, gone))
    changed = draft.model_copy(
        update={"environment": environment.model_copy(update={"files": kept, "setup": setup})}
    )
    maker = draft.foreign
    if maker is None:
        return changed
    steps = tuple(_step_without(step, kept, gone, names) for step in maker.steps)
    update = {
        "steps": steps,
        "env": tuple(pair for pair in maker.env if pair[0] not in names),
        "agent_env": tuple(pair for pair in maker.agent_env if pair[0] not in names),
    }
    return changed.model_copy(update={"foreign": maker.model_copy(update=update)})


def _step_without(
    step: BuildStep, kept: FileTree, gone: frozenset[str], names: tuple[str, ...]
) -> BuildStep:
    """The step without what it lays down, and without the lines that make what is gone."""
    lines = [line for line in step.run.split("\n") if not _speaks_of(line, gone)]
    return step.model_copy(
        update={
            "files": tuple(path for path in step.files if path in kept),
            "run": "\n".join(lines) if "".join(lines).strip() else "",
            "env": tuple(pair for pair in step.env if pair[0] not in names),
        }
    )


def _speaks_of(line: str, gone: frozenset[str]) -> bool:
    """Whether a command names a path that is gone, or a folder of that alone, such as `.work`."""
    names = {path for path in gone} | {PurePosixPath(path).name for path in gone}
    names |= {
        f"{part}" for path in gone for part in PurePosixPath(path).parts[:-1] if part[0] == "."
    }
    return any(re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", line) for name in names)


def _moved(draft: TaskDraft, gone: frozenset[str]) -> FileTree:
    """The tests, which bring along what they read of it by its whole path."""
    tests: dict[str, File] = dict(draft.tests)
    for path in sorted(gone & draft.environment.files.keys()):
        place = f"{MOVED}/{PurePosixPath(path).name}"
        whole = re.compile(rb"(?<![\w./-])/" + re.escape(path.encode()) + rb"(?![\w-])")
        found = [name for name, file in tests.items() if whole.search(file.data)]
        if not found or place in tests:
            continue
        for name in found:
            data = whole.sub(f"/tests/{place}".encode(), tests[name].data)
            tests[name] = File(data, tests[name].mode)
        tests[place] = draft.environment.files[path]
    return FileTree(tests)


def _reads(tests: FileTree, names: tuple[str, ...]) -> bool:
    return any(name.encode() in file.data for name in names for file in tests.values())


def _for_tests(changed: TaskDraft, draft: TaskDraft, names: tuple[str, ...]) -> TaskDraft:
    """Variables that the tests read stay theirs, and nobody else's."""
    maker, old = changed.foreign, draft.foreign
    assert isinstance(maker, Foreign) and isinstance(old, Foreign)
    kept = tuple(pair for pair in old.env if pair[0] in names)
    update = {"test_env": tuple(dict([*kept, *maker.test_env]).items())}
    return changed.model_copy(update={"foreign": maker.model_copy(update=update)})
