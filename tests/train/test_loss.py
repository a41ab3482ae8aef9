"""The objective against values computed by hand, autograd against differences, and properties."""

import math
from collections.abc import Sequence

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from torch import Tensor

from envgen.train.batch import OBSERVED, Group, Rollout, Row, judged, micro_batches, sampled_tokens
from envgen.train.loss import GUARD, Rule, Sums, Tokens, divergence, kept, policy_loss

TV, KL, CLIP = Rule("tv", 0.1), Rule("kl", 0.05), Rule("clip")
EXACT = 1e-9

# mu, pi, advantage, ratio, TV, kept by TV, KL, kept by KL, loss by TV
TOKENS = [
    (0.5, 0.58, 0.5, 1.16, 0.08, 1, 0.012966691013, 1, -0.58),
    (0.5, 0.62, 0.5, 1.24, 0.12, 0, 0.029662733042, 1, 0),
    (0.5, 0.38, 0.5, 0.76, 0.12, 1, 0.029662733042, 1, -0.38),
    (0.5, 0.38, -0.5, 0.76, 0.12, 0, 0.029662733042, 1, 0),
    (0.5, 0.62, -0.5, 1.24, 0.12, 1, 0.029662733042, 1, 0.62),
    (0.001, 0.01, 0.5, 10, 0.009, 1, 0.006738200591, 1, -5),
    (0.99, 0.8, -0.5, 0.808080808081, 0.19, 0, 0.181004960571, 0, 0),
    (0.99, 0.8, 0.5, 0.808080808081, 0.19, 1, 0.181004960571, 1, -0.404040404040),
    (0.3, 0.95, 0, 3.166666666667, 0.65, 1, 1.501536277749, 1, 0),
    (0.05, 0.14, 0.5, 2.8, 0.09, 1, 0.043072144721, 1, -1.4),
    (0.02, 0.13, 0.5, 6.5, 0.11, 0, 0.079242129278, 0, 0),
]


def logs(*probabilities: float) -> Tensor:
    return torch.tensor([[math.log(p) for p in probabilities]], dtype=torch.float64)


def tokens_of(anchor: Tensor, advantage: float, sampled: Tensor | None = None) -> Tokens:
    k = torch.ones_like(anchor) if sampled is None else sampled
    return Tokens(anchor, torch.full_like(anchor, advantage), k)


@pytest.mark.parametrize("token", TOKENS)
def test_one_token(token: Sequence[float]) -> None:
    mu, pi, advantage, ratio, tv, by_tv, kl, by_kl, loss = token
    now, b = logs(pi), logs(mu)
    tokens = tokens_of(b, advantage)
    assert divergence(now[..., None], b[..., None], "tv").item() == pytest.approx(tv, abs=EXACT)
    assert divergence(now[..., None], b[..., None], "kl").item() == pytest.approx(kl, abs=EXACT)
    assert kept(now, tokens, TV).item() == by_tv
    assert kept(now, tokens, KL).item() == by_kl
    value, sums = policy_loss(now, tokens, 1, TV)
    assert value.item() == pytest.approx(loss, abs=EXACT)
    assert sums.ratio == pytest.approx(ratio, abs=EXACT)
    assert sums.tokens == 1


MU = [(0.9, 0.3, 0.1), (0.5, 0.99, 0.5), (0.2,), (0.7, 0.02)]
PI = [(0.96, 0.38, 0.09), (0.35, 0.8, 0.62), (0.25,), (0.7, 0.13)]


def batch() -> tuple[list[Row], list[tuple[float, ...]]]:
    """One group of five, the third lost: rows, and the trained probabilities of their tokens."""
    rollouts = [
        Rollout((0,) * (len(p) + 1), (0.0, *map(math.log, p)), (OBSERVED, *[0] * len(p)), reward)
        for p, reward in zip(MU, (1.0, 0.0, 0.0, 1.0), strict=True)
    ]
    lost = Rollout((0,), (0.0,), (OBSERVED,), None, "sandbox_lost")
    members = (*rollouts[:2], lost, *rollouts[2:])
    outcome, rows = judged(Group("task", 0, members), 0, 4)
    assert outcome == "useful"
    return list(rows), PI


