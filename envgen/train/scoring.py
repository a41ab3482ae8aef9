"""What a causal model of transformers thinks of tokens that were sampled: one forward pass.

The body may run in bfloat16; the head always computes in float32, from the hidden states on, for
rounding of large logits alone can cost half of the trust region. A module of its own, so that
shards of it are gathered and given back around all that uses them.
"""

from typing import Any

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

HEAD_ROWS = 2048
"""Tokens whose logits exist at once."""


class Scorer(torch.nn.Module):  # type: ignore[misc]  # torch is not installed everywhere
    """Log-probabilities and entropies of sampled tokens.

    Args:
        model: of transformers, perhaps with adapters around it.
        temperature: of sampling.
        half: whether the body runs in bfloat16.
    """

    def __init__(self, model: Any, temperature: float, *, half: bool) -> None:
        super().__init__()
        self.model = model
        self.temperature = temperature
        self.half_body = half

    @property
    def inner(self) -> Any:
        """The model without adapters around it."""
        return self.model.get_base_model() if hasattr(self.model, "get_base_model") else self.model

    def forward(self, ids: Tensor, real: Tensor, sampled: Tensor) -> tuple[Tensor, Tensor]:
        """l and its entropy, [n] each, for the n tokens that were sampled.

        Args:
            ids: [rows, time].
            real: [rows, time]; 0 at padding.
            sampled: [rows, time - 1] of bool: whether the token after this one was sampled.
        """
        with torch.autocast(ids.device.type, torch.bfloat16, enabled=self.half_body):
            body = self.inner.base_model(input_ids=ids, attention_mask=real)
        return self._head(body.last_hidden_state[:, :-1][sampled], ids[:, 1:][sampled])

    def _head(self, hidden: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Of ids [n] after hidden states [n, width]."""
        head = self.inner.get_output_embeddings()

        def part(states: Tensor, chosen: Tensor) -> tuple[Tensor, Tensor]:
            bias = None if head.bias is None else head.bias.float()
            logits = torch.nn.functional.linear(states.float(), head.weight.float(), bias)
            logs = (logits / self.temperature).log_softmax(-1)
            with torch.no_grad():
                entropy = -(logs.exp() * logs).sum(-1)
            return logs.gather(-1, chosen[:, None])[:, 0], entropy

        parts = [
            checkpoint(part, states, chosen, use_reentrant=False)
            for states, chosen in zip(hidden.split(HEAD_ROWS), ids.split(HEAD_ROWS), strict=True)
        ]
        return torch.cat([p[0] for p in parts]), torch.cat([p[1] for p in parts])
