"""Evaluations on a scripted engine: what is played, recorded, counted and written."""

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from envgen import evaluated, evaluating
from envgen.errors import HostDiskFull, Misconfigured, SandboxLost
from envgen.export import atif, conversations, harbor, parquet, rollouts, schema
from envgen.pipeline import Stop, proven
from envgen.records import BuiltTask, Episode, Foreign, Job, JobResult, Observation, Opening
from envgen.submission import check_gradable, opening
from envgen.tally import Tally
from tests.agent.conftest import TASKS, Bench, graded

NOTHING = "agent.model=scripted:nothing"
REFERENCE = "agent.model=scripted:reference"


def play(
    bench: Bench, *sets: str, k: int = 2, model: Any = None, limit: int | None = None
) -> Tally:
    kit = bench.kit(*sets, model=model)
    items = evaluating.chosen(bench.folder, bench.items, {}, limit)
    return asyncio.run(evaluating.evaluate(bench.folder, items, k, kit, Stop()))


def episodes(bench: Bench) -> list[Episode]:
    return [e for path in rollouts.files(bench.folder.rollouts) for e in rollouts.episodes(path)]


def summary(bench: Bench) -> dict[str, Any]:
    (file,) = evaluated.named(bench.folder.rollouts, None)
    return evaluated.summary(file)


def test_every_attempt_is_played_graded_and_written(bench: Bench) -> None:
    tally = play(bench, REFERENCE)
    assert (tally.kept, tally.done, tally.rejected) == (TASKS * 2, TASKS * 2, Counter())
    assert bench.engine.asked["open"] == TASKS * 2
    first = bench.engine.sessions[0].commands
    assert first[-1] == "/bin/bash /tmp/solution/solve.sh"
    assert first[0].startswith("mkdir -p \"$(dirname '/tmp/solution/")
    found = episodes(bench)
    assert [(e.slug, e.play.sample) for e in found] == [
        (item.slug, sample) for item in bench.items for sample in range(2)
    ]
    for episode in found:
        assert episode.passed and episode.trajectory and episode.trajectory.ending == "submitted"
        assert episode.play.opening[1].text.startswith("The task:\n\n")
        assert len(episode.keys) == 2 and all(map(bench.ledger.knows, episode.keys))
    assert summary(bench)["pass_at"] == [1.0, 1.0]


def test_a_second_time_plays_nothing_and_more_attempts_play_the_rest(bench: Bench) -> None:
    play(bench, REFERENCE)
    file = rollouts.files(bench.folder.rollouts)[0]
    before = file.read_bytes(), bench.folder.manifest.read_bytes()
    play(bench, REFERENCE)
    assert bench.engine.asked["open"] == TASKS * 2
    assert (file.read_bytes(), bench.folder.manifest.read_bytes()) == before
    play(bench, REFERENCE, k=3)
    assert bench.engine.asked["open"] == TASKS * 3
    play(bench, REFERENCE, "agent.steps=10", k=1)  # another way of playing
    assert bench.engine.asked["open"] == TASKS * 4
    assert len(rollouts.files(bench.folder.rollouts)) == 2


def test_what_is_forgotten_of_an_evaluation_is_no_proof_of_a_task(bench: Bench) -> None:
    def proof() -> list[Any]:
        return [bench.ledger.used(item.slug, "job") for item in bench.items]

    before = proof()
    assert all({"noop", "reference"} <= {step for step, *_ in uses} for uses in before)
    play(bench, REFERENCE, k=1)
    assert bench.ledger.forget(step="eval") == 2 * TASKS  # an episode and its grade, of each
    assert proof() == before


def test_what_was_not_played_now_stays_in_the_file(bench: Bench) -> None:
    play(bench, REFERENCE)
    play(bench, REFERENCE, k=1, limit=1)
    assert len(episodes(bench)) == TASKS * 2


