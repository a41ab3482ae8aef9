"""What the repairer is measured with."""

from envgen.repair import benchmark
from envgen.repair.ways import REPAIRABLE


def test_every_kind_that_some_way_repairs_is_planted_and_no_other() -> None:
    found = {case.kind: case.truth for case in benchmark.cases(1)}
    assert found["date-bomb"] == "OTHER"
    assert set(found.values()) == set(REPAIRABLE)
    assert "missing-tool" not in found and "sorted-input" not in found