def padded(rows: Sequence[Sequence[float]], fill: float = 0.0) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor(
        [[*row, *[fill] * (longest - len(row))] for row in rows], dtype=torch.float64
    )


def tensors(rows: Sequence[Row], trained: Sequence[Sequence[float]]) -> tuple[Tensor, Tokens]:
    k = padded([row.rollout.sampled[1:] for row in rows])
    anchor = padded([row.rollout.logprobs[1:] for row in rows])
    advantage = torch.tensor([[row.advantage] for row in rows]).double().expand_as(k)
    logprobs = padded([[math.log(p) for p in row] for row in trained], fill=-3.0)
    return logprobs.requires_grad_(), Tokens(anchor, advantage, k)


def test_a_whole_batch_by_total_variation() -> None:
    rows, trained = batch()
    assert [row.advantage for row in rows] == [0.5, -0.5, -0.5, 0.5]
    total = sampled_tokens(rows)
    assert total == 9
    now, tokens = tensors(rows, trained)
    mask = tokens.sampled * kept(now, tokens, TV)
    assert mask.tolist() == [[1, 1, 1], [0, 0, 1], [1, 0, 0], [1, 0, 0]]
    loss, sums = policy_loss(now, tokens, total, TV)
    assert loss.item() == pytest.approx(-0.8716666666667 / 9, abs=EXACT)
    assert loss.item() == pytest.approx(-0.0968518518519, abs=EXACT)
    assert (sums.tokens, sums.masked_up, sums.masked_down) == (9, 1, 2)
    assert sums.drift / 9 == pytest.approx(0.42172871215965, abs=EXACT)
    (gradient,) = torch.autograd.grad(loss, now)
    by_hand = [
        [-0.0592592592593, -0.0703703703704, -0.05],
        [0, 0, 0.0688888888889],
        [0.0694444444444, 0, 0],
        [-0.0555555555556, 0, 0],
    ]
    assert gradient.tolist() == [pytest.approx(row, abs=EXACT) for row in by_hand]


def test_the_other_form_has_the_same_gradient_and_another_value() -> None:
    rows, trained = batch()
    now, tokens = tensors(rows, trained)
    weight = (tokens.sampled * kept(now, tokens, TV) * (now - tokens.anchor).exp()).detach()
    other = -(weight * tokens.advantage * now).sum() / 9
    assert other.item() == pytest.approx(0.0815190856, abs=1e-9)
    loss, _ = policy_loss(now, tokens, 9, TV)
    ours, theirs = torch.autograd.grad(loss, now)[0], torch.autograd.grad(other, now)[0]
    assert torch.allclose(ours, theirs, atol=1e-15)


def test_a_whole_batch_by_kl() -> None:
    now, tokens = tensors(*batch())
    loss, sums = policy_loss(now, tokens, 9, KL)
    mask = tokens.sampled * kept(now, tokens, KL)
    assert mask.tolist() == [[1, 1, 1], [1, 0, 1], [1, 0, 0], [1, 0, 0]]
    assert loss.item() == pytest.approx(-0.5216666666667 / 9, abs=EXACT)
    assert sums.masked_up + sums.masked_down == 2


def test_micro_batches_share_one_denominator() -> None:
    rows, trained = batch()
    shares, means = [], []
    for part in (slice(0, 2), slice(2, 4)):
        now, tokens = tensors(rows[part], trained[part])
        shares.append(policy_loss(now, tokens, 9, TV)[0].item())
        means.append(policy_loss(now, tokens, sampled_tokens(rows[part]), TV)[0].item())
    assert shares == pytest.approx([-0.1107407407407, 0.0138888888889], abs=EXACT)
    assert sum(shares) == pytest.approx(-0.0968518518519, abs=EXACT)
    assert sum(means) / 2 == pytest.approx(-0.0622222222222, abs=EXACT)  # what it must not be


