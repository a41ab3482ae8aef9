"""The auditor on real containers: planted defects are found, clean tasks are not accused.

ENVGEN_DEFECTS says how many tasks of each kind are planted, with as many clean ones; without it
a few kinds are tried once.
"""

import os
from typing import Any

import pytest

from envgen.audit.defects import KINDS, benchmark
from envgen.audit.defects.benchmark import Result
from envgen.kit import Kit
from envgen.pipeline import Stop
from tests.conftest import Do

pytestmark = pytest.mark.box

EACH = int(os.environ.get("ENVGEN_DEFECTS", "0"))
FEW = ("existence", "layer-only", "renamed-output", "sorted-input")


@pytest.fixture(scope="module")
def results(do: Do[Any], tmp_path_factory: pytest.TempPathFactory) -> list[Result]:
    from tests.conftest import opened

    if EACH:
        cases = list(benchmark.cases(EACH, EACH * len(KINDS)))
    else:
        cases = list(benchmark.cases(1, 2, kinds=FEW))

    async def measured(kit: Kit) -> list[Result]:
        return [result async for result in benchmark.measured(cases, kit, Stop())]

    for kit in opened(tmp_path_factory.mktemp("defects") / "run", do):
        found: list[Result] = do(measured(kit))
    return found


def told(results: list[Result]) -> str:
    return "\n".join(
        f"{r.case.kind} in {r.case.family} {r.case.spec.slug}: {r.gate or r.label}" for r in results
    )


def test_the_figures_are_what_is_promised(results: list[Result]) -> None:
    found = benchmark.figures(results)
    print(found, benchmark.confusion(results), sep="\n")
    assert benchmark.kept(found), told(results)
    assert found.gated <= len(results) / 20, told(results)


def test_what_is_found_is_proven(results: list[Result]) -> None:
    for result in results:
        if result.report and result.label != "CLEAN":
            worst = [f for f in result.report.findings if f.label == result.label and f.proven]
            assert worst, result.case.kind


def test_clean_tasks_have_no_proven_finding_and_kill_the_mutants(results: list[Result]) -> None:
    clean = [r.report for r in results if r.case.truth == "CLEAN" and r.report]
    assert clean
    assert [(r.slug, f.code) for r in clean for f in r.findings if f.proven] == []
    mutants = sum(report.mutants for report in clean)
    survivors = [(r.slug, name) for r in clean for name in r.survivors]
    assert mutants and 1 - len(survivors) / mutants >= 0.95, survivors
