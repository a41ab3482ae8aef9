"""Mechanical repairs and the rules for models' differences, as values: nothing runs."""

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from envgen.audit.target import ENVIRONMENT, Entry, Target
from envgen.files import FileTree
from envgen.lint import lint
from envgen.records import AuditReport, Exploitability, Finding, Label, Place, TaskDraft, Trial
from envgen.repair import changes, isolating, leaking, matching, pinning, policy, steadying, ways
from envgen.repair.seen import Seen
from envgen.repair.verifier import facts_of
from envgen.repair.watching import Answer, Answers, Case
from tests.repair.tasks import EXISTS, RIGHT, TOTALS, UNLIKE, imported, task

OUT = "/home/agent/totals.txt"
REPORT = AuditReport(
    task="t", image="i", slug="s", baseline=0, tiers=(), findings=(), trials=(), mutants=0
)


def seen(draft: TaskDraft, left: Mapping[str, str] | None = None, **more: Any) -> Seen:
    """What is seen of a draft whose reference leaves some files, and an alternative the same."""
    entries = [
        Entry(f"/{path}", file.data, file.mode, path.startswith("home/agent"))
        for path, file in draft.environment.files.items()
    ]
    if draft.foreign is not None:
        data = "".join(f"{name}={value}\0" for name, value in draft.foreign.env).encode()
        entries.append(Entry(ENVIRONMENT, data, 0o400, False))
    target = Target(
        draft.instruction,
        draft.workdir,
        draft.outputs,
        tuple(entries),
        draft.initial.absent,
        0,
        0.15,
    )
    run = {path: text.encode() for path, text in (left or {OUT: TOTALS}).items()}
    return Seen(target, REPORT, run, more.pop("others", {"other": run}), **more)


def finding(
    label: Label, *places: str, code: str = "copying:copied", needs: Exploitability = "rollout"
) -> Finding:
    return Finding(
        label=label, code=code, severity=3, message="m", soundness="accepts-wrong",
        exploitability=needs, places=tuple(Place(file=p) for p in places), proof=("k",),
    )  # fmt: skip


LEAK = finding("ANSWER-LEAK", "environment/opt/old/totals.txt")
WEAK = finding("VERIFIER-TOO-WEAK", "tests/check.py", code="filling:filled")
UNEQUAL = finding("INSTR-VERIFIER-MISMATCH", "tests/check.py", code="swapping:other")


def made(change: TaskDraft | str) -> TaskDraft:
    assert isinstance(change, TaskDraft), change
    lint(change)
    return change


# -- leaks -------------------------------------------------------------------------------------


def test_a_leaked_file_leaves_the_image_with_its_copies_and_tests_keep_what_they_read() -> None:
    packed = zlib.compress(TOTALS.encode())
    files = {"opt/old/totals.txt": TOTALS.encode(), "srv/data/x.bin": packed}
    draft = task(UNLIKE, files, ("rm -f /opt/old/totals.txt", "touch kept"))
    change = made(leaking.removed(draft, LEAK, seen(draft)))
    assert set(change.environment.files) == {"home/agent/orders.csv"}
    assert change.environment.setup == ("touch kept",)
    assert b'open("/tests/moved/totals.txt")' in change.tests["check.py"].data
    assert change.tests["moved/totals.txt"].data == TOTALS.encode()
    assert changes.changed(draft, change) == (
        "D environment/opt/old/totals.txt", "D environment/srv/data/x.bin", "M task.json",
        "M tests/check.py", "A tests/moved/totals.txt",
    )  # fmt: skip


def test_what_the_instruction_gives_is_hidden_from_grading_and_never_taken_away() -> None:
    draft = task(files={"opt/tool/sum.py": b"print(1)\n"})
    draft = draft.model_copy(
        update={"instruction": f"{draft.instruction}See `/opt/tool/sum.py`.\n"}
    )
    told = finding("ANSWER-LEAK", "environment/opt/tool/sum.py", needs="grading")
    assert "the instruction speaks of" in str(leaking.removed(draft, told, seen(draft)))
    change = made(leaking.hidden(draft, told, seen(draft)))
    assert change.hide == ("/opt/tool/sum.py",)
    assert "already" in str(leaking.hidden(change, told, seen(change)))
    early = finding("ANSWER-LEAK", "environment/opt/tool/sum.py")
    assert "before anything is graded" in str(leaking.hidden(draft, early, seen(draft)))


