"""The audits of a run: what is written, that it repeats, and findings executed once more."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from envgen import auditing, config, pages, runs
from envgen.audit import verdict
from envgen.authors import procedural
from envgen.errors import HostDiskFull, Misconfigured
from envgen.export import audits, parquet
from envgen.files import FileTree
from envgen.kit import Bases, Kit
from envgen.ledger import Ledger
from envgen.pipeline import Stop, produce
from envgen.records import TaskSpec
from envgen.sandbox import Recorded
from tests.audit.conftest import OUTPUTS, Paying, Pays

SETTINGS = ["author.families=[ledger_reports]", "sample.n=4"]


@pytest.fixture
def folder(tmp_path: Path) -> runs.RunFolder:
    found = runs.RunFolder(tmp_path / "run")
    runs.draw(found, config.load(None, SETTINGS), "procedural")
    return found


@pytest.fixture
def specs(folder: runs.RunFolder) -> list[TaskSpec]:
    from envgen import axes

    return axes.read_specs(folder.specs)


@pytest.fixture
def opened(folder: runs.RunFolder, specs: list[TaskSpec]) -> Iterator[Callable[..., Kit]]:
    """`opened(pays, folder)`: a kit whose engine knows the references and the alternatives."""
    ledgers = []
    made = [procedural.composition(s, procedural.chosen(("ledger_reports",))[0]) for s in specs]
    right = {one.solution for one in made} | {tree for one in made for tree in one.valid.values()}

    def make(pays: Pays, place: Path = folder.path) -> Kit:
        ledger = Ledger(place)
        ledgers.append(ledger)
        engine = Paying(ledger.blobs, pays, right.__contains__)
        return Kit(config.load(None, SETTINGS), Recorded(engine, ledger), Bases(engine))

    yield make
    for ledger in ledgers:
        ledger.close()


def honest(tree: FileTree | None, outputs: dict[str, bytes]) -> float:
    return float(outputs == OUTPUTS)


def forgeable(tree: FileTree | None, outputs: dict[str, bytes]) -> float:
    forged = (
        tree is not None and "forge.sh" in tree and "plant_late" in tree["solve.sh"].data.decode()
    )
    return 1.0 if forged else honest(tree, outputs)


def test_a_run_is_audited_and_its_manifest_says_so(
    folder: runs.RunFolder, specs: list[TaskSpec], opened: Callable[..., Kit], do: Any
) -> None:
    kit = opened(honest)
    do(runs.finish(folder, specs, kit, Stop()))
    assert {row["label"] for row in parquet.read(folder.manifest)} == {None}
    tally = do(auditing.audit_all(folder, specs, kit, Stop()))
    assert (tally.kept, dict(tally.rejected)) == (4, {})
    rows = list(parquet.read(folder.manifest))
    assert [row["label"] for row in rows] == ["CLEAN"] * 4
    assert {row["audit_policy"] for row in rows} == {"proven"}
    reports = list(audits.read(folder.audits))
    assert [r.slug for r in reports] == [s.slug for s in sorted(specs, key=lambda s: s.index)]
    before = folder.manifest.read_bytes(), folder.audits.read_bytes()
    made = kit.sandbox.ledger.made
    do(runs.finish(folder, specs, kit, Stop()))
    do(auditing.audit_all(folder, specs, kit, Stop()))
    assert (folder.manifest.read_bytes(), folder.audits.read_bytes()) == before
    assert kit.sandbox.ledger.made == made


def test_a_forgeable_run_is_rejected_with_a_receipt_that_can_be_executed_again(
    folder: runs.RunFolder,
    specs: list[TaskSpec],
    opened: Callable[..., Kit],
    tmp_path: Path,
    do: Any,
) -> None:
    kit = opened(forgeable)
    tally = do(auditing.audit_all(folder, specs, kit, Stop()))
    assert dict(tally.rejected) == {"VERIFIER-TOO-WEAK": 4}
    found = auditing.summary(folder, "proven")
    assert (found["audited"], len(found["rejected"])) == (4, 4)
    proven = [f for f in found["findings"] if f["proven"]]
    assert {f["code"] for f in proven} == {"forging:late"}
    wanted = auditing.known(folder, proven[0]["finding"])
    assert wanted.trial is not None and wanted.trial.reward == 1.0
    spec = next(s for s in specs if s.slug == wanted.report.slug)
    task = do(produce(spec, kit))
    for pays, reward in ((forgeable, 1.0), (honest, 0.0)):  # a verifier that was mended since
        fresh = opened(pays, tmp_path / f"again-{reward}")
        fresh.sandbox.engine.images.add(task.image.ref)  # type: ignore[attr-defined]
        again = do(auditing.replayed(task, wanted, kit.sandbox.blobs, fresh))
        assert (again.reward, fresh.sandbox.ledger.recalled) == (reward, 0)


def test_the_columns_are_what_the_report_says(
    folder: runs.RunFolder, specs: list[TaskSpec], opened: Callable[..., Kit], do: Any
) -> None:
    do(auditing.audit_all(folder, specs, opened(forgeable), Stop()))
    reports = {r.slug: r for r in audits.read(folder.audits)}
    for row in pq.read_table(folder.audits).to_pylist():
        report = reports[row["task"]]
        assert row["label"] == verdict.label(report, "proven")
        assert row["rejected"] == verdict.rejected(report, "proven")
        assert [f["code"] for f in row["findings"]] == [f.code for f in report.findings]
        assert [t["reward"] for t in row["trials"]] == [t.reward for t in report.trials]
        assert all(f["proof"] for f in row["findings"] if f["proven"])


def test_a_name_that_is_no_finding_is_refused(
    folder: runs.RunFolder, specs: list[TaskSpec], opened: Callable[..., Kit], do: Any
) -> None:
    with pytest.raises(Misconfigured, match="run `envgen audit`"):
        auditing.known(folder, "x")
    do(auditing.audit_all(folder, specs, opened(honest), Stop()))
    with pytest.raises(Misconfigured, match="0 findings have a name that begins with 'zz'"):
        auditing.known(folder, "zz")


@pytest.mark.parametrize("after", [0, 7, 23, 61])
def test_an_audit_that_was_broken_off_goes_on_where_it_was(
    folder: runs.RunFolder,
    specs: list[TaskSpec],
    opened: Callable[..., Kit],
    tmp_path: Path,
    do: Any,
    after: int,
) -> None:
    whole = runs.RunFolder(tmp_path / "whole")
    kit = opened(honest, whole.path)
    do(auditing.audit_all(whole, specs, kit, Stop()))
    paid = kit.sandbox.ledger.made

    first = opened(honest)
    engine, left = first.sandbox.engine, [after]
    answer = engine.script  # type: ignore[attr-defined]

    def until(job: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise HostDiskFull("no room left")
        return answer(job)

    engine.script = until  # type: ignore[attr-defined]
    tally = do(auditing.audit_all(folder, specs, first, Stop()))
    assert tally.unfinished == len(specs) if after < 23 else tally.unfinished > 0
    engine.script = answer  # type: ignore[attr-defined]
    tally = do(auditing.audit_all(folder, specs, first, Stop()))
    assert tally.kept == len(specs)
    assert folder.audits.read_bytes() == whole.audits.read_bytes()
    assert first.sandbox.ledger.made == paid  # nothing was executed twice


def test_the_page_of_a_task_shows_attack_reward_and_receipt_and_no_control_characters(
    folder: runs.RunFolder,
    specs: list[TaskSpec],
    opened: Callable[..., Kit],
    do: Any,
    capsys: pytest.CaptureFixture[str],
) -> None:
    do(auditing.audit_all(folder, specs, opened(forgeable), Stop()))
    report = next(iter(audits.read(folder.audits)))
    pages.audit_page(report, "Do this\x1b[31m now\u202e.")
    shown = capsys.readouterr().out
    assert "Do this[31m now." in shown
    assert "PROVEN VERIFIER-TOO-WEAK" in shown and "forging:late" in shown
    assert "(cd . && . /solution/plant_late.sh)" in shown
    finding = next(f for f in report.findings if f.proven)
    assert all(f"envgen ledger show {key}" in shown for key in finding.proof)
    assert audits.finding_id(report, finding) in shown
    assert not any(ord(c) < 32 and c != "\n" for c in shown)
