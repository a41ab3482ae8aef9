"""Records: frozen, strict; equal content means equal digest, whatever process or library."""

import base64
import hashlib
import inspect
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from envgen import records
from envgen.files import File, FileTree
from envgen.records import (
    CheckResult,
    Episode,
    ImageRequest,
    InitialState,
    Job,
    JobResult,
    Limits,
    Message,
    Play,
    Put,
    Record,
    Request,
    Score,
    TaskDraft,
    Tokens,
    Trajectory,
)

RECORDS = [
    kind
    for _, kind in inspect.getmembers(records, inspect.isclass)
    if issubclass(kind, Record) and kind is not Record
]
GOLDEN = "sha256:23b833cdbbfc1d1cbdb0ffa37a824f8bbaf3c4215551f4ee0d0e651478070d31"
DRAFT = Path(__file__).parent / "golden_draft.json"


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
def test_every_record_is_frozen_strict_and_without_mutable_parts(kind: type[Record]) -> None:
    assert kind.model_config["frozen"] is True
    assert kind.model_config["extra"] == "forbid"
    for name, field in kind.model_fields.items():
        text = str(field.annotation)
        assert not any(word in text for word in ("list[", "dict[", "set[")), f"{name}: {text}"


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.__name__)
def test_no_record_holds_ids_times_cost_or_paths_of_the_host(kind: type[Record]) -> None:
    banned = {"id", "uuid", "time", "created", "made_at", "cost", "host", "pid", "folder"}
    assert not banned & set(kind.model_fields)


def test_a_record_cannot_be_changed() -> None:
    limits = Limits()
    with pytest.raises(ValidationError, match="frozen"):
        limits.cpus = 4  # type: ignore[misc]


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        Limits(cores=2)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "fields", [{"cpus": 0}, {"memory_mb": 1}, {"agent_seconds": 7201}, {"outputs_mb": 0}]
)
def test_limits_have_bounds(fields: dict[str, int]) -> None:
    with pytest.raises(ValidationError):
        Limits(**fields)


# -- identity ----------------------------------------------------------------------------------


def test_golden_digest_of_a_draft(golden: TaskDraft) -> None:
    assert golden.digest == GOLDEN
    assert golden.slug == "data_querying-golden00"
    assert golden.model_copy(update={"spec": None}).slug.startswith("import-")


def test_the_digest_needs_nothing_of_pydantic() -> None:
    """The same identity, from the JSON file with hashlib and json alone."""

    def content(file: dict[str, Any]) -> bytes:
        return file["text"].encode() if "text" in file else base64.b64decode(file["base64"])

    def sha(value: Any) -> str:
        text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"

    def tree(files: dict[str, Any]) -> str:
        return sha(
            {p: [f["mode"], hashlib.sha256(content(f)).hexdigest()] for p, f in files.items()}
        )

    draft = json.loads(DRAFT.read_text())
    draft["environment"]["files"] = tree(draft["environment"]["files"])
    draft |= {name: tree(draft[name]) for name in ("tests", "solution")}
    assert sha(draft) == GOLDEN