def test_a_fault_is_no_score_and_is_played_again(bench: Bench) -> None:
    lost: list[str] = []

    def shell(opening: Opening, command: str) -> Observation:
        if not lost:
            lost.append(command)
            raise SandboxLost("the node went away")
        return Observation(output="", exit_code=0)

    bench.engine.shell = shell
    tally = play(bench, REFERENCE)
    assert (tally.kept, tally.rejected) == (TASKS * 2 - 1, Counter(faults=1))
    fault = episodes(bench)[0]
    assert fault.fault == "sandbox_lost: the node went away"
    assert fault.score is None and not fault.valid and not fault.passed
    found = summary(bench)
    assert found["faults"] == {"sandbox_lost": 1}
    assert (found["attempts"], found["invalid"], found["pass_at"]) == (5, 0, [1.0, 1.0])
    (task, *_) = found["tasks"]
    assert (task["attempts"], task["passes"], task["pass_at"]) == (1, 1, [1.0])
    tally = play(bench, REFERENCE)
    assert (tally.kept, tally.rejected) == (TASKS * 2, Counter())
    assert bench.engine.asked["open"] == TASKS * 2 + 1
    assert summary(bench)["faults"] == {}


def test_a_disk_that_is_full_while_grading_is_a_fault_and_the_trajectory_stays(
    bench: Bench,
) -> None:
    def down(job: Job) -> JobResult:
        raise HostDiskFull("gone")

    bench.engine.script = down
    tally = play(bench, NOTHING, k=1, limit=1)
    assert tally.rejected == Counter(faults=1)
    bench.engine.script = graded(0.5)
    tally = play(bench, NOTHING, k=1, limit=1)
    assert tally.rejected == Counter(failed=1)
    assert bench.engine.asked["open"] == 1  # only the grade was missing
    assert summary(bench)["reward"] == 0.5


def test_a_grader_without_a_verdict_is_invalid_and_never_a_zero(bench: Bench) -> None:
    bench.engine.script = lambda job: JobResult(status="timeout", exit_code=None, output="slow")
    tally = play(bench, NOTHING, k=2, limit=1)
    assert tally.rejected == Counter(invalid=2)
    found = summary(bench)
    assert (found["attempts"], found["invalid"], found["invalid_rate"]) == (0, 2, 1.0)
    assert (found["pass_at"], found["reward"]) == ([], None)


def test_outputs_over_the_cap_earn_nothing(bench: Bench) -> None:
    tally = play(
        bench,
        "agent.model=openai:tiny",
        "agent.steps=1",
        k=1,
        limit=1,
        model=lambda request: "```bash\ntoo much\n```",
    )
    assert tally.rejected == Counter(failed=1)
    (episode,) = episodes(bench)
    assert episode.score and episode.score.checks[0].name == "outputs"
    assert episode.trajectory and episode.trajectory.ending == "steps"


def test_the_manifest_tells_how_often_each_model_passed(bench: Bench) -> None:
    play(bench, REFERENCE, k=4, limit=2)
    rows = list(parquet.read(bench.folder.manifest))
    assert [row["schema_version"] for row in rows] == [schema.SCHEMA] * TASKS
    assert rows[2]["pass_at_k"] is None
    (measure,) = rows[0]["pass_at_k"]
    assert measure["model"] == "scripted:reference"
    assert (measure["attempts"], measure["passes"], measure["invalid"]) == (4, 4, 0)
    assert measure["pass_at"] == [1.0] * 4 and measure["reward"] == 1.0
    play(bench, NOTHING, k=1, limit=1)
    rows = list(parquet.read(bench.folder.manifest))
    assert [m["model"] for m in rows[0]["pass_at_k"]] == ["scripted:nothing", "scripted:reference"]


def test_a_model_plays_through_the_text_policy(bench: Bench) -> None:
    def model(request: Any) -> str:
        turns = sum(m.role == "assistant" for m in request.messages)
        return f"```bash\n{'submit' if turns == 2 else f'echo {turns} {request.sample}'}\n```"

    tally = play(bench, "agent.model=openai:tiny", k=2, model=model, limit=1)
    assert tally.kept == 2  # the scripted grader likes any outputs
    assert [s.commands for s in bench.engine.sessions] == [
        ["echo 0 0", "echo 1 0"],
        ["echo 0 1", "echo 1 1"],
    ]
    found = summary(bench)
    prefix = found["prefix"]
    assert prefix["served_tokens"] > prefix["computed_tokens"] > 0
    assert found["per_episode"]["turns"] == 3
    assert found["by_axis"]["domain"]["data_querying"]["pass_at"] == [1.0, 1.0]


