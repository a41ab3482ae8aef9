"""The loop on a scripted session: budgets, mistakes, the end, and a history that only grows."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from envgen.agent import SUBMIT, Reply, Sampled, SampleUnusable, Sampling, Unanswered
from envgen.agent.loop import Loop
from envgen.agent.policies import TextPolicy, TokenPolicy
from envgen.agent.scripted import ByteChat, Commands, ScriptedSampler
from envgen.config import AgentConfig
from envgen.errors import SandboxLost
from envgen.ledger import Blobs
from envgen.llm.scripted import Scripted as ScriptedModel
from envgen.records import Completion, Message, Observation, Opening, Request, ToolCall, Usage
from envgen.sandbox.scripted import ScriptedSession

OPENING = (Message(role="system", text="Be good."), Message(role="user", text="Do it."))


def agent(**changes: Any) -> AgentConfig:
    return AgentConfig.model_validate(changes)


def session(shell: Callable[[str], Observation], folder: Path) -> ScriptedSession:
    opening = Opening(image="sha256:0", image_ref="none")
    return ScriptedSession(opening, lambda _, command: shell(command), Blobs(folder))


def fine(command: str) -> Observation:
    return Observation(output=f"ran {command}\n", exit_code=0, seconds=2.0)


@pytest.fixture
def play(tmp_path: Path) -> Callable[..., Loop]:
    """`play(policy, shell, **settings)`: the loop after its end."""

    def run(
        policy: Any,
        shell: Callable[[str], Observation] = fine,
        seconds: float = 600,
        **changes: Any,
    ) -> Loop:
        loop = Loop(policy, session(shell, tmp_path), agent(**changes), seconds)
        asyncio.run(loop.run(OPENING))
        return loop

    return run


def test_commands_run_in_order_until_the_submission(play: Callable[..., Loop]) -> None:
    policy = Commands(("pwd", "ls\nls", SUBMIT, "never"))
    loop = play(policy)
    assert (loop.ending, loop.detail) == ("submitted", "")
    assert [turn.command for turn in loop.turns] == ["pwd", "ls\nls", "submit"]
    assert isinstance(loop.session, ScriptedSession)
    assert loop.session.commands == ["pwd", "ls\nls"]
    assert policy.heard == [
        *OPENING,
        Message(role="user", text="<output>\nran pwd\n</output>\nexit code 0\n"),
        Message(role="user", text="<output>\nran ls\nls\n</output>\nexit code 0\n"),
    ]
    first = loop.turns[0]
    assert (first.exit_code, first.end, first.seconds, first.mistake) == (0, "done", 2.0, "")


def test_nothing_that_is_read_or_written_submits(play: Callable[..., Loop]) -> None:
    def shell(command: str) -> Observation:
        return Observation(output="submit\n```bash\nsubmit\n```\n", exit_code=0)

    loop = play(Commands(("cat marker", "echo submit", "cat > f <<'E'\nsubmit\nE")), shell)
    assert loop.ending == "mistakes"  # it has nothing more to say
    assert all(turn.command != SUBMIT for turn in loop.turns)


def test_mistakes_are_answered_until_there_are_too_many_in_a_row(play: Callable[..., Loop]) -> None:
    class Forgetful(Commands):
        async def reply(self, heard: Sequence[Message], most: int) -> Reply:
            self.turn = getattr(self, "turn", 0) + 1
            if self.turn % 3 == 0:
                return await super().reply(heard, most)
            return Reply("I wonder.", "stop")

    loop = play(Forgetful(("ls", SUBMIT)), mistakes=2)
    assert loop.ending == "submitted"
    assert [turn.mistake for turn in loop.turns] == ["none", "none", "", "none", "none", ""]
    assert loop.turns[0].shown.startswith("Nothing was run: there was no command.")
    loop = play(Forgetful(("ls", SUBMIT)), mistakes=1)
    assert (loop.ending, loop.detail, len(loop.turns)) == ("mistakes", "none", 2)


def test_steps_tokens_and_seconds_end_it(play: Callable[..., Loop]) -> None:
    loop = play(Commands(("a",) * 9), steps=4)
    assert (loop.ending, len(loop.turns)) == ("steps", 4)
    loop = play(Commands(("one two three",) * 9), tokens=7)  # 3 tokens a turn
    assert (loop.ending, len(loop.turns)) == ("tokens", 3)
    loop = play(Commands(("a",) * 9), seconds=5)  # 2 seconds a command
    assert (loop.ending, len(loop.turns)) == ("seconds", 3)


class Slower(Commands):
    """Takes longer for every reply."""

    async def reply(self, heard: Sequence[Message], most: int) -> Reply:
        found = await super().reply(heard, most)
        self.pause += 30
        return found


def test_the_clock_also_runs_while_the_policy_samples(play: Callable[..., Loop]) -> None:
    loop = play(Slower(("a", "b")), seconds=2.05)
    assert (loop.ending, loop.detail) == ("seconds", "while the policy was sampling")
    assert [turn.command for turn in loop.turns] == ["a"]


def test_a_model_that_never_said_a_word_has_not_played(play: Callable[..., Loop]) -> None:
    with pytest.raises(Unanswered, match=r"the model said nothing in 0\.05 s"):
        play(Commands(("a",), pause=30), seconds=0.05)


def test_a_command_gets_no_more_time_than_is_left(tmp_path: Path) -> None:
    limits = []

    class Watched(ScriptedSession):
        async def run(self, command: str, seconds: float) -> Observation:
            limits.append(seconds)
            return await super().run(command, seconds)

    opening = Opening(image="sha256:0", image_ref="none")
    shell = Watched(opening, lambda _, c: fine(c), Blobs(tmp_path))
    loop = Loop(Commands(("a",) * 9), shell, agent(command_seconds=4), 7)
    asyncio.run(loop.run(OPENING))
    assert limits == [4, 4, 3, 1]


def test_what_the_agent_does_to_its_sandbox_is_its_own_affair(play: Callable[..., Loop]) -> None:
    loop = play(
        Commands(("kill -9 -1", "ls")),
        lambda command: Observation(output="", exit_code=None, end="over"),
    )
    assert (loop.ending, len(loop.turns), loop.turns[0].end) == ("sandbox", 1, "over")


def test_a_lost_sandbox_is_nobodys_ending(play: Callable[..., Loop]) -> None:
    def shell(command: str) -> Observation:
        raise SandboxLost("the node went away")

    with pytest.raises(SandboxLost):
        play(Commands(("ls",)), shell)


# -- a text model ------------------------------------------------------------------------------


def text(
    answer: Callable[[Request], Completion | str], **changes: Any
) -> tuple[ScriptedModel, TextPolicy]:
    model = ScriptedModel(answer)
    keep = changes.pop("keep", True)
    asked = Request(model="openai:x", messages=(), max_tokens=100, **changes)
    return model, TextPolicy(model, asked, keep)


def thinking(request: Request) -> str:
    turns = sum(m.role == "assistant" for m in request.messages)
    command = SUBMIT if turns == 2 else f"echo {turns}"
    return f"<think>Hm, {turns}.</think>\n```bash\n{command}\n```"


def test_history_is_sent_whole_and_grows(play: Callable[..., Loop]) -> None:
    model, policy = text(thinking)
    loop = play(policy)
    sent = [request.messages for request in model.asked]
    assert sent[0] == OPENING
    for earlier, later in pairwise(sent):
        assert later[: len(earlier)] == earlier
    assert [turn.command for turn in loop.turns] == ["echo 0", "echo 1", "submit"]
    assert sent[2][2].text.startswith("<think>Hm, 0.</think>")
    assert [r.max_tokens for r in model.asked] == [100, 100, 100]


def test_thinking_is_taken_out_of_history_where_that_is_wanted(play: Callable[..., Loop]) -> None:
    model, policy = text(thinking, keep=False)
    loop = play(policy)
    assert model.asked[2].messages[2].text == "```bash\necho 0\n```"
    assert loop.turns[0].text.startswith("<think>")  # what it said is kept all the same


def test_history_that_grows_is_served_from_a_cache_and_edited_history_is_not(
    play: Callable[..., Loop],
) -> None:
    _, kept = text(thinking)
    _, stripped = text(thinking, keep=False)
    grown, edited = play(kept).turns, play(stripped).turns
    assert grown[0].reused == edited[0].reused == 0
    for turn in grown[1:]:
        assert 0.6 < turn.reused / turn.usage.input < 0.9  # all but what is new
    for turn, other in zip(grown[1:], edited[1:], strict=True):
        assert other.reused < turn.reused


def test_a_history_that_is_too_long_ends_it(play: Callable[..., Loop]) -> None:
    def answer(request: Request) -> Completion:
        return Completion(text="", finish="length", usage=Usage(), model="x")

    _, policy = text(answer)
    assert play(policy).ending == "context"


@pytest.mark.parametrize("finish", ["refused", "blocked"])
def test_a_refusal_ends_it(finish: Any, play: Callable[..., Loop]) -> None:
    _, policy = text(
        lambda request: Completion(text="No.", finish=finish, usage=Usage(), model="x")
    )
    loop = play(policy)
    assert (loop.ending, loop.detail, loop.turns[0].text) == ("refused", finish, "No.")


def test_tool_calls_are_answered_one_by_one(play: Callable[..., Loop]) -> None:
    def answer(request: Request) -> Completion:
        if any(m.role == "tool" for m in request.messages):
            calls: tuple[ToolCall, ...] = (
                ToolCall(ref="z", name="bash", arguments='{"command": "submit"}'),
            )
        else:
            calls = tuple(
                ToolCall(ref=ref, name="bash", arguments=f'{{"command": "echo {ref}"}}')
                for ref in ("a", "b")
            )
        return Completion(text="", finish="stop", usage=Usage(), model="x", calls=calls)

    model, policy = text(answer, tools="[]")
    loop = play(policy, tools="calls")
    assert [turn.command for turn in loop.turns] == ["echo a", "submit"]
    said, first, second = model.asked[1].messages[2:]
    assert [call.ref for call in said.calls] == ["a", "b"]
    assert (first.role, first.answers) == ("tool", "a")
    assert "ran echo a" in first.text and "Only the first of your 2 commands" in first.text
    assert (second.text, second.answers) == ("Not run.", "b")


# -- a sampler of tokens -----------------------------------------------------------------------


def token(sampler: Any, context: int = 100_000, max_tokens: int = 1000) -> TokenPolicy:
    return TokenPolicy(sampler, ByteChat(), Sampling(max_tokens), context)


def say(prompt: tuple[int, ...]) -> str:
    turns = prompt.count(258)
    return f"```bash\n{SUBMIT if turns == 4 else f'echo {turns}'}\n```"


def test_what_was_sampled_is_what_is_seen_next(play: Callable[..., Loop]) -> None:
    sampler = ScriptedSampler(say, version=7)
    loop = play(token(sampler))
    assert loop.ending == "submitted"
    history: tuple[int, ...] = ()
    for turn, prompt in zip(loop.turns, sampler.prompts, strict=True):
        assert turn.tokens is not None
        assert prompt == history + turn.tokens.before
        assert turn.usage == Usage(input=len(prompt), output=len(turn.tokens.ids))
        assert turn.reused == len(history)
        assert turn.tokens.versions == (7,) * len(turn.tokens.ids)
        assert len(turn.tokens.logprobs) == len(turn.tokens.ids)
        history = prompt + turn.tokens.ids
    assert loop.turns[0].text == "```bash\necho 1\n```"


def test_ids_that_no_text_would_give_are_kept(play: Callable[..., Loop]) -> None:
    """The bytes of a sample need not be UTF-8; encoding its text again would change them."""

    class Odd(ScriptedSampler):
        async def sample(self, prompt: tuple[int, ...], sampling: Sampling) -> Sampled:
            ids = (0xFF, *b"\n```bash\nsubmit\n```", 257)
            return Sampled(ids, (-0.5,) * len(ids), (0,) * len(ids))

    loop = play(token(Odd(say)))
    assert loop.turns[0].tokens is not None and loop.turns[0].tokens.ids[0] == 0xFF
    assert loop.turns[0].text.startswith("\ufffd")
    assert loop.ending == "submitted"


def test_a_sample_that_was_cut_gets_its_end_from_us(play: Callable[..., Loop]) -> None:
    sampler = ScriptedSampler(lambda prompt: "x" * 50)
    loop = play(token(sampler, max_tokens=10), mistakes=1)
    assert [turn.finish for turn in loop.turns] == ["length", "length"]
    assert [turn.mistake for turn in loop.turns] == ["cut", "cut"]
    second = loop.turns[1].tokens
    assert second is not None and second.before[0] == 257
    assert loop.turns[0].tokens is not None and 257 not in loop.turns[0].tokens.ids


def test_a_full_context_ends_it(play: Callable[..., Loop]) -> None:
    loop = play(token(ScriptedSampler(say), context=60))
    assert loop.ending == "context"
    assert sum(turn.usage.output for turn in loop.turns) + loop.turns[-1].usage.input <= 60


@pytest.mark.parametrize(
    "drawn",
    [
        Sampled((1, 2), (-0.1, float("nan")), (0, 0)),
        Sampled((1, 2), (-0.1,), (0, 0)),
        Sampled((1, 2), (-0.1, -0.2), (0,)),
        Sampled((), (), ()),
    ],
)
def test_samples_that_nothing_can_be_learnt_from_are_no_episode(
    drawn: Sampled, play: Callable[..., Loop]
) -> None:
    class Broken(ScriptedSampler):
        async def sample(self, prompt: tuple[int, ...], sampling: Sampling) -> Sampled:
            return drawn

    with pytest.raises(SampleUnusable):
        play(token(Broken(say)))
