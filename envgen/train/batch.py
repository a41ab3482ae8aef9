"""From episodes to an optimiser batch: what is left out, the advantages, and the micro-batches.

In this order, which matters: rollouts without a verdict (lost sandboxes, grading that failed) and
rollouts that cannot be trained on (a NaN among the log-probabilities) leave a group before
anything is computed from it; then the group is judged. A rollout that failed for reasons outside
the policy is never a zero.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from envgen.agent import Sampled

OBSERVED = -1
"""In place of a policy version, at tokens that the policy did not sample."""


@dataclass(frozen=True)
class Rollout:
    """One episode as tokens, exactly as they were sampled and observed."""

    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    """What the sampler gave each token that it sampled; 0 at the others."""
    versions: tuple[int, ...]
    """Of the weights that sampled the token; OBSERVED at prompts, terminal output and padding."""
    reward: float | None
    """None when there is no verdict: then `fault` says why."""
    fault: str = ""
    ended: str = ""
    """Why the episode ended (submitted, steps, tokens, ...)."""
    turns: int = 0

    def __post_init__(self) -> None:
        if not len(self.ids) == len(self.logprobs) == len(self.versions):
            raise ValueError("a rollout has one logprob and one version for each token")
        if (self.reward is None) != bool(self.fault):
            raise ValueError("a rollout has a reward or a fault, and never both")

    @property
    def sampled(self) -> tuple[bool, ...]:
        """k: which tokens the policy sampled."""
        return tuple(version != OBSERVED for version in self.versions)

    @property
    def oldest(self) -> int | None:
        """Version of the oldest weights that sampled a token of it."""
        return min((v for v in self.versions if v != OBSERVED), default=None)

    @property
    def unusable(self) -> str:
        """Why it cannot be trained on; empty when it can."""
        if self.reward is None:
            return self.fault
        if not math.isfinite(self.reward):
            return "reward_not_finite"
        if self.oldest is None:
            return "nothing_sampled"
        sampled = zip(self.logprobs, self.versions, strict=True)
        if any(not math.isfinite(b) or b > 1e-3 for b, v in sampled if v != OBSERVED):
            return "logprob_not_finite"
        return ""


def rollout_of(
    turns: Sequence[tuple[Sequence[int], Sampled]],
    reward: float | None,
    fault: str = "",
    ended: str = "",
) -> Rollout:
    """Turns of (what was told, what was sampled) as one row of tokens."""
    ids: list[int] = []
    logprobs: list[float] = []
    versions: list[int] = []
    for told, sampled in turns:
        ids += [*told, *sampled.ids]
        logprobs += [*[0.0] * len(told), *sampled.logprobs]
        versions += [*[OBSERVED] * len(told), *sampled.versions]
    return Rollout(
        tuple(ids), tuple(logprobs), tuple(versions), reward, fault, ended, turns=len(turns)
    )


@dataclass(frozen=True)
class Group:
    """All rollouts of one task at one time."""

    task: str
    number: int
    """Place in the order in which groups were begun."""
    rollouts: tuple[Rollout, ...]


@dataclass(frozen=True)
class Row:
    """A rollout to train on."""

    rollout: Rollout
    advantage: float


Outcome = Literal["useful", "all_zero", "all_one", "equal", "stale", "masked"]


def judged(group: Group, version: int, most_stale: int) -> tuple[Outcome, tuple[Row, ...]]:
    """What becomes of a group at the optimiser step `version`, and the rows that it gives.

    `masked`: less than half of its rollouts (or less than two) can be used; its task is asked
    again. `stale`: a token is older than `most_stale` steps. `all_zero`, `all_one`, `equal`: the
    rewards do not differ, so there is nothing to learn. Only a `useful` one gives rows.
    """
    valid = [rollout for rollout in group.rollouts if not rollout.unusable]
    if len(valid) < max(2, math.ceil(len(group.rollouts) / 2)):
        return "masked", ()
    if version - min(rollout.oldest or 0 for rollout in valid) > most_stale:
        return "stale", ()
    rewards = [float(rollout.reward or 0) for rollout in valid]
    if min(rewards) == max(rewards):
        return ("all_zero" if rewards[0] == 0 else "all_one" if rewards[0] == 1 else "equal"), ()
    pairs = zip(valid, centred(rewards), strict=True)
    return "useful", tuple(Row(rollout, advantage) for rollout, advantage in pairs)


def centred(rewards: Sequence[float]) -> tuple[float, ...]:
    """Advantages: rewards less their mean. Not divided by their deviation, which would make a task
    that is nearly always (or never) solved weigh the most."""
    mean = math.fsum(rewards) / len(rewards)
    return tuple(reward - mean for reward in rewards)


def sampled_tokens(rows: Sequence[Row]) -> int:
    """N: every token that the policy sampled, over the whole batch."""
    return sum(sum(row.rollout.sampled) for row in rows)


def micro_batches(rows: Sequence[Row], tokens: int) -> Iterator[tuple[Row, ...]]:
    """The rows in parts of at most `tokens`, padding included; a longer row is a part by itself.

    Longest first: rows of a like length share a part, and what needs the most memory comes first.
    """
    part: list[Row] = []
    for row in sorted(rows, key=lambda row: len(row.rollout.ids), reverse=True):
        if part and len(part[0].rollout.ids) * (len(part) + 1) > tokens:
            yield tuple(part)
            part = []
        part.append(row)
    if part:
        yield tuple(part)
