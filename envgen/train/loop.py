"""The training loop, from the first check to the last checkpoint.

One event loop: episodes go on in it while a thread steps the model. A step is: a full batch, the
optimiser, the new weights to the sampler, a row of metrics; now and then an evaluation and a
checkpoint. Killed anywhere, a run goes on from its last checkpoint with the same tasks.
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from envgen.config import TrainConfig
from envgen.errors import Misconfigured, Weather
from envgen.train.checkpoints import keep_newest, latest
from envgen.train.inference import Engine, check_gap, open_engine
from envgen.train.policy import Learner, Stepped
from envgen.train.rollouts import Batch, NoBatch, Play, Rollouts, Source, gathered
from envgen.writing import write_whole

Row = dict[str, float]
"""A step's metrics, by name."""
CHECKPOINTS, WEIGHTS, METRICS = "checkpoints", "weights", "metrics.jsonl"


@dataclass
class Training:
    """A training run: what it is made of, and where it stands.

    Attributes:
        settings: of the training.
        folder: of checkpoints, weights and metrics.
        training: names of tasks.
        held_out: names of tasks that are evaluated.
        play: makes, of the engine that samples, the function that plays an episode.
        probes: prompts on which sampler and trainer are compared before the first step.
        watch: is told each phase before it begins, how far sampler and trainer are apart at the
            start, and each row of metrics.
        stop: asked after each step whether to end here.
    """

    settings: TrainConfig
    folder: Path
    training: Sequence[str]
    held_out: Sequence[str]
    play: Callable[[Engine], Play]
    probes: Sequence[tuple[int, ...]]
    watch: Callable[[str, Row], None] = lambda phase, row: None
    stop: Callable[[], bool] = lambda: False
    _seconds: dict[str, float] = field(default_factory=dict)
    _curves: Any = None

    async def run(self) -> int:
        """Train; returns the number of optimiser steps that were done in all.

        Raises:
            Misconfigured: a start check failed.
            Weather: what stops every episode; the same call goes on from the last checkpoint.
        """
        learner = await asyncio.to_thread(Learner, self.settings)
        try:
            done = await self._run(learner)
        except (Misconfigured, Weather):  # anything else ends the other ranks with this one
            learner.close()
            raise
        learner.close()
        return done

    async def _run(self, learner: Learner) -> int:
        from torch.utils.tensorboard import SummaryWriter

        self.folder.mkdir(parents=True, exist_ok=True)
        settings = self.settings
        source = Source(self.training, settings.seed, not settings.easiest_first)
        newest = latest(self.folder / CHECKPOINTS)
        if newest is not None:
            source.restore(learner.restore(newest))
        first = 0 if newest is None else learner.version + 1  # that is not kept with its metrics
        _forget_from(self.folder / METRICS, first)
        self._curves = SummaryWriter(str(self.folder / "tensorboard"), purge_step=first)
        learner.save(self.folder / WEIGHTS)
        async with open_engine(settings, self.folder / WEIGHTS, learner.version) as engine:
            gap = await check_gap(learner, engine, self.probes)
            self.watch("start", {"gap_start": gap})
            play = self.play(engine)
            if self.held_out and newest is None:
                self._note(0, await self._evaluated(play))
            async with Rollouts(source, play, settings) as rollouts:
                try:
                    while learner.version < settings.steps and not self.stop():
                        await self._step(learner, engine, rollouts, play)
                except NoBatch:
                    self._checkpoint(learner, source)
                    raise
            self._checkpoint(learner, source)
        self._curves.close()
        return learner.version

    async def _step(self, learner: Learner, engine: Engine, rollouts: Rollouts, play: Play) -> None:
        settings, self._seconds = self.settings, {}
        with self._phase("rollouts"):
            batch = await rollouts.batch(learner.version)
        lags = [learner.version - (row.rollout.oldest or 0) for row in batch.rows]
        with self._phase("optimiser"):
            stepped = await asyncio.to_thread(learner.step, batch.rows)
        with self._phase("weights"):
            await asyncio.to_thread(learner.save, self.folder / WEIGHTS)
            await engine.update(self.folder / WEIGHTS, learner.version)
        row = measured(batch, stepped, lags)
        if self.held_out and learner.version % settings.eval_every == 0:
            with self._phase("evaluation"):
                row |= await self._evaluated(play)
        row |= {f"seconds_{phase}": seconds for phase, seconds in self._seconds.items()}
        self._note(learner.version, row)
        if learner.version % settings.save_every == 0:
            self.watch("checkpoint", {})
            self._checkpoint(learner, rollouts.source)

    @contextmanager
    def _phase(self, name: str) -> Iterator[None]:
        self.watch(name, {})
        started = time.monotonic()
        yield
        self._seconds[name] = round(time.monotonic() - started, 3)

    def _checkpoint(self, learner: Learner, source: Source) -> None:
        folder = self.folder / CHECKPOINTS
        wanted = folder / f"step-{learner.version}"
        if latest(folder) != wanted:
            learner.checkpoint(wanted, source.state())
        keep_newest(folder, self.settings.keep)

    def _note(self, step: int, row: Row) -> None:
        """A row of metrics, as a line of JSON and as curves of TensorBoard."""
        row = {name: value for name, value in row.items() if value == value}
        self.watch("metrics", {"step": step, **row})
        with (self.folder / METRICS).open("a") as file:
            file.write(json.dumps({"step": step, **row}) + "\n")
        for name, value in row.items():
            self._curves.add_scalar(name.replace("_", "/", 1), value, step)

    # -- held-out tasks ------------------------------------------------------------------------

    async def _evaluated(self, play: Play) -> Row:
        """Solve rate of the held-out tasks, over episodes with a verdict."""
        samples = [(t, n) for t in self.held_out for n in range(self.settings.eval_attempts)]
        done = await gathered(play(task, -1, number) for task, number in samples)
        rewards = [rollout.reward for rollout in done if rollout.reward is not None]
        return {
            "held_out_episodes": len(rewards),
            "held_out_faults": len(done) - len(rewards),
            "held_out_reward": sum(rewards) / len(rewards) if rewards else float("nan"),
            "held_out_solved": share([reward == 1 for reward in rewards]),
        }


