"""From the manifest to tokens: which tasks, and what an episode becomes, on a scripted engine."""

import asyncio
import math
from collections.abc import Callable
from typing import Any

import pytest

from envgen import evaluating
from envgen.agent import Sampled, Sampling
from envgen.agent.scripted import ByteChat, ScriptedSampler
from envgen.config import TrainConfig
from envgen.errors import EngineDown, Misconfigured, SamplerDown
from envgen.export import parquet
from envgen.pipeline import Stop
from envgen.records import Job, JobResult, Observation, Opening
from envgen.sandbox.pool import Pool
from envgen.train.batch import Rollout
from envgen.train.episodes import playing
from envgen.train.tasks import Tasks, probes, tasks_of
from tests.agent.conftest import TASKS, Bench, graded, settings


def chosen(bench: Bench, **train: Any) -> Tasks:
    return asyncio.run(tasks_of(bench.folder.manifest, TrainConfig(**train), bench.kit()))


def test_all_tasks_of_a_manifest_in_its_order(bench: Bench) -> None:
    tasks = chosen(bench)
    assert tasks.training == tuple(item.slug for item in bench.items)
    assert tasks.held_out == ()
    assert [draft.spec for draft, _ in tasks.known.values()] == bench.items


def test_tasks_are_chosen_and_held_out_by_columns(bench: Bench) -> None:
    complexities = [item.task_complexity for item in bench.items]
    only = chosen(bench, only={"task_complexity": [complexities[0]]})
    assert len(only.training) == complexities.count(complexities[0])
    names = [item.slug for item in bench.items]
    held = chosen(bench, held_out={"task": [names[1]]})
    assert (held.training, held.held_out) == ((names[0], *names[2:]), (names[1],))
    skills = chosen(bench, held_out={"skills": [bench.items[0].skills[0]]})
    assert names[0] in skills.held_out
    with pytest.raises(Misconfigured, match="no column 'colour'"):
        chosen(bench, only={"colour": ["red"]})
    with pytest.raises(Misconfigured, match=r"no task .* is left .* 3 of them held out"):
        chosen(bench, held_out={"author": ["procedural/ledger_reports"]})


def test_tasks_are_chosen_and_ordered_by_measured_pass_rate(bench: Bench) -> None:
    """One is solved in every attempt, one in none, one was not played."""
    first, second, _ = bench.items
    for item, reward in ((first, 0.0), (second, 1.0)):
        bench.engine.script = graded(reward)
        kit = bench.kit("agent.model=scripted:nothing", f"agent.steps={2 + int(reward)}")
        asyncio.run(evaluating.evaluate(bench.folder, [item], 2, kit, Stop()))
    tasks = chosen(bench, easiest_first=True)
    assert tasks.training[0] == second.slug
    assert tasks.training[-1] == first.slug
    assert chosen(bench, pass_rates=(0.1, 0.9)).training == (bench.items[2].slug,)


def relabelled(bench: Bench, *audits: tuple[str | None, str | None]) -> None:
    """The manifest, with another label and policy for each task."""
    rows = list(parquet.read(bench.folder.manifest))
    pairs = zip(rows, audits, strict=True)
    changed = [row | {"label": label, "audit_policy": policy} for row, (label, policy) in pairs]
    parquet.write_manifest(bench.folder.manifest, changed)


def test_what_its_audit_rejects_is_not_trained_on(bench: Bench) -> None:
    names = tuple(item.slug for item in bench.items)
    relabelled(bench, ("ANSWER-LEAK", "proven"), ("ANSWER-LEAK", "report"), (None, None))
    tasks = chosen(bench)
    assert (tasks.training, tasks.refused) == (names[1:], 1)
    assert names[0] not in tasks.known
    held = chosen(bench, held_out={"label": ["ANSWER-LEAK"]})
    assert (held.training, held.held_out) == (names[2:], names[1:2])
    every = chosen(bench, rejected=True)
    assert (every.training, every.refused) == (names, 0)
    relabelled(bench, *[("TASK-TRIVIAL", "strict")] * 3)
    with pytest.raises(Misconfigured, match=r"3 tasks, 3 of them rejected .* train\.rejected"):
        chosen(bench)


def test_a_manifest_of_before_audits_is_trained_on(bench: Bench) -> None:
    import pyarrow.parquet as pq

    names = tuple(item.slug for item in bench.items)
    later = ["label", "audit_policy", "kill_rate", "findings", "pass_at_k"]
    table = pq.read_table(bench.folder.manifest).drop_columns(later)
    old = table.replace_schema_metadata({"envgen.schema_version": "1"})
    pq.write_table(old, bench.folder.manifest)
    assert (chosen(bench).training, chosen(bench).refused) == (names, 0)
    assert chosen(bench, held_out={"label": ["CLEAN"]}).held_out == ()
    odd = old.append_column("pass_at_k", [["always"] * TASKS])
    pq.write_table(odd, bench.folder.manifest)
    with pytest.raises(Misconfigured, match=r"not hold what is needed \(column pass_at_k\)"):
        chosen(bench)


