"""The model that is trained: what it computes, what a step does, what a checkpoint holds."""

import math
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from envgen.config import TrainConfig
from envgen.errors import Misconfigured
from envgen.train.batch import OBSERVED, Rollout, Row
from envgen.train.checkpoints import keep_newest, latest
from envgen.train.policy import Learner
from tests.train import tiny

torch.set_num_threads(1)


def learner(folder: Path, **changes: Any) -> Learner:
    if not (folder / "config.json").exists():
        tiny.model(folder, tied=changes.pop("tied", False))
    fields = {"model": str(folder), "dtype": "float32", "learning_rate": 1e-3}
    return Learner(TrainConfig(**(fields | changes)))


def row(length: int, advantage: float, seed: int, version: int = 0, prompt: int = 3) -> Row:
    draw = torch.Generator().manual_seed(seed)
    ids = tuple(torch.randint(64, (length,), generator=draw).tolist())
    versions = (OBSERVED,) * prompt + (version,) * (length - prompt)
    logprobs = (0.0,) * prompt + (-4.0,) * (length - prompt)
    return Row(Rollout(ids, logprobs, versions, 1.0), advantage)


def honest(model: Learner, rows: list[Row]) -> list[Row]:
    """The rows, as if this model had sampled them."""
    with torch.no_grad():
        logprobs = [model.score([r])[0][0].tolist() for r in rows]
    return [
        Row(Rollout(r.rollout.ids, (0.0, *b), r.rollout.versions, 1.0), r.advantage)
        for r, b in zip(rows, logprobs, strict=True)
    ]


ROWS = [row(9, 0.5, 1), row(21, -0.5, 2), row(14, 0.25, 3), row(6, -0.25, 4)]


@pytest.mark.parametrize("tied", [False, True])
def test_logprobs_are_those_of_a_plain_forward(tmp_path: Path, tied: bool) -> None:
    model = learner(tmp_path / "m", tied=tied)
    plain = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "m")
    found, entropy, tokens, _ = model.score(ROWS)
    for number, r in enumerate(ROWS):
        ids = torch.tensor([r.rollout.ids])
        logs = plain(ids).logits[0, :-1].float().log_softmax(-1)
        by_hand = logs.gather(-1, ids[0, 1:, None])[:, 0]
        sampled = tokens.sampled[number].bool()
        assert sampled.sum() == len(r.rollout.ids) - 3
        length = len(r.rollout.ids) - 1
        assert torch.allclose(found[number][:length][2:], by_hand[2:], atol=2e-6)
        assert (found[number][~sampled] == 0).all()
        spread = -(logs.exp() * logs).sum(-1)
        assert torch.allclose(entropy[number][:length][2:], spread[2:], atol=1e-5)


def test_the_temperature_is_in_the_loss_as_well(tmp_path: Path) -> None:
    tiny.model(tmp_path / "m")
    cold = learner(tmp_path / "m", temperature=0.5)
    plain = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "m")
    ids = torch.tensor([ROWS[0].rollout.ids])
    logs = (plain(ids).logits[0, :-1] / 0.5).log_softmax(-1).gather(-1, ids[0, 1:, None])[:, 0]
    assert torch.allclose(cold.score(ROWS[:1])[0][0][2:], logs[2:], atol=5e-6)


def gradient(model: Learner) -> torch.Tensor:
    return torch.cat([p.grad.flatten() for p in model.trained if p.grad is not None])


def test_micro_batches_give_the_gradient_of_the_whole(tmp_path: Path) -> None:
    found = []
    for tokens in (10_000, 25, 1):
        model = learner(tmp_path / "m", micro_tokens=tokens, clip_norm=1e9)
        stepped = model.step(honest(model, ROWS))
        found.append((stepped, gradient(model)))
    (whole, reference), *others = found
    assert whole.sums.tokens == 6 + 18 + 11 + 3
    assert whole.norm > 0
    for stepped, grads in others:
        assert stepped.loss == pytest.approx(whole.loss, abs=1e-6)
        assert stepped.entropy == pytest.approx(whole.entropy, abs=1e-5)
        assert torch.allclose(grads, reference, atol=1e-6)


def test_a_step_makes_what_was_good_more_likely(tmp_path: Path) -> None:
    model = learner(tmp_path / "m", learning_rate=1e-2)
    rows = honest(model, ROWS)
    stepped = model.step(rows)
    assert stepped.stepped
    assert stepped.gap_fresh < 1e-5
    assert stepped.sums.masked_up + stepped.sums.masked_down == 0
    after, _, tokens, _ = model.score(rows)
    change = ((after - tokens.anchor) * tokens.sampled).sum(-1)
    assert (torch.sign(change) == torch.sign(torch.tensor([r.advantage for r in rows]))).all()
    gaps = ((after - tokens.anchor) * tokens.sampled).abs()
    by_hand = (gaps.max().item(), (gaps.sum() / tokens.sampled.sum()).item())
    assert model.gap(rows) == pytest.approx(by_hand, abs=1e-6)


