"""What a prefix cache can serve of an episode's requests, and what that is worth.

A server keeps what it has computed of the tokens that it read and wrote. Of the next request it can
serve the longest common beginning with the last one and its answer; the rest is computed. History
that only grows is served whole; thinking that is taken out, or history that is edited, is paid for
again. Hybrid models can be entered only where their recurrent state was kept, so there an edit
costs everything back to the last such place.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from envgen.errors import Misconfigured
from envgen.records import Turn

BLOCK = 16
"""Tokens between the places where the cache of a dense model can be entered, as servers have it."""
STATE_BLOCK = 512
"""The same of a hybrid model, whose states are large."""


class Shape(NamedTuple):
    """What the cost of reading a token depends on."""

    weights: int
    """Multiplied for every token: all but embedding and output head, of experts the active ones."""
    attention: int
    """Layers that attend to everything before."""
    width: int
    """Heads times their size, in those layers."""
    linear: int = 0
    """Layers with a recurrent state in place of it."""
    state: int = 0
    """Numbers in the state of one such layer: heads times key size times value size."""
    block: int = BLOCK
    """Tokens between the places where the cache can be entered."""


class Reuse(NamedTuple):
    """Prompt tokens of an episode, and the FLOPs of reading them."""

    served: int
    """Tokens that a cache could serve."""
    computed: int
    """Tokens that must be computed."""
    served_flops: float = 0.0
    computed_flops: float = 0.0


def common(one: Sequence[object], other: Sequence[object]) -> int:
    """Length of the longest common beginning."""
    most = min(len(one), len(other))
    if one[:most] == other[:most]:
        return most
    return next(n for n in range(most) if one[n] != other[n])


def reading(shape: Shape, start: int, stop: int) -> float:
    """FLOPs of reading tokens `start` to `stop` with all before them in the cache.

    Two for each weight; four for each pair of a token and one that it attends to, times the width,
    in each layer (scores and their sum); six for each number of a recurrent state, which decays, is
    written and is read.
    """
    tokens = stop - start
    pairs = (stop * (stop + 1) - start * (start + 1)) / 2
    each = 2 * shape.weights + 6 * shape.linear * shape.state
    return each * tokens + 4 * shape.attention * shape.width * pairs


def reuse(turns: Sequence[Turn], shape: Shape | None = None) -> Reuse:
    """What a cache could serve of an episode; FLOPs where the model's shape is known."""
    block = shape.block if shape else 1
    served = computed = 0
    saved = paid = 0.0
    for turn in turns:
        enters = turn.reused // block * block
        served += enters
        computed += turn.usage.input - enters
        if shape:
            saved += reading(shape, 0, enters)
            paid += reading(shape, enters, turn.usage.input)
    return Reuse(served, computed, saved, paid)


def shape_of(told: Mapping[str, Any]) -> Shape:
    """The shape in a model's `config.json`.

    Raises:
        Misconfigured: a number is missing.
    """
    told = told.get("text_config") or told
    try:
        hidden, layers = int(told["hidden_size"]), int(told["num_hidden_layers"])
        heads = int(told["num_attention_heads"])
        size = int(told.get("head_dim") or hidden // heads)
        kinds = list(told.get("layer_types") or ["full_attention"] * layers)
        linear = sum(kind == "linear_attention" for kind in kinds)
        pairs = int(told.get("num_key_value_heads") or heads)
        weights = (layers - linear) * hidden * size * (2 * heads + 2 * pairs)
        weights += layers * 3 * hidden * _inner(told)
        state = 0
        if linear:
            keys, values = int(told["linear_num_key_heads"]), int(told["linear_num_value_heads"])
            key, value = int(told["linear_key_head_dim"]), int(told["linear_value_head_dim"])
            weights += linear * hidden * (2 * keys * key + 3 * values * value)
            state = values * key * value
    except (KeyError, TypeError, ValueError) as error:
        raise Misconfigured(f"no shape of a model: {error} is not in its config.json") from None
    block = STATE_BLOCK if linear else BLOCK
    return Shape(weights, layers - linear, heads * size, linear, state, block)


def _inner(told: Mapping[str, Any]) -> int:
    """Width of the feed-forward part; of experts, those that a token goes through."""
    if not told.get("num_experts_per_tok"):
        return int(told["intermediate_size"])
    active = int(told["num_experts_per_tok"]) * int(told["moe_intermediate_size"])
    return active + int(told.get("shared_expert_intermediate_size") or 0)