@pytest.mark.parametrize("seed", ["0", "1", "4242"])
def test_the_hash_seed_of_the_process_changes_nothing(seed: str) -> None:
    script = (
        "import sys; from envgen.records import TaskDraft; "
        "print(TaskDraft.model_validate_json(open(sys.argv[1]).read()).digest)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(DRAFT)],
        env=os.environ | {"PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == GOLDEN


def test_json_round_trip_keeps_everything(golden: TaskDraft) -> None:
    again = TaskDraft.model_validate_json(golden.model_dump_json())
    assert again == golden
    assert again.digest == golden.digest
    assert again.environment.files["home/agent/bin/tool.sh"].mode == 0o755
    assert again.environment.files["opt/shop/blob.bin"].data == b"\0\xff\xfe"


@pytest.mark.parametrize(
    "change",
    [
        {"title": "x"},
        {"revision": 1},
        {"hide": ()},
        {"solution": FileTree({"solve.sh": File(b"grep -c open orders.csv > count.txt\n", 0o644)})},
        {"initial": InitialState()},
        {"limits": Limits(cpus=1)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_every_field_is_part_of_the_identity(golden: TaskDraft, change: dict[str, Any]) -> None:
    fields = {name: getattr(golden, name) for name in TaskDraft.model_fields}
    changed = TaskDraft(**(fields | change))
    assert changed.digest != golden.digest
    assert golden.model_copy(update=change).digest == changed.digest


def test_names_of_the_engine_are_not_part_of_a_request() -> None:
    jobs = [Job(image="sha256:1", image_ref=ref, command=("true",)) for ref in ("a", "b")]
    assert jobs[0].digest == jobs[1].digest
    assert jobs[0].digest != Job(image="sha256:2", image_ref="a", command=("true",)).digest
    assert jobs[0].digest != jobs[0].model_copy(update={"attempt": 1}).digest
    builds = [
        ImageRequest(parent="p", parent_ref=ref, dockerfile="", context=FileTree())
        for ref in ("a", "b")
    ]
    assert builds[0].digest == builds[1].digest


def test_files_put_into_a_job_are_part_of_its_request() -> None:
    def job(data: bytes, mode: int) -> str:
        put = Put(target="/x", tree=FileTree({"a": File(data, mode)}))
        return Job(image="i", image_ref="", command=("true",), puts=(put,)).digest

    assert len({job(b"1", 0o644), job(b"2", 0o644), job(b"1", 0o755)}) == 3


def test_hostile_trees_in_json_are_refused(golden: TaskDraft) -> None:
    fields = json.loads(DRAFT.read_text())
    for files in ({"../x": {"mode": 420, "text": ""}}, {"a": {"mode": 0o4755, "text": ""}}, []):
        with pytest.raises(ValidationError):
            TaskDraft.model_validate(fields | {"tests": files})


# -- verdicts ----------------------------------------------------------------------------------


def test_a_score_has_a_reward_or_a_reason_and_never_both() -> None:
    assert Score(reward=1.0).passed
    assert not Score(reward=0.999).passed
    assert not Score(invalid="no_reward").passed
    for fields in ({}, {"reward": 0.0, "invalid": "x"}):
        with pytest.raises(ValidationError, match="never both"):
            Score(**fields)


@pytest.mark.parametrize("reward", [-0.1, 1.1, float("nan"), float("inf")])
def test_a_reward_is_between_zero_and_one(reward: float) -> None:
    with pytest.raises(ValidationError):
        Score(reward=reward)
    with pytest.raises(ValidationError):
        CheckResult(name="x", score=reward)


def test_a_result_is_ok_when_it_ended_by_itself_with_zero() -> None:
    fields = {"output": "", "collected": (("a", "1"),)}
    assert JobResult(status="done", exit_code=0, **fields).ok
    assert not JobResult(status="done", exit_code=1, **fields).ok
    assert not JobResult(status="timeout", exit_code=None, **fields).ok
    assert JobResult(status="done", exit_code=0, **fields).file("a") == "1"
    assert JobResult(status="done", exit_code=0, **fields).file("b") is None


def test_questions_are_who_they_were_before_there_were_tools() -> None:
    asked = Request(
        model="openai:m",
        messages=(Message(role="system", text="a"), Message(role="user", text="b")),
    )
    assert asked.digest == "sha256:b47b532a16148553a67ef3d1f920cc1fda8ea3e9859f89419ed9758411913411"
    tooled = asked.model_copy(update={"tools": "[]"})
    assert tooled.digest != asked.digest
    assert Request.model_validate_json(tooled.model_dump_json()) == tooled
    assert asked.model_copy(update={"as_is": True}).digest == asked.digest


def test_tokens_are_aligned_and_finite() -> None:
    Tokens(before=(1,), ids=(2, 3), logprobs=(-0.5, 0.0), versions=(7, 8))
    for logprobs, versions in (((-0.5,), (7, 8)), ((-0.5, math.nan), (7, 8)), ((-0.5, 0), (7,))):
        with pytest.raises(ValidationError):
            Tokens(before=(), ids=(2, 3), logprobs=logprobs, versions=versions)


def test_an_episode_has_a_score_or_a_fault_and_never_both() -> None:
    play = Play(
        task="t", image="i", opening=(), outputs=(), limits=Limits(), model="m", settings="{}"
    )
    done = Trajectory(turns=(), ending="submitted", outputs=None, seconds=1.0)
    scored = Episode(slug="s", play=play, trajectory=done, score=Score(reward=1.0))
    assert (scored.passed, scored.valid) == (True, True)
    unsure = Episode(slug="s", play=play, trajectory=done, score=Score(invalid="no_reward"))
    assert (unsure.passed, unsure.valid) == (False, False)
    lost = Episode(slug="s", play=play, fault="sandbox_lost: gone")
    assert (lost.passed, lost.valid) == (False, False)
    for fields in ({}, {"score": Score(reward=0.0)}, {"trajectory": done}):
        with pytest.raises(ValidationError, match="a trajectory with its score, or a fault"):
            Episode(slug="s", play=play, **fields)
    with pytest.raises(ValidationError, match="or a fault"):
        Episode(slug="s", play=play, trajectory=done, score=Score(reward=0.0), fault="x")
