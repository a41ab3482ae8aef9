"""Mutants of captured outputs: what is changed, what is left alone, and that they repeat."""

import dataclasses
import json

import pytest

from envgen.audit import mutants
from envgen.audit.target import Target
from tests.audit.conftest import OUTPUTS, tarred, untarred

ALL = tarred(OUTPUTS)


def made(target: Target, most: int = 100) -> dict[str, dict[str, bytes]]:
    return {m.name: untarred(mutants.applied(m, ALL)) for m in mutants.mutants(target, ALL, most)}


def test_each_mutant_changes_one_file_that_is_asked_for(target: Target) -> None:
    found = made(target)
    for name, outputs in found.items():
        changed = [path for path, data in OUTPUTS.items() if outputs[path] != data]
        assert changed == [name.partition(":")[2]]
        assert outputs.keys() == OUTPUTS.keys()
    paths = {name.partition(":")[2] for name in found}
    assert paths == OUTPUTS.keys() - {"/home/agent/notes.md"}


def test_what_the_mutations_make(target: Target) -> None:
    found = made(target)
    table, facts = "/home/agent/rows.csv", "/home/agent/facts.json"
    assert found[f"emptied:{table}"][table] == b""
    assert found[f"flattened:{table}"][table] == b"id,value\na,1\nb,1\nc,1\nd,1\n"
    assert found[f"row-dropped:{table}"][table].count(b"\n") == 4
    assert found[f"value-changed:{table}"][table].count(b"\n") == 5
    assert json.loads(found[f"flattened:{facts}"][facts]) == {"most": 0, "least": 0}
    assert json.loads(found[f"value-changed:{facts}"][facts]) in (
        {"most": 15, "least": 1},
        {"most": 4, "least": 9},
    )


def test_equal_outputs_give_equal_mutants(target: Target) -> None:
    assert mutants.mutants(target, ALL, 100) == mutants.mutants(target, ALL, 100)


def test_few_mutants_are_spread_over_the_files_and_take_the_answer_away(target: Target) -> None:
    few = mutants.mutants(target, ALL, 3)
    assert [m.name.partition(":")[0] for m in few] == ["emptied"] * 3
    assert all(m.destructive for m in few)
    assert len({m.path for m in few}) == 3


def test_inputs_that_the_reference_left_alone_are_no_outputs(target: Target) -> None:
    outputs = tarred({"/home/agent/orders.csv": b"id,value\na,1\nb,2\n"})
    assert mutants.mutants(target, outputs, 10) == ()


@pytest.mark.parametrize(
    ("text", "spelled"),
    [("", b"0.10000000000000001"), ("Round to two decimals.", b"0.1\n")],
)
def test_figures_have_all_digits_where_nothing_is_said_of_them(
    target: Target, text: str, spelled: bytes
) -> None:
    facts = b'{"most": 0.1, "least": "0.2", "all": [3.0, -2.5e3]}'
    given = dataclasses.replace(target, instruction=target.instruction + text)
    other = mutants.rewritten(given, tarred({"/home/agent/facts.json": facts}))
    assert other is not None
    new = untarred(other)["/home/agent/facts.json"]
    assert spelled in new and b'"0.2"' in new and b"3.0" in new
    assert json.loads(new) == json.loads(facts)


def test_json_is_rewritten_with_the_same_meaning(target: Target) -> None:
    other = mutants.rewritten(target, ALL)
    assert other is not None
    files = untarred(other)
    changed = {path for path, data in OUTPUTS.items() if files[path] != data}
    assert changed == {"/home/agent/facts.json"}
    assert json.loads(files["/home/agent/facts.json"]) == {"most": 4, "least": 1}
