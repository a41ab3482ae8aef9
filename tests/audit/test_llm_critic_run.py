"""A run with a critic behind a real server: canaries, the summary, a second run, dead letters."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from envgen import auditing, config, runs, tables
from envgen.audit.defects import canaries
from envgen.authors import procedural
from envgen.axes import read_specs
from envgen.export import audits
from envgen.files import FileTree
from envgen.kit import Bases, Kit
from envgen.ledger import Ledger
from envgen.letters import dead, retry
from envgen.llm.opened import open_models
from envgen.llm.scripted import Script
from envgen.pipeline import Stop
from envgen.records import Message, Request, TaskSpec
from envgen.sandbox import Recorded
from tests.audit.conftest import OUTPUTS, Paying
from tests.audit.critics import critic
from tests.loopback import Ask, Loopback, Reply, openai

SETTINGS = [
    "author.families=[ledger_reports]", "sample.n=2", "audit.critic=openai:toy",
    "llm.no_budget=true",
]  # fmt: skip


def served(script: Script) -> Any:
    """A scripted model as a server answers for it."""

    def answer(ask: Ask) -> Reply:
        told = tuple(Message(role=m["role"], text=m["content"]) for m in ask.body["messages"])
        schema = "{}" if "response_format" in ask.body else None
        said = script(Request(model="openai:toy", messages=told, answer_schema=schema))
        assert isinstance(said, str)
        return openai.answer(said)

    return answer


@pytest.fixture
def folder(tmp_path: Path) -> runs.RunFolder:
    found = runs.RunFolder(tmp_path / "run")
    runs.draw(found, config.load(None, SETTINGS), "procedural")
    return found


@pytest.fixture
def specs(folder: runs.RunFolder) -> list[TaskSpec]:
    return read_specs(folder.specs)


@asynccontextmanager
async def opened(
    folder: runs.RunFolder, specs: list[TaskSpec], server: Loopback
) -> AsyncIterator[Kit]:
    """A kit whose engine pays right work alone, and whose critic is behind the server."""
    made = [procedural.composition(s, procedural.chosen(("ledger_reports",))[0]) for s in specs]
    right = {one.solution for one in made} | {tree for one in made for tree in one.valid.values()}
    ledger = Ledger(folder.path)

    def honest(tree: FileTree | None, outputs: dict[str, bytes]) -> float:
        return float(outputs == OUTPUTS)

    settings = config.load(None, [*SETTINGS, f"llm.base_url={server.url}/v1"])
    engine = Paying(ledger.blobs, honest, right.__contains__)
    async with open_models({"critic": "openai:toy"}, settings.llm, ledger) as models:
        yield Kit(settings, Recorded(engine, ledger), Bases(engine), models)
    ledger.close()


def audited(folder: runs.RunFolder, specs: list[TaskSpec], script: Script, do: Any) -> int:
    """Audit the run; how many questions reached the server."""

    async def work() -> int:
        async with Loopback(served(script)) as server, opened(folder, specs, server) as kit:
            tally = await auditing.audit_all(folder, specs, kit, Stop())
            assert (tally.kept, tally.unfinished, tally.bugs) == (len(specs), 0, 0)
            return server.total

    count: int = do(work())
    return count


def always_weak(request: Request) -> str:
    """With a citation that exists in every task: the beginning of its instruction."""
    line = next(x for x in request.messages[0].text.splitlines() if x.startswith("| ") and x[2:])
    return str(critic("VERIFIER-TOO-WEAK", quote=line)(request))


def test_a_run_with_a_lying_critic_and_its_accuracy(
    folder: runs.RunFolder,
    specs: list[TaskSpec],
    do: Any,
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = audited(folder, specs, always_weak, do)
    assert asked == 2 * len(specs) + 8  # label and script of each task; labels of canaries
    found = auditing.summary(folder, "proven")["critic"]
    assert (found["canaries"], found["tasks"]) == (8, 2)
    truths = [one["truth"] for one in found["answers"]]
    assert truths.count("CLEAN") == 4
    assert found["right_side"] == 0.5
    assert found["right_label"] == pytest.approx(truths.count("VERIFIER-TOO-WEAK") / 8)
    assert {one["said"] for one in found["answers"]} == {"VERIFIER-TOO-WEAK"}
    assert (found["scripts_ran"], found["proven"], found["suspected"]) == (2, 0, 2)
    assert auditing.summary(folder, "proven")["rejected"] == []
    before = folder.audits.read_bytes(), folder.critic.read_bytes()
    assert audited(folder, specs, always_weak, do) == 0  # a second run asks nothing
    assert (folder.audits.read_bytes(), folder.critic.read_bytes()) == before
    tables.audit_tables(auditing.summary(folder, "proven"))
    shown = capsys.readouterr().out
    assert "critic toy on canaries" in shown and "0.50" in shown


def test_a_run_that_was_broken_off_asks_the_rest(
    folder: runs.RunFolder, specs: list[TaskSpec], do: Any
) -> None:
    """After the first answer the server is gone: what was answered is not asked again."""
    assert audited(folder, specs[:1], always_weak, do) == 2 + 8
    assert audited(folder, specs, always_weak, do) == 2


def test_what_cannot_be_read_is_a_dead_letter_and_gets_another_chance(
    folder: runs.RunFolder, specs: list[TaskSpec], do: Any
) -> None:
    audited(folder, specs[:1], lambda request: "It is all fine.", do)
    found = auditing.summary(folder, "proven")["critic"]
    assert {one["said"] for one in found["answers"]} == {"unreadable"}
    assert (found["right_side"], found["tasks"]) == (0.0, 0)
    ledger = Ledger(folder.path)
    (letter,) = dead(folder.rejections, ledger, audited=folder.audits)
    assert (letter.task, letter.step, len(letter.answers)) == (specs[0].slug, "critic", 3)
    assert letter.answers[0].completion.text == "It is all fine."
    assert retry([letter], ledger) == 1
    assert ledger.retries(specs[0].slug) == 0  # its author is not asked again
    ledger.close()
    assert audited(folder, specs[:1], always_weak, do) == 2  # the canaries had their chance
    (report,) = audits.read(folder.audits)
    assert [t.ran for t in report.tiers if t.name == "critic"] == [True]


def test_without_a_critic_there_is_none_in_the_summary(
    folder: runs.RunFolder, specs: list[TaskSpec], do: Any
) -> None:
    folder.critic.write_text(json.dumps({"of": "an earlier audit"}))

    async def work() -> None:
        async with Loopback(served(always_weak)) as server, opened(folder, specs, server) as kit:
            audit = kit.config.audit.model_copy(update={"critic": None})
            plain = kit.config.model_copy(update={"audit": audit})
            without = Kit(plain, kit.sandbox, kit.bases)
            await auditing.audit_all(folder, specs, without, Stop())
            assert server.total == 0

    do(work())
    assert auditing.summary(folder, "proven")["critic"] is None


@pytest.mark.parametrize("number", [0, 1, 8])
def test_half_of_the_canaries_are_clean(number: int) -> None:
    found = canaries.canaries(number)
    assert len(found) == number
    clean = [case for case, _ in found if case.truth == "CLEAN"]
    assert len(clean) == (number + 1) // 2
    labels = [case.truth for case, _ in found if case.truth != "CLEAN"]
    assert len(set(labels)) == min(len(labels), 6)