def test_a_variable_becomes_the_tests_own(tmp_path: Path) -> None:
    value = "0123456789abcdef0123456789abcdef"
    draft = imported(tmp_path, "v", f"ENV WANTED={value}\n", 'os.environ["WANTED"]')
    found = finding("ANSWER-LEAK", f"environment{ENVIRONMENT}")
    found = found.model_copy(update={"trial": "copying:copied"})
    tree = FileTree({"solve.sh": "true\n", "plan.json": '{"view": "env:WANTED"}'})
    trial = Trial(
        probe="copying", name="copied", does="", keys=("k",), reward=1, passed=True, tree=tree
    )
    report = REPORT.model_copy(update={"trials": (trial,)})
    look = replace(seen(draft), report=report)
    assert leaking.leaked(look.target, report, found) == (f"{value}\n".encode(),)
    change = made(leaking.removed(draft, found, look))
    assert change.foreign is not None
    assert (change.foreign.env, change.foreign.test_env) == ((), (("WANTED", value),))


def test_a_line_that_makes_the_leak_leaves_a_strangers_step(tmp_path: Path) -> None:
    lines = "RUN mkdir -p /opt/old\nRUN echo secret-digest > /opt/old/digest.txt\n"
    draft = imported(tmp_path, "s", lines, "'x'")
    found = finding("ANSWER-LEAK", "environment/opt/old/digest.txt")
    change = made(leaking.removed(draft, found, seen(draft)))
    assert change.foreign is not None
    assert not any("secret-digest" in step.run for step in change.foreign.steps)


# -- weak verifiers ----------------------------------------------------------------------------


def pins(draft: TaskDraft) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(facts_of(draft)["pins"])))
    return found


def test_what_right_solutions_agree_on_is_pinned_beside_the_earlier_checks() -> None:
    draft = task(EXISTS)
    change = made(pinning.pinned(draft, WEAK, seen(draft)))
    assert change.tests["earlier.py"].data == EXISTS.encode()
    lines = TOTALS.strip().split("\n")
    assert pins(change) == {
        "files": [{"path": OUT, "kind": "lines", "lines": lines}],
        "programs": [],
    }
    assert "already" in str(pinning.pinned(change, WEAK, seen(change)))


@pytest.mark.parametrize(
    ("others", "reason"),
    [({}, "no valid alternative is known"), ({"o": {OUT: b"quite another\n"}}, "agree on nothing")],
)
def test_nothing_is_pinned_that_cannot_be_known(others: Any, reason: str) -> None:
    draft = task(EXISTS)
    assert reason in str(pinning.pinned(draft, WEAK, seen(draft, others=others)))


def test_measurements_may_be_off_by_twice_what_right_ones_are() -> None:
    one = pinning._table(["id,v\na,10\nb,20\nc,30\n", "id,v\na,11\nb,20\nc,30\n"])
    assert one is not None and not one["keyed"]
    assert [round(c["off"], 4) for c in one["columns"]] == [0.0, round(2 * (1 / 3) ** 0.5 / 20, 4)]
    other = pinning._table(["id,v\na,1\nb,2\n", "id,v\nb,2.0\na,1\n"])
    assert other is not None and other["keyed"]
    assert pinning._table(["id,v\na,1\nb,2\n", "id,v\na,9\nb,-8\n"]) is None  # no agreement
    assert pinning._table(["id,v\na,1\n", "id,v\na,1\nb,2\n"]) is None


def test_a_program_is_pinned_by_answers_to_what_nobody_has_seen() -> None:
    draft = task(EXISTS)
    text = f"{draft.instruction}Write the program `/home/agent/sums.py` as well.\n"
    draft = draft.model_copy(update={"instruction": text})
    cases = [Case("/home/agent/sums.py", (), f"in{n}", n > 0) for n in range(4)]
    right: Answers = {case: Answer(f"out{n}", ()) for n, case in enumerate(cases)}
    unlike: Answers = dict(right) | {cases[3]: Answer("b3RoZXI=", ())}
    left = {OUT: TOTALS, "/home/agent/sums.py": "sums"}
    alike = made(pinning.pinned(draft, WEAK, seen(draft, left, answers=(right, right))))
    (program,) = pins(alike)["programs"]
    assert [case["stdin"] for case in program["cases"]] == ["in1", "in2", "in3", "in0"]
    less = pinning.pinned(draft, WEAK, seen(draft, left, answers=(right, unlike)))
    # Two made cases are too few, and pins of the file alone would pay for any program.
    assert less == "/home/agent/sums.py gives no answers that could be pinned"
    given = FileTree({**draft.environment.files, "home/agent/sums.py": "sums"})
    environment = draft.environment.model_copy(update={"files": given})
    stays = draft.model_copy(update={"environment": environment})
    assert isinstance(pinning.pinned(stays, WEAK, seen(stays, left)), TaskDraft)