def test_no_gradient_is_no_step(tmp_path: Path) -> None:
    model = learner(tmp_path / "m", weight_decay=0.5)
    before = [p.detach().clone() for p in model.trained]
    rows = [Row(r.rollout, 0.0) for r in honest(model, ROWS)]
    stepped = model.step(rows)
    assert (stepped.stepped, stepped.norm, model.version) == (False, 0, 1)
    assert all(torch.equal(a, b) for a, b in zip(before, model.trained, strict=True))


@pytest.mark.parametrize("tied", [False, True])
def test_a_checkpoint_loads_elsewhere_and_goes_on_exactly(tmp_path: Path, tied: bool) -> None:
    straight = learner(tmp_path / "m", tied=tied)
    batches = [honest(straight, [row(9, 1, i), row(12, -1, i + 50)]) for i in range(4)]
    for rows in batches[:2]:
        straight.step(rows)
    straight.checkpoint(tmp_path / "step-2", {"cursor": 7})
    for rows in batches[2:]:
        straight.step(rows)

    resumed = learner(tmp_path / "m")
    assert resumed.restore(tmp_path / "step-2") == {"cursor": 7}
    assert resumed.version == 2
    loaded = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "step-2")
    named = dict(loaded.named_parameters())
    for name, value in resumed.model.named_parameters():
        assert torch.equal(named[name], value)
    for rows in batches[2:]:
        resumed.step(rows)
    for a, b in zip(straight.trained, resumed.trained, strict=True):
        assert torch.equal(a, b)


def test_checkpoints_are_whole_or_not_there(tmp_path: Path) -> None:
    model = learner(tmp_path / "m")
    for step in (2, 10, 9):
        model.checkpoint(tmp_path / f"step-{step}", {})
    for killed in ("step-11.part", "step-10.old"):  # before the swap, and in it
        shutil.copytree(tmp_path / "step-9", tmp_path / killed)
    (tmp_path / "step-12").mkdir()
    assert latest(tmp_path) == tmp_path / "step-10"
    (tmp_path / "step-12").rmdir()
    keep_newest(tmp_path, 2)
    assert sorted(p.name for p in tmp_path.glob("step-*")) == ["step-10", "step-9"]


def test_adapters_train_alone_and_are_merged_for_the_sampler(tmp_path: Path) -> None:
    model = learner(tmp_path / "m", lora_rank=4, learning_rate=1e-2)
    assert sum(p.numel() for p in model.trained) < 30_000
    start = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "m")
    rows = honest(model, ROWS)
    for _ in range(3):
        model.step(rows)
    model.save(tmp_path / "out")
    merged = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "out")
    for name, value in merged.named_parameters():
        same = torch.equal(value, dict(start.named_parameters())[name])
        assert same == (not name.endswith("_proj.weight"))
    ids = torch.tensor([ROWS[1].rollout.ids])
    logs = merged(ids).logits[0, :-1].log_softmax(-1).gather(-1, ids[0, 1:, None])[:, 0]
    assert torch.allclose(model.score(ROWS[1:2])[0][0][2:], logs[2:], atol=1e-5)
    model.checkpoint(tmp_path / "step-3", {})
    again = learner(tmp_path / "m", lora_rank=4)
    again.restore(tmp_path / "step-3")
    assert torch.equal(again.score(ROWS)[0], model.score(ROWS)[0])


def test_half_precision_keeps_its_head_and_its_masters_whole(tmp_path: Path) -> None:
    model = learner(tmp_path / "m", dtype="bfloat16", gradient_checkpointing=True)
    assert {p.dtype for p in model.trained} == {torch.float32}
    logprobs, _, tokens, _ = model.score(ROWS)
    assert logprobs.dtype == torch.float32
    exact = learner(tmp_path / "m").score(ROWS)[0]
    gap = ((logprobs - exact) * tokens.sampled).abs().max().item()
    assert 0 < gap < 0.1
    before = [p.detach().clone() for p in model.trained]
    model.optimiser.param_groups[0]["lr"] = 1e-6
    assert model.step(honest(model, ROWS)).stepped
    moved = [not torch.equal(a, b) for a, b in zip(before, model.trained, strict=True)]
    assert all(moved)
    model.save(tmp_path / "out")
    kept = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "out")
    assert {p.dtype for p in kept.parameters()} == {torch.bfloat16}


def test_a_reference_is_loaded_only_when_it_is_used(tmp_path: Path) -> None:
    assert learner(tmp_path / "m").reference is None
    model = learner(tmp_path / "m", beta=0.5, learning_rate=1e-2)
    rows = honest(model, [Row(r.rollout, 0.0) for r in ROWS])
    assert not model.step(rows).stepped  # it is the reference
    model.step(honest(model, ROWS))
    loss = model.step(honest(model, rows)).loss
    assert math.isfinite(loss) and loss > 0


@pytest.mark.parametrize("model", [None, "nowhere"])
def test_a_model_that_is_not_there_is_named(model: str | None) -> None:
    with pytest.raises(Misconfigured, match=r"train\.model"):
        Learner(TrainConfig(model=model))