def test_naming_more_tokens_sees_more_of_the_divergence() -> None:
    mu, pi = (0.5, 0.25, 0.15, 0.07, 0.03), (0.35, 0.3, 0.15, 0.15, 0.05)
    by_hand = {
        (0,): (0.15, 0.047155339736),
        (0, 1): (0.15, 0.048639023616),
        (3,): (0.08, 0.030302056453),
        (0, 1, 3): (0.15, 0.060442386309),
        (0, 1, 2, 3, 4): (0.15, 0.064082510415),
    }
    for named, values in by_hand.items():
        now, b = logs(*(pi[i] for i in named))[0], logs(*(mu[i] for i in named))[0]
        found = [divergence(now, b, kind).item() for kind in ("tv", "kl")]
        assert found == pytest.approx(values, abs=EXACT)


def test_grpo_clips_where_dppo_looks_at_probabilities() -> None:
    def gradient(mu: float, pi: float, advantage: float, rule: Rule) -> float:
        now = logs(pi).requires_grad_()
        loss, _ = policy_loss(now, tokens_of(logs(mu), advantage), 1, rule)
        return torch.autograd.grad(loss, now)[0].item()

    assert gradient(0.001, 0.01, 0.5, TV) == pytest.approx(-5, abs=EXACT)
    assert gradient(0.001, 0.01, 0.5, CLIP) == 0
    assert gradient(0.99, 0.8, -0.5, TV) == 0
    assert gradient(0.99, 0.8, -0.5, CLIP) == pytest.approx(0.404040404040, abs=EXACT)
    assert gradient(0.5, 0.63, 0.5, CLIP) == pytest.approx(-0.63, abs=EXACT)  # 1.26 < 1.272
    assert gradient(0.5, 0.64, 0.5, CLIP) == 0  # 1.28


def test_the_guard_and_the_cap_are_counted_and_a_cap_is_off() -> None:
    anchor = torch.tensor([[-30.0, -5.0, -1.0]], dtype=torch.float64)
    now = torch.tensor([[-4.0, -0.5, -1.0]], dtype=torch.float64, requires_grad=True)
    wide = Rule("tv", 1.0)
    loss, sums = policy_loss(now, tokens_of(anchor, 1.0), 3, wide)
    assert (sums.guarded, sums.capped) == (1, 0)
    by_hand = -(math.exp(GUARD) + math.exp(4.5) + 1) / 3
    assert loss.item() == pytest.approx(by_hand, rel=1e-12)
    capped, sums = policy_loss(now, tokens_of(anchor, 1.0), 3, Rule("tv", 1.0, cap=10))
    assert sums.capped == 2
    assert capped.item() == pytest.approx(-21 / 3, abs=EXACT)


def test_the_kl_to_a_reference_pulls_towards_it() -> None:
    now, b = logs(0.5, 0.5).requires_grad_(), logs(0.5, 0.5)
    rule = Rule(beta=0.1)
    loss, _ = policy_loss(now, tokens_of(b, 0.0), 2, rule, reference=logs(0.5, 0.25))
    by_hand = 0.1 * (0.5 - 1 - math.log(0.5)) / 2
    assert loss.item() == pytest.approx(by_hand, abs=EXACT)
    gradient = torch.autograd.grad(loss, now)[0]
    assert gradient.tolist() == [pytest.approx([0, 0.1 * (1 - 0.5) / 2], abs=EXACT)]


