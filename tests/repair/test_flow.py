"""The repairs of a run on an engine that pays as it is told: what is written, again and again."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from envgen import auditing, config, letters, pages, repairing, runs, tables
from envgen.audit import audit
from envgen.errors import HostDiskFull, Misconfigured
from envgen.export import parquet, repairs, rollouts
from envgen.files import FileTree
from envgen.kit import Bases, Kit
from envgen.ledger import Blobs, Ledger
from envgen.llm.opened import open_models
from envgen.pipeline import Stop, proven
from envgen.records import (
    AuditReport,
    BuiltTask,
    Criterion,
    Episode,
    Exploitability,
    Finding,
    Foreign,
    Image,
    ImageRequest,
    Job,
    JobResult,
    Limits,
    Play,
    Score,
    TaskDraft,
    Trajectory,
    Trial,
)
from envgen.repair import matrix, modelled, repair
from envgen.sandbox import Recorded, tag_of
from tests.audit.conftest import INSTRUCTION, OUTPUTS, Paying, strict
from tests.loopback import Ask, Loopback, Reply, openai

OLD = "var/lib/old/rows.csv"
Make = Callable[..., Kit]


class Defective(Paying):
    """Pays for a file that the image still holds, and for anything where the tests are weak."""

    def __init__(self, blobs: Blobs) -> None:
        self.contexts: dict[str, FileTree] = {}
        self.job: Job
        super().__init__(blobs, self.paid)

    async def build(self, request: ImageRequest) -> Image:
        self.contexts[tag_of(request.digest)] = request.context
        return await super().build(request)

    def answer(self, job: Job) -> JobResult:
        self.job = job
        return super().answer(job)

    def paid(self, tree: FileTree | None, outputs: dict[str, bytes]) -> float:
        tests = next(put.tree for put in self.job.puts if put.target == "/tests")
        holds = f"root/{OLD}" in self.contexts[self.job.image_ref]
        took = (
            tree is not None and "plan.json" in tree and b"/var/lib/old" in tree["plan.json"].data
        )
        if "weak.txt" in tests or (holds and took):
            return 1.0
        return strict(tree, outputs)


def drafts(golden: TaskDraft) -> tuple[TaskDraft, ...]:
    """A sound task, one with its answer in the image, one whose verifier takes anything."""
    orders = {"home/agent/orders.csv": "id,value\na,1\nb,2\n"}
    made = []
    for title, files, tests in (
        ("sound", orders, golden.tests),
        ("leaking\x1b[31m", orders | {OLD: OUTPUTS["/home/agent/rows.csv"]}, golden.tests),
        ("weak", orders, golden.tests.merged(FileTree({"weak.txt": "x\n"}))),
    ):
        update = {"files": FileTree(files), "setup": ()}
        made.append(
            golden.model_copy(
                update={
                    "spec": None,
                    "title": title.partition("\x1b")[0],
                    "instruction": INSTRUCTION,
                    "author": "imports/test",
                    "environment": golden.environment.model_copy(update=update),
                    "tests": tests,
                    "solution": FileTree({"solve.sh": "true\n", "reference": "x"}),
                    "workdir": "/home/agent",
                    "outputs": ("/home/agent",),
                    "hide": (),
                    "secrets": (),
                }
            )
        )
    return tuple(made)


@pytest.fixture
def items(golden: TaskDraft) -> tuple[TaskDraft, ...]:
    return drafts(golden)


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    ledgers = []

    def made(place: str = "run", *sets: str) -> Kit:
        ledger = Ledger(tmp_path / place)
        ledgers.append(ledger)
        engine = Defective(ledger.blobs)
        return Kit(config.load(None, list(sets)), Recorded(engine, ledger), Bases(engine))

    yield made
    for ledger in ledgers:
        ledger.close()


@pytest.fixture
def folder(tmp_path: Path) -> runs.RunFolder:
    return runs.RunFolder(tmp_path / "run")


def written(folder: runs.RunFolder) -> tuple[bytes, ...]:
    files = (folder.manifest, folder.rejections, folder.audits, folder.repairs)
    return tuple(path.read_bytes() for path in files)


def test_what_is_left_is_clean_and_says_what_it_was(
    folder: runs.RunFolder, items: Any, make: Make, do: Any
) -> None:
    kit = make()
    tally = do(repairing.repair_all(folder, items, kit, Stop()))
    assert (tally.kept, dict(tally.rejected)) == (2, {"VERIFIER-TOO-WEAK": 1})
    sound, mended = parquet.read(folder.manifest)
    assert (sound["label"], sound["label_before"], sound["trail"]) == ("CLEAN", None, None)
    assert (mended["label"], mended["label_before"]) == ("CLEAN", "ANSWER-LEAK")
    assert (mended["revision"], mended["parent"]) == (1, items[1].digest)
    (attempt,) = mended["trail"]
    assert (attempt["ways"], attempt["changed"]) == (["removed"], [f"D environment/{OLD}"])
    assert all(line["holds"] is True for line in attempt["matrix"]) and attempt["matrix"]
    assert parquet.draft_of(mended).environment.files.keys() == {"home/agent/orders.csv"}
    (refused,) = parquet.read(folder.rejections)
    assert (refused["step"], refused["code"]) == ("repair", "VERIFIER-TOO-WEAK")
    assert "no valid alternative is known" in refused["detail"]
    assert refused["trail"][0]["refused"] == refused["detail"]
    slugs = {row["task"] for row in (sound, mended)}
    assert {path.name for path in folder.tasks.iterdir() if path.is_dir()} == slugs


def test_again_costs_nothing_and_an_audit_keeps_what_was_repaired(
    folder: runs.RunFolder, items: Any, make: Make, do: Any
) -> None:
    kit = make()
    do(repairing.repair_all(folder, items, kit, Stop()))
    before, made = written(folder), kit.sandbox.ledger.made
    do(repairing.repair_all(folder, items, kit, Stop()))
    assert written(folder) == before
    do(auditing.audit_all(folder, items, kit, Stop()))
    assert kit.sandbox.ledger.made == made
    labels = [(r["label"], r["label_before"]) for r in parquet.read(folder.manifest)]
    assert labels == [("CLEAN", None), ("CLEAN", "ANSWER-LEAK")]


@pytest.mark.parametrize("after", [0, 11, 40, 75])
def test_repairs_that_were_broken_off_go_on_where_they_were(
    folder: runs.RunFolder, items: Any, make: Make, tmp_path: Path, do: Any, after: int
) -> None:
    whole, kit = runs.RunFolder(tmp_path / "whole"), make("whole")
    do(repairing.repair_all(whole, items, kit, Stop()))
    paid = kit.sandbox.ledger.made

    first = make()
    engine, left = first.sandbox.engine, [after]
    answer = engine.script  # type: ignore[attr-defined]

    def until(job: Job) -> JobResult:
        left[0] -= 1
        if left[0] < 0:
            raise HostDiskFull("no room left")
        return answer(job)

    engine.script = until  # type: ignore[attr-defined]
    tally = do(repairing.repair_all(folder, items, first, Stop()))
    assert tally.unfinished > 0
    engine.script = answer  # type: ignore[attr-defined]
    tally = do(repairing.repair_all(folder, items, first, Stop()))
    assert (tally.kept, tally.unfinished) == (2, 0)
    assert written(folder) == written(whole)
    assert first.sandbox.ledger.made == paid


def test_only_the_labels_that_are_asked_for_are_repaired(
    folder: runs.RunFolder, items: Any, make: Make, do: Any
) -> None:
    only = ("VERIFIER-TOO-WEAK",)
    tally = do(repairing.repair_all(folder, items, make(), Stop(), only))
    assert dict(tally.rejected) == {"ANSWER-LEAK": 1, "VERIFIER-TOO-WEAK": 1}
    details = [row["detail"] for row in parquet.read(folder.rejections)]
    assert details[0] == "repairs of this label were not asked for"
    assert [row["task"] for row in repairs.read(folder.repairs)] == [items[2].slug]


def of_a_critic(report: AuditReport, needs: Exploitability) -> AuditReport:
    """The report of an audit whose critic had an exploit that was paid."""
    trial = Trial(
        probe="critic", name="exploit", does="guesses", keys=("k",), reward=1.0, passed=True,
        tree=FileTree({"solve.sh": "true\n", "reference": "x"}),
    )  # fmt: skip
    finding = Finding(
        label="VERIFIER-TOO-WEAK", code="critic:said", severity=3, message="it is paid",
        soundness="accepts-wrong", exploitability=needs, trial="critic:exploit", proof=("k",),
    )  # fmt: skip
    findings, trials = (*report.findings, finding), (*report.trials, trial)
    return report.model_copy(update={"findings": findings, "trials": trials})


@pytest.mark.parametrize(
    ("needs", "bad"),
    [("privileged", []), ("rollout", ["what worked", "other attacks", "new findings"])],
)
def test_what_takes_sight_of_the_hidden_tests_holds_no_repair_up(
    items: Any, make: Make, do: Any, needs: Exploitability, bad: list[str]
) -> None:
    kit = make()

    async def through() -> tuple[Criterion, ...]:
        found = await proven(items[1], kit)
        assert isinstance(found, BuiltTask)
        report = await audit(found, kit)
        done = await repair(found, report, kit)
        assert done.after == "CLEAN"
        before, after = of_a_critic(report, needs), of_a_critic(done.report, needs)
        new = after.model_copy(
            update={
                "findings": tuple(
                    f.model_copy(update={"code": f"{f.code} anew"}) for f in after.findings
                )
            }
        )
        return await matrix.matrix(found, before, done.task, new, kit)

    assert [line.name for line in matrix.failing(do(through()))] == bad


def test_where_nothing_rejects_what_cannot_be_repaired_keeps_its_label(
    folder: runs.RunFolder, items: Any, make: Make, do: Any
) -> None:
    tally = do(repairing.repair_all(folder, items, make("run", "audit.policy=report"), Stop()))
    assert (tally.kept, dict(tally.rejected)) == (3, {})
    rows = list(parquet.read(folder.manifest))
    assert [r["label"] for r in rows] == ["CLEAN", "CLEAN", "VERIFIER-TOO-WEAK"]
    assert rows[2]["revision"] == 0 and rows[2]["trail"][0]["refused"]


@pytest.mark.parametrize(
    ("profile", "imported", "asked"),
    [
        ("full", False, {"ANSWER-LEAK", "VERIFIER-TOO-WEAK"}),
        ("full", True, {"ANSWER-LEAK", "VERIFIER-TOO-WEAK"}),
        ("small", False, {"VERIFIER-TOO-WEAK"}),
        ("small", True, set()),
    ],
)
def test_a_plan_names_the_ways_and_runs_nothing(
    folder: runs.RunFolder,
    items: Any,
    make: Make,
    do: Any,
    profile: str,
    imported: bool,
    asked: set[str],
) -> None:
    kit = make()
    do(auditing.audit_all(folder, items, kit, Stop()))
    made = kit.sandbox.ledger.made
    if imported:
        folder.imported.touch()
    sets = ["repair.model=openai:echo-1", f"author.profile={profile}"]
    plans = list(repairing.planned(folder, config.load(None, sets), ()))
    ways = {"ANSWER-LEAK": ["removed", "hidden"], "VERIFIER-TOO-WEAK": ["pinned"]}
    assert [(p["label"], p["ways"]) for p in plans] == [
        (name, own + (["openai:echo-1"] if name in asked else [])) for name, own in ways.items()
    ]
    assert kit.sandbox.ledger.made == made


@pytest.mark.parametrize(
    ("item", "foreign", "asked"), [(2, False, True), (2, True, False), (1, False, False)]
)
def test_a_small_model_is_asked_where_an_added_check_can_help(
    items: Any, make: Make, do: Any, item: int, foreign: bool, asked: bool
) -> None:
    plain = make("run", "author.profile=small", "repair.model=openai:echo-1", "repair.rounds=1")
    questions = []

    def answer(question: Ask) -> Reply:
        questions.append(question)
        return openai.answer("I would rather not.")

    async def through() -> None:
        found = await proven(items[item], plain)
        assert isinstance(found, BuiltTask)
        report = await audit(found, plain)
        if foreign:
            change = {"foreign": Foreign(grading="fresh"), "tests": FileTree({"test.sh": "true\n"})}
            found = found.model_copy(update={"draft": found.draft.model_copy(update=change)})
        async with Loopback(answer) as server:
            llm = plain.config.llm.model_copy(
                update={"base_url": f"{server.url}/v1", "no_budget": True}
            )
            ledger, names = plain.sandbox.ledger, {"repairer": "openai:echo-1"}
            async with open_models(names, llm, ledger) as models:
                done = await repair(found, report, replace(plain, llm=models), means=(modelled,))
        assert done.after is None

    do(through())
    assert bool(questions) is asked


def test_the_page_shows_finding_difference_and_matrix(
    folder: runs.RunFolder, items: Any, make: Make, do: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    do(repairing.repair_all(folder, items, make(), Stop()))
    row = repairing.shown(folder, items[1].slug)
    pages.repair_page(row | {"reason": "x\x1b[2J\u202ey"})
    shown = capsys.readouterr().out
    assert "ANSWER-LEAK -> CLEAN" in shown and "found: ANSWER-LEAK copying:copied" in shown
    assert f"D environment/{OLD}" in shown and "-id,value" in shown
    assert "what worked" in shown and "leaked bytes" in shown
    pages.repair_page(repairing.shown(folder, items[2].slug))
    assert "refused: " in capsys.readouterr().out
    assert not any(ord(c) < 32 and c != "\n" for c in shown)
    with pytest.raises(Misconfigured, match="no repair of a task 'none'"):
        repairing.shown(folder, "none")


def episodes(task: BuiltTask, draft: str, passes: int) -> list[parquet.Row]:
    """Four episodes of a draft, of which so many passed."""
    done = Trajectory(turns=(), ending="submitted", outputs=None, seconds=1.0)
    return [
        rollouts.row(
            task,
            Episode(
                slug=draft[-8:],
                play=Play(
                    task=draft, image="i", opening=(), outputs=(), limits=Limits(),
                    model="openai:tiny", settings="{}", sample=sample,
                ),
                trajectory=done,
                score=Score(reward=float(sample < passes)),
            ),
            (),
        )
        for sample in range(4)
    ]  # fmt: skip


def test_what_policies_made_of_a_task_before_and_after_is_told_where_it_is_known(
    folder: runs.RunFolder,
    items: Any,
    make: Make,
    do: Any,
    capsys: pytest.CaptureFixture[str],
) -> None:
    kit = make()
    do(repairing.repair_all(folder, items, kit, Stop()))
    silent = repairing.summary(folder)["tasks"]
    assert all(t["played_before"] == t["played_after"] == [] for t in silent)
    pages.repair_page(repairing.shown(folder, items[1].slug))
    assert "pass@1" not in capsys.readouterr().out

    found, row = do(proven(items[1], kit)), repairing.shown(folder, items[1].slug)
    leaking, mended = row["trail"][-1].before, row["trail"][-1].after
    assert leaking == items[1].digest
    played = [
        *episodes(found, leaking, 3),
        *episodes(found, mended, 1),
        *episodes(found, items[2].digest, 4),
    ]
    path = folder.rollouts / rollouts.name_of("openai:tiny", "00000000")
    rollouts.write(path, played, set())
    leak, weak = repairing.summary(folder)["tasks"]
    ((before,), (after,)) = leak["played_before"], leak["played_after"]
    assert (before["attempts"], before["pass_at"]) == (4, [0.75, 1.0, 1.0, 1.0])
    assert (after["passes"], after["pass_at"]) == (1, [0.25, 0.5, 0.75, 1.0])
    assert [m["passes"] for m in weak["played_before"]] == [4] and weak["played_after"] == []
    pages.repair_page(repairing.shown(folder, items[1].slug))
    shown = capsys.readouterr().out
    assert "pass@1" in shown and "0.7500" in shown and "0.2500" in shown
    tables.repair_tables(repairing.summary(folder))
    shown = capsys.readouterr().out
    assert [shown.count(figure) for figure in ("0.7500", "0.2500")] == [1, 1]


def test_another_chance_for_a_refused_repair_is_the_repairers_alone(make: Make) -> None:
    ledger = make().sandbox.ledger
    dead = letters.Letter("t-1", "repair", "ANSWER-LEAK", "", 0, ())
    assert letters.retry([dead], ledger) == 1
    assert (ledger.retries("repairer of t-1"), ledger.retries("t-1")) == (1, 0)
