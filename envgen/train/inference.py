"""The model that samples: a vLLM engine in this process, a vLLM server, or transformers alone.

Each is an `Engine`: the agent's sampler, whose weights can be exchanged while episodes go on. Ids
in, ids out: no text passes through here. Log-probabilities are those of the distribution that was
sampled from, at the temperature that was used, from a head in float32.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import torch

from envgen.agent import Sampled, Sampling
from envgen.config import TrainConfig
from envgen.errors import Misconfigured, SamplerDown
from envgen.train import vllm_engine
from envgen.train.batch import Row, rollout_of
from envgen.train.forms import Form, Forms
from envgen.train.policy import DTYPES, Learner

TOGETHER = 256
"""Samples that transformers draws at once."""


class Engine(Protocol):
    """A sampler with weights that are exchanged. Raises SamplerDown when it is gone."""

    async def sample(self, prompt: tuple[int, ...], sampling: Sampling) -> Sampled:
        """As the agent asks for it (`envgen.agent.Sampler`)."""
        ...

    async def update(self, folder: Path, version: int) -> None:
        """Sample with the weights of a folder from now on, also in samples that have begun.

        Nothing that was computed with other weights (keys, values) is used for what comes.
        """
        ...


@asynccontextmanager
async def open_engine(settings: TrainConfig, folder: Path, version: int) -> AsyncIterator[Engine]:
    """The configured engine, with the weights of a folder."""
    if settings.sampler == "transformers":
        yield Transformers(settings, folder, version)
        return
    opened = vllm_engine.server if settings.sampler == "server" else vllm_engine.in_process
    async with opened(settings, folder, version) as engine:
        yield engine


async def check_gap(learner: Learner, engine: Engine, prompts: Sequence[tuple[int, ...]]) -> float:
    """The largest difference of a logprob between sampler and trainer, on samples of prompts.

    Raises:
        Misconfigured: the mean is above the bound: the two do not compute the same model.
    """
    settings = learner.settings
    drawn = await asyncio.gather(
        *(engine.sample(p, Sampling(32, settings.temperature)) for p in prompts)
    )
    rows = [
        Row(rollout_of([(prompt, sampled)], 0.0), 0.0)
        for prompt, sampled in zip(prompts, drawn, strict=True)
    ]
    worst, mean = learner.gap(rows)
    if not mean <= settings.most_gap:
        raise Misconfigured(
            f"sampler and trainer disagree in a token's logprob by {mean:.3g} in the mean (at most "
            f"{worst:.3g}), where train.most_gap allows {settings.most_gap:g}: they do not compute "
            "the same model; see whether both have the same weights and precision, or raise the "
            "bound knowingly"
        )
    return worst


# -- transformers alone ------------------------------------------------------------------------


@dataclass
class _Asked:
    prompt: tuple[int, ...]
    sampling: Sampling
    form: Form | None
    answer: "asyncio.Future[Sampled]"


@dataclass
class Transformers:
    """Samples with transformers, batch after batch: one slow sample holds up the rest.

    For machines without vLLM, and tests. Weights change between two batches.
    """

    settings: TrainConfig
    folder: Path
    version: int
    _forms: Forms = field(init=False)
    _waiting: list[_Asked] = field(default_factory=list)
    _worker: "asyncio.Task[None] | None" = None
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        from transformers import AutoModelForCausalLM

        self._model = AutoModelForCausalLM.from_pretrained(
            self.folder, dtype=DTYPES[self.settings.dtype], local_files_only=True
        )
        self._model.to(self.settings.device).eval()
        self._forms = Forms(self.folder, self._model.get_output_embeddings().weight.shape[0])
        self._draws = torch.Generator(self.settings.device)
        self._draws.manual_seed(self.settings.seed * 1_000_003 + self.version)

    async def sample(self, prompt: tuple[int, ...], sampling: Sampling) -> Sampled:
        form = self._forms.form(sampling) if sampling.schema else None
        asked = _Asked(prompt, sampling, form, asyncio.get_running_loop().create_future())
        self._waiting.append(asked)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        return await asked.answer

    async def update(self, folder: Path, version: int) -> None:
        from safetensors.torch import load_file

        async with self._turn:
            loaded = load_file(folder / "model.safetensors")
            missing = self._model.load_state_dict(loaded, strict=False).missing_keys
            if [name for name in missing if name != "lm_head.weight"]:
                raise SamplerDown(f"the weights in {folder} are not whole: {missing[:3]} missing")
            self._model.tie_weights()
            self.version = version

    async def _work(self) -> None:
        """Draw for everybody who waits, until nobody does; an error is everybody's."""
        while self._waiting:
            asked, self._waiting = self._waiting[:TOGETHER], self._waiting[TOGETHER:]
            async with self._turn:
                drawing = asyncio.ensure_future(asyncio.to_thread(self._draw, asked))
                await asyncio.wait([drawing])
            error = drawing.exception()
            for number, one in enumerate(asked):
                if one.answer.done():
                    continue
                if error is not None:
                    one.answer.set_exception(error)
                else:
                    one.answer.set_result(drawing.result()[number])

    def _draw(self, asked: Sequence[_Asked]) -> list[Sampled]:
        with torch.inference_mode():
            return _drawn(self._model, asked, self._draws, self.version)


