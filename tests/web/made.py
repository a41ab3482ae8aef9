"""A run with everything that a page shows: real tasks, hostile ones, audits, repairs, episodes,
training and a ledger, all written by the functions that write them in a run."""

import asyncio
import json
from pathlib import Path

from envgen import config, runs
from envgen.audit.probes import PROBES
from envgen.build import GATES
from envgen.export import audits, harbor, parquet, repairs, rollouts
from envgen.files import FileTree
from envgen.ledger import Ledger, Use
from envgen.records import (
    AuditReport,
    BaseImage,
    BaseRecipe,
    BuiltTask,
    CheckResult,
    Criterion,
    Episode,
    Evidence,
    Finding,
    Flag,
    Image,
    Job,
    JobResult,
    Limits,
    Mended,
    Message,
    Place,
    Play,
    Rejection,
    Repair,
    Score,
    TaskDraft,
    Tier,
    Trajectory,
    Trial,
    Turn,
    Usage,
)
from envgen.runs import RunFolder

SAMPLE = Path(__file__).parents[2] / "data" / "sample"
NASTY = (
    "<script>alert(1)</script>",
    "</style><script>alert(2)</script><style>",
    "\x1b[31mred\x1b]0;title\x07\x9b2J",
    "\u202eevil\u2066\u200bhidden\u2069 \U000e0041",
    '"><img src=x onerror=alert(3)><a href="javascript:alert(4)">press</a>',
    "<!-- ]]> {{ 7 * 7 }} ${alert(5)} </script></textarea></title>",
    "Z\u0337\u0335\u0336\u0334\u0333\u0332\u0331\u0330\u032falgo \ud800",
)
TEXT = "\n".join(NASTY)
TITLES = (NASTY[0], f"{NASTY[2]} {NASTY[3]}")
KEY = "sha256:" + "ab" * 32
WORST = 'a"><script>alert(9)</script>/../../etc/passwd'
"""A name that a manifest of somebody else may hold."""


def run(folder: RunFolder, golden: TaskDraft) -> RunFolder:
    """Write the run: of the 18 tasks of the sample two became hostile and three were rejected."""
    folder.path.mkdir(parents=True)
    rows = list(parquet.read(SAMPLE / "manifest.parquet"))
    families = sorted({row["author"].removeprefix("procedural/") for row in rows})
    settings = config.load(SAMPLE / "config.yaml", [f"author.families=[{','.join(families)}]"])
    config.save(settings, folder.config)
    runs.draw(folder, settings, "procedural")
    tasks = [_built(parquet.draft_of(row)) for row in rows]
    hostile = [_hostile(golden, n, task) for n, task in enumerate(tasks[13:15])]
    built = [*tasks[:13], *hostile]
    odd = {"persona": TEXT.encode(errors="replace").decode()[:99]}
    written = [*rows[:13], *(_row(task) | odd for task in hostile)]
    parquet.write_manifest(folder.manifest, written)
    lost = [(tasks[15], "reference"), (tasks[16], "reference"), (tasks[17], "repair")]
    parquet.write_rejections(folder.rejections, [_lost(*one) for one in lost])
    audits.write(folder.audits, [audits.row(_audit(t, n), "proven") for n, t in enumerate(built)])
    audits.label_manifest(folder.manifest, folder.audits)
    repairs.write(folder.repairs, [repairs.row(_mended(t, n)) for n, t in enumerate(built[:4])])
    for model, passes in (("scripted:reference", 9), ("openai:small", 3)):
        _played(folder, built, model, passes)
    rollouts.note_manifest(folder.manifest, folder.rollouts)
    _trained(folder)
    asyncio.run(_executed(folder, [task.draft.slug for task in built]))
    return folder


def strange(folder: RunFolder, golden: TaskDraft) -> RunFolder:
    """A manifest alone, whose task has a name that no run of ours would give."""
    folder.path.mkdir(parents=True)
    parquet.write_manifest(folder.manifest, [_row(_built(golden)) | {"task": WORST}])
    return folder


