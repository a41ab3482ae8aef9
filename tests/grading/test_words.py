"""What authors are told about the kit (its README) is true of the kit."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

import verifiers
from verifiers import Check, Task, exact_text

WORDS = (Path(__file__).parents[2] / "verifiers" / "README.md").read_text()
NOT_FUNCTIONS = {"verdict", "oracle", "candidate", "log"}


def rows() -> list[tuple[str, str]]:
    """(kind, names) for each code span of the table that calls something."""
    found, kind = [], ""
    for line in re.findall(r"^\|(.*)\|$", WORDS, re.MULTILINE):
        first, calls = line.split("|")[:2]
        kind = first.strip(" `") or kind
        for span in re.findall(r"`([^`]+)`", calls):
            names = re.findall(r"([A-Za-z_]\w*)\(", span)
            names += [] if names else re.findall(r"^[a-z_]\w*(?: [a-z_]\w*)*$", span)
            found += [(kind, name) for part in names for name in part.split()]
    return [(k, n) for k, n in found if k != "Kind" and n not in NOT_FUNCTIONS]


def test_the_table_speaks_of_all_kinds() -> None:
    kinds = {kind for kind, _ in rows()}
    assert kinds == {
        "exact_text", "metric_threshold", "adversarial_corpus", "fuzz_equivalence",
        "multi_protocol",
    }  # fmt: skip
    assert len(rows()) > 20


@pytest.mark.parametrize(("kind", "name"), rows())
def test_every_helper_is_there(kind: str, name: str) -> None:
    assert callable(getattr(importlib.import_module(f"verifiers.{kind}"), name))


def test_task_and_check_have_what_is_said() -> None:
    part = WORDS[WORDS.index("**Task.**") : WORDS.index("| Kind")]
    for name in re.findall(r"`([a-z_]+)\(", part):
        assert callable(getattr(Task, name)), name
    said = re.search(r"`run\((argv.*?)\)`", part, re.DOTALL)
    assert said
    names = re.findall(r"(\w+)(?==|,|$)", re.sub(r"=[^,]+", "=", said[1]))
    assert set(names) == set(inspect.signature(Task.run).parameters) - {"self"}
    assert Check._fields == ("name", "score", "detail", "weight", "must")


def test_rules_of_normalisation_are_the_kits() -> None:
    said = WORDS[WORDS.index("`normalise`:") :].split("\n\n")[0]
    names = {name for span in re.findall(r"`([a-z_ ]+)`", said)[1:] for name in span.split()}
    assert names == set(exact_text._RULES)


def test_the_example_is_a_check() -> None:
    code = re.search(r"```python\n(.*?)```", WORDS, re.DOTALL)
    assert code
    compile(code[1], "README.md", "exec")
    imported = re.search(r"from verifiers import (.*)", code[1])
    assert imported
    for name in imported[1].split(", "):
        assert hasattr(verifiers, name) or importlib.import_module(f"verifiers.{name}")
