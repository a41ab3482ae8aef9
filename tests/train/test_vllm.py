"""vLLM against the trainer: the same logprobs after every exchange of weights, also in flight.

ENVGEN_UPDATES=200 for as many exchanges as docs/training.md reports.
"""

import asyncio
import json
import multiprocessing
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import torch

from envgen.agent import Sampled, Sampling
from envgen.config import TrainConfig
from envgen.errors import SamplerDown
from envgen.records import Message
from envgen.train.batch import Row, rollout_of
from envgen.train.chat import TemplateChat
from envgen.train.inference import Engine, check_gap, open_engine
from envgen.train.policy import Learner
from tests.train import tiny
from tests.train.test_filling import SCHEMA

pytestmark = pytest.mark.filterwarnings("ignore")  # vLLM's own, at import and at its end
torch.set_num_threads(1)
Do = Callable[[Coroutine[Any, Any, Any]], Any]
UPDATES = int(os.environ.get("ENVGEN_UPDATES", "6"))
LONG = tuple((7 * n) % 61 for n in range(300))
"""Longer than two blocks of the prefix cache: keys of old weights would be found."""
PROMPTS = (LONG, (*LONG[:200], 5), (1, 2, 3), (9,))
END = 63


def settings(folder: Path) -> TrainConfig:
    return TrainConfig(
        model=str(folder), dtype="float32", context=1024, learning_rate=5e-3, temperature=0.8
    )


async def drawn(engine: Engine, most: int = 24) -> list[tuple[tuple[int, ...], Sampled]]:
    wanted = Sampling(most, 0.8, ends=(END,))
    prompts = PROMPTS * 2
    found = await asyncio.gather(*(engine.sample(prompt, wanted) for prompt in prompts))
    return list(zip(prompts, found, strict=True))


def rows_of(samples: list[tuple[tuple[int, ...], Sampled]]) -> list[Row]:
    return [Row(rollout_of([s], 1.0), (-1.0) ** n) for n, s in enumerate(samples)]


@pytest.mark.parametrize("tied", [False, True])
def test_every_exchange_of_weights_is_whole(tmp_path: Path, do: Do, tied: bool) -> None:
    config = settings(tiny.model(tmp_path / "m", tied=tied))

    async def main() -> list[float]:
        learner, gaps = Learner(config), []
        async with open_engine(config, tmp_path / "m", 0) as engine:
            assert await check_gap(learner, engine, PROMPTS) < 1e-4
            for version in range(1, UPDATES + 1):
                rows = rows_of(await drawn(engine))
                assert {v for r in rows for v in r.rollout.versions} == {-1, version - 1}
                gaps.append(learner.gap(rows)[0])
                assert learner.step(rows).stepped
                assert learner.gap(rows)[0] > 1e-3  # old logprobs would be noticed
                learner.save(tmp_path / "weights")
                await engine.update(tmp_path / "weights", version)
            gaps.append(learner.gap(rows_of(await drawn(engine)))[0])
            await in_flight(learner, engine)
            await killed(engine)
        return gaps

    async def killed(engine: Engine) -> None:
        """The engine's process dies under running samples: they end, and say so."""
        running = [asyncio.create_task(engine.sample((1, 2), Sampling(900))) for _ in range(3)]
        await asyncio.sleep(0.2)
        cores = [child for child in multiprocessing.active_children() if "Engine" in child.name]
        assert cores, [child.name for child in multiprocessing.active_children()]
        for core in cores:
            core.kill()
        done = await asyncio.wait_for(asyncio.gather(*running, return_exceptions=True), 60)
        assert [type(error) for error in done] == [SamplerDown] * 3
        with pytest.raises(SamplerDown, match="died"):
            await engine.update(tmp_path / "weights", 99)

    async def in_flight(learner: Learner, engine: Engine) -> None:
        """Two exchanges while samples run: each token is of the version that it is said to be."""
        old = {learner.version: [p.detach().clone() for p in learner.trained]}
        running = [
            asyncio.create_task(engine.sample(prompt, Sampling(400, 0.8))) for prompt in PROMPTS
        ]
        for _ in range(2):
            await asyncio.sleep(0.15)
            learner.step(rows_of(await drawn(engine, 8)))
            learner.save(tmp_path / "weights")
            await engine.update(tmp_path / "weights", learner.version)
            old[learner.version] = [p.detach().clone() for p in learner.trained]
        rows = rows_of(list(zip(PROMPTS, await asyncio.gather(*running), strict=True)))
        seen = set()
        for version, weights in old.items():
            with torch.no_grad():
                for own, kept in zip(learner.trained, weights, strict=True):
                    own.copy_(kept)
                logprobs, _, tokens, versions = learner.score(rows)
            theirs = versions == version
            seen |= {version} if theirs.any() else set()
            assert ((logprobs - tokens.anchor)[theirs].abs() < 1e-4).all()
        assert len(seen) >= 2, "no sample met an exchange"

    gaps = do(asyncio.wait_for(main(), 120 + 10 * UPDATES))
    print(f"{UPDATES} updates, tied={tied}: largest gap {max(gaps):.2g}")
    assert max(gaps) < 1e-4


def test_forms_are_filled_in_beside_free_samples(tmp_path: Path, do: Do) -> None:
    folder = tiny.tokenizer(tiny.model(tmp_path / "m", 320))
    config, chat = settings(folder), TemplateChat(folder)
    prompt = chat.opening([Message(role="user", text="Do it.")])
    free, form = Sampling(12, 0.8, chat.ends), Sampling(60, 1.0, chat.ends, json.dumps(SCHEMA))

    async def main() -> None:
        async with open_engine(config, folder, 0) as engine:
            drawn = await asyncio.gather(
                *(engine.sample(prompt, wanted) for wanted in (free, *[form] * 6))
            )
        assert Learner(config).gap(rows_of([(prompt, drawn[0])]))[0] < 1e-4
        for sampled in drawn[1:]:
            text = chat.text(sampled.ids)
            value = json.loads(text)
            assert value["kind"] in ("oak", "pine")
            assert 3 <= value["count"] <= 99
            assert text == json.dumps(value, separators=(",", ":"))

    do(asyncio.wait_for(main(), 200))