def single(folder: RunFolder, golden: TaskDraft) -> RunFolder:
    """A run of one task with one finding, trial, mutant, attempt at repair and episode."""
    folder.path.mkdir(parents=True)
    task = _built(golden)
    parquet.write_manifest(folder.manifest, [_row(task)])
    report = _audit(task, 2)
    trials = (_trial("filling", "plain", 0.5),)
    report = report.model_copy(update={"trials": trials, "mutants": 1, "survivors": ("m0",)})
    audits.write(folder.audits, [audits.row(report, "proven")])
    audits.label_manifest(folder.manifest, folder.audits)
    repairs.write(folder.repairs, [repairs.row(_mended(task, 3))])
    file = folder.rollouts / rollouts.name_of("openai:small", "ab12cd34")
    rows = [rollouts.row(task, _episode(task, "openai:small", 0, 1.0), [])]
    rollouts.write(file, rows, {(row["task"], row["sample"]) for row in rows})
    rollouts.note_manifest(folder.manifest, folder.rollouts)
    return folder


def _row(task: BuiltTask) -> parquet.Row:
    return parquet.manifest_row(task, harbor.folder(task, config.RunConfig().export))


def _built(draft: TaskDraft) -> BuiltTask:
    recipe = BaseRecipe(name=draft.environment.base, lines="FROM debian:bookworm-slim")
    return BuiltTask(
        draft=draft,
        image=Image(
            content=f"sha256:{draft.digest[-8:]}", layers="sha256:1a", ref="envgen/task:4e",
            engine_id="sha256:e1", bytes_added=4321, entries="sha256:e2", config="{}",
        ),
        base=BaseImage(recipe=recipe, content="sha256:ba", ref="r", lock="jq=1\npython3=3\n"),
        evidence=tuple(Evidence(gate=gate, keys=(KEY,), summary=NASTY[2]) for gate in GATES),
        baseline=0.25,
        repeats=2,
    )  # fmt: skip


def _hostile(golden: TaskDraft, number: int, task: BuiltTask) -> BuiltTask:
    """A task all of whose texts are nasty, with files that are large, binary, or both; its spec is
    that of another."""
    files = {
        "home/agent/many.csv": ("id,value\n" + "1,2\n" * 9_000).encode(),
        "home/agent/blob.bin": b"\x00\xff" * 999,
        "home/agent/<b>bold</b>.html": TEXT.encode(errors="replace"),
        "home/agent/cut.txt": ("a" + "\N{EURO SIGN}" * 60_000).encode(),
    }
    plain = TEXT.encode(errors="replace").decode()
    return _built(
        golden.model_copy(
            update={
                "spec": task.draft.spec,
                "title": TITLES[number],
                "instruction": plain * (1 + 900 * number),
                "tests": FileTree({"check.py": plain, "truth.json": b"{}"}),
                "solution": FileTree({"solve.sh": plain}),
                "environment": golden.environment.model_copy(update={"files": FileTree(files)}),
            }
        )
    )


def _lost(task: BuiltTask, step: str) -> parquet.Row:
    found = Rejection(
        spec=task.draft.spec, slug=task.draft.slug, step=step, detail=f"reward 0.5; {NASTY[2]}",
        code="ANSWER-LEAK" if step == "repair" else f"{step}:fails", proof=(KEY,),
    )  # fmt: skip
    return parquet.rejection_row(found)


def _trial(probe: str, name: str, reward: float | None, note: str = "") -> Trial:
    tree = FileTree({"solve.sh": f"echo 42 > answer.txt\n{NASTY[0]}\n"})
    return Trial(
        probe=probe, name=name, does="writes what is asked for, filled with nothing", keys=(KEY,),
        reward=reward, passed=reward == 1, note=note, tree=tree,
    )  # fmt: skip


def _audit(task: BuiltTask, number: int) -> AuditReport:
    weak, suspected = number % 5 == 1, number % 4 == 2
    trials = [_trial(p.name, "plain", 0.25, "no check passes") for p in PROBES]
    trials += [_trial("mutating", f"m{n}", float(n == 0 and weak)) for n in range(8)]
    findings = []
    if weak:
        trials.append(_trial("filling", "filled", 1.0, NASTY[0]))
        findings.append(
            Finding(
                label="VERIFIER-TOO-WEAK", code="filling:filled", severity=3, proof=(KEY, KEY),
                message=f"files that hold nothing pass: {NASTY[4]}", soundness="accepts-wrong",
                exploitability="rollout", trial="filling:filled",
                places=(Place(file="tests/check.py", line=3), Place(file="instruction.md")),
            )
        )  # fmt: skip
    if suspected:
        findings.append(
            Finding(
                label="INSTR-AMBIGUOUS", code="static:vague", severity=1, soundness="unknown",
                message="'recent' is not said in days", exploitability="rollout",
                places=(Place(file="instruction.md", line=2),),
            )
        )  # fmt: skip
    return AuditReport(
        task=task.draft.digest,
        image=task.image.content,
        slug=task.draft.slug,
        baseline=task.baseline,
        tiers=(Tier(name="static", ran=True), Tier(name="probes", ran=True, note="16 trials")),
        findings=tuple(findings),
        trials=tuple(trials),
        mutants=8,
        survivors=("m0",) if weak else (),
    )


