"""The model that is trained: log-probabilities, an optimiser step, and what is kept of both.

Weights that are trained are kept in float32 (with steps of 1e-6, bfloat16 would round most of an
update away); what the sampler gets is in the dtype that it runs in. Where a launcher starts several
processes, each holds a shard, takes a share of every batch, and calls the same methods in the same
order (`follow`); one process is the case of one rank.
"""

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from envgen.config import TrainConfig
from envgen.errors import Misconfigured
from envgen.train.batch import Row, micro_batches, sampled_tokens
from envgen.train.checkpoints import STATE, aside_of, swap
from envgen.train.loss import Rule, Sums, Tokens, policy_loss
from envgen.train.ranks import joined, left, like, sharded, whole
from envgen.train.scoring import Scorer

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
_COPIED = (".json", ".txt", ".jinja", ".model")
"""Configuration and tokenizer, which stand beside the weights."""


@dataclass(frozen=True)
class Stepped:
    """What an optimiser step looked at and did."""

    loss: float
    norm: float
    """Of the gradient, before it was clipped."""
    entropy: float
    """Mean over the sampled tokens."""
    sums: Sums
    gap_fresh: float
    """Largest |l - b| among tokens that the weights before this step sampled; nan without any."""
    stepped: bool
    """False when the gradient was zero or not finite: then nothing was changed."""


