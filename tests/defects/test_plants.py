"""Planted defects as values: they fit, they keep the rules of lint, and the figures count right."""

from collections import Counter
from functools import cache

import pytest

from envgen.audit.defects import ALL, KINDS, Kind, benchmark
from envgen.audit.defects.benchmark import Case, Result
from envgen.lint import lint
from envgen.records import AuditReport, Label, TaskDraft


@cache
def cases() -> tuple[Case, ...]:
    return tuple(benchmark.cases(2, 9, seed=3))


def sketch(case: Case) -> TaskDraft:
    return benchmark.sketch(case.spec, case.family)


def test_there_are_many_kinds_over_all_families_verifiers_and_provable_labels() -> None:
    assert len(KINDS) >= 12
    planted = [case for case in cases() if case.planted]
    assert {case.family for case in planted} == set(ALL)
    assert len({case.spec.verifier for case in planted}) == 5
    labels = {"VERIFIER-TOO-WEAK", "ANSWER-LEAK", "INSTR-VERIFIER-MISMATCH", "INSTR-ENV-MISMATCH",
              "TASK-TRIVIAL", "OTHER"}  # fmt: skip
    assert {kind.label for kind in KINDS} == labels  # ambiguity takes two readers


def test_the_cases_are_the_same_each_time() -> None:
    assert tuple(benchmark.cases(2, 9, seed=3)) == cases()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_plant_changes_its_task_and_keeps_the_rules(kind: Kind) -> None:
    of_kind = [case for case in cases() if case.kind == kind.name]
    assert of_kind, "no spec has room for it"
    for case in of_kind:
        clean = sketch(case)
        planted = kind.plant(clean)
        assert planted is not None and planted.digest != clean.digest
        lint(planted)
        assert planted == kind.plant(clean)


def test_clean_cases_are_spread_over_the_families() -> None:
    clean = [case for case in cases() if case.truth == "CLEAN"]
    assert sorted(case.family for case in clean) == sorted(ALL)
    assert all(case.planted is None for case in clean)


def result(truth: Label, given: Label, gate: str = "", survivors: tuple[str, ...] = ()) -> Result:
    case = next(c for c in cases() if c.truth == truth)
    report = AuditReport(
        task="", image="", slug=case.spec.slug, baseline=0.0, tiers=(), findings=(), trials=(),
        mutants=4, survivors=survivors,
    )  # fmt: skip
    return Result(case, given, gate, None if gate else report)


def test_figures_count_what_was_found_what_was_missed_and_what_was_accused() -> None:
    weak, leak = "VERIFIER-TOO-WEAK", "ANSWER-LEAK"
    results = [
        result("VERIFIER-TOO-WEAK", weak),
        result("VERIFIER-TOO-WEAK", leak),
        result("ANSWER-LEAK", leak),
        result("ANSWER-LEAK", "CLEAN"),
        result("ANSWER-LEAK", "CLEAN", gate="leak:found"),
        result("CLEAN", "CLEAN"),
        result("CLEAN", weak, survivors=("dropped:x",)),
    ]
    found = benchmark.figures(results)
    assert found == (3 / 4, 3 / 4, 2 / 3, 2, 4, 1, 8, 7 / 8)
    assert not benchmark.kept(found)
    assert benchmark.kept(found._replace(**benchmark.PROMISED))
    assert not benchmark.kept(found._replace(**benchmark.PROMISED | {"kill_rate": 0.94}))
    assert list(benchmark.noted(results)) == [(results[-1].case.spec.slug, "survives dropped:x")]
    table = benchmark.confusion(results)
    assert table["CLEAN"] == Counter({"CLEAN": 1, weak: 1})
    assert sum(map(sum, (row.values() for row in table.values()))) == len(results)


def test_nothing_measured_is_no_failure() -> None:
    assert benchmark.figures([]) == (1.0, 1.0, 1.0, 0, 0, 0, 0, 1.0)