def test_an_image_that_is_not_there_is_named_before_anything_runs(bench: Bench) -> None:
    asked = bench.engine.asked.copy()
    bench.ledger.forget(task=bench.items[1].slug)
    with pytest.raises(
        Misconfigured, match=f"does not have the image of task {bench.items[1].slug}"
    ):
        chosen(bench)
    assert bench.engine.asked["build"] == asked["build"]


# -- episodes ----------------------------------------------------------------------------------


def said(prompt: tuple[int, ...]) -> str:
    """Thinks, looks, and submits."""
    turns = prompt.count(258)
    return "I look.\n```bash\nls\n```" if turns == 1 else "```bash\nsubmit\n```"


def played(
    bench: Bench,
    *,
    sampler: Any = None,
    shell: Callable[[Opening, str], Observation] | None = None,
    grade: Callable[[Job], JobResult] | None = None,
    **train: Any,
) -> tuple[Rollout, Any]:
    sampler = sampler or ScriptedSampler(said, version=3)
    if shell is not None:
        bench.engine.shell = shell
    bench.engine.script = grade or graded(1.0)
    tasks = chosen(bench)
    config = settings().model_copy(update={"train": TrainConfig(**train)})
    kit = bench.kit()
    kit = type(kit)(config, kit.sandbox, kit.bases)
    play = playing(tasks.known, kit, Pool(bench.engine, 2), ByteChat(), sampler)
    return asyncio.run(play(tasks.training[0], 0, 0)), sampler


def test_what_was_sampled_is_what_is_trained_on(bench: Bench) -> None:
    rollout, sampler = played(bench)
    assert rollout.ended == "submitted"
    assert (rollout.turns, rollout.reward, rollout.oldest) == (2, 1.0, 3)
    last = (*said(sampler.prompts[1]).encode(), 257)
    assert rollout.ids == (*sampler.prompts[1], *last)
    mine = bytes(i for i, k in zip(rollout.ids, rollout.sampled, strict=True) if k and i < 256)
    assert mine.decode() == "I look.\n```bash\nls\n```" + "```bash\nsubmit\n```"
    assert all((b == 0) == (not k) for b, k in zip(rollout.logprobs, rollout.sampled, strict=True))


def test_nothing_of_a_policy_that_changes_is_recalled(bench: Bench) -> None:
    for _ in range(2):
        _, sampler = played(bench)
        assert len(sampler.prompts) == 2


@pytest.mark.parametrize(("reward", "passed"), [(1.0, 1.0), (0.5, 0.0), (0.0, 0.0)])
def test_the_reward_is_the_verifiers(bench: Bench, reward: float, passed: float) -> None:
    assert played(bench, grade=graded(reward))[0].reward == passed
    assert played(bench, grade=graded(reward), reward="graded")[0].reward == reward


def test_an_episode_without_a_verdict_has_no_reward(bench: Bench) -> None:
    broken = JobResult(status="done", exit_code=1, output="")
    rollout, _ = played(bench, grade=lambda job: broken)
    assert (rollout.reward, rollout.unusable[:9]) == (None, "grading: ")

    def gone(opening: Opening, command: str) -> Observation:
        raise EngineDown("no answer")

    rollout, _ = played(bench, shell=gone)
    assert (rollout.reward, rollout.fault) == (None, "engine_down: no answer")
    assert rollout.ids == ()


class Broken:
    """A sampler whose numbers are none, or that is gone."""

    def __init__(self, logprob: float | None) -> None:
        self.logprob = logprob

    async def sample(self, prompt: tuple[int, ...], sampling: Sampling) -> Sampled:
        if self.logprob is None:
            raise SamplerDown("the engine is gone")
        return Sampled((1, 257), (self.logprob, -1.0), (0, 0))


@pytest.mark.parametrize("logprob", [math.nan, -math.inf])
def test_a_logprob_that_is_no_number_masks_the_episode(bench: Bench, logprob: float) -> None:
    rollout, _ = played(bench, sampler=Broken(logprob))
    assert rollout.reward is None
    assert rollout.unusable.startswith("sample_unusable: ")


def test_a_sampler_that_is_gone_is_no_episode_at_all(bench: Bench) -> None:
    with pytest.raises(SamplerDown, match="the engine is gone"):
        played(bench, sampler=Broken(None))


def test_probes_are_first_prompts(bench: Bench) -> None:
    tasks, agent = chosen(bench), settings().agent
    found = probes(tasks, ByteChat(), agent)
    assert len(found) == TASKS
    assert all(prompt[-1] == 258 and prompt.count(257) == 2 for prompt in found)