# -- metrics -----------------------------------------------------------------------------------


def share(flags: Sequence[bool]) -> float:
    """How many of them hold; nan of none."""
    return sum(flags) / len(flags) if flags else float("nan")


def measured(batch: Batch, stepped: Stepped, lags: Sequence[int]) -> Row:
    """A step in numbers.

    The batch holds only groups that differ, so its solve rate says little; `solved` is over all
    rollouts with a verdict in the groups that were drawn for it.
    """
    everyone = [rollout for group in batch.groups for rollout in group.rollouts]
    rewards = [rollout.reward for rollout in everyone if rollout.reward is not None]
    sums, tokens = stepped.sums, max(stepped.sums.tokens, 1)
    drawn = [rollout for rollout in everyone if not rollout.unusable]
    counts = {f"groups_{name}": float(n) for name, n in sorted(batch.counts.items())}
    faults = {f"fault_{name}": float(n) for name, n in sorted(batch.faults.items())}
    ended = Counter(rollout.ended or "unknown" for rollout in drawn)
    return {
        "solved": share([reward == 1 for reward in rewards]),
        "reward": sum(rewards) / len(rewards) if rewards else float("nan"),
        "solved_batch": share([row.rollout.reward == 1 for row in batch.rows]),
        "rollouts": len(everyone),
        "masked_rollouts": len(everyone) - len(drawn),
        "loss": stepped.loss,
        "gradient_norm": stepped.norm,
        "stepped": float(stepped.stepped),
        "entropy": stepped.entropy,
        "tokens": sums.tokens,
        "tokens_seen": sum(len(row.rollout.ids) for row in batch.rows),
        "masked_up": sums.masked_up / tokens,
        "masked_down": sums.masked_down / tokens,
        "guarded": sums.guarded,
        "capped": sums.capped,
        "gap": sums.gap / tokens,
        "gap_fresh": stepped.gap_fresh,
        "ratio": sums.ratio / tokens,
        "drift": sums.drift / tokens,
        "lag": sum(lags) / len(lags),
        "lag_most": max(lags),
        "turns": sum(rollout.turns for rollout in drawn) / max(len(drawn), 1),
        **counts,
        **faults,
        **{f"ended_{name}": float(n) for name, n in sorted(ended.items())},
    }


def _forget_from(path: Path, step: int) -> None:
    """This step and those after it are taken again."""
    if path.exists():
        lines = path.read_text().splitlines(keepends=True)
        whole = [line for line in lines if line.endswith("\n")]
        write_whole(path, "".join(line for line in whole if json.loads(line)["step"] < step))
