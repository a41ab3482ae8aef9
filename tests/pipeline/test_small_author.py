"""The small profile on a scripted model and a scripted engine."""

import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from envgen import config
from envgen.kit import Bases, Kit
from envgen.ledger import Ledger
from envgen.llm import Asked
from envgen.llm.scripted import Scripted as Model
from envgen.pipeline import produce
from envgen.records import BuiltTask, JobResult, Rejection, Request
from envgen.sandbox import Recorded
from envgen.sandbox.scripted import verdict
from tests.pipeline.conftest import Judge, Judged
from tests.pipeline.small_writer import filled, small_spec, small_specs, small_writer, step_of
from tests.pipeline.writer import spec_for

Do = Callable[[Awaitable[Any]], Any]
Make = Callable[..., tuple[Kit, Model]]
REPORT = small_spec(verifier="exact_text", language="bash")
FILTER = small_spec(verifier="adversarial_corpus")


def code(times: int) -> str:
    return f"```\nexit  # in both languages; attempt {times}\n```"


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    ledgers: list[Ledger] = []

    def made(script: Callable[[Request], Any], judge: Judge = lambda step, base: None) -> Any:
        ledger = Ledger(tmp_path / "run")
        ledgers.append(ledger)
        settings = config.load(
            None, ["author.name=llm", "author.model=openai:toy", "author.profile=small"]
        )
        model = Model(script)
        roles = {"author": Asked(model, ledger)}
        engine = Judged(ledger.blobs, judge)
        return Kit(settings, Recorded(engine, ledger), Bases(engine), roles), model

    yield made
    for ledger in ledgers:
        ledger.close()


def steps(model: Model) -> list[str]:
    return [step_of(request) for request in model.asked]


def test_two_forms_and_a_program_make_a_task(make: Make, do: Do) -> None:
    kit, model = make(small_writer(code))
    task = do(produce(REPORT, kit))
    assert isinstance(task, BuiltTask), task
    assert steps(model) == ["data", "items", "solution"]
    assert set(task.draft.solution) == {"solve.sh", "work.sh"}
    assert set(task.draft.tests) == {"check.py", "truth.json"}
    assert task.draft.title == "Boards in stock"
    truth = json.loads(task.draft.tests["truth.json"].data)
    for item in truth["items"]:
        assert f"`{item['label']}" in task.draft.instruction
        assert all(line.startswith(item["label"]) for line in item["lines"])
        assert not any(line in task.draft.instruction for line in item["lines"])
    solving = model.asked[2].messages[0].text
    assert task.draft.instruction.strip() in solving
    assert not any(line in solving for item in truth["items"] for line in item["lines"])
    assert REPORT.persona in model.asked[0].messages[0].text


def test_a_filter_needs_one_form(make: Make, do: Do) -> None:
    kit, model = make(small_writer(code))
    task = do(produce(FILTER, kit))
    assert isinstance(task, BuiltTask), task
    assert steps(model) == ["data", "solution"]
    truth = json.loads(task.draft.tests["truth.json"].data)
    assert (len(truth["clean"]), len(truth["malicious"])) == (40, 40)
    given = "".join(file.data.decode() for file in task.draft.environment.files.values())
    assert set(given.splitlines()).isdisjoint(truth["clean"])


def test_every_spec_of_the_profile_is_written(make: Make, do: Do) -> None:
    for spec in small_specs(20):
        kit, _ = make(small_writer(code))
        outcome = do(produce(spec, kit))
        if isinstance(outcome, Rejection):  # the first values of a form need not suit each other
            assert outcome.code == "author:verifier", outcome.detail
            assert "item" in outcome.detail
        else:
            assert outcome.draft.spec == spec


def test_an_unreadable_form_is_asked_anew_and_warmer(make: Make, do: Do) -> None:
    answers = {"data": lambda times: "{}" if times == 0 else filled(model.asked[-1])}
    kit, model = make(small_writer(code, **answers))
    assert isinstance(do(produce(REPORT, kit)), BuiltTask)
    assert steps(model) == ["data", "data", "items", "solution"]
    first, second = model.asked[:2]
    assert second.messages == first.messages
    assert second.temperature == pytest.approx(first.temperature + 0.2)


def test_the_example_handed_back_is_no_answer(make: Make, do: Do) -> None:
    stolen = {
        "title": "Ships", "story": "I keep the light. Ships pass by.", "file": "passages",
        "record": "ship",
        "column1": {"name": "vessel", "choice1": "tanker", "choice2": "ferry", "choice3": "x",
                    "choice4": "y"},
        "column2": {"name": "length_m", "low": 1, "high": 100},
    }  # fmt: skip
    kit, model = make(small_writer(code, data=lambda times: json.dumps(stolen)))
    task = do(produce(small_spec(task_complexity="short", verifier="exact_text"), kit))
    assert isinstance(task, Rejection)
    assert task.code == "author:task"
    assert len(model.asked) == 4


def test_after_a_failed_attempt_the_same_is_asked_warmer(make: Make, do: Do) -> None:
    def judge(step: str, base: str) -> JobResult | None:
        if step == "solve":
            blob = kit.sandbox.blobs.put(f"left by {len(model.asked)}".encode())
            return JobResult(status="done", exit_code=0, output="", captured=blob)
        if step == "reference" and len(model.asked) < 5:
            return JobResult(status="done", exit_code=0, output="", collected=verdict(0.5))
        return None

    kit, model = make(small_writer(code), judge)
    task = do(produce(REPORT, kit))
    assert isinstance(task, BuiltTask)
    assert task.draft.revision == 2
    assert b"attempt 2" in task.draft.solution["work.sh"].data
    assert steps(model)[2:] == ["solution"] * 3
    assert len({request.messages for request in model.asked[2:]}) == 1
    assert [round(request.temperature, 2) for request in model.asked[2:]] == [0.2, 0.45, 0.7]


def test_specs_beyond_the_profile_are_no_tasks(make: Make, do: Do) -> None:
    kit, model = make(small_writer(code))
    task = do(produce(spec_for(), kit))
    assert isinstance(task, Rejection)
    assert (task.code, model.asked) == ("author:unsupported", [])


def test_the_sampler_draws_what_the_profile_realises(tmp_path: Path) -> None:
    from envgen import axes, runs
    from envgen.authors.llm.small.plan import realises

    settings = config.load(
        None, ["author.name=llm", "author.profile=small", "author.model=openai:x", "sample.n=30"]
    )
    folder = runs.RunFolder(tmp_path)
    runs.draw(folder, settings, "llm")
    specs = axes.read_specs(folder.specs)
    assert len(specs) == 30
    assert all(realises(spec) for spec in specs)
    assert {spec.language for spec in specs} == {"bash", "python"}
    assert {spec.task_complexity for spec in specs} == {"short", "moderate"}
