"""The reference's grade under circumstances that must not change it.

All at once first; one by one only where that differs. The kit's checks are one generator, so there
is no order of theirs to shuffle. A later clock is a library that the dynamic linker loads into all
programs of the grading container (`/etc/ld.so.preload`), made once with the tools' compiler:
nothing of the task is used or changed. Statically linked programs, and the times of files, keep the
real clock.
"""

from envgen.audit import submissions
from envgen.audit.workbench import Workbench
from envgen.build import explain
from envgen.errors import Fault
from envgen.files import File, FileTree
from envgen.grade import again
from envgen.jobs import Conditions
from envgen.records import Finding, Job, Place, Put, Trial
from envgen.sandbox.archive import STAGING, files_below

DAYS = 400
TOOLS, OUT = "tools", "/out"


async def repeated(bench: Workbench) -> tuple[tuple[Finding, ...], tuple[Trial, ...]]:
    """What changes the reference's grade."""
    if not bench.outputs:
        return (), ()
    single = alone(await clock(bench))
    trial, same = await regraded(bench, "all", single.pop("all"))
    if same:
        return (), (trial,)
    trials, findings = [trial], []
    for name, conditions in single.items():
        one, same = await regraded(bench, name, conditions)
        trials.append(one)
        if not same:
            findings.append(_finding(one, bench.target.verifier, proven=name != "half the memory"))
    if not findings:  # only all of them together
        findings.append(_finding(trial, bench.target.verifier, proven=False))
    return tuple(findings), tuple(trials)


def alone(late: tuple[Put, ...]) -> dict[str, Conditions]:
    """All circumstances together, then each by itself."""
    return {
        "all": Conditions(
            hash_seed=7919, zone="NPT-5:45", locale="C", cpus=1, halved=True, puts=late
        ),
        f"clock + {DAYS} days": Conditions(puts=late),
        "hash seed": Conditions(hash_seed=7919),
        "time zone": Conditions(zone="NPT-5:45"),
        "locale": Conditions(locale="C"),
        "one CPU": Conditions(cpus=1),
        "half the memory": Conditions(halved=True),
    }


async def clock(bench: Workbench) -> tuple[Put, ...]:
    """What makes a container's clock run ahead."""
    base = await bench.kit.bases.get(TOOLS)
    source = FileTree({"clock.c": submissions.script("clock.c")})
    ahead = f"-DAHEAD={DAYS * 86400}L"
    job = Job(
        image=base.content,
        image_ref=base.ref,
        command=("gcc", "-O2", "-shared", "-fPIC", ahead, "-o", f"{OUT}/clock.so", "clock.c"),
        cwd="/in",
        puts=(Put(target="/in", tree=source), Put(target=OUT, tree=FileTree(), uid=1000)),
        capture=(OUT,),
    )
    key, done = await bench.kit.sandbox.run(job, bench.use("clock"))
    if not done.ok or done.captured is None:
        raise Fault("audit:clock", f"the clock cannot be compiled: {done.output[-500:]}", (key,))
    made = files_below(bench.kit.sandbox.blobs.get(done.captured), f"{STAGING}{OUT}")
    return (
        Put(target="/.clock", tree=FileTree({"clock.so": File(made["clock.so"], 0o755)})),
        Put(target="/etc", tree=FileTree({"ld.so.preload": "/.clock/clock.so\n"})),
    )


async def regraded(bench: Workbench, name: str, conditions: Conditions) -> tuple[Trial, bool]:
    """The grade under some conditions, and whether it is what it always was."""
    draft, image = bench.task.draft, bench.task.image
    key, score = await again(
        draft, image, bench.outputs, bench.kit, bench.use("repeating"), conditions
    )
    trial = Trial(
        probe="repeating",
        name=name,
        does="the reference's outputs, graded under other circumstances",
        keys=(key,),
        reward=score.reward,
        passed=score.passed,
        note=explain(score)[:500],
        outputs=bench.outputs,
    )
    return trial, score == bench.score


def _finding(trial: Trial, verifier: str, *, proven: bool) -> Finding:
    return Finding(
        label="OTHER",
        code=f"repeating:{trial.name}",
        severity=2 if proven else 1,
        message=f"the reference's grade changes with {trial.name}: {trial.note[:200]}",
        soundness="unstable",
        exploitability="reward",
        places=(Place(file=verifier),),
        trial=f"{trial.probe}:{trial.name}",
        proof=trial.keys if proven else (),
    )