def test_gradients_agree_with_differences_through_a_model() -> None:
    torch.manual_seed(0)
    head = torch.randn(6, 11, dtype=torch.float64, requires_grad=True)
    hidden = torch.randn(3, 5, 6, dtype=torch.float64)
    ids = torch.randint(11, (3, 5))

    def logprobs(weight: Tensor) -> Tensor:
        return (hidden @ weight).log_softmax(-1).gather(-1, ids[..., None])[..., 0]

    anchor = logprobs(head).detach() + 0.2 * torch.randn(3, 5, dtype=torch.float64)
    anchor = anchor.clamp_max(-0.01)
    advantage = torch.tensor([[0.5], [-0.25], [-0.25]], dtype=torch.float64).expand(3, 5)
    tokens = Tokens(anchor, advantage, (torch.rand(3, 5) > 0.3).double())
    for rule in (TV, KL, CLIP, Rule("tv", 0.02), Rule(beta=0.1)):
        reference = anchor if rule.beta else None
        assert torch.autograd.gradcheck(
            lambda w, rule=rule, reference=reference: policy_loss(
                logprobs(w), tokens, 7, rule, reference
            )[0],
            (head,),
        )


# -- properties --------------------------------------------------------------------------------

probability = st.floats(1e-6, 1 - 1e-6)
advantage_of = st.floats(-1, 1).filter(lambda a: abs(a) > 1e-6)
rules = st.sampled_from([TV, KL])


@given(probability, probability, advantage_of, rules)
def test_the_mask_never_grows_a_step_away(mu: float, pi: float, a: float, rule: Rule) -> None:
    """Outside of the region no gradient leads further out; a way back is always open."""
    now, b = logs(pi).requires_grad_(), logs(mu)
    loss, _ = policy_loss(now, tokens_of(b, a), 1, rule)
    step = -torch.autograd.grad(loss, now)[0].item()  # where descent moves the logprob
    apart = divergence(now.detach()[..., None], b[..., None], rule.kind).item()
    outwards = step * (math.log(pi) - math.log(mu)) > 0
    assert not (apart > rule.delta and outwards)
    if apart <= rule.delta or a * (math.log(pi) - math.log(mu)) < 0:
        assert step * a > 0


@given(probability, probability, probability, advantage_of, rules)
def test_further_away_is_masked_as_well(
    mu: float, one: float, other: float, a: float, rule: Rule
) -> None:
    near, far = sorted((one, other), key=lambda p: abs(p - mu))
    assume((near - mu) * (far - mu) > 0)
    anchor = logs(mu)
    if kept(logs(near), tokens_of(anchor, a), rule).item() == 0:
        assert kept(logs(far), tokens_of(anchor, a), rule).item() == 0


def test_on_the_edge_of_the_region_a_token_is_kept() -> None:
    mu, pi = 0.25, 0.5
    edge = Rule("tv", 0.25)
    now, b = torch.tensor([[mu]]).double().log(), torch.tensor([[pi]]).double().log()
    exact = divergence(now[..., None], b[..., None], "tv").item()
    assert kept(now, tokens_of(b, -1.0), Rule("tv", exact)).item() == 1
    assert kept(now, tokens_of(b, -1.0), Rule("tv", math.nextafter(exact, 0))).item() == 0
    assert edge.delta == pytest.approx(exact, abs=1e-15)


matrices = st.integers(1, 5).flatmap(
    lambda n: st.lists(
        st.tuples(
            st.lists(st.tuples(probability, probability, st.booleans()), min_size=n, max_size=n),
            st.floats(-1, 1),
        ),
        min_size=1,
        max_size=6,
    )
)
Matrix = list[tuple[list[tuple[float, float, bool]], float]]


def of(matrix: Matrix) -> tuple[Tensor, Tokens]:
    now = torch.tensor([[math.log(p) for p, _, _ in row] for row, _ in matrix]).double()
    b = torch.tensor([[math.log(m) for _, m, _ in row] for row, _ in matrix]).double()
    k = torch.tensor([[float(s) for _, _, s in row] for row, _ in matrix]).double()
    a = torch.tensor([[advantage] for _, advantage in matrix]).double().expand_as(k)
    return now.requires_grad_(), Tokens(b, a, k)


