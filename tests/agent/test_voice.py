"""A token-level sampler asked as a text model."""

import asyncio
from pathlib import Path

import pytest

from envgen.agent import Sampling
from envgen.agent.scripted import ByteChat, ScriptedSampler
from envgen.agent.voice import COLDEST, Voice
from envgen.config import load
from envgen.errors import Misconfigured, SamplerDown
from envgen.ledger import Ledger, Use
from envgen.llm import KIND
from envgen.llm.opened import open_models
from envgen.records import Completion, Message, Request

ASKED = Request(
    model="own:m@1", messages=(Message(role="user", text="Hello"),), max_tokens=20, temperature=0.5
)


class Seen(ScriptedSampler):
    """Keeps how it was asked to draw."""

    sampling: Sampling

    async def sample(self, prompt, sampling):  # type: ignore[no-untyped-def]
        self.sampling = sampling
        return await super().sample(prompt, sampling)


def voice(answer: str, context: int = 100) -> Voice:
    return Voice(Seen(lambda prompt: answer), ByteChat(), context)


def asked(voice: Voice, request: Request = ASKED) -> Completion:
    return asyncio.run(voice.complete(request))


def test_a_conversation_is_written_by_the_chat_and_answered() -> None:
    model = voice("right")
    messages = (
        *ASKED.messages,
        Message(role="assistant", text="a"),
        Message(role="user", text="b"),
    )
    answer = asked(model, ASKED.model_copy(update={"messages": messages}))
    prompt = (256, *b"Hello", 257, 256, *b"a", 257, 256, *b"b", 257, 258)
    assert model.sampler.prompts == [prompt]  # type: ignore[attr-defined]
    assert (answer.text, answer.finish, answer.model) == ("right", "stop", "own:m@1")
    assert (answer.usage.input, answer.usage.output) == (len(prompt), 6)
    assert model.sampler.sampling == Sampling(20, 0.5, (257,), None)  # type: ignore[attr-defined]


def test_what_is_cut_says_so_and_a_form_is_handed_on() -> None:
    model = voice("longer than it may be")
    answer = asked(model, ASKED.model_copy(update={"max_tokens": 6, "answer_schema": "{}"}))
    assert (answer.text, answer.finish) == ("longer", "length")
    assert model.sampler.sampling.schema == "{}"  # type: ignore[attr-defined]


@pytest.mark.parametrize(("context", "most"), [(8, 0), (7, 0), (11, 3), (90, 20)])
def test_question_and_answer_fit_the_context(context: int, most: int) -> None:
    model = voice("right", context)
    answer = asked(model)
    assert answer.usage.input == 8
    assert len(model.sampler.prompts) == bool(most)  # type: ignore[attr-defined]
    assert answer.usage.output == min(most, 6)
    assert answer.finish == ("stop" if most == 20 else "length")


def test_thinking_is_told_apart() -> None:
    answer = asked(
        voice("<think>\nhm\n</think>\n\nyes"), ASKED.model_copy(update={"max_tokens": 60})
    )
    assert (answer.text, answer.thinking) == ("yes", "hm")


@pytest.mark.parametrize(("temperature", "nudge", "drawn"), [(0.0, 0, COLDEST), (0.5, 2, 1.0)])
def test_temperatures(temperature: float, nudge: int, drawn: float) -> None:
    model = voice("x")
    asked(model, ASKED.model_copy(update={"temperature": temperature, "nudge": nudge}))
    assert model.sampler.sampling.temperature == drawn  # type: ignore[attr-defined]


def test_a_model_of_this_process_is_recorded_like_any_other(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    model = voice("right")

    async def main() -> list[str]:
        names = {"author": "own:m@1", "critic": "own:m@1"}
        async with open_models(names, load(None, []).llm, ledger, own={"own:m@1": model}) as made:
            found = [await made[role].complete(ASKED, Use("t", "s")) for role in names]
            other = ASKED.model_copy(update={"model": "own:m@2"})
            found.append(await made["author"].complete(other, Use("t", "s")))
            return [key for key, _ in found]

    first, again, other = asyncio.run(main())
    assert first == again != other  # other weights are another effect
    assert len(model.sampler.prompts) == 2  # type: ignore[attr-defined]
    (row,) = [r for r in ledger.attempts.table() if r.model == "own:m@1"]
    assert (row.attempts, row.input, row.output, row.cost, row.risk) == (1, 8, 6, 0, 0)
    assert [step.kind for step in ledger.spending.by_step()] == [KIND]
    ledger.close()


def test_a_sampler_that_is_gone_ends_what_asks(tmp_path: Path) -> None:
    def gone(prompt: tuple[int, ...]) -> str:
        raise SamplerDown("gone")

    ledger, model = Ledger(tmp_path), Voice(ScriptedSampler(gone), ByteChat(), 100)

    async def main() -> None:
        own = {"own:m@1": model}
        async with open_models({"author": "own:m@1"}, load(None, []).llm, ledger, own=own) as made:
            await made["author"].complete(ASKED, Use("t", "s"))

    with pytest.raises(SamplerDown, match="gone"):
        asyncio.run(main())
    ledger.close()


def test_it_is_nobody_elses(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)

    async def main() -> None:
        async with open_models({"author": "own:m@1"}, load(None, []).llm, ledger):
            raise AssertionError("opened")

    with pytest.raises(Misconfigured, match="'own:m@1': a model of this process is there in"):
        asyncio.run(main())
    ledger.close()
