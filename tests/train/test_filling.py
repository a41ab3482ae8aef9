"""Samples that fill in forms, and a policy asked as a text model over a real tokenizer."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import torch

from envgen.agent import Sampling
from envgen.agent.voice import Voice
from envgen.config import TrainConfig
from envgen.errors import Misconfigured
from envgen.records import Message, Request
from envgen.train.batch import Row, rollout_of
from envgen.train.chat import TemplateChat
from envgen.train.inference import Transformers
from envgen.train.policy import Learner
from tests.train import tiny

torch.set_num_threads(1)
Do = Callable[[Coroutine[Any, Any, Any]], Any]
SCHEMA = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["oak", "pine"]},
        "count": {"type": "integer", "minimum": 3, "maximum": 99},
    },
    "required": ["kind", "count"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.tokenizer(tiny.model(tmp_path_factory.mktemp("m"), 320))


@pytest.fixture(scope="module")
def engine(folder: Path) -> Transformers:
    config = TrainConfig(model=str(folder), dtype="float32", sampler="transformers")
    return Transformers(config, folder, 0)


def test_forms_are_filled_in_beside_free_samples(
    folder: Path, engine: Transformers, do: Do
) -> None:
    chat = TemplateChat(folder)
    prompt = chat.opening([Message(role="user", text="Do it.")])
    form = Sampling(60, 1.0, chat.ends, json.dumps(SCHEMA))

    async def main() -> list[Any]:
        free = [engine.sample(prompt, Sampling(12, 1.0, chat.ends)) for _ in range(2)]
        forms = [engine.sample(prompt, form) for _ in range(8)]
        return list(await asyncio.gather(*free, *forms))

    *free, _, _, _, _, _, _, _, _ = drawn = do(main())
    rows = [Row(rollout_of([(prompt, sampled)], 1.0), 0.0) for sampled in free]
    assert Learner(engine.settings).gap(rows)[0] < 1e-5  # what is free is the model's own
    for sampled in drawn[2:]:
        text = chat.text(sampled.ids)
        value = json.loads(text)
        assert value["kind"] in ("oak", "pine")
        assert 3 <= value["count"] <= 99
        assert text == json.dumps(value, separators=(",", ":"))  # no blank that could go on
        assert sampled.ids[-1] in chat.ends
        assert all(logprob <= 0 for logprob in sampled.logprobs)
    assert len({chat.text(sampled.ids) for sampled in drawn[2:]}) > 1


def test_a_schema_that_nothing_can_be_held_to_is_named(
    folder: Path, engine: Transformers, do: Do
) -> None:
    schema = json.dumps({"type": "object", "patternProperties": {"(?<!x)": {"type": "null"}}})
    with pytest.raises(Misconfigured, match="a schema that samples cannot be held to"):
        do(engine.sample((1,), Sampling(4, 1.0, (1,), schema)))


def test_a_voice_answers_in_text(folder: Path, engine: Transformers, do: Do) -> None:
    voice = Voice(engine, TemplateChat(folder), 200)
    request = Request(
        model="own:m@1",
        messages=(Message(role="system", text="x"), Message(role="user", text="Do it.")),
        answer_schema=json.dumps(SCHEMA),
        max_tokens=60,
    )
    answer = do(voice.complete(request))
    assert json.loads(answer.text)["kind"] in ("oak", "pine")
    assert (answer.finish, answer.model) == ("stop", "own:m@1")
    assert answer.usage.input == len(voice.chat.opening(request.messages))
    assert 5 < answer.usage.output <= 60
