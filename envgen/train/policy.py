"""The model that is trained: log-probabilities, an optimiser step, and what is kept of both.

The body may run in bfloat16; the head always computes in float32, from the hidden states on, for
rounding of large logits alone can cost half of the trust region. Weights that are trained are kept
in float32 (with steps of 1e-6, bfloat16 would round most of an update away); what the sampler gets
is in the dtype that it runs in.
"""

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from envgen.config import TrainConfig
from envgen.errors import Misconfigured
from envgen.train.batch import Row, micro_batches, sampled_tokens
from envgen.train.loss import Rule, Sums, Tokens, policy_loss

HEAD_ROWS = 2048
"""Tokens whose logits exist at once."""
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
STATE = "trainer.pt"
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
        self.device = torch.device(settings.device)
        self.rule = Rule(settings.loss, settings.delta, settings.clip, settings.cap, settings.beta)
        self.model = self._loaded(model_folder(settings.model))
        if settings.lora_rank:
            self.model = _with_adapters(self.model, settings.lora_rank)
        if settings.gradient_checkpointing:
            self.model.gradient_checkpointing_enable({"use_reentrant": False})
            self.model.enable_input_require_grads()
        self.reference = (
            self._loaded(model_folder(settings.model)).eval() if settings.beta else None
        )
        self.trained = [p for p in self.model.parameters() if p.requires_grad]
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

    # -- what it thinks of tokens --------------------------------------------------------------

    def score(
        self, rows: Sequence[Row], model: Any = None
    ) -> tuple[Tensor, Tensor, Tokens, Tensor]:
        """Rows as tensors, [rows, time - 1] each: l, its entropy, the rest, and the versions.

        l is 0 where nothing was sampled: only sampled tokens go through the head.
        """
        model = model or self.model
        ids = _padded([row.rollout.ids for row in rows], 0).to(self.device)
        versions = _padded([row.rollout.versions[1:] for row in rows], -1).to(self.device)
        real = _padded([(1,) * len(row.rollout.ids) for row in rows], 0).to(self.device)
        anchor = _padded([row.rollout.logprobs[1:] for row in rows], 0.0).to(self.device)
        advantage = torch.tensor([[row.advantage] for row in rows], device=self.device)
        sampled = versions >= 0
        with self._precision():
            inner = model.get_base_model() if hasattr(model, "get_base_model") else model
            hidden = inner.base_model(input_ids=ids, attention_mask=real).last_hidden_state
        found, entropy = self._head(inner, hidden[:, :-1][sampled], ids[:, 1:][sampled])
        place = torch.zeros_like(anchor)
        anchor = torch.where(sampled, anchor, 0)
        tokens = Tokens(anchor, advantage.expand_as(anchor), sampled.float())
        spread = place.masked_scatter(sampled, entropy)
        return place.masked_scatter(sampled, found), spread, tokens, versions

    def _precision(self) -> Any:
        half = self.settings.dtype == "bfloat16"
        return torch.autocast(self.device.type, torch.bfloat16, enabled=half)

    def _head(self, model: Any, hidden: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probabilities of ids [n] after hidden states [n, width], and entropies."""
        head, temperature = model.get_output_embeddings(), self.settings.temperature

        def part(states: Tensor, chosen: Tensor) -> tuple[Tensor, Tensor]:
            bias = None if head.bias is None else head.bias.float()
            logits = torch.nn.functional.linear(states.float(), head.weight.float(), bias)
            logs = (logits / temperature).log_softmax(-1)
            with torch.no_grad():
                entropy = -(logs.exp() * logs).sum(-1)
            return logs.gather(-1, chosen[:, None])[:, 0], entropy

        parts = [
            checkpoint(part, states, chosen, use_reentrant=False)
            for states, chosen in zip(hidden.split(HEAD_ROWS), ids.split(HEAD_ROWS), strict=True)
        ]
        return torch.cat([p[0] for p in parts]), torch.cat([p[1] for p in parts])

    # -- an optimiser step ---------------------------------------------------------------------

    def step(self, rows: Sequence[Row]) -> Stepped:
        """One optimiser step on a whole batch, in micro-batches that share its denominator."""
        total = sampled_tokens(rows)
        loss, entropy, sums, fresh = 0.0, 0.0, Sums(), [float("nan")]
        self.optimiser.zero_grad(set_to_none=True)
        for part in micro_batches(rows, self.settings.micro_tokens):
            logprobs, spread, tokens, versions = self.score(part)
            share, seen = policy_loss(logprobs, tokens, total, self.rule, self._reference(part))
            share.backward()
            loss, sums = loss + share.item(), sums + seen
            entropy += spread.sum().item() / total
            gap = (logprobs.detach() - tokens.anchor).abs()[versions == self.version]
            fresh += [gap.max().item()] if gap.numel() else []
        norm = torch.nn.utils.clip_grad_norm_(self.trained, self.settings.clip_norm).item()
        stepped = 0 < norm < float("inf")
        if stepped:
            self.optimiser.step()
        self.version += 1
        known = [gap for gap in fresh if gap == gap]
        return Stepped(loss, norm, entropy, sums, max(known, default=fresh[0]), stepped)

    def _reference(self, part: Sequence[Row]) -> Tensor | None:
        if self.reference is None:
            return None
        with torch.no_grad():
            return self.score(part, self.reference)[0]

    def gap(self, rows: Sequence[Row]) -> tuple[float, float]:
        """Largest and mean |l - b| of rows: how far apart two implementations of these weights are
        when the weights sampled the rows."""
        worst, added = 0.0, 0.0
        with torch.no_grad():
            for part in micro_batches(rows, self.settings.micro_tokens):
                logprobs, _, tokens, _ = self.score(part)
                gaps = ((logprobs - tokens.anchor) * tokens.sampled).abs()
                worst, added = max(worst, gaps.max().item()), added + gaps.sum().item()
        return worst, added / max(sampled_tokens(rows), 1)

    # -- what is kept --------------------------------------------------------------------------

    def weights(self) -> Iterator[tuple[str, Tensor]]:
        """What the sampler needs, by the names of the model's own checkpoint, adapters merged."""
        dtype = DTYPES[self.settings.dtype]
        deltas: dict[str, Tensor] = {}
        inner = self.model
        if self.settings.lora_rank:
            inner = self.model.get_base_model()
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
            delta = deltas.get(plain)
            whole = value.detach() if delta is None else value.detach() + delta.to(value.dtype)
            yield plain, whole.to(dtype).cpu().contiguous()

    def save(self, folder: Path) -> None:
        """A checkpoint that transformers and vLLM load: written aside, then renamed."""
        aside = _aside(folder)
        self._write(aside)
        _swap(aside, folder)

    def _write(self, aside: Path) -> None:
        from safetensors.torch import save_file

        source = model_folder(self.settings.model)
        for path in source.iterdir():
            if path.suffix in _COPIED and not path.name.endswith(".index.json"):
                shutil.copyfile(path, aside / path.name)
        config = json.loads((source / "config.json").read_text())
        (aside / "config.json").write_text(json.dumps(config | {"dtype": self.settings.dtype}))
        save_file(dict(self.weights()), aside / "model.safetensors", {"format": "pt"})

    def checkpoint(self, folder: Path, extra: dict[str, Any]) -> None:
        """Everything that the next step depends on, `extra` included; written aside, renamed."""
        aside = _aside(folder)
        self._write(aside)
        state = {
            "version": self.version,
            "trained": [p.detach().cpu() for p in self.trained],
            "optimiser": self.optimiser.state_dict(),
            "random": torch.get_rng_state(),
            "extra": json.dumps(extra),
        }
        torch.save(state, aside / STATE)
        _swap(aside, folder)

    def restore(self, folder: Path) -> dict[str, Any]:
        """Go on where a checkpoint was made; returns its `extra`."""
        state = torch.load(folder / STATE, map_location="cpu", weights_only=True)
        with torch.no_grad():
            for own, kept in zip(self.trained, state["trained"], strict=True):
                own.copy_(kept)
        self.optimiser.load_state_dict(state["optimiser"])
        torch.set_rng_state(state["random"])
        self.version = state["version"]
        extra: dict[str, Any] = json.loads(state["extra"])
        return extra


def latest(folder: Path) -> Path | None:
    """The newest whole checkpoint below a folder."""
    return next((path for path in reversed(_steps(folder)) if (path / STATE).exists()), None)


def keep_newest(folder: Path, most: int) -> None:
    """Remove all but the newest checkpoints, and what a kill left half written."""
    for path in [*_steps(folder)[:-most], *folder.glob("*.part"), *folder.glob("*.old")]:
        shutil.rmtree(path)


def _steps(folder: Path) -> list[Path]:
    """Checkpoints in order, without what a kill left of one that was written (.part, .old)."""
    return sorted(folder.glob("step-*[0-9]"), key=lambda p: int(p.name.removeprefix("step-")))


def _aside(folder: Path) -> Path:
    aside = folder.with_name(folder.name + ".part")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    return aside


def _swap(aside: Path, folder: Path) -> None:
    old = folder.with_name(folder.name + ".old")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    aside.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


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
