"""Episodes as rows of tokens: the agent in a sandbox, the one grader, nothing recorded twice.

A policy changes under one name while it is trained, so its trajectories are not recalled from the
ledger; grades are, for equal outputs earn the same.
"""

from collections.abc import Mapping

from envgen.agent import Chat, Sampled, Sampler, Sampling
from envgen.agent.episode import Player, episode
from envgen.agent.policies import TokenPolicy
from envgen.config import AgentConfig, TrainConfig
from envgen.errors import Misconfigured
from envgen.kit import Kit
from envgen.records import Episode, Image, TaskDraft
from envgen.sandbox.pool import Pool
from envgen.train.batch import Rollout, rollout_of
from envgen.train.rollouts import Play


def playing(
    tasks: Mapping[str, tuple[TaskDraft, Image]], kit: Kit, pool: Pool, chat: Chat, engine: Sampler
) -> Play:
    """The function that plays an episode of one of these tasks with the engine's policy."""
    settings, agent = kit.config.train, writing_text(kit.config.agent)
    sampling = Sampling(agent.turn_tokens, settings.temperature)
    player = Player(
        model=f"trained:{settings.model}",
        agent=agent,
        policy=lambda play: TokenPolicy(engine, chat, sampling, settings.context),
    )

    async def play(task: str, number: int, member: int) -> Rollout:
        draft, image = tasks[task]
        done = await episode(draft, image, player, pool, kit, member, recorded=False)
        return as_rollout(done, settings)

    return play


def writing_text(agent: AgentConfig) -> AgentConfig:
    """The agent's settings, when they can be trained: commands as text, in a history that grows.

    Raises:
        Misconfigured: they cannot.
    """
    for name, wanted in (("tools", "blocks"), ("thinking", "keep")):
        if (found := getattr(agent, name)) != wanted:
            raise Misconfigured(
                f"agent.{name} is {found}, which cannot be trained: a policy is trained on its own "
                f"tokens, in a history that only grows; --set agent.{name}={wanted}"
            )
    return agent


def as_rollout(done: Episode, settings: TrainConfig) -> Rollout:
    """An episode as tokens. One without a verdict has no reward, and is never a zero."""
    trajectory, score = done.trajectory, done.score
    if trajectory is None or score is None:
        return Rollout((), (), (), None, done.fault)
    turns = []
    for turn in trajectory.turns:
        if turn.tokens is None:
            raise ValueError("a turn of a token-level policy has its tokens")
        mine = Sampled(turn.tokens.ids, turn.tokens.logprobs, turn.tokens.versions)
        turns.append((turn.tokens.before, mine))
    if score.invalid:
        return rollout_of(turns, None, f"grading: {score.invalid}", trajectory.ending)
    reward = score.reward if settings.reward == "graded" else float(score.passed)
    return rollout_of(turns, reward, ended=trajectory.ending)
