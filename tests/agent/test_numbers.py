"""pass@k, what a prefix cache serves, and what a model's shape makes of it."""

from itertools import combinations
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envgen.agent.passes import curve, over_tasks, pass_at
from envgen.agent.prefix import Reuse, Shape, common, reading, reuse, shape_of
from envgen.errors import Misconfigured
from envgen.records import Turn, Usage


@given(st.integers(1, 9), st.data())
def test_pass_at_k_is_the_share_of_choices_that_hold_a_pass(
    attempts: int, data: st.DataObject
) -> None:
    passes, k = data.draw(st.integers(0, attempts)), data.draw(st.integers(1, attempts))
    outcomes = [n < passes for n in range(attempts)]
    choices = list(combinations(outcomes, k))
    assert len(choices) == comb(attempts, k)
    assert pass_at(k, attempts, passes) == pytest.approx(sum(map(any, choices)) / len(choices))


def test_pass_at_k_in_figures() -> None:
    assert pass_at(1, 8, 2) == 0.25
    assert pass_at(4, 8, 2) == pytest.approx(1 - 15 / 70)
    assert pass_at(8, 8, 1) == 1.0
    assert pass_at(3, 8, 0) == 0.0
    for k, attempts, passes in ((0, 8, 1), (9, 8, 1), (1, 0, 0), (1, 8, 9), (1, 8, -1)):
        with pytest.raises(ValueError, match="no pass@"):
            pass_at(k, attempts, passes)


def test_pass_at_k_of_tasks_is_their_mean() -> None:
    assert curve(4, 1) == (0.25, 0.5, 0.75, 1.0)
    assert curve(0, 0) == ()
    assert over_tasks([curve(2, 1), curve(2, 0)]) == (0.25, 0.5)
    assert over_tasks([curve(2, 1), curve(1, 0)]) == (0.25, 1.0)  # pass@2 of the one that has it
    assert over_tasks([]) == ()


def test_common_beginnings() -> None:
    assert common("abc", "abd") == 2
    assert common("abc", "abcdef") == 3
    assert common("", "a") == common("a", "b") == 0
    assert common((1, 2, 3), (1, 2, 3)) == 3


def turn(entered: int, reused: int) -> Turn:
    return Turn(text="", finish="stop", usage=Usage(input=entered, output=10), reused=reused)


DENSE = Shape(weights=1000, attention=2, width=8)


def test_reading_costs_weights_and_pairs() -> None:
    assert reading(DENSE, 0, 1) == 2 * 1000 + 4 * 2 * 8 * 1
    assert reading(DENSE, 0, 3) == 3 * 2000 + 64 * (1 + 2 + 3)
    assert reading(DENSE, 0, 9) == reading(DENSE, 0, 4) + reading(DENSE, 4, 9)
    hybrid = Shape(weights=1000, attention=1, width=8, linear=3, state=50)
    assert reading(hybrid, 2, 4) == 2 * (2000 + 6 * 3 * 50) + 32 * (3 + 4)


def test_reuse_counts_what_a_cache_serves() -> None:
    turns = [turn(100, 0), turn(200, 110), turn(300, 170)]
    assert reuse(turns) == Reuse(served=280, computed=320)
    found = reuse(turns, DENSE)
    assert (found.served, found.computed) == (96 + 160, 100 + 104 + 140)  # entered every 16 tokens
    assert found.served_flops == reading(DENSE, 0, 96) + reading(DENSE, 0, 160)
    whole = reading(DENSE, 0, 100) + reading(DENSE, 0, 200) + reading(DENSE, 0, 300)
    assert found.served_flops + found.computed_flops == whole


def test_an_edit_costs_a_hybrid_everything_back_to_its_last_state() -> None:
    hybrid = DENSE._replace(linear=6, state=64, block=512)
    assert reuse([turn(1100, 1000)], hybrid)[:2] == (512, 588)
    assert reuse([turn(1100, 500)], hybrid)[:2] == (0, 1100)


def test_shapes_out_of_config_files() -> None:
    dense = {
        "hidden_size": 1536, "num_hidden_layers": 28, "num_attention_heads": 12,
        "num_key_value_heads": 2, "intermediate_size": 8960,
    }  # fmt: skip
    found = shape_of(dense)
    assert found == Shape(weights=1_310_195_712, attention=28, width=1536)
    hybrid = dense | {
        "num_hidden_layers": 4, "head_dim": 256,
        "layer_types": ["linear_attention"] * 3 + ["full_attention"],
        "linear_num_key_heads": 16, "linear_num_value_heads": 32,
        "linear_key_head_dim": 128, "linear_value_head_dim": 128,
    }  # fmt: skip
    found = shape_of({"text_config": hybrid})
    assert (found.attention, found.width, found.linear) == (1, 12 * 256, 3)
    assert (found.state, found.block) == (32 * 128 * 128, 512)
    experts = dense | {"num_experts_per_tok": 8, "moe_intermediate_size": 100}
    assert shape_of(experts).weights == 28 * 1536 * (128 * (24 + 4) + 3 * 800)
    with pytest.raises(Misconfigured, match="hidden_size"):
        shape_of({})
