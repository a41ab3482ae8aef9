"""Self-generation: a model writes the tasks that it is trained on, round after round."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from envgen.cli.options import (
    DEFAULT_DATA,
    Axes,
    Config,
    Data,
    Json,
    Preset,
    Profile,
    Run,
    Seed,
    Sets,
)
from envgen.cli.panel import watching
from envgen.cli.training import Sampler, Weights, needed, training_of
from envgen.cli.work import interruptible, print_json, say, settings_of
from envgen.errors import Misconfigured

if TYPE_CHECKING:
    from envgen.config import RunConfig
    from envgen.llm import Model
    from envgen.pipeline import Stop
    from envgen.runs import RunFolder
    from envgen.selfgen import Learnt, Tools


def selfgen(
    run: Run = "default",
    data: Data = DEFAULT_DATA,
    model: Weights = None,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Rounds in all.")] = 1,
    n: Annotated[int | None, typer.Option("--n", help="Specs of each round.")] = None,
    seed: Seed = None,
    preset: Preset = None,
    axes: Axes = None,
    held_out: Annotated[
        int, typer.Option("--held-out", min=1, help="Procedural tasks that only measure it.")
    ] = 12,
    profile: Profile = None,
    sampler: Sampler = None,
    steps: Annotated[
        int | None, typer.Option("--steps", help="Optimiser steps of each round.")
    ] = None,
    config: Config = None,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Let a model write, criticise and repair tasks, train it on what is kept, and begin again.

    Again, it goes on where it was; with more --rounds, it adds to those that are done.
    """
    from envgen import config as configs
    from envgen import runs
    from envgen.selfgen import Selfgen
    from envgen.tables import rounds_table

    folder = runs.folder_of(data, run)
    if folder.specs.exists() or folder.imported.exists():
        raise Misconfigured(f"run {run!r} has tasks of its own: use another --run for rounds")
    settings = settings_of(
        config or (folder.config if folder.config.exists() else None),
        sets,
        sample={"n": n, "seed": seed, "preset": preset, "axes": axes},
        author={"profile": profile},
        train={"model": model, "sampler": sampler, "steps": steps},
    )
    needed()
    _check(settings)

    async def work(stop: "Stop") -> list[dict[str, Any]]:
        tools = _tools(folder, settings, stop)
        return await Selfgen(folder, settings, held_out, tools, stop).run(rounds)

    with runs.held(folder):
        configs.save(settings, folder.config)
        rows = interruptible(work)
    if as_json:
        print_json(rows)
    else:
        rounds_table(rows)
        say(f"one round: envgen report --run round-1 --data {folder.path}")


def _check(settings: "RunConfig") -> None:
    """Misconfigured before anything is opened, where the settings cannot be trained with."""
    from envgen.train.chat import TemplateChat
    from envgen.train.episodes import writing_text
    from envgen.train.policy import model_folder
    from envgen.train.ranks import count

    if count() > 1:
        raise Misconfigured("self-generation is one process: start it without a launcher of ranks")
    writing_text(settings.agent)
    TemplateChat(model_folder(settings.train.model))


def _tools(whole: "RunFolder", settings: "RunConfig", stop: "Stop") -> "Tools":
    """The real ones: containers, and the sampler of the trainer."""
    from contextlib import contextmanager

    from envgen.kit import open_kit
    from envgen.selfgen import Tools
    from envgen.terminal import progress

    @asynccontextmanager
    async def opened(weights: Path) -> AsyncIterator["Model"]:
        from envgen.agent.voice import Voice
        from envgen.train.chat import TemplateChat
        from envgen.train.inference import open_engine

        async with open_engine(settings.train, weights, 0) as engine:
            yield Voice(engine, TemplateChat(weights), settings.train.context)

    async def learn(folder: "RunFolder", of_round: "RunConfig", target: int) -> "Learnt":
        return await _learnt(whole, folder, of_round, target, stop)

    @contextmanager
    def watch(title: str, total: int) -> Any:
        say(title)
        with progress(total) as update:
            yield update

    return Tools(
        kits=lambda config, path, own: open_kit(config, path, say=say, own=own),
        model=opened,
        learn=learn,
        watch=watch,
    )


async def _learnt(
    whole: "RunFolder", folder: "RunFolder", settings: "RunConfig", target: int, stop: "Stop"
) -> "Learnt":
    """Train on a round's tasks. A training that finds nothing more to learn ends the round's."""
    from envgen.kit import open_kit
    from envgen.selfgen import Learnt
    from envgen.train.chat import TemplateChat
    from envgen.train.checkpoints import latest
    from envgen.train.loop import CHECKPOINTS
    from envgen.train.policy import model_folder
    from envgen.train.rollouts import NoBatch
    from envgen.train.tasks import tasks_of

    train = settings.train.model_copy(update={"steps": target})
    settings = settings.model_copy(update={"train": train})
    own = whole.path / "train"
    async with open_kit(settings, folder.path, say=say) as kit:
        tasks = await tasks_of(folder.manifest, train, kit)
        chat = TemplateChat(model_folder(train.model))
        with watching(target) as watch:
            training = training_of(settings, own, tasks, kit, chat, stop, watch)
            try:
                return Learnt(await training.run())
            except NoBatch as error:
                kept = latest(own / CHECKPOINTS)
                done = int(kept.name.removeprefix("step-")) if kept else 0
                return Learnt(done, str(error))
