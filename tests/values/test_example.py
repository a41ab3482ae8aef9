"""Few-shot examples for the verifier call: of the same kind, near in the other axes, bounded."""

import pytest

from envgen import axes
from envgen.authors.llm.example import CHECK_CHARS, INSTRUCTION_CHARS, example_of, trimmed
from envgen.authors.procedural import chosen

CATALOGUE = axes.load(None)


@pytest.mark.parametrize("kind", CATALOGUE.names("verifier"))
def test_every_kind_has_an_example_that_uses_its_helper(kind: str) -> None:
    support = [{"verifier": {kind}}]
    specs = [axes.spec_of(row) for row in axes.sample(CATALOGUE, 0, 12, support=support)]
    for spec in specs:
        found = example_of(spec)
        assert found is not None
        assert kind in found.check
        assert "def checks(task" in found.check
        assert 500 < len(found.instruction) < INSTRUCTION_CHARS + 20
        assert len(found.check) < CHECK_CHARS + 20
        assert example_of(spec) is found


def test_the_nearest_family_is_chosen() -> None:
    block = chosen(("ledger_reports",))[0].realises
    spec = axes.spec_of(next(axes.sample(CATALOGUE, 0, 1, support=[block])))
    found = example_of(spec)
    assert found is not None
    assert found.family == "ledger_reports"


def test_texts_are_cut_at_a_whole_line() -> None:
    assert trimmed("a\nb\n", 10) == "a\nb\n"
    assert trimmed("one\ntwo\nthree\n", 9) == "one\ntwo\n[cut here]\n"