def _mended(task: BuiltTask, number: int) -> Mended:
    accepted = number != 3
    holds = {"gates": True, "what worked": True, "other attacks": accepted, "alternatives": None}
    attempt = Repair(
        before=task.draft.digest, after="sha256:aa", labels=("VERIFIER-TOO-WEAK",),
        ways=("pinned",), diagnosis=(f"filling:filled: files that hold nothing pass {NASTY[0]}",),
        changed=("M tests/check.py", "A tests/earlier.py"),
        diff=f"--- tests/check.py\n+++ tests/check.py\n@@ -1,2 +1,2 @@\n-import os\n+{NASTY[1]}\n",
        matrix=tuple(
            Criterion(name=name, holds=verdict, told="12 trials, none pays", proof=(KEY,))
            for name, verdict in holds.items()
        ),
        refused="" if accepted else "other attacks: emptying:cut pays 0.5",
    )  # fmt: skip
    return Mended(
        slug=task.draft.slug,
        before="VERIFIER-TOO-WEAK",
        after="CLEAN" if accepted else None,
        trail=(attempt,),
        task=task,
        report=_audit(task, number),
        reason=attempt.refused,
    )


def _played(folder: RunFolder, built: list[BuiltTask], model: str, passes: int) -> None:
    rows = []
    for number, task in enumerate(built):
        for sample in range(4):
            reward = float((number * 4 + sample) % 10 < passes)
            flags = [Flag(code="tests_path", turn=1, detail=NASTY[0])] if not sample else []
            rows.append(rollouts.row(task, _episode(task, model, sample, reward), flags))
    new = {(row["task"], row["sample"]) for row in rows}
    rollouts.write(folder.rollouts / rollouts.name_of(model, "ab12cd34"), rows, new)


def _episode(task: BuiltTask, model: str, sample: int, reward: float) -> Episode:
    play = Play(
        task=task.draft.digest, image=task.image.content, outputs=("/home/agent",),
        opening=(Message(role="system", text="You are at a terminal."),
                 Message(role="user", text=NASTY[0])),
        limits=Limits(), model=model, settings="{}", sample=sample,
    )  # fmt: skip
    turns = tuple(
        Turn(
            text=f"I look at it {NASTY[4]}", finish="stop", command="ls", shown=NASTY[2],
            exit_code=0, end="done", seconds=0.5, usage=Usage(input=900 + n, output=40),
        )
        for n in range(3)
    )  # fmt: skip
    return Episode(
        slug=task.draft.slug,
        play=play,
        trajectory=Trajectory(turns=turns, ending="submitted", outputs=None, seconds=4.5),
        score=Score(reward=reward, checks=(CheckResult(name=NASTY[0], score=reward),)),
        keys=(KEY,),
    )


def _trained(folder: RunFolder) -> None:
    (folder.path / "train").mkdir()
    steps = (
        {
            "step": n,
            "solved": 0.2 + n / 100,
            "reward": 0.3 + n / 90,
            "entropy": 2 - n / 50,
            "lag": 1,
        }
        for n in range(1, 41)
    )
    text = "".join(json.dumps(step) + "\n" for step in steps)
    (folder.path / "train" / "metrics.jsonl").write_text(text)


async def _executed(folder: RunFolder, slugs: list[str]) -> None:
    ledger = Ledger(folder.path)

    async def call() -> JobResult:
        return JobResult(status="done", exit_code=0, output=NASTY[0])

    for slug in slugs:
        for step, kind in (("build", "image"), ("noop", "job"), ("reference", "job")):
            request = Job(image=slug, image_ref="r", command=(step, NASTY[4]))
            await ledger.once(kind, request, call, Use(slug, step), JobResult)
    ledger.close()
