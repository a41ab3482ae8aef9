"""One episode: a sandbox, the loop in it, the grade of what is left. Recorded, so played once."""

import json
from collections.abc import Callable
from typing import NamedTuple

from envgen.agent import Policy
from envgen.agent.loop import Loop
from envgen.agent.showing import opening
from envgen.config import AgentConfig
from envgen.errors import Weather
from envgen.grade import graded
from envgen.kit import Kit
from envgen.ledger import Use
from envgen.records import Episode, Image, Key, Play, TaskDraft, Trajectory
from envgen.sandbox.pool import Pool
from envgen.submission import opening as sandbox_of

KIND, STEP = "episode", "eval"
SPARE_SECONDS = 300
"""That a sandbox lives longer than its episode may last: for what the last command leaves to do."""


class Player(NamedTuple):
    """Who plays, and how."""

    model: str
    """Its name in records."""
    agent: AgentConfig
    policy: Callable[[Play], Policy]
    """A new conversation."""


def play_of(draft: TaskDraft, image: Image, player: Player, sample: int) -> Play:
    """An episode as a value."""
    agent = player.agent
    return Play(
        task=draft.digest,
        image=image.content,
        opening=opening(
            draft.instruction,
            draft.workdir,
            draft.outputs,
            calls=agent.tools == "calls",
            steps=agent.steps,
            seconds=_seconds(draft, agent),
            command_seconds=agent.command_seconds,
        ),
        outputs=draft.outputs,
        limits=draft.limits,
        model=player.model,
        settings=settings_of(agent),
        sample=sample,
    )


def settings_of(agent: AgentConfig) -> str:
    """How is played, as `Play` has it: everything but who."""
    return json.dumps(agent.model_dump(mode="json", exclude={"model"}), sort_keys=True)


def _seconds(draft: TaskDraft, agent: AgentConfig) -> int:
    return agent.seconds or draft.limits.agent_seconds


async def rollout(
    draft: TaskDraft, image: Image, play: Play, player: Player, pool: Pool
) -> Trajectory:
    """Play once, whatever was played before.

    Raises:
        Weather: no sandbox, or a lost one; no answer from the model.
    """
    seconds = _seconds(draft, player.agent)
    async with pool.lease(sandbox_of(draft, image, seconds + SPARE_SECONDS)) as session:
        loop = Loop(player.policy(play), session, player.agent, seconds)
        ending = await loop.run(play.opening)
        lasted = session.age
        outputs = await session.capture(draft.outputs)
    return Trajectory(
        turns=tuple(loop.turns),
        ending=ending,
        detail=loop.detail,
        outputs=outputs,
        seconds=round(lasted, 3),
    )


async def episode(
    draft: TaskDraft,
    image: Image,
    player: Player,
    pool: Pool,
    kit: Kit,
    sample: int = 0,
    *,
    recorded: bool = True,
) -> Episode:
    """Play, or recall; then grade, whatever ended it.

    Infrastructure that fails leaves an episode with a fault and without a score, of which nothing
    is recorded: asked again, it is played again.

    Args:
        recorded: whether the trajectory is kept in the ledger and recalled from it. Whose policy
            changes under one name, as a trainer's does, wants neither.

    Raises:
        Weather: of the kind that every other episode would meet too.
    """
    play, use = play_of(draft, image, player, sample), Use(draft.slug, STEP)
    try:
        keys, trajectory = await _played(draft, image, play, player, pool, kit, use, recorded)
        grades, score = await graded(draft, image, trajectory.outputs, kit, use)
    except Weather as weather:
        if weather.stops:
            raise
        return Episode(slug=draft.slug, play=play, fault=f"{weather.code}: {weather}")
    return Episode(
        slug=draft.slug, play=play, trajectory=trajectory, score=score, keys=(*keys, *grades)
    )


async def _played(
    draft: TaskDraft,
    image: Image,
    play: Play,
    player: Player,
    pool: Pool,
    kit: Kit,
    use: Use,
    recorded: bool,
) -> tuple[tuple[Key, ...], Trajectory]:
    if not recorded:
        return (), await rollout(draft, image, play, player, pool)
    key, trajectory = await kit.sandbox.ledger.once(
        KIND, play, lambda: rollout(draft, image, play, player, pool), use, Trajectory
    )
    return (key,), trajectory