def test_what_is_given_and_stays_is_no_answer() -> None:
    draft = task(EXISTS)
    given = {f"/{p}": f.data.decode() for p, f in draft.environment.files.items()}
    told = draft.model_copy(update={"instruction": draft.instruction + " ".join(given)})
    assert given and dict(seen(told, {OUT: TOTALS} | given).files) == {OUT: TOTALS.encode()}
    first = next(iter(given))
    changed = seen(told, {OUT: TOTALS, first: "another"}).files
    assert dict(changed) == {OUT: TOTALS.encode(), first: b"another"}


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("static:runs-as-root", ["guarded"]),
        ("static:imports-work", ["guarded"]),
        ("static:swallowed", []),
        ("filling:filled", []),
    ],
)
def test_what_is_only_suspected_is_mended_where_a_way_names_it(code: str, names: list[str]) -> None:
    suspected = finding("VERIFIER-TOO-WEAK", "tests/check.py", code=code)
    assert [way.name for way in ways.hardening(suspected)] == names


def test_programs_past_the_kit_run_as_the_agent() -> None:
    check = "import subprocess\nimport os\n\n\ndef checks(task):\n    os.system('x')\n    yield 1\n"
    draft = task(check)
    change = made(isolating.guarded(draft, WEAK, seen(draft)))
    text = change.tests["check.py"].data.decode()
    assert "import guarded as subprocess" in text and "__import__('guarded').system('x')" in text
    assert "guarded.py" in change.tests
    assert "past the kit" in str(isolating.guarded(task(RIGHT), WEAK, seen(draft)))


def test_a_shared_verdict_gets_a_box_of_its_own_and_a_shield(tmp_path: Path) -> None:
    draft = imported(tmp_path, "f", "", "'x'")
    assert draft.foreign is not None
    shared = draft.model_copy(
        update={"foreign": draft.foreign.model_copy(update={"grading": "shared", "stale": True})}
    )
    change = made(isolating.fresh(shared, WEAK, seen(shared)))
    assert change.foreign is not None
    assert (change.foreign.grading, change.foreign.stale) == ("fresh", False)
    again = made(isolating.shielded(change, WEAK, seen(change)))
    script = again.tests["test.sh"].data.decode()
    assert script.startswith("#!/bin/bash\nunset PYTHONPATH") and "--confcutdir=/tests" in script
    assert "already" in str(isolating.shielded(again, WEAK, seen(again)))
    named = made(
        isolating.declared(
            _told(change, "/srv/out/x.txt"), WEAK, seen(_told(change, "/srv/out/x.txt"))
        )
    )
    assert "/srv/out" in named.outputs


def _told(draft: TaskDraft, path: str) -> TaskDraft:
    return draft.model_copy(update={"instruction": f"{draft.instruction}And `{path}`.\n"})


# -- mismatches, and what drifts ---------------------------------------------------------------


def test_tests_read_the_file_that_is_asked_for() -> None:
    draft = task(RIGHT.replace("totals.txt", "final_totals.txt"))
    left = {OUT: TOTALS, "/home/agent/final_totals.txt": TOTALS}
    change = made(matching.renamed(draft, UNEQUAL, seen(draft, left)))
    assert change.tests["check.py"].data == RIGHT.encode()
    assert "no other file" in str(matching.renamed(task(), UNEQUAL, seen(task())))


def test_a_check_of_form_is_taken_back_and_most_checks_never_are() -> None:
    draft = task()
    some = seen(draft, failed=("layout",), checks=4)
    assert facts_of(made(matching.repealed(draft, UNEQUAL, some)))["repealed"] == ["layout"]
    most = seen(draft, failed=("a", "b"), checks=4)
    assert "more than a form" in str(matching.repealed(draft, UNEQUAL, most))