def value(matrix: Matrix, total: float, rule: Rule) -> tuple[float, Tensor, Sums]:
    now, tokens = of(matrix)
    loss, sums = policy_loss(now, tokens, total, rule)
    return loss.item(), torch.autograd.grad(loss, now)[0], sums


@given(matrices, st.data(), st.sampled_from([TV, KL, CLIP]))
def test_the_cut_and_the_order_of_rows_change_nothing(
    matrix: Matrix, data: st.DataObject, rule: Rule
) -> None:
    whole, gradient, sums = value(matrix, 10, rule)
    order = data.draw(st.permutations(range(len(matrix))))
    cut = data.draw(st.integers(0, len(matrix)))
    parts = [p for p in (order[:cut], order[cut:]) if p]
    done = [value([matrix[i] for i in part], 10, rule) for part in parts]
    assert math.fsum(loss for loss, _, _ in done) == pytest.approx(whole, rel=1e-9, abs=1e-12)
    assert torch.allclose(torch.cat([g for _, g, _ in done]), gradient[list(order)], atol=1e-15)
    assert sum((s for _, _, s in done), Sums()).tokens == sums.tokens


@given(matrices, st.sampled_from([TV, KL, CLIP]))
def test_zero_advantage_has_zero_gradient(matrix: Matrix, rule: Rule) -> None:
    loss, gradient, _ = value([(row, 0.0) for row, _ in matrix], 10, rule)
    assert (loss, gradient.abs().max().item()) == (0, 0)


@given(matrices, st.sampled_from([TV, KL, CLIP]))
def test_what_was_not_sampled_cannot_matter(matrix: Matrix, rule: Rule) -> None:
    """Not even where the trained model gives it no number at all."""
    now, tokens = of(matrix)
    loss, gradient, _ = value(matrix, 10, rule)
    broken = torch.where(tokens.sampled > 0, now.detach(), torch.nan).requires_grad_()
    again, _ = policy_loss(broken, tokens, 10, rule)
    assert again.item() == loss
    assert torch.equal(torch.autograd.grad(again, broken)[0], gradient)
    assert (gradient[tokens.sampled == 0] == 0).all()


def test_a_batch_whose_tokens_are_all_masked_gives_zeros() -> None:
    now, b = logs(0.9, 0.9).requires_grad_(), logs(0.1, 0.1)
    loss, sums = policy_loss(now, tokens_of(b, 1.0), 2, TV)
    assert (loss.item(), sums.masked_up) == (0, 2)
    assert torch.autograd.grad(loss, now)[0].tolist() == [[0, 0]]


def test_single_precision_is_close_and_certain_tokens_are_finite() -> None:
    now = torch.tensor([[0.0, -1e-8, -90.0]], requires_grad=True)
    b = torch.tensor([[0.0, -2.0, -0.0]])
    for rule in (TV, KL):
        loss, _ = policy_loss(now, tokens_of(b, -1.0), 3, rule)
        assert math.isfinite(loss.item())
        assert torch.autograd.grad(loss, now)[0].isfinite().all()
    rows, trained = batch()
    logprobs, tokens = tensors(rows, trained)
    single = Tokens(tokens.anchor.float(), tokens.advantage.float(), tokens.sampled.float())
    loss, _ = policy_loss(logprobs.float(), single, 9, TV)
    assert loss.item() == pytest.approx(-0.0968518518519, abs=1e-6)


def test_micro_batches_of_the_batch_module_add_up_to_the_same_loss() -> None:
    rows, trained = batch()
    by_row = {id(row): p for row, p in zip(rows, trained, strict=True)}
    total = 0.0
    for part in micro_batches(rows, 6):
        now, tokens = tensors(part, [by_row[id(row)] for row in part])
        total += policy_loss(now, tokens, 9, TV)[0].item()
    assert total == pytest.approx(-0.0968518518519, abs=EXACT)
