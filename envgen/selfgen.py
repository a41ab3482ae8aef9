"""Self-generation: a model writes its own curriculum, round after round.

A round is: the model, with its present weights, writes tasks, criticises and repairs them; gates
and probes decide what is kept; it plays what was kept; what it sometimes solves trains it; the next
round is written with the new weights. Each round is a run of its own below the run's folder, the
training is one training whose tasks change, and tasks of procedural families, which the model is
never shown, say what came of it. Nothing here calls a model or a container: the flows do, through
their ledgers, so that a run that was killed goes on where it was.
"""

import hashlib
import json
import re
import shutil
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from envgen import axes, evaluated, evaluating, repairing, rounds, runs
from envgen.authors.procedural import names
from envgen.config import RunConfig
from envgen.digest import digest, short
from envgen.errors import Misconfigured, Weather
from envgen.export import parquet
from envgen.kit import Kit
from envgen.llm import Model
from envgen.pipeline import Stop
from envgen.records import TaskSpec
from envgen.report import curves
from envgen.rounds import FILE, Row, rows_of
from envgen.runs import RunFolder
from envgen.tally import Tally
from envgen.writing import write_whole

HELD_OUT = ("archive_recovery", "broken_tool", "ledger_reports")
"""Families whose tasks measure a model, unless `author.families` names others."""
_READ = (".safetensors", ".json", ".txt", ".jinja", ".model")
"""Files that make a model what it is."""


class RoundUnfinished(Weather):
    """Trouble outside of the tasks left a round unfinished."""

    code = "round_unfinished"
    retryable = False
    stops = True


class Learnt(NamedTuple):
    """What came of the training of a round."""

    version: int
    """Optimiser steps in all rounds so far."""
    why: str = ""
    """Why it ended before its steps were done."""


@dataclass(frozen=True)
class Tools:
    """What the loop is given, so that it needs neither torch nor an engine to be read or tried.

    Attributes:
        kits: opens a kit on a run's folder; its models are those of this process, by name.
        model: opens the model in a folder of weights.
        learn: trains on the tasks of a round's run until so many optimiser steps are done in all
            rounds; leaves the weights in `train/weights`.
        watch: says what begins, with how many counts of it will come, and gives who is told them.
    """

    kits: Callable[[RunConfig, Path, Mapping[str, Model]], AbstractAsyncContextManager[Kit]]
    model: Callable[[Path], AbstractAsyncContextManager[Model]]
    learn: Callable[[RunFolder, RunConfig, int], Awaitable[Learnt]]
    watch: Callable[[str, int], AbstractContextManager[Callable[[Tally], None]]]


