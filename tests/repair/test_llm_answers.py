"""Answers of a model behind the loopback server that are refused before anything runs."""

from pathlib import Path
from typing import Any

import pytest

from envgen import config
from envgen.kit import Bases, Kit
from envgen.ledger import Ledger
from envgen.llm.opened import open_models
from envgen.records import TaskDraft
from envgen.repair import asking
from envgen.sandbox import Recorded
from envgen.sandbox.scripted import Scripted
from tests.loopback import Ask, Loopback, Reply, openai
from tests.repair.test_llm_repairers import CASES, TASKS, Case, _blocks
from tests.repair.test_ways import LEAK, UNEQUAL, WEAK, seen

FOUND = {"weak": WEAK, "leaking": LEAK, "unequal": UNEQUAL}
READ = tuple(
    name
    for name, case in CASES.items()
    if case.refused and not case.refused.startswith(("gates", "what worked", "leaked bytes"))
)
"""The bad ones whose answer says enough."""


async def asked(case: Case, folder: Path) -> tuple[list[str], list[str], list[TaskDraft]]:
    """Reasons of refusal, questions, and the drafts that would have been executed."""
    questions, reasons, drafts = [], [], []

    def answer(ask: Ask) -> Reply:
        said = [m["content"] for m in ask.body["messages"]]
        questions.append(said[-1])
        return openai.answer(_blocks(case.files, said[1]))

    async def tried(draft: TaskDraft, keys: tuple[str, ...]) -> str:
        drafts.append(draft)
        return "it was executed"

    def refuse(reason: str, keys: tuple[str, ...]) -> None:
        assert len(keys) == 1
        reasons.append(reason)

    ledger, model = Ledger(folder), "openai:echo-1"
    async with Loopback(answer) as server:
        sets = [f"repair.model={model}", f"llm.base_url={server.url}/v1", "llm.no_budget=true"]
        settings = config.load(None, sets)
        async with open_models({"repairer": model}, settings.llm, ledger) as models:
            engine = Scripted(ledger.blobs)
            kit = Kit(settings, Recorded(engine, ledger), Bases(engine), models)
            draft, finding = TASKS[case.of](), FOUND[case.of]
            look = seen(draft, failed=("made with awk",) if case.of == "unequal" else ())
            talk = asking.Conversation(draft, finding.label, finding, look, kit)
            assert not await asking.asked(talk, 2, tried, refuse)
    ledger.close()
    return reasons, questions, drafts


@pytest.mark.parametrize("name", READ)
def test_a_bad_answer_is_refused_by_name_and_told_so(name: str, tmp_path: Path, do: Any) -> None:
    case = CASES[name]
    reasons, questions, drafts = do(asked(case, tmp_path / "run"))
    assert len(reasons) == 2 and all(case.refused in reason for reason in reasons), reasons
    assert drafts == []
    assert "| " in questions[1] and case.refused in questions[1]


@pytest.mark.parametrize("name", [name for name in CASES if name not in READ])
def test_what_cannot_be_told_from_the_answer_is_executed(
    name: str, tmp_path: Path, do: Any
) -> None:
    reasons, questions, drafts = do(asked(CASES[name], tmp_path / "run"))
    assert reasons == [] and len(drafts) == 2
    assert "| It was executed, and is not accepted. it was executed" in questions[1]


def test_a_question_holds_the_rules_and_quotes_what_others_wrote(tmp_path: Path, do: Any) -> None:
    _, questions, _ = do(asked(CASES["lazy"], tmp_path / "run"))
    assert "Every check that is there stays" in questions[0]
    assert '|     yield Check("totals are there"' in questions[0]
    assert "| `/home/agent/orders.csv` has one order a line." in questions[0]