def test_nobody_and_nonsense_do_not_play(bench: Bench) -> None:
    for model, words in (
        (None, "nobody plays"),
        ("scripted:magic", "scripts are reference and nothing"),
    ):
        with pytest.raises(Misconfigured, match=words):
            play(bench, *([f"agent.model={model}"] if model else []))
    with pytest.raises(Misconfigured, match=r"agent\.tools=calls is for openai"):
        play(bench, "agent.model=gemini:x", "agent.tools=calls")


def test_tasks_are_chosen_by_axis(bench: Bench) -> None:
    def chosen(*words: str) -> list[str]:
        where = evaluating.where_of(words)
        return [i.slug for i in evaluating.chosen(bench.folder, bench.items, where, None)]

    slugs = [item.slug for item in bench.items]
    assert chosen("domain=data_querying") == slugs
    assert chosen("domain=security,data_querying") == slugs
    first = bench.items[0]
    assert first.slug in chosen(f"skills={first.skills[1]}", f"language={first.language}")
    with pytest.raises(Misconfigured, match=r"no task .* is meant: domain is data_querying"):
        chosen("domain=security")
    for word in ("domain", "colour=red", "=x"):
        with pytest.raises(Misconfigured, match="write AXIS=VALUE"):
            chosen(word)


def repaired(bench: Bench, place: int) -> BuiltTask:
    """Put another revision of a task into the manifest, as a repair does."""
    rows = list(parquet.read(bench.folder.manifest))
    before = parquet.draft_of(rows[place])
    mended = {"instruction": before.instruction + "\n", "revision": 1, "parent": before.digest}
    task = asyncio.run(proven(before.model_copy(update=mended), bench.kit()))
    assert isinstance(task, BuiltTask)
    replace(bench, place, task)
    return task


def replace(bench: Bench, place: int, task: BuiltTask) -> None:
    rows = list(parquet.read(bench.folder.manifest))
    rows[place] = parquet.manifest_row(task, harbor.folder(task, bench.kit().config.export))
    parquet.write_manifest(bench.folder.manifest, rows)


def test_repaired_tasks_are_played_as_they_are_now(bench: Bench) -> None:
    task = repaired(bench, 1)
    assert task.draft.slug == bench.items[1].slug
    rows = list(parquet.read(bench.folder.manifest, ["draft", "revision"]))
    assert [row["revision"] for row in rows] == [0, 1, 0]
    chosen = evaluating.chosen(bench.folder, bench.items, {}, None)
    assert chosen == [bench.items[0], task.draft, bench.items[2]]
    assert evaluating.chosen(bench.folder, bench.items, {}, 2) == chosen[:2]
    asked = bench.engine.asked.copy()
    assert play(bench, NOTHING, k=1).done == TASKS
    assert bench.engine.asked["build"] == asked["build"]  # what was proven is what is played
    assert [e.play.task for e in episodes(bench)] == [row["draft"] for row in rows]
    assert all(row["pass_at_k"] for row in parquet.read(bench.folder.manifest))


def test_a_repaired_import_is_played_though_its_name_is_new(bench: Bench) -> None:
    task = repaired(bench, 1)
    draft = task.draft.model_copy(update={"spec": None, "author": "imports/test"})
    replace(bench, 1, task.model_copy(update={"draft": draft}))
    names = [row["task"] for row in parquet.read(bench.folder.manifest, ["task"])]
    assert names[1] == draft.slug != bench.items[1].slug
    items = evaluating.chosen(bench.folder, bench.items, {}, None)
    assert [item.slug for item in items] == names and items[1] == draft


def test_what_an_agent_can_forge_is_refused_before_anything_is_played(bench: Bench) -> None:
    task = repaired(bench, 1)
    imported = {"spec": None, "revision": 0, "foreign": Foreign(grading="shared")}
    draft = task.draft.model_copy(update=imported)
    replace(bench, 1, task.model_copy(update={"draft": draft}))
    items: Any = [bench.items[0], draft]
    with pytest.raises(Misconfigured, match=f"{draft.slug} is graded where the agent worked"):
        evaluating.chosen(bench.folder, items, {}, None)
    assert evaluating.chosen(bench.folder, items, {}, 1) == items[:1]
    with pytest.raises(Misconfigured, match="import it with --grading fresh"):
        opening(draft, task.image, 60)
    fresh = draft.model_copy(update={"foreign": Foreign(grading="fresh")})
    check_gradable(fresh)
    assert opening(fresh, task.image, 60).uid == 0


