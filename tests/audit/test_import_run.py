"""A run of tasks that others made: what is listed, that it repeats, and that drafts are found."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from envgen import auditing, config, runs
from envgen.errors import HostDiskFull, Misconfigured
from envgen.export import audits, parquet
from envgen.files import FileTree
from envgen.items import Import, Imported, find, imported, items_of, start
from envgen.kit import Bases, Kit
from envgen.ledger import Ledger
from envgen.pipeline import Stop, produce
from envgen.records import BuiltTask, Rejection
from envgen.report import report
from envgen.report.facts import Step
from envgen.sandbox import Recorded
from tests.audit.conftest import Paying, Pays
from tests.corpora import DEFINITION, TMAX, written

BAD: dict[str, dict[str, str | bytes]] = {
    "task_2_image": {**TMAX, "container.def": DEFINITION.replace("ubuntu:22.04", "corp.example/x")},
    "task_4_file": {name: data for name, data in TMAX.items() if name != "test_final_state.py"},
}


@pytest.fixture
def corpus(tmp_path: Path) -> Import:
    """Two tasks that can be imported, between two that cannot."""
    place = tmp_path / "corpus"
    for name in ("task_1_good", "task_3_good"):
        written(place / name, TMAX)
    for name, files in BAD.items():
        written(place / name, files)
    return Import(kind="tmax", folder=str(place), grading="fresh")


@pytest.fixture
def folder(tmp_path: Path) -> runs.RunFolder:
    found = runs.RunFolder(tmp_path / "run")
    found.path.mkdir()
    return found


@pytest.fixture
def opened(folder: runs.RunFolder) -> Iterator[Callable[[Pays], Kit]]:
    ledgers = []

    def make(pays: Pays) -> Kit:
        ledgers.append(Ledger(folder.path))
        engine = Paying(ledgers[-1].blobs, pays)
        return Kit(config.load(None, []), Recorded(engine, ledgers[-1]), Bases(engine))

    yield make
    for ledger in ledgers:
        ledger.close()


def nothing(tree: FileTree | None, outputs: dict[str, bytes]) -> float:
    return 0.0


def anything(tree: FileTree | None, outputs: dict[str, bytes]) -> float:
    return 1.0


def test_both_kinds_of_rejection_are_listed_with_their_reasons(
    folder: runs.RunFolder, corpus: Import, opened: Callable[[Pays], Kit], do: Any
) -> None:
    items = start(folder, corpus)
    assert len(items) == 4
    kit = opened(nothing)
    gates = do(runs.finish(folder, items, kit, Stop()))
    assert (gates.kept, dict(gates.rejected)) == (2, {"import": 2})
    tally = do(auditing.audit_all(folder, items, kit, Stop()))
    assert (tally.kept, dict(tally.rejected)) == (2, {"gates": 2})
    found = auditing.summary(folder, "proven")
    assert (found["audited"], found["labels"]) == (2, {"CLEAN": 2})
    assert [(row["code"], row["detail"].partition(":")[2][:11]) for row in found["refused"]] == [
        ("import:base", "task_2_imag"),
        ("import:missing", "task_4_file"),
    ]
    assert {row["label"] for row in parquet.read(folder.manifest)} == {"CLEAN"}
    told = report(folder, config.load(None, []))
    assert told.funnel[:2] == (Step("specs", 0, 4), Step("import", 2, 2))


def test_a_second_audit_executes_nothing_and_writes_the_same(
    folder: runs.RunFolder, corpus: Import, opened: Callable[[Pays], Kit], do: Any
) -> None:
    kit, seen = opened(nothing), []
    start(folder, corpus)
    for _ in range(2):
        items = items_of(folder)  # as a later command finds them
        do(runs.finish(folder, items, kit, Stop()))
        do(auditing.audit_all(folder, items, kit, Stop()))
        files = (folder.manifest, folder.audits, folder.rejections)
        seen.append((kit.sandbox.ledger.made, *(path.read_bytes() for path in files)))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("after", [0, 3, 9])
def test_what_was_broken_off_goes_on_where_it_was(
    folder: runs.RunFolder, corpus: Import, opened: Callable[[Pays], Kit], do: Any, after: int
) -> None:
    kit, left = opened(nothing), [after]
    engine = kit.sandbox.engine
    answer = engine.script  # type: ignore[attr-defined]

    def until(job: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise HostDiskFull("no room left")
        return answer(job)

    engine.script = until  # type: ignore[attr-defined]
    start(folder, corpus)
    tally = do(auditing.audit_all(folder, items_of(folder), kit, Stop()))
    assert tally.unfinished == 2
    broken = kit.sandbox.ledger.made
    engine.script = answer  # type: ignore[attr-defined]
    tally = do(auditing.audit_all(folder, items_of(folder), kit, Stop()))
    assert (tally.kept, tally.unfinished) == (2, 0)
    assert kit.sandbox.ledger.made > broken >= after
    whole = kit.sandbox.ledger.made
    do(auditing.audit_all(folder, items_of(folder), kit, Stop()))
    assert kit.sandbox.ledger.made == whole


def test_a_finding_of_an_imported_task_finds_its_draft_again(
    folder: runs.RunFolder, corpus: Import, opened: Callable[[Pays], Kit], do: Any
) -> None:
    kit = opened(anything)
    tally = do(auditing.audit_all(folder, start(folder, corpus), kit, Stop()))
    assert dict(tally.rejected) == {"VERIFIER-TOO-WEAK": 2, "gates": 2}
    worst = auditing.summary(folder, "proven")["findings"]
    chosen = next(f for f in worst if f["proven"])
    wanted = auditing.known(folder, chosen["finding"])
    assert [place.file for place in wanted.finding.places] == ["tests/test.sh"]
    item = find(items_of(folder), wanted.report.slug)
    assert not isinstance(item, Rejection)
    task = do(produce(item, kit))
    assert isinstance(task, BuiltTask) and task.draft.digest == wanted.report.task
    with pytest.raises(Misconfigured, match="no longer holds import-gone"):
        find(items_of(folder), "import-gone")


def test_what_has_no_reference_says_so_in_the_tiers(
    folder: runs.RunFolder, corpus: Import, opened: Callable[[Pays], Kit], do: Any
) -> None:
    do(auditing.audit_all(folder, start(folder, corpus), opened(nothing), Stop()))
    for one in audits.read(folder.audits):
        assert {t.name: t.note for t in one.tiers if not t.ran} == dict.fromkeys(
            ("mutating", "swapping", "repeating", "resolving of paths"),
            "not possible: no reference",
        )
        assert {t.probe for t in one.trials} <= {"filling", "emptying", "forging", "copying"}


def test_what_a_run_is_made_of_is_kept_with_it(folder: runs.RunFolder, corpus: Import) -> None:
    wanted = corpus.model_copy(update={"base_map": (("corp.example/x", "security+jq"),)})
    start(folder, wanted)
    found = items_of(folder)
    assert isinstance(found, Imported)
    assert found.options == imported(wanted).options
    assert found.options.base_map == {"corp.example/x": "security+jq"}
    assert [isinstance(item, Rejection) for item in found] == [False, False, False, True]


def test_specs_and_imports_do_not_mix(folder: runs.RunFolder, corpus: Import) -> None:
    settings = config.load(None, ["sample.n=2"])
    start(folder, corpus)
    with pytest.raises(Misconfigured, match="of tasks that were imported: use another --run"):
        runs.draw(folder, settings, "procedural")
    folder.imported.unlink()
    runs.draw(folder, settings, "procedural")
    with pytest.raises(Misconfigured, match="is of specs: use another --run to import"):
        start(folder, corpus)
    folder.imported.write_text("{}")
    with pytest.raises(Misconfigured, match="damaged: import the tasks again"):
        items_of(folder)