def test_clocks_stand_and_installs_are_baked(tmp_path: Path) -> None:
    drift = finding("OTHER", "tests/check.py", code="repeating:clock + 400 days")
    assert facts_of(made(steadying.steadied(task(), drift, seen(task()))))["still"] is True
    draft = imported(tmp_path, "b", "", "'x'", **{"tests/more.sh": "apt-get install -y jq\necho\n"})
    change = made(steadying.baked(draft, drift, seen(draft)))
    assert "jq" in change.environment.packages
    assert b"apt-get" not in change.tests["more.sh"].data


# -- what a model may change -------------------------------------------------------------------


def refused(label: Label, before: TaskDraft, found: Finding, **update: Any) -> str:
    look = seen(before, failed=update.pop("failed", ()))
    return policy.trouble(label, before, before.model_copy(update=update), found, look)


def with_check(check: str) -> FileTree:
    return FileTree({**task().tests, "check.py": check})


@pytest.mark.parametrize(
    ("check", "reason"),
    [
        (EXISTS, "nothing was changed"),
        (RIGHT, "a check was dropped or renamed: Check 'totals are there'"),
        ("def checks(task):\n    return ()\n", "a check was dropped"),
        (f"{EXISTS}    yield Check('more', 0.5)\n", ""),
    ],
)
def test_a_weak_verifier_loses_no_check(check: str, reason: str) -> None:
    assert refused("VERIFIER-TOO-WEAK", task(EXISTS), WEAK, tests=with_check(check)).startswith(
        reason
    )


def test_other_sides_stay_as_they_are() -> None:
    weak, files = "VERIFIER-TOO-WEAK", {"opt/x/totals.txt": TOTALS}
    more = with_check(f"{EXISTS}    yield Check('more', 0.5)\n")
    for update, reason in (
        ({"instruction": "Do as you like.\n"}, "the instruction was changed"),
        ({"solution": FileTree({"solve.sh": "true\n"})}, "the reference was changed"),
        ({"environment": task(files={k: v.encode() for k, v in files.items()}).environment},
         "/opt/x/totals.txt was put into the image"),
        ({"environment": task().environment.model_copy(update={"files": FileTree()})},
         "/home/agent/orders.csv was taken out"),
    ):  # fmt: skip
        assert refused(weak, task(EXISTS), WEAK, tests=more, **update).startswith(reason)


@pytest.mark.parametrize(
    "line",
    [
        "    yield Check('own', float(text != open('/tests/data/totals.txt').read()))\n",
        "    yield Check('own', float('appended' not in text and 'leak' not in text))\n",
    ],
)
def test_a_leak_is_not_mended_by_asking_for_a_difference(line: str) -> None:
    draft = task(files={"opt/old/totals.txt": TOTALS.encode()})
    said = refused("ANSWER-LEAK", draft, LEAK, tests=with_check(RIGHT + line))
    assert "differs from what leaked" in said


def test_what_is_changed_in_place_is_an_answer_as_well() -> None:
    place, mended = "/home/agent/orders.csv", "7,sold,9000-mended\n"
    draft = task()
    change = draft.model_copy(
        update={"instruction": f"{draft.instruction}Add 7,sold,9000-mended\n"}
    )
    look = seen(draft, {place: mended})
    assert place in look.target.there
    said = policy.trouble("INSTR-VERIFIER-MISMATCH", draft, change, UNEQUAL, look)
    assert said == "the instruction gives the answer away: 7,sold,9000-mended"


def test_an_instruction_may_say_more_and_never_less_nor_the_answer() -> None:
    label: Label = "INSTR-VERIFIER-MISMATCH"
    text = task().instruction
    for new, reason in (
        (f"{text}Leave `.awk` beside it.\n", ""),
        ("Write the totals.\n", "the instruction no longer says"),
        (f"{text}{'More and more of it. ' * 60}\n", "the instruction became another one"),
    ):
        assert refused(label, task(), UNEQUAL, instruction=new).startswith(reason)
    secret = task(secrets=("swordfish-42",))
    said = refused(label, secret, UNEQUAL, instruction=f"{text}It is swordfish-42.\n")
    assert "gives the answer away" in said
    looser = with_check("def checks(task):\n    yield 1\n")
    assert "a check was dropped" in refused(label, task(), UNEQUAL, tests=looser)
    assert refused(label, task(), UNEQUAL, tests=looser, failed=("totals",)) == ""