@dataclass
class Selfgen:
    """A self-generation run.

    Attributes:
        folder: of all of it, which is held.
        settings: of every round; `train.steps` are those of one round.
        held_out: how many tasks measure the model.
        tools: what it works with.
        stop: asks it to end.
    """

    folder: RunFolder
    settings: RunConfig
    held_out: int
    tools: Tools
    stop: Stop

    async def run(self, wanted: int) -> list[Row]:
        """So many rounds in all, those that are done included; their rows.

        Raises:
            RoundUnfinished: the same call goes on.
            Misconfigured, Weather: as the flows do.
        """
        done = rows_of(self.folder.path)
        if len(done) < wanted:
            await self._measures()
        while len(done) < wanted:
            done.append(await self._round(len(done) + 1, done))
        return done

    async def _round(self, number: int, done: list[Row]) -> Row:
        folder = RunFolder(self.folder.path / "runs" / f"round-{number}")
        begun = done[-1]["version"] if done else 0
        weights = self._weights(number - 1)
        name = name_of(weights, self._beginning)
        settings = self._settings(number, name)
        before = await self._written(number, folder, settings, weights, name)
        own = self._file(folder, settings)
        learnt = await self._learnt(number, folder, own, begun)
        now = self._keep(number, weights, learnt.version > begun)
        after = before
        if now != weights:
            async with self.tools.model(now) as model:
                after = await self._measured(name_of(now, self._beginning), model)
        row = {
            "round": number,
            "weights": name,
            **rounds.written(folder, settings.sample.n, settings.audit.policy),
            **rounds.paid(folder),
            "pass_rate": rounds.solved(evaluated.summary(own) if own.path.exists() else None),
            **rounds.trained(
                curves(self.folder.path / "train" / "metrics.jsonl"), begun, learnt.version
            ),
            "why_no_more": learnt.why,
            "held_out_before": before,
            "held_out_after": after,
        }
        write_whole(folder.path / FILE, json.dumps(row, indent=1) + "\n")
        for old in _kept(self.folder.path)[:-1]:
            shutil.rmtree(old)
        return row

    async def _written(
        self, number: int, folder: RunFolder, settings: RunConfig, weights: Path, name: str
    ) -> Row | None:
        """Everything that a round asks its model; how it did before on what is held out."""
        runs.draw(folder, settings, "llm")
        specs = axes.read_specs(folder.specs)
        async with self.tools.model(weights) as model:
            before = await self._measured(name, model)
            async with self.tools.kits(settings, folder.path, {name: model}) as kit:
                with self.tools.watch(f"round {number}: writes tasks", len(specs)) as watch:
                    tally = await repairing.repair_all(folder, specs, kit, self.stop, watch=watch)
                self._whole(tally)
                await self._played(f"round {number}: plays them", folder, specs, kit)
        return before

    # -- the tasks that measure ----------------------------------------------------------------

    @property
    def _measuring(self) -> RunFolder:
        return RunFolder(self.folder.path / "runs" / "held-out")

    async def _measures(self) -> None:
        """Make and prove the held-out tasks, or recall that they are."""
        folder, settings = self._measuring, self._held(None)
        runs.draw(folder, settings, "procedural")
        specs = axes.read_specs(folder.specs)
        async with self.tools.kits(settings, folder.path, {}) as kit:
            await runs.accepted(folder, kit)
            with self.tools.watch("held-out tasks", len(specs)) as watch:
                self._whole(await runs.finish(folder, specs, kit, self.stop, watch))

    async def _measured(self, name: str, model: Model) -> Row | None:
        """How often a model solves them. Weights that were measured are not measured again."""
        folder, settings = self._measuring, self._held(name)
        specs = axes.read_specs(folder.specs)
        async with self.tools.kits(settings, folder.path, {name: model}) as kit:
            await self._played(f"held-out tasks: {name} plays them", folder, specs, kit)
        file = self._file(folder, settings)
        return rounds.solved(evaluated.summary(file) if file.path.exists() else None)

    def _file(self, folder: RunFolder, settings: RunConfig) -> evaluated.File:
        return evaluated.file_of(folder.rollouts, settings.agent)

    async def _played(self, title: str, folder: RunFolder, specs: list[TaskSpec], kit: Kit) -> None:
        """The tasks of a manifest, `train.eval_attempts` times each."""
        if not any(True for _ in parquet.read(folder.manifest, ["task"])):
            return
        items = evaluating.chosen(folder, specs, {}, None)
        k = self.settings.train.eval_attempts
        with self.tools.watch(title, k * len(items)) as watch:
            tally = await evaluating.evaluate(folder, items, k, kit, self.stop, watch)
        self._whole(tally)

    # -- training ------------------------------------------------------------------------------

    async def _learnt(
        self, number: int, folder: RunFolder, own: evaluated.File, begun: int
    ) -> Learnt:
        """Train on a round's tasks, where attempts at one of them differ."""
        if not rounds.mixed(own.path, graded=self.settings.train.reward == "graded"):
            return Learnt(begun, "no two attempts at a task differ: there is nothing to learn")
        target = begun + self.settings.train.steps
        learnt = await self.tools.learn(folder, self._settings(number, None), target)
        if learnt.version < target and not learnt.why:
            raise RoundUnfinished("its training is not done: the same command goes on")
        return learnt

    def _weights(self, done: int) -> Path:
        """What was learnt in so many rounds; the model of the beginning where that is nothing."""
        kept = [path for path in _kept(self.folder.path) if _number(path) <= done]
        return kept[-1] if kept else Path(self._beginning)

    @property
    def _beginning(self) -> str:
        return str(self.settings.train.model)

    def _keep(self, number: int, before: Path, stepped: bool) -> Path:
        """The weights after a round, where the next one finds them."""
        trained = self.folder.path / "train" / "weights"
        own = self.folder.path / "weights" / f"round-{number}"
        if stepped and trained.exists():
            shutil.rmtree(own, ignore_errors=True)
            own.parent.mkdir(exist_ok=True)
            trained.rename(own)
        return own if stepped else before

    # -- settings ------------------------------------------------------------------------------

    def _settings(self, number: int, name: str | None) -> RunConfig:
        """Of a round. The model has all roles; with None, nobody is asked anything."""
        settings = self.settings
        shown = tuple(f for f in names() if f not in self._families)
        if not shown:
            raise Misconfigured(
                "author.families holds all families out: leave one, from which the author's "
                "examples are taken"
            )
        profile = settings.author.profile
        return settings.model_copy(
            update={
                "sample": _with(settings.sample, seed=settings.sample.seed + number - 1),
                "author": _with(settings.author, name="llm", model=name, families=shown),
                "audit": _with(settings.audit, critic=name, critic_profile=profile),
                "repair": _with(settings.repair, model=name),
                "agent": _with(settings.agent, model=name),
            }
        )

    def _held(self, name: str | None) -> RunConfig:
        """Of the held-out tasks, and who plays them."""
        settings = self.settings
        return settings.model_copy(
            update={
                "sample": _with(settings.sample, n=self.held_out),
                "author": _with(
                    settings.author, name="procedural", model=None, families=self._families
                ),
                "audit": _with(settings.audit, critic=None),
                "repair": _with(settings.repair, model=None),
                "agent": _with(settings.agent, model=name),
            }
        )

    @property
    def _families(self) -> tuple[str, ...]:
        return self.settings.author.families or HELD_OUT

    def _whole(self, tally: Tally) -> None:
        """A bug ends its own task only, and is counted; everything else is to be done first."""
        left = tally.total - tally.done + tally.unfinished + tally.rejected["faults"]
        if left or self.stop.drain:
            reason = f" ({tally.last_trouble.splitlines()[-1]})" if tally.last_trouble else ""
            raise RoundUnfinished(f"left to do: {left}{reason}; the same command goes on")


def _with(group: Any, **changes: Any) -> Any:
    return group.model_copy(update=changes)


def name_of(weights: Path, beginning: str) -> str:
    """The name of a model in requests: the model of the beginning, and what its files hold now. An
    answer of other weights is never recalled for it."""
    files = {}
    for path in sorted(weights.iterdir()):
        if path.suffix in _READ:
            with path.open("rb") as file:
                files[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(beginning).name)[:40] or "model"
    return f"own:{plain}@{short(digest(files))}"


def _kept(folder: Path) -> list[Path]:
    """Weights of rounds, in their order."""
    return sorted((folder / "weights").glob("round-*[0-9]"), key=_number)


def _number(path: Path) -> int:
    return int(path.name.rpartition("-")[2])
