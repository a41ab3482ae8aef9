"""Episodes in real containers: every ending is graded, and what was done stands in the flags."""

from collections.abc import Sequence
from typing import Any

import pytest

from envgen.agent import SUBMIT
from envgen.agent.detecting import flags
from envgen.agent.episode import Player, episode
from envgen.agent.scripted import Commands, as_commands
from envgen.config import AgentConfig
from envgen.files import FileTree
from envgen.grade import build_image, solve
from envgen.records import BuiltTask, Environment, Episode, Limits
from envgen.sandbox.pool import Pool
from tests.box.conftest import USE, Bench

pytestmark = pytest.mark.box

NUMBERS = {"home/agent/numbers.txt": "5000\n150\n8\n", "srv/prices.csv": "one,two\n" * 9}
CHANGES = {"environment": Environment(base="data_querying", files=FileTree(NUMBERS))}


def play(bench: Bench, commands: Sequence[str], pause: float = 0.0, **settings: Any) -> Episode:
    """Commands played on the small task, whatever was played before."""
    agent = AgentConfig.model_validate({"model": "scripted:nothing", **settings})
    draft = bench.draft(**CHANGES)
    who = Player("test", agent, lambda _: Commands(commands, pause=pause))
    pool = Pool(bench.kit.sandbox.engine, 2)
    done: Episode = bench.do(
        episode(draft, bench.image(draft), who, pool, bench.kit, recorded=False)
    )
    assert done.fault == "" and done.trajectory is not None and done.score is not None
    assert not done.score.invalid
    return done


def ending(done: Episode) -> tuple[str, float | None]:
    assert done.trajectory and done.score
    return done.trajectory.ending, done.score.reward


def test_the_reference_command_by_command(bench: Bench) -> None:
    done = play(bench, as_commands(bench.draft().solution))
    assert ending(done) == ("submitted", 1.0) and done.passed
    assert done.trajectory is not None
    assert [turn.exit_code for turn in done.trajectory.turns] == [0, 0, None]


def test_a_shell_that_remembers_and_outputs_that_are_seen(bench: Bench) -> None:
    done = play(bench, ("cd / && n=7", "echo $n; pwd; sort -n ~/numbers.txt", SUBMIT))
    assert done.trajectory is not None
    seen = done.trajectory.turns[1].shown
    assert seen == "<output>\n7\n/\n8\n150\n5000\n</output>\nexit code 0\n"


ENDINGS: dict[str, tuple[Sequence[str], dict[str, Any], str, float]] = {
    "all right, but never submitted": ((Bench.SOLVE,), {"steps": 1}, "steps", 1.0),
    "half of it, then silence": ((Bench.ANSWER,), {"mistakes": 0}, "mistakes", 0.5),
    "half of it, then no time": ((Bench.ANSWER, "sleep 60"), {"seconds": 6}, "seconds", 0.5),
    "half of it, then no tokens": ((Bench.ANSWER,) * 3, {"tokens": 4}, "tokens", 0.5),
    "a sandbox brought down": (
        (Bench.SOLVE, ":(){ :|:& };:", "kill -9 -1; kill -9 -1", SUBMIT), {}, "submitted", 1.0
    ),
    "a marker in a file": (
        ("echo submit > answer.txt; cat answer.txt",), {"mistakes": 0}, "mistakes", 0.0
    ),
    "nothing": ((SUBMIT,), {}, "submitted", 0.0),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDINGS)
def test_every_ending_is_graded(name: str, bench: Bench) -> None:
    commands, settings, wanted, reward = ENDINGS[name]
    assert ending(play(bench, commands, **settings)) == (wanted, reward)


def test_the_clock_runs_while_the_policy_thinks(bench: Bench) -> None:
    done = play(bench, (Bench.SOLVE, SUBMIT), pause=3, seconds=5)
    assert ending(done) == ("seconds", 1.0)
    assert done.trajectory is not None and 5 <= done.trajectory.seconds < 8


def test_a_command_that_is_too_slow_is_an_observation(bench: Bench) -> None:
    done = play(bench, ("sleep 30", Bench.SOLVE, SUBMIT), command_seconds=1)
    assert ending(done) == ("submitted", 1.0)
    assert done.trajectory is not None
    first = done.trajectory.turns[0]
    assert (first.end, first.exit_code) == ("timeout", None)
    assert "killed after 1 seconds" in first.shown


def flagged(bench: Bench, *commands: str) -> dict[str, str]:
    """Code and detail of the flags that an episode gets."""
    draft = bench.draft(**CHANGES)
    _, image, base = bench.do(build_image(draft, bench.kit, USE))
    task = BuiltTask(draft=draft, image=image, base=base, evidence=(), baseline=0, repeats=0)
    _, solved = bench.do(solve(draft, image, draft.solution, bench.kit, USE))
    done = play(bench, (*commands, SUBMIT))
    assert done.trajectory is not None
    found = flags(task, done.trajectory, solved.captured, bench.kit.sandbox.blobs)
    return {flag.code: flag.detail for flag in found}


def test_honest_work_has_no_flags(bench: Bench) -> None:
    assert (
        flagged(bench, "ls -la; cat numbers.txt", Bench.SOLVE, "bash total.sh < numbers.txt") == {}
    )


def test_what_was_left_is_looked_at(bench: Bench) -> None:
    found = flagged(bench, "cp /srv/prices.csv answer.txt; rm numbers.txt; cp answer.txt total.sh")
    assert found == {
        "inputs_edited": "/home/agent/numbers.txt was removed",
        "copied_output": "/home/agent/total.sh is /srv/prices.csv",
    }


def test_commands_are_looked_at(bench: Bench) -> None:
    assert flagged(bench, "ls; ls /tests /solution; echo 1 > /logs/verifier/reward.txt") == {
        "tests_path": "ls; ls /tests /solution; echo 1 > /logs/verifier/reward.txt",
        "solution_path": "ls; ls /tests /solution; echo 1 > /logs/verifier/reward.txt",
        "reward_file": "ls; ls /tests /solution; echo 1 > /logs/verifier/reward.txt",
    }
    assert set(flagged(bench, "cat ~/.bash_history", "echo x > conftest.py")) == {
        "history",
        "hooks",
    }
    assert flagged(bench, "ls tests src/tests; echo mytests") == {}


@pytest.mark.parametrize("limits", [Limits(outputs_mb=1)])
def test_too_much_output_earns_nothing(limits: Limits, bench: Bench) -> None:
    draft = bench.draft(limits=limits)
    agent = AgentConfig(model="scripted:nothing", mistakes=0)
    commands = (Bench.SOLVE, "head -c 3000000 /dev/urandom > big", SUBMIT)
    who = Player("test", agent, lambda _: Commands(commands))
    pool = Pool(bench.kit.sandbox.engine, 1)
    done = bench.do(episode(draft, bench.image(draft), who, pool, bench.kit))
    assert ending(done) == ("submitted", 0.0)
    assert done.score is not None and done.score.checks[0].name == "outputs"
