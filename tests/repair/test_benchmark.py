"""What the repairer is measured with."""

import pytest

from envgen.audit.defects import KINDS
from envgen.config import RunConfig
from envgen.errors import Misconfigured
from envgen.repair import benchmark
from envgen.repair.ways import REPAIRABLE

MODEL = {"repair": {"model": "openai:local"}}


def test_every_kind_that_some_way_repairs_is_planted_and_no_other() -> None:
    found = {case.kind: case.truth for case in benchmark.cases(RunConfig(), 1)}
    assert found["date-bomb"] == "OTHER"
    assert set(found.values()) == set(REPAIRABLE)
    assert "missing-tool" not in found and "sorted-input" not in found


@pytest.mark.parametrize(
    ("profile", "labels"),
    [
        ("full", {"VERIFIER-TOO-WEAK", "ANSWER-LEAK", "INSTR-VERIFIER-MISMATCH"}),
        ("small", {"VERIFIER-TOO-WEAK"}),
    ],
)
def test_a_model_is_measured_on_what_it_is_asked_about(profile: str, labels: set[str]) -> None:
    config = RunConfig.model_validate({**MODEL, "author": {"profile": profile}})
    cases = list(benchmark.cases(config, 1))
    assert {case.truth for case in cases} == labels
    assert len(cases) == sum(kind.label in labels for kind in KINDS)


@pytest.mark.parametrize(
    ("profile", "kind"), [("full", "nope"), ("full", "missing-tool"), ("small", "answer-file")]
)
def test_a_kind_that_the_repairer_is_not_for_is_refused(profile: str, kind: str) -> None:
    config = RunConfig.model_validate({**MODEL, "author": {"profile": profile}})
    with pytest.raises(Misconfigured, match=f"--kind {kind}: kinds that .* existence, shape"):
        benchmark.cases(config, 1, ("loose", kind))


@pytest.mark.parametrize(("working", "held"), [(0, 0), (1, 0), (2, 1), (3, 1), (5, 2), (9, 3)])
def test_a_third_of_what_works_is_held_out_and_something_is_always_shown(
    working: int, held: int
) -> None:
    attacks = frozenset(("probe", f"attack{n}") for n in range(working))
    seen = benchmark.seen_of("existence", attacks)
    assert sum(not seen(*attack) for attack in attacks) == held
    assert all(
        seen(probe, f"{name}:{variant}") == seen(probe, name)
        for probe, name in attacks
        for variant in ("one", "two")
    )


def test_a_third_of_what_does_not_work_is_held_out_too() -> None:
    seen = benchmark.seen_of("existence", frozenset({("probe", "works")}))
    others = [seen("probe", f"fails{n}") for n in range(3000)]
    assert 900 < others.count(False) < 1100
    assert seen("probe", "works")
