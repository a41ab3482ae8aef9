"""One task of the TMax form, audited as its maker grades it and as we do."""

from collections.abc import Iterator
from typing import Any

import pytest

from envgen import auditing, runs
from envgen.audit.verdict import label
from envgen.export import audits
from envgen.items import imported
from envgen.kit import Kit
from envgen.pipeline import Stop
from envgen.records import AuditReport, Import
from tests.conftest import opened
from tests.corpora import TMAX, written

pytestmark = pytest.mark.box


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory, do: Any) -> Iterator[Kit]:
    yield from opened(tmp_path_factory.mktemp("import-audit") / "run", do)


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory, kit: Kit, do: Any) -> dict[str, AuditReport]:
    """Both forms, through the audit of a run."""
    place = tmp_path_factory.mktemp("corpus")
    written(place / "tasks/task_000001_aa", TMAX)
    found = {}
    for form in ("shared", "fresh"):
        wanted = Import.model_validate(
            {"kind": "tmax", "folder": f"{place}/tasks", "grading": form}
        )
        folder = runs.RunFolder(place / form)
        folder.path.mkdir()
        tally = do(auditing.audit_all(folder, imported(wanted), kit, Stop()))
        assert (tally.done, tally.rejected["gates"], tally.unfinished) == (1, 0, 0), tally
        (found[form],) = audits.read(folder.audits)
    return found


def forged(report: AuditReport) -> dict[str, float | None]:
    """What each forgery that is proven earned."""
    rewards = {f"{t.probe}:{t.name}": t.reward for t in report.trials}
    proven = [f for f in report.findings if f.proven and f.code.startswith("forging:")]
    assert all(f.proof and f.label == "VERIFIER-TOO-WEAK" for f in proven)
    return {f.code: rewards[f.trial] for f in proven}


def test_every_known_forgery_of_the_wrapper_is_proven_in_the_shared_form(
    reports: dict[str, AuditReport],
) -> None:
    paid = forged(reports["shared"])
    # a folder where the test goes, a conftest.py beside it, a python3 that comes first
    assert {"forging:blocked", "forging:runner", "forging:tools"} <= paid.keys()
    assert set(paid.values()) == {1.0}
    assert label(reports["shared"], "proven") == "VERIFIER-TOO-WEAK"


def test_none_of_them_pays_in_the_fresh_form(reports: dict[str, AuditReport]) -> None:
    report = reports["fresh"]
    tried = {t.name: t.reward for t in report.trials if t.probe == "forging"}
    assert tried == {"all": 0.0}
    assert [f.code for f in report.findings if f.proven] == []
    assert label(report, "proven") == "CLEAN"


def test_what_needs_a_reference_says_that_there_is_none(reports: dict[str, AuditReport]) -> None:
    for report in reports.values():
        told = {t.name: (t.ran, t.note) for t in report.tiers}
        for name in ("mutating", "swapping", "repeating"):
            assert told[name] == (False, "not possible: no reference")
        assert report.mutants == 0