def _drawn(
    model: Any, asked: Sequence[_Asked], draws: torch.Generator, version: int
) -> list[Sampled]:
    """One batch: prompts padded on the left; who is done leaves the batch."""
    longest, head = max(len(one.prompt) for one in asked), model.get_output_embeddings()
    pads = [longest - len(one.prompt) for one in asked]
    pairs = list(zip(asked, pads, strict=True))
    device = head.weight.device
    weight = head.weight.float()  # once: of half a billion weights, a third may be the head's
    bias = None if head.bias is None else head.bias.float()
    ids = torch.tensor([[0] * pad + list(one.prompt) for one, pad in pairs], device=device)
    mask = torch.tensor([[0] * pad + [1] * (longest - pad) for pad in pads], device=device)
    temperature = torch.tensor([[one.sampling.temperature] for one in asked], device=device)
    found: list[tuple[list[int], list[float]]] = [([], []) for _ in asked]
    alive, cache = list(range(len(asked))), None
    while alive:
        place = (mask.cumsum(-1) - 1).clamp_min(0)[:, -ids.shape[1] :]
        done = model.base_model(
            input_ids=ids,
            attention_mask=mask,
            position_ids=place,
            past_key_values=cache,
            use_cache=True,
        )
        cache = done.past_key_values
        last = done.last_hidden_state[:, -1].float()
        logits = torch.nn.functional.linear(last, weight, bias)
        for row, number in enumerate(alive):
            if form := asked[number].form:
                logits[row, ~form.allowed(device)] = float("-inf")
        logs = (logits / temperature).log_softmax(-1)
        chosen = torch.multinomial(logs.exp(), 1, generator=draws)
        stay = []
        pair = zip(chosen[:, 0].tolist(), logs.gather(-1, chosen)[:, 0].tolist(), strict=True)
        for row, (number, (token, logprob)) in enumerate(zip(alive, pair, strict=True)):
            sampled, sampling = found[number], asked[number].sampling
            sampled[0].append(token)
            sampled[1].append(logprob)
            if form := asked[number].form:
                form.take(token)
            if token not in sampling.ends and len(sampled[0]) < sampling.max_tokens:
                stay.append(row)
        if len(stay) < len(alive):
            kept = torch.tensor(stay, dtype=torch.long, device=device)
            alive = [alive[row] for row in stay]
            chosen, mask, temperature = chosen[kept], mask[kept], temperature[kept]
            if alive:
                cache.batch_select_indices(kept)
        ids, mask = chosen, torch.cat([mask, torch.ones_like(chosen)], -1)
    return [Sampled(tuple(i), tuple(b), (version,) * len(i)) for i, b in found]
