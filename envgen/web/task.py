"""Everything about one task that a run's files hold, cut to what a page can carry."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

from envgen.errors import Misconfigured
from envgen.export import audits, parquet, repairs, rollouts
from envgen.files import FileTree
from envgen.records import AuditReport, Episode, Finding, Flag, Repair, Trial
from envgen.report.facts import KEPT, Task
from envgen.runs import RunFolder
from envgen.web.visible import Cut, cut, file_text

FILE, PAGE, FILES = 20_000, 600_000, 300
"""Most characters of a file and of all files of a page, and files that are named."""
DIFF, SCRIPT, ATTACK, TRIALS, EPISODES, FINDINGS = 60_000, 6_000, 8, 400, 400, 100
AROUND = 2
"""Lines before and after the one that a finding names."""
INSTRUCTION = "instruction.md"
PARTS = ("environment", "tests", "solution")
FULL = Cut("", "not shown: this page is full")


@dataclass(frozen=True)
class FileView:
    """A file as its page shows it."""

    path: str
    size: int
    mode: str
    shown: Cut
    anchor: str


@dataclass(frozen=True)
class Part:
    """Files of one folder of a task; `note` says what is not shown."""

    name: str
    files: Sequence[FileView]
    note: str = ""


@dataclass(frozen=True)
class Lines:
    """Lines of a file that a finding names."""

    place: str
    anchor: str
    text: str = ""


@dataclass(frozen=True)
class FindingView:
    """A finding, the trial that proves it, and where it points."""

    id: str
    finding: Finding
    trial: Trial | None
    files: Sequence[FileView]
    """Of the attack, its script first."""
    places: Sequence[Lines]


class Played(NamedTuple):
    """A line about an episode; its place among those of the task leads to its page."""

    place: int
    row: parquet.Row


@dataclass(frozen=True)
class TaskView:
    """What the page of a task shows.

    Attributes:
        row: of the manifest, or of the rejections; empty where the task is unfinished.
        trouble: why its files cannot be shown.
    """

    task: Task
    row: parquet.Row
    instruction: Cut
    dockerfile: Cut
    parts: Sequence[Part]
    trouble: str
    report: AuditReport | None
    findings: Sequence[FindingView]
    trials: Sequence[Trial]
    repair: parquet.Row | None
    attempts: Sequence[tuple[Repair, Cut]]
    episodes: Sequence[Played]
    notes: Sequence[str]


def look(folder: RunFolder, task: Task) -> TaskView:
    """All about a task of the run.

    Raises:
        Misconfigured: a file of the run is damaged.
    """
    kept = task.step == KEPT
    path = folder.manifest if kept else folder.rejections
    row = next(parquet.read(path, task=task.task), {}) if path.exists() else {}
    tree, trouble = _files(row) if kept and row else (FileTree(), "")
    parts = tuple(_parts(tree))
    report = _report(folder, task)
    repair = _repair(folder, task)
    trail = repair["trail"] if repair else ()
    trials = report.trials if report else ()
    episodes = [Played(n, found) for n, found in enumerate(_episodes(folder, task.task))]
    findings = report.findings if report else ()
    notes = [
        f"the first {most:,} of {len(found):,} {what} are listed"
        for what, found, most in (
            ("findings", findings, FINDINGS),
            ("trials", trials, TRIALS),
            ("episodes", episodes, EPISODES),
        )
        if len(found) > most
    ]
    return TaskView(
        task=task,
        row=row,
        instruction=cut(row.get("instruction") or "", FILE),
        dockerfile=cut(row.get("dockerfile") or "", FILE),
        parts=parts,
        trouble=trouble,
        report=report,
        findings=[_finding(report, f, tree, parts) for f in findings[:FINDINGS] if report],
        trials=trials[:TRIALS],
        repair=repair,
        attempts=[(attempt, cut(attempt.diff, DIFF)) for attempt in trail],
        episodes=episodes[:EPISODES],
        notes=notes,
    )


def _files(row: parquet.Row) -> tuple[FileTree, str]:
    """The files of a kept task under the names that findings use: those of the environment by
    their places in the image, tests without the kit. Without them, why."""
    try:
        draft = parquet.draft_of(row)
    except Misconfigured as error:
        return FileTree(), str(error)
    trees = draft.environment.files, draft.tests, draft.solution
    each = (tree.under(name) for name, tree in zip(PARTS, trees, strict=True))
    return reduce(FileTree.merged, each, FileTree({INSTRUCTION: draft.instruction})), ""


def _parts(tree: FileTree) -> Iterator[Part]:
    """Files folder by folder, until the page has as much text as it can carry."""
    left, number = PAGE, 0
    for name in PARTS:
        listed = [path for path in tree if path.startswith(f"{name}/")]
        views = []
        for path in listed[:FILES]:
            file = tree[path]
            shown = file_text(file.data, min(FILE, left)) if left else FULL
            left, number = left - len(shown.text), number + 1
            mode = f"{file.mode:o}"
            views.append(FileView(path, len(file.data), mode, shown, f"file-{number}"))
        cut_off = len(listed) > FILES
        note = f"The first {FILES} of {len(listed):,} files are listed." if cut_off else ""
        yield Part(name, views, note)


def _report(folder: RunFolder, task: Task) -> AuditReport | None:
    if not folder.audits.exists():
        return None
    rows = audits.rows(folder.audits, ["task", "report"], task.found_as)
    return next((AuditReport.model_validate_json(row["report"]) for row in rows), None)


def _repair(folder: RunFolder, task: Task) -> parquet.Row | None:
    if not folder.repairs.exists():
        return None
    return next(repairs.read(folder.repairs, task.found_as), None)


def _episodes(folder: RunFolder, task: str) -> Iterator[parquet.Row]:
    """All episodes of a task, by file and sample, without what was said in them."""
    columns = [name for name in rollouts.FLAT if name != "keys"]
    for path in rollouts.files(folder.rollouts):
        yield from sorted(rollouts.read(path, columns, task), key=lambda row: int(row["sample"]))


def episode(folder: RunFolder, task: str, place: int) -> tuple[Episode, tuple[Flag, ...]] | None:
    """One of them, whole."""
    rows = list(_episodes(folder, task))
    if not 0 <= place < len(rows):
        return None
    wanted = rows[place]
    for path in rollouts.files(folder.rollouts):
        for row in rollouts.read(path, None, task):
            if all(row[name] == wanted[name] for name in ("model", "settings", "sample")):
                flags = tuple(Flag(**flag) for flag in row["flags"])
                return Episode.model_validate_json(row["episode"]), flags
    return None


def _finding(
    report: AuditReport, finding: Finding, tree: FileTree, parts: Sequence[Part]
) -> FindingView:
    trial = next((t for t in report.trials if f"{t.probe}:{t.name}" == finding.trial), None)
    anchors = {view.path: view.anchor for part in parts for view in part.files}
    return FindingView(
        id=audits.finding_id(report, finding),
        finding=finding,
        trial=trial,
        files=_attack(trial) if trial else [],
        places=[_lines(p.file, p.line, tree, anchors) for p in finding.places[:20]],
    )


def _attack(trial: Trial) -> list[FileView]:
    """The script of an attack, and the files that it uses."""
    tree = trial.tree
    script = tree["solve.sh"].data.decode(errors="replace") if "solve.sh" in tree else ""
    used = [n for n in tree if n.startswith("files/") or f"/solution/{n}" in script]
    names = [name for name in ("solve.sh", *used) if name in tree][:ATTACK]
    return [
        FileView(n, len(tree[n].data), f"{tree[n].mode:o}", file_text(tree[n].data, SCRIPT), "")
        for n in names
    ]


def _lines(path: str, line: int, tree: FileTree, anchors: dict[str, str]) -> Lines:
    """The lines around a place, with their numbers."""
    place = f"{path}:{line}" if line else path
    anchor = "instruction" if path == INSTRUCTION else anchors.get(path, "")
    file = tree.get(path)
    if not line or file is None or (shown := file_text(file.data, FILE * 10)).note:
        return Lines(place, anchor)
    rows = shown.text.split("\n")
    near = range(max(0, line - 1 - AROUND), min(len(rows), line + AROUND))
    text = "\n".join(f"{n + 1:5}{'>' if n + 1 == line else ' '} {rows[n][:200]}" for n in near)
    return Lines(place, anchor, text)


def facts(view: TaskView) -> list[tuple[str, Any]]:
    """Short facts for the head of the page."""
    task, row = view.task, view.row
    found: list[tuple[str, Any]] = [(axis.replace("_", " "), value) for axis, value in task.axes]
    found += [("skills", ", ".join(row["skills"]))] if row.get("skills") else []
    for name in ("author", "base", "workdir", "licence"):
        found.append((name, row.get(name)))
    found += [("packages", " ".join(row["packages"]))] if row.get("packages") else []
    found += [("draft", row.get("draft")), ("archive", row.get("archive_sha256"))]
    return [(name, value) for name, value in found if value]
