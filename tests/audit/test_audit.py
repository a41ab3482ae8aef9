"""The audit as a whole, on an engine that pays as it is told: what is tried, and what it proves."""

from collections.abc import Callable
from typing import Any

import pytest

from envgen.audit import audit
from envgen.audit.verdict import label, rejected
from envgen.files import FileTree
from envgen.kit import Kit
from envgen.records import AuditReport, TaskDraft
from tests.audit.conftest import OUTPUTS, Pays, strict, to_the_byte

Audited = Callable[..., AuditReport]


@pytest.fixture
def audited(draft: TaskDraft, paying: Callable[..., Kit], built: Any, do: Any) -> Audited:
    def run(pays: Pays, *sets: str, alternatives: Any = None, of: TaskDraft = draft) -> AuditReport:
        kit = paying(pays, *sets)
        report: AuditReport = do(audit(built(of, kit), kit, alternatives))
        return report

    return run


def test_a_sound_task_is_clean_and_kills_every_mutant(audited: Audited) -> None:
    report = audited(strict, "audit.noise=0", alternatives={})
    assert report.findings == ()
    assert (report.mutants, report.kill_rate) == (8, 1.0)
    assert {t.probe for t in report.trials} == {
        "filling", "emptying", "one_line", "forging", "mutating", "swapping", "repeating",
        "resolving",
    }  # fmt: skip


def test_a_verifier_that_pays_for_anything_is_proven_weak_by_the_weakest_attack(
    audited: Audited,
) -> None:
    report = audited(lambda tree, outputs: 1.0)
    attacks = [(t.probe, t.name) for t in report.trials if t.probe in ("filling", "forging")]
    assert attacks == [("filling", "filled")]  # whatever knows more proves nothing more
    assert label(report, "proven") == "VERIFIER-TOO-WEAK"
    assert report.kill_rate == 0.0
    worst = next(f for f in report.findings if f.code == "filling:filled")
    assert (worst.severity, worst.soundness, worst.exploitability) == (3, "accepts-wrong", "reward")
    assert len(worst.proof) == 2


def test_a_combined_attack_that_earns_something_is_split(audited: Audited) -> None:
    def pays(tree: FileTree | None, outputs: dict[str, bytes]) -> float:
        late = tree is not None and "plant_late" in tree["solve.sh"].data.decode()
        return 1.0 if late else strict(tree, outputs)

    report = audited(pays)
    forged = {f.code: f.exploitability for f in report.findings if f.code.startswith("forging")}
    assert forged == {"forging:late": "grading"}
    tried = [t.name for t in report.trials if t.probe == "forging"]
    assert tried == ["all", "reward", "hooks", "runner", "tools", "late", "links"]


def test_forgeries_that_only_work_together_are_one_finding(audited: Audited) -> None:
    def pays(tree: FileTree | None, outputs: dict[str, bytes]) -> float:
        script = tree["solve.sh"].data.decode() if tree else ""
        return 0.6 if "plant_late" in script and "plant_tools" in script else strict(tree, outputs)

    found = [f for f in audited(pays).findings if f.code.startswith("forging")]
    assert [(f.code, f.severity) for f in found] == [("forging:all", 2)]


@pytest.mark.parametrize(("reward", "found"), [(0.15, 0), (0.16, 1), (0.7, 1), (1.0, 1)])
def test_what_the_form_of_an_answer_earns_is_noise(
    audited: Audited, reward: float, found: int
) -> None:
    def pays(tree: FileTree | None, outputs: dict[str, bytes]) -> float:
        line = tree is not None and "LC_ALL=C cat" in tree["solve.sh"].data.decode()
        return reward if line else strict(tree, outputs)

    report = audited(pays)
    trivial = [f for f in report.findings if f.label == "TASK-TRIVIAL"]
    assert len(trivial) == found
    assert [f.severity for f in trivial] == {0.16: [1], 0.7: [2], 1.0: [3]}.get(reward, [])
    rewards = {t.name: t.reward for t in report.trials}
    assert rewards["copied"] == reward  # it is told all the same


def test_an_answer_in_the_image_is_a_leak_when_it_pays(audited: Audited, draft: TaskDraft) -> None:
    files = {**draft.environment.files, "var/lib/old/rows.csv": OUTPUTS["/home/agent/rows.csv"]}
    environment = draft.environment.model_copy(update={"files": FileTree(files)})

    def pays(tree: FileTree | None, outputs: dict[str, bytes]) -> float:
        took = (
            tree is not None and "plan.json" in tree and b"/var/lib/old" in tree["plan.json"].data
        )
        return 0.8 if took else strict(tree, outputs)

    report = audited(pays, of=draft.model_copy(update={"environment": environment}))
    assert label(report, "proven") == "ANSWER-LEAK"
    worst = next(f for f in report.findings if f.proven and f.label == "ANSWER-LEAK")
    assert worst.places[0].file == "environment/var/lib/old/rows.csv"


def test_a_valid_alternative_that_fails_is_a_mismatch(audited: Audited) -> None:
    other = FileTree({"solve.sh": "echo another way\n"})
    report = audited(to_the_byte, alternatives={"other": other})
    codes = [f.code for f in report.findings if f.label == "INSTR-VERIFIER-MISMATCH"]
    assert codes == ["swapping:other", "swapping:rewritten"]
    assert rejected(report, "proven") and not rejected(report, "report")


def test_a_small_mistake_that_passes_is_a_suspicion_and_a_missing_answer_a_proof(
    audited: Audited,
) -> None:
    def blind(tree: FileTree | None, outputs: dict[str, bytes]) -> float:
        return strict(tree, outputs | {"/home/agent/count.txt": b"17\n"})

    found = {f.code: f.proven for f in audited(blind).findings if f.code.startswith("mutating")}
    assert found == {
        "mutating:emptied:/home/agent/count.txt": True,
        "mutating:value-changed:/home/agent/count.txt": False,
    }


def test_the_rules_alone_run_nothing(audited: Audited) -> None:
    report = audited(strict, "audit.probes=false")
    assert report.trials == ()
    assert [(t.name, t.ran) for t in report.tiers] == [("static", True), ("probes", False)]


def test_a_second_audit_executes_nothing(
    draft: TaskDraft, paying: Callable[..., Kit], built: Any, do: Any
) -> None:
    kit = paying(strict)
    task = built(draft, kit)
    first = do(audit(task, kit))
    asked = kit.sandbox.engine.asked["run"]  # type: ignore[attr-defined]
    assert do(audit(task, kit)) == first
    assert kit.sandbox.engine.asked["run"] == asked  # type: ignore[attr-defined]
