"""One task in the form that can be forged and in the one that cannot, audited side by side."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from envgen import auditing, runs
from envgen.audit.verdict import label
from envgen.export import audits
from envgen.items import Import, imported
from envgen.kit import Kit
from envgen.pipeline import Stop
from envgen.records import AuditReport
from tests.conftest import opened
from tests.corpora import HARBOR, TMAX, separate, written

pytestmark = pytest.mark.box


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory, do: Any) -> Iterator[Kit]:
    yield from opened(tmp_path_factory.mktemp("import-audit") / "run", do)


def audit_of(wanted: Import, place: Path, kit: Kit, do: Any) -> AuditReport:
    """Of the one task there, through the audit of a run."""
    folder = runs.RunFolder(place)
    place.mkdir()
    tally = do(auditing.audit_all(folder, imported(wanted), kit, Stop()))
    assert (tally.done, tally.rejected["gates"], tally.unfinished) == (1, 0, 0), tally
    (report,) = audits.read(folder.audits)
    return report


@pytest.fixture(scope="module")
def tmax(tmp_path_factory: pytest.TempPathFactory, kit: Kit, do: Any) -> dict[str, AuditReport]:
    """Of the TMax form: as its maker grades it, and as we do."""
    place = tmp_path_factory.mktemp("tmax")
    tasks = str(written(place / "tasks/task_000001_aa", TMAX).parent)
    shared = Import(kind="tmax", folder=tasks, grading="shared")
    fresh = Import(kind="tmax", folder=tasks, grading="fresh")
    return {
        "shared": audit_of(shared, place / "shared", kit, do),
        "fresh": audit_of(fresh, place / "fresh", kit, do),
    }


@pytest.fixture(scope="module")
def harbor(tmp_path_factory: pytest.TempPathFactory, kit: Kit, do: Any) -> dict[str, AuditReport]:
    """Of the Harbor form, with an agent that is not root: shared, and with a verifier apart."""
    place = tmp_path_factory.mktemp("harbor")
    toml = str(HARBOR["task.toml"]).replace("[agent]\n", '[agent]\nuser = "visitor"\n')
    text = "Write the number of failed visits in `~/visits.log` to `~/count.txt`.\n"
    files = {**HARBOR, "task.toml": toml, "instruction.md": text}
    forms = {"shared": files, "separate": separate(files, "/home/visitor")}
    found = {}
    for form, made in forms.items():
        written(place / f"{form}-tasks/one", made)
        wanted = Import(kind="harbor", folder=f"{place}/{form}-tasks")
        found[form] = audit_of(wanted, place / form, kit, do)
    return found


def forged(report: AuditReport) -> dict[str, float | None]:
    """What each forgery that is proven earned."""
    rewards = {f"{t.probe}:{t.name}": t.reward for t in report.trials}
    proven = [f for f in report.findings if f.proven and f.code.startswith("forging:")]
    assert all(f.proof and f.label == "VERIFIER-TOO-WEAK" for f in proven)
    return {f.code: rewards[f.trial] for f in proven}


def test_every_known_forgery_of_the_wrapper_is_proven_in_the_shared_form(
    tmax: dict[str, AuditReport],
) -> None:
    paid = forged(tmax["shared"])
    # a folder where the test goes, a conftest.py beside it, a python3 that comes first
    assert {"forging:blocked", "forging:runner", "forging:tools"} <= paid.keys()
    assert set(paid.values()) == {1.0}
    assert label(tmax["shared"], "proven") == "VERIFIER-TOO-WEAK"


def test_none_of_them_pays_in_the_fresh_form(tmax: dict[str, AuditReport]) -> None:
    report = tmax["fresh"]
    tried = {t.name: t.reward for t in report.trials if t.probe == "forging"}
    assert tried == {"all": 0.0}
    assert [f.code for f in report.findings if f.proven] == []
    assert label(report, "proven") == "CLEAN"


def test_what_needs_a_reference_says_that_there_is_none(tmax: dict[str, AuditReport]) -> None:
    for report in tmax.values():
        told = {t.name: (t.ran, t.note) for t in report.tiers}
        for name in ("mutating", "swapping", "repeating"):
            assert told[name] == (False, "not possible: no reference")
        assert report.mutants == 0


def test_a_verifier_apart_is_not_forged_and_a_shared_one_is(
    harbor: dict[str, AuditReport],
) -> None:
    assert set(forged(harbor["shared"]).values()) == {1.0}
    assert label(harbor["shared"], "proven") == "VERIFIER-TOO-WEAK"
    assert [(f.code, f.message) for f in harbor["separate"].findings if f.proven] == []
    assert label(harbor["separate"], "proven") == "CLEAN"


def test_outputs_of_the_shared_form_are_not_graded_elsewhere(
    harbor: dict[str, AuditReport],
) -> None:
    told = {t.name: t.note for t in harbor["shared"].tiers if not t.ran}
    assert told == {"mutating": "not possible: graded where the agent worked"}
    assert harbor["shared"].mutants == 0
    assert (harbor["separate"].mutants, harbor["separate"].kill_rate) == (2, 1.0)
    for report in harbor.values():  # the reference's grade, under other circumstances
        assert [t.reward for t in report.trials if t.probe == "repeating"] == [1.0]


def test_an_answer_in_a_variable_of_the_image_is_a_leak(tmp_path: Path, kit: Kit, do: Any) -> None:
    files = separate(HARBOR, "/home/visitor")
    container = f"{files['environment/Dockerfile']}ENV EXPECTED_COUNT=2\n"
    text = "Write the number of failed visits in `/home/visitor/visits.log` to `count.txt` there.\n"
    made = {**files, "environment/Dockerfile": container, "instruction.md": text}
    written(tmp_path / "tasks/one", made)
    wanted = Import(kind="harbor", folder=str(tmp_path / "tasks"))
    report = audit_of(wanted, tmp_path / "run", kit, do)
    (finding,) = [f for f in report.findings if f.proven]
    assert (finding.label, finding.code) == ("ANSWER-LEAK", "copying:copied-next")
    assert "env:EXPECTED_COUNT" in finding.message
    assert finding.places[0].file == "environment/proc/self/environ"