class Learner:
    """A causal model of transformers and its optimiser.

    Args:
        settings: of the training.
    """

    def __init__(self, settings: TrainConfig) -> None:
        self.settings = settings
        self.ranks, self.device = joined(settings.device)
        if settings.lora_rank and self.ranks.size > 1:
            raise Misconfigured(
                "train.lora_rank: adapters are for one process; several hold all weights in shards"
            )
        self.rule = Rule(settings.loss, settings.delta, settings.clip, settings.cap, settings.beta)
        self.model = self._loaded(model_folder(settings.model))
        if settings.lora_rank:
            self.model = _with_adapters(self.model, settings.lora_rank)
        if settings.gradient_checkpointing:
            self.model.gradient_checkpointing_enable({"use_reentrant": False})
            self.model.enable_input_require_grads()
        self.scorer, self.reference = self._scorer(self.model), None
        if settings.beta:
            self.reference = self._scorer(self._loaded(model_folder(settings.model)).eval())
        self.trained = [p for p in self.scorer.parameters() if p.requires_grad]
        self.optimiser = torch.optim.AdamW(
            self.trained, lr=settings.learning_rate, weight_decay=settings.weight_decay
        )
        self.version = 0
        """Optimiser steps done."""

    def _loaded(self, folder: Path) -> Any:
        from transformers import AutoModelForCausalLM

        kept = torch.float32 if not self.settings.lora_rank else DTYPES[self.settings.dtype]
        try:
            model = AutoModelForCausalLM.from_pretrained(folder, dtype=kept, local_files_only=True)
        except (OSError, ValueError, KeyError) as error:
            reason = " ".join(str(error).split())[:300]
            raise Misconfigured(f"train.model: {folder} cannot be loaded: {reason}") from None
        model.config.use_cache = False
        return model.to(self.device).train()

    def _scorer(self, model: Any) -> Scorer:
        half = self.settings.dtype == "bfloat16"
        scorer = Scorer(model, self.settings.temperature, half=half)
        if self.ranks.size > 1:
            sharded(scorer)
        return scorer

    # -- what it thinks of tokens --------------------------------------------------------------

    def score(
        self, rows: Sequence[Row], scorer: Scorer | None = None
    ) -> tuple[Tensor, Tensor, Tokens, Tensor]:
        """Rows as tensors, [rows, time - 1] each: l, its entropy, the rest, and the versions.

        l is 0 where nothing was sampled: only sampled tokens go through the head.
        """
        ids = _padded([row.rollout.ids for row in rows], 0).to(self.device)
        versions = _padded([row.rollout.versions[1:] for row in rows], -1).to(self.device)
        real = _padded([(1,) * len(row.rollout.ids) for row in rows], 0).to(self.device)
        anchor = _padded([row.rollout.logprobs[1:] for row in rows], 0.0).to(self.device)
        advantage = torch.tensor([[row.advantage] for row in rows], device=self.device)
        sampled = versions >= 0
        found, entropy = (scorer or self.scorer)(ids, real, sampled)
        place = torch.zeros_like(anchor)
        anchor = torch.where(sampled, anchor, 0)
        tokens = Tokens(anchor, advantage.expand_as(anchor), sampled.float())
        spread = place.masked_scatter(sampled, entropy)
        return place.masked_scatter(sampled, found), spread, tokens, versions

    def _parts(self, rows: Sequence[Row]) -> Iterator[tuple[tuple[Row, ...], bool]]:
        """This rank's micro-batches, and whether they count: each rank has as many as any, for
        shards are gathered by all at once."""
        size, most = self.ranks.size, self.settings.micro_tokens
        ordered = sorted(rows, key=lambda row: len(row.rollout.ids), reverse=True)
        each = [list(micro_batches(ordered[rank::size], most)) for rank in range(size)]
        own = each[self.ranks.rank]
        yield from ((part, True) for part in own)
        yield from [((rows[0],), False)] * (max(map(len, each)) - len(own))

    # -- an optimiser step ---------------------------------------------------------------------

    def step(self, rows: Sequence[Row]) -> Stepped:
        """One optimiser step on a whole batch, in micro-batches that share its denominator."""
        self.ranks.tell(("step", (rows,)))
        total, size = sampled_tokens(rows), self.ranks.size
        loss, entropy, sums, fresh = 0.0, 0.0, Sums(), [float("nan")]
        self.optimiser.zero_grad(set_to_none=True)
        for part, counts in self._parts(rows):
            logprobs, spread, tokens, versions = self.score(part)
            share, seen = policy_loss(logprobs, tokens, total, self.rule, self._reference(part))
            (share * size if counts else share * 0).backward()  # ranks' gradients are averaged
            if counts:
                loss, sums = loss + share.item(), sums + seen
                entropy += spread.sum().item() / total
                gap = (logprobs.detach() - tokens.anchor).abs()[versions == self.version]
                fresh += [gap.max().item()] if gap.numel() else []
        norm = whole(torch.nn.utils.clip_grad_norm_(self.trained, self.settings.clip_norm)).item()
        stepped = 0 < norm < float("inf")
        if stepped:
            self.optimiser.step()
        self.version += 1
        losses, entropies, counted, gaps = zip(
            *self.ranks.gathered((loss, entropy, sums, fresh)), strict=True
        )
        known = [gap for gaps_of_rank in gaps for gap in gaps_of_rank if gap == gap]
        fresh_gap, sums = max(known, default=float("nan")), sum(counted, Sums())
        return Stepped(sum(losses), norm, sum(entropies), sums, fresh_gap, stepped)

    def _reference(self, part: Sequence[Row]) -> Tensor | None:
        if self.reference is None:
            return None
        with torch.no_grad():
            return self.score(part, self.reference)[0]

    def gap(self, rows: Sequence[Row]) -> tuple[float, float]:
        """Largest and mean |l - b| of rows: how far apart two implementations of these weights are
        when the weights sampled the rows."""
        self.ranks.tell(("gap", (rows,)))
        worst, added = 0.0, 0.0
        with torch.no_grad():
            for part, counts in self._parts(rows):
                logprobs, _, tokens, _ = self.score(part)
                gaps = ((logprobs - tokens.anchor) * tokens.sampled).abs() * counts
                worst, added = max(worst, gaps.max().item()), added + gaps.sum().item()
        each, sums = zip(*self.ranks.gathered((worst, added)), strict=True)
        return max(each), sum(sums) / max(sampled_tokens(rows), 1)

    # -- what is kept --------------------------------------------------------------------------

    def weights(self) -> Iterator[tuple[str, Tensor]]:
        """What the sampler needs, by the names of the model's own checkpoint, adapters merged."""
        dtype = DTYPES[self.settings.dtype]
        inner, deltas = self.scorer.inner, dict[str, Tensor]()
        if self.settings.lora_rank:
            deltas = {
                f"{name}.weight": module.get_delta_weight("default")
                for name, module in inner.named_modules()
                if hasattr(module, "get_delta_weight")
            }
        tied = bool(getattr(inner.config, "tie_word_embeddings", False))
        for name, value in inner.state_dict().items():
            plain = name.replace(".base_layer.", ".")
            if "lora_" in name or (tied and plain == "lm_head.weight"):
                continue
            delta, own = deltas.get(plain), whole(value.detach())
            own = own if delta is None else own + delta.to(own.dtype)
            yield plain, own.to(dtype).cpu().contiguous()

    def save(self, folder: Path) -> None:
        """A checkpoint that transformers and vLLM load: written aside, then renamed."""
        self.ranks.tell(("save", (folder,)))
        weights = self._own_weights()
        if self.ranks.rank == 0:
            aside = aside_of(folder)
            self._write(aside, weights)
            swap(aside, folder)

    def _own_weights(self) -> dict[str, Tensor]:
        """All of them, at rank 0; the others only hand over what they have."""
        return {name: value for name, value in self.weights() if self.ranks.rank == 0}

    def _write(self, aside: Path, weights: dict[str, Tensor]) -> None:
        from safetensors.torch import save_file

        source = model_folder(self.settings.model)
        for path in source.iterdir():
            if path.suffix in _COPIED and not path.name.endswith(".index.json"):
                shutil.copyfile(path, aside / path.name)
        config = json.loads((source / "config.json").read_text())
        (aside / "config.json").write_text(json.dumps(config | {"dtype": self.settings.dtype}))
        save_file(weights, aside / "model.safetensors", {"format": "pt"})

    def checkpoint(self, folder: Path, extra: dict[str, Any]) -> None:
        """Everything that the next step depends on, `extra` included; written aside, renamed."""
        self.ranks.tell(("checkpoint", (folder, extra)))
        weights = self._own_weights()
        optimiser = self.optimiser.state_dict()
        states = {
            number: {name: whole(value) for name, value in of.items()}
            for number, of in optimiser["state"].items()
        }
        state = {
            "version": self.version,
            "trained": [whole(p.detach()).cpu() for p in self.trained],
            "optimiser": optimiser | {"state": states},
            "random": torch.get_rng_state(),
            "extra": json.dumps(extra),
        }
        if self.ranks.rank == 0:
            aside = aside_of(folder)
            self._write(aside, weights)
            torch.save(state, aside / STATE)
            swap(aside, folder)

    def restore(self, folder: Path) -> dict[str, Any]:
        """Go on where a checkpoint was made; returns its `extra`."""
        self.ranks.tell(("restore", (folder,)))
        state = torch.load(folder / STATE, map_location="cpu", weights_only=True)
        with torch.no_grad():
            for own, kept in zip(self.trained, state["trained"], strict=True):
                own.copy_(like(kept, own))
        optimiser = state["optimiser"]
        states = {
            number: {name: like(value, self.trained[number]) for name, value in of.items()}
            for number, of in optimiser["state"].items()
        }
        self.optimiser.load_state_dict(optimiser | {"state": states})
        torch.set_rng_state(state["random"])
        self.version = state["version"]
        extra: dict[str, Any] = json.loads(state["extra"])
        return extra

    def close(self) -> None:
        """Let the other ranks go."""
        self.ranks.tell(None)
        left(self.ranks)


def follow(learner: Learner) -> None:
    """On every rank but 0: what that does with its model, until it closes it."""
    while (said := learner.ranks.heard()) is not None:
        name, arguments = said
        getattr(learner, name)(*arguments)
    left(learner.ranks)


def model_folder(model: str | None) -> Path:
    """The folder of the model to begin with. Misconfigured when there is none."""
    folder = Path(model or "")
    if model is None or not (folder / "config.json").is_file():
        raise Misconfigured(
            f"train.model: {model or 'none'} is no folder with a model: name one that holds "
            "config.json and safetensors (--model)"
        )
    return folder


def _padded(rows: Sequence[Sequence[Any]], fill: float) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[fill] * (longest - len(row))] for row in rows])


def _with_adapters(model: Any, rank: int) -> Any:
    from peft import LoraConfig, get_peft_model

    adapters = LoraConfig(
        r=rank, lora_alpha=2 * rank, target_modules="all-linear", task_type="CAUSAL_LM"
    )
    return get_peft_model(model, adapters)
