"""The llm author on real containers: a good task, a mended one, one that never becomes good."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from envgen import config
from envgen.build import GATES
from envgen.files import File, FileTree
from envgen.kit import Kit
from envgen.llm import Asked
from envgen.llm.scripted import Scripted
from envgen.pipeline import produce
from envgen.records import BuiltTask, Rejection
from tests.pipeline.writer import BRIEF, JUDGE, SOLVE, spec_for, step_of, writer

pytestmark = pytest.mark.box
Do = Callable[[Awaitable[Any]], Any]
SPEC = spec_for()
SETTINGS = config.load(None, ["author.name=llm", "author.model=openai:toy"])


def written_by(kit: Kit, model: Scripted) -> Kit:
    return replace(kit, config=SETTINGS, llm={"author": Asked(model, kit.sandbox.ledger)})


def test_a_good_task_passes_every_gate(kit: Kit, do: Do) -> None:
    model = Scripted(writer())
    task = do(produce(SPEC, written_by(kit, model)))
    assert isinstance(task, BuiltTask), task
    assert tuple(evidence.gate for evidence in task.evidence) == GATES
    assert (task.baseline, task.draft.revision, len(model.asked)) == (0.0, 0, 4)


def test_a_crashing_solution_and_a_lenient_verifier_are_mended(kit: Kit, do: Do) -> None:
    crashing = FileTree({"solve.sh": File(b"#!/bin/bash\ncat nowhere.csv\nexit 7\n", 0o755)})
    lenient = FileTree(
        {
            "check.py": "from verifiers import Check\n\n\ndef checks(task):\n"
            "    yield Check('anything', 1.0)\n"
        }
    )
    model = Scripted(
        writer(
            solution=lambda round: SOLVE if round else crashing,
            verifier=lambda round: JUDGE if round else lenient,
        )
    )
    task = do(produce(SPEC, written_by(kit, model)))
    assert isinstance(task, BuiltTask), task
    assert task.draft.revision == 2
    steps = [step_of(request) for request in model.asked]
    assert steps[4:] == ["verifier", "solution"]
    assert "accepts the untouched container" in model.asked[4].messages[-1].text
    assert "cat: nowhere.csv: No such file or directory" in model.asked[5].messages[-1].text


def test_what_never_becomes_good_is_rejected_with_its_receipts(kit: Kit, do: Do) -> None:
    broken = FileTree({"check.py": "def checks(task):\n    yield 1 / 0\n"})
    model = Scripted(writer(verifier=lambda round: broken))
    task = do(produce(SPEC, written_by(kit, model)))
    assert isinstance(task, Rejection)
    assert task.code == "noop:invalid"
    assert "ZeroDivisionError" in task.detail
    assert all(kit.sandbox.ledger.knows(key) for key in task.proof)
    assert [step_of(request) for request in model.asked][4:] == ["verifier", "verifier"]


def test_material_is_drawn_and_its_truth_reaches_the_verifier(kit: Kit, do: Do) -> None:
    serial = {"name": "order_id", "holds": "serial", "low": 1, "high": 0, "choices": []}
    state = {"name": "state", "holds": "choice", "low": 0, "high": 0, "choices": ["open", "shut"]}
    table = {"path": "orders.csv", "form": "csv", "rows": 300, "columns": [serial, state]}
    table |= {"missing": 0, "repeated": 0, "damaged": 0}
    plan = {"kind": "text_only", "files": [], "tables": [table]}
    said = BRIEF | {"files": [], "tables": True}
    count = b"#!/bin/bash\ngrep -c ,open material/orders.csv > totals.txt\n"
    check = (
        "from verifiers import exact_text\n\n\ndef checks(task):\n"
        "    (table,) = task.truth['fixture']['tables']\n"
        "    open_ = table['columns']['state']['counts']['open']\n"
        "    yield exact_text.match('open', task.read_text('totals.txt'), str(open_))\n"
    )
    bad = json.dumps(plan | {"tables": []})
    model = Scripted(
        writer(
            brief=lambda round: json.dumps(said),
            fixture=lambda round: json.dumps(plan) if round else bad,
            files=lambda round: FileTree({"instruction.md": "Count the open orders.\n"}),
            solution=lambda round: FileTree({"solve.sh": File(count, 0o755)}),
            verifier=lambda round: FileTree({"check.py": check}),
        )
    )
    task = do(produce(SPEC, written_by(kit, model)))
    assert isinstance(task, BuiltTask), task
    assert [step_of(request) for request in model.asked] == [
        "brief", "fixture", "fixture", "files", "solution", "verifier",
    ]  # fmt: skip
    assert "there are no files and no tables" in model.asked[2].messages[-1].text
    (path,) = task.draft.environment.files
    assert path == "home/agent/material/orders.csv"
    shown = "\n".join(message.text for message in model.asked[4].messages)
    assert "home/agent/material/orders.csv" in shown
    assert '"counts"' not in shown
    assert '"counts"' in model.asked[5].messages[-1].text
