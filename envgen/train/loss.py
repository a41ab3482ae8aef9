"""The objective: DPPO's trust region on the sampled tokens, with GRPO's clip as a baseline.

Symbols, per sampled token: `logprobs` l, of the weights that are trained; `anchor` b, what the
sampler gave the token when it sampled it (never recomputed: that is what makes it a trust region
around the policy that acted); r = exp(l - b); `advantage` A, the rollout's.

    loss = -(1/N) sum k M r A,  M = 0 iff D > delta and A (l - b) > 0

k is 1 on tokens that the policy sampled, N the sum of k over the whole optimiser batch, however it
is cut into micro-batches, and D a divergence between the two policies (`divergence`). A token that
an update would move back towards the sampler is never masked. No gradient goes through M or D.
(DPPO: arXiv 2602.04879; the constants and the order of things are those of the TMax recipe.)
"""

from dataclasses import dataclass

import torch
from torch import Tensor

GUARD = 20.0
"""Most of |l - b| that is exponentiated: keeps r finite, and every hit is counted."""


@dataclass(frozen=True)
class Rule:
    """How far an update may move from the policy that sampled."""

    kind: str = "tv"
    """`tv`, `kl`: DPPO by total variation or KL(sampler || trained). `clip`: GRPO."""
    delta: float = 0.1
    """Radius of the region (`tv`, `kl`)."""
    clip: tuple[float, float] = (0.2, 0.272)
    """r is clipped to 1 - the first and 1 + the second (`clip`)."""
    cap: float | None = None
    """Most that r may be; None leaves it alone. A cap also ends the gradient there."""
    beta: float = 0.0
    """Weight of the KL to a reference policy; 0 needs none."""


@dataclass(frozen=True)
class Tokens:
    """The tokens of some rollouts, [rows, time] each; the first token of a row is sampled by nobody
    and is not among them."""

    anchor: Tensor
    """b; anything finite where `sampled` is 0."""
    advantage: Tensor
    sampled: Tensor
    """k, as 0 or 1."""


@dataclass(frozen=True)
class Sums:
    """What a loss looked at, added up over tokens, so that micro-batches can be added as well."""

    tokens: float = 0.0
    masked_up: float = 0.0
    """Masked at a positive advantage."""
    masked_down: float = 0.0
    guarded: float = 0.0
    """Ratios that the overflow guard held."""
    capped: float = 0.0
    gap: float = 0.0
    """Sum of |l - b|."""
    ratio: float = 0.0
    drift: float = 0.0
    """Sum of r - 1 - log r, an estimate of KL(sampler || trained)."""

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(
            *(a + b for a, b in zip(vars(self).values(), vars(other).values(), strict=True))
        )


def divergence(logprobs: Tensor, anchor: Tensor, kind: str) -> Tensor:
    """How far two policies are apart, seen through K named tokens and one bucket for the rest.

    Merging outcomes never raises a divergence, so this is a lower bound of the full one; K = 1, the
    sampled token alone, is what DPPO calls binary.

    Args:
        logprobs, anchor: [..., K], log-probabilities of the same tokens.
        kind: `tv` (half the L1 distance) or `kl` (from the sampler).

    Returns:
        [...].
    """
    ours, theirs = logprobs.exp(), anchor.exp()
    ours = torch.cat([ours, (1 - ours.sum(-1, keepdim=True)).clamp_min(0)], -1)
    theirs = torch.cat([theirs, (1 - theirs.sum(-1, keepdim=True)).clamp_min(0)], -1)
    if kind == "tv":
        return (ours - theirs).abs().sum(-1) / 2
    least = torch.finfo(ours.dtype).tiny
    return torch.xlogy(theirs, theirs / ours.clamp_min(least)).sum(-1)


def kept(logprobs: Tensor, tokens: Tokens, rule: Rule) -> Tensor:
    """M: 0 where the policies are too far apart and the update would move them further, else 1."""
    with torch.no_grad():
        apart = divergence(logprobs[..., None], tokens.anchor[..., None], rule.kind) > rule.delta
        away = tokens.advantage * (logprobs - tokens.anchor) > 0
        return (~(apart & away)).to(logprobs.dtype)


def policy_loss(
    logprobs: Tensor, tokens: Tokens, total: float, rule: Rule, reference: Tensor | None = None
) -> tuple[Tensor, Sums]:
    """The share that these tokens have in the loss of their optimiser batch.

    Args:
        logprobs: [rows, time], with gradient.
        tokens: what was sampled there.
        total: N of the whole optimiser batch; the shares of micro-batches add up to its loss.
        rule: the trust region.
        reference: log-probabilities of a reference policy, with `rule.beta`.

    Returns:
        The loss, and its sums for the metrics.
    """
    k = tokens.sampled.to(logprobs.dtype)
    logprobs = torch.where(k > 0, logprobs, tokens.anchor)  # what was not sampled cannot matter
    gap = logprobs - tokens.anchor
    ratio = gap.clamp(-GUARD, GUARD).exp()
    used = ratio if rule.cap is None else ratio.clamp_max(rule.cap)
    gain = used * tokens.advantage
    if rule.kind == "clip":
        low, high = rule.clip
        clipped = used.clamp(1 - low, 1 + high) * tokens.advantage
        mask = (gain <= clipped).to(k.dtype)
        gain = torch.minimum(gain, clipped)
    else:
        mask = kept(logprobs, tokens, rule)
        gain = mask * gain
    loss = -(k * gain).sum() / total
    if reference is not None:
        away = torch.where(k > 0, reference - logprobs, 0)
        loss = loss + rule.beta * (k * (away.exp() - 1 - away)).sum() / total
    return loss, _sums(gap.detach(), ratio.detach(), k, mask, tokens.advantage, rule)


def _sums(
    gap: Tensor, ratio: Tensor, k: Tensor, mask: Tensor, advantage: Tensor, rule: Rule
) -> Sums:
    masked, cap = k * (1 - mask), float("inf") if rule.cap is None else rule.cap
    parts = (
        k,
        masked * (advantage > 0),
        masked * (advantage < 0),
        k * (gap.abs() > GUARD),
        k * (ratio > cap),
        k * gap.abs(),
        k * ratio,
        k * (ratio - 1 - gap),
    )
    return Sums(*(float(part.sum()) for part in parts))
