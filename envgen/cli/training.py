"""Train a policy on the tasks of a run."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from envgen.cli.options import DEFAULT_DATA, Config, Data, Run, Sets
from envgen.cli.panel import Watch, watching
from envgen.cli.work import existing, say, with_kit
from envgen.errors import Misconfigured
from envgen.plural import many

if TYPE_CHECKING:
    from envgen.agent import Chat
    from envgen.config import RunConfig
    from envgen.kit import Kit
    from envgen.pipeline import Stop
    from envgen.runs import RunFolder
    from envgen.train.loop import Training
    from envgen.train.tasks import Tasks

NEEDED = ("torch", "transformers", "safetensors")

Weights = Annotated[str | None, typer.Option("--model", help="Folder of the model to begin with.")]
Sampler = Annotated[str | None, typer.Option("--sampler", help="vllm, server or transformers.")]


def train(
    run: Run = "default",
    data: Data = DEFAULT_DATA,
    model: Weights = None,
    manifest: Annotated[
        Path | None, typer.Option("--manifest", help="Tasks; by default the run's own manifest.")
    ] = None,
    sampler: Sampler = None,
    steps: Annotated[int | None, typer.Option("--steps", help="Optimiser steps in all.")] = None,
    config: Config = None,
    sets: Sets = None,
) -> None:
    """Train a policy by DPPO on episodes in sandboxes; again, it goes on from its last checkpoint.

    Weights, checkpoints and metrics are in the run's folder, below `train/`.
    """
    flags: dict[str, dict[str, Any]] = {
        "train": {"model": model, "sampler": sampler, "steps": steps}
    }
    folder, settings, _ = existing(data, run, config, sets, **flags)
    needed()
    if _followed(settings):
        return
    tasks = manifest or folder.manifest
    if not tasks.exists():
        raise Misconfigured(f"{tasks} does not exist: `envgen run` makes tasks and their manifest")
    done = _trained(folder, settings, tasks)
    say(f"{many(done, 'optimiser step')} done; weights: {folder.path / 'train' / 'weights'}")
    say(f"curves: tensorboard --logdir {folder.path / 'train' / 'tensorboard'}")


def needed() -> None:
    """Misconfigured where what the trainer stands on is not installed."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise Misconfigured(
            f"training needs {', '.join(missing)}, which the plain install leaves out: "
            "pip install 'envgen[train]'"
        )


def _followed(settings: "RunConfig") -> bool:
    """Where a launcher started several processes: all but the first hold shards and follow it."""
    from envgen.train.policy import Learner, follow
    from envgen.train.ranks import rank

    if rank() == 0:
        return False
    follow(Learner(settings.train))
    return True


def training_of(
    settings: "RunConfig",
    folder: Path,
    tasks: "Tasks",
    kit: "Kit",
    chat: "Chat",
    stop: "Stop",
    watch: Watch,
) -> "Training":
    """The training of a policy on some tasks, in a kit's sandboxes."""
    from envgen.config import save
    from envgen.sandbox.pool import Pool
    from envgen.train.episodes import playing
    from envgen.train.loop import Training
    from envgen.train.tasks import probes

    folder.mkdir(exist_ok=True)
    save(settings, folder / "config.yaml")
    pool = Pool(kit.sandbox.engine, settings.engine.in_flight)
    return Training(
        settings=settings.train,
        folder=folder,
        training=tasks.training,
        held_out=tasks.held_out,
        play=lambda engine: playing(tasks.known, kit, pool, chat, engine),
        probes=probes(tasks, chat, settings.agent),
        watch=watch,
        stop=lambda: stop.drain,
    )


def _trained(folder: "RunFolder", settings: "RunConfig", manifest: Path) -> int:
    from envgen import runs
    from envgen.train.chat import TemplateChat
    from envgen.train.episodes import writing_text
    from envgen.train.policy import model_folder
    from envgen.train.tasks import tasks_of

    model = model_folder(settings.train.model)
    writing_text(settings.agent)

    async def work(kit: "Kit", stop: "Stop") -> int:
        await runs.accepted(folder, kit)
        chat = TemplateChat(model)
        tasks = await tasks_of(manifest, settings.train, kit)
        say(
            f"{many(len(tasks.training), 'task')} to train on, {len(tasks.held_out)} held out, "
            f"{tasks.refused} left out that the policy of their audit rejects"
        )
        with watching(settings.train.steps) as watch:
            own = folder.path / "train"
            return await training_of(settings, own, tasks, kit, chat, stop, watch).run()

    with runs.held(folder):
        done: int = with_kit(settings, folder.path, work)
    return done