def test_conversations_are_handed_on_once_and_within_the_budget(
    bench: Bench, tmp_path: Path
) -> None:
    def model(request: Any) -> str:
        turns = sum(m.role == "assistant" for m in request.messages)
        if turns == 1:
            return "Done.\n```bash\nsubmit\n```"
        return f"```bash\necho {request.sample % 2}\n```"  # samples 0 and 2 do the same

    play(bench, "agent.model=openai:tiny", k=3, model=model)
    (path,) = rollouts.files(bench.folder.rollouts)

    def select(**options: Any) -> tuple[list[Any], dict[str, int]]:
        selection = conversations.Selection(**options)
        selection.choose(map(conversations.light, rollouts.episodes(path)))
        file = tmp_path / "sft.jsonl"
        conversations.write(file, selection.of(rollouts.episodes(path)))
        return list(map(json.loads, file.read_text().splitlines())), dict(selection.left)

    lines, left = select()
    assert (len(lines), left) == (TASKS * 2, {"duplicate": TASKS})
    first = lines[0]
    roles = [message["role"] for message in first["messages"]]
    assert roles == ["system", "user", "assistant", "user", "assistant"]
    assert first["messages"][-1]["content"] == "Done.\n```bash\nsubmit\n```"
    assert (first["passed"], first["reward"], first["sample"]) == (True, 1.0, 0)
    sizes = sorted(line["tokens"] for line in lines)
    lines, left = select(budget=sum(sizes[:TASKS]) + sizes[-1])
    assert {line["task"] for line in lines} == {item.slug for item in bench.items}
    assert "over budget" in left
    assert select(longest=1)[1]["too long"] == TASKS * 3


def test_calls_are_handed_on_with_their_answers(bench: Bench) -> None:
    play(bench, NOTHING, "agent.tools=calls", k=1, limit=1)
    (episode,) = episodes(bench)
    assert episode.trajectory is not None
    (call,) = episode.trajectory.turns[0].calls
    said = conversations.row(episode)["messages"][-1]
    assert said["tool_calls"] == [
        {
            "id": call.ref,
            "type": "function",
            "function": {"name": "bash", "arguments": call.arguments},
        }
    ]
    assert json.loads(call.arguments) == {"command": "submit"}


def test_failures_are_handed_on_only_when_asked_for(bench: Bench, tmp_path: Path) -> None:
    bench.engine.script = graded(0.25)
    play(bench, NOTHING, k=1)
    (path,) = rollouts.files(bench.folder.rollouts)
    lights = list(map(conversations.light, rollouts.episodes(path)))
    selection = conversations.Selection()
    selection.choose(lights)
    assert (selection.taken, selection.left) == (set(), Counter({"not passed": TASKS}))
    selection = conversations.Selection(failures=True)
    selection.choose(lights)
    assert len(selection.taken) == TASKS
    row = conversations.row(next(rollouts.episodes(path)))
    assert (row["passed"], row["reward"]) == (False, 0.25)


def test_trajectories_in_the_interchange_format(bench: Bench) -> None:
    play(bench, REFERENCE, k=1, limit=1)
    (episode,) = episodes(bench)
    found = atif.of(episode)
    assert [step["step_id"] for step in found["steps"]] == list(range(1, len(found["steps"]) + 1))
    assert [step["source"] for step in found["steps"][:3]] == ["system", "user", "agent"]
    first, last = found["steps"][2], found["steps"][-1]
    call = first["tool_calls"][0]
    assert call["function_name"] == "bash"
    assert first["observation"]["results"][0]["source_call_id"] == call["tool_call_id"]
    assert last["tool_calls"][0]["function_name"] == "submit" and "observation" not in last
    assert found["extra"]["reward"] == 1.0 and found["extra"]["ending"] == "submitted"
    path = bench.folder.path / "trajectory.json"
    atif.write(path, found | {"notes": "ä\ud800"})
    assert json.loads(path.read_text(encoding="utf-8")) == found | {"notes": "ä?"}
