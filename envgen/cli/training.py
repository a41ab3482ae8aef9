"""Train a policy on the tasks of a run."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from envgen.cli.options import DEFAULT_DATA, Config, Data, Run, Sets
from envgen.cli.work import existing, say, with_kit
from envgen.errors import Misconfigured

if TYPE_CHECKING:
    from envgen.config import RunConfig
    from envgen.kit import Kit
    from envgen.pipeline import Stop
    from envgen.runs import RunFolder

NEEDED = ("torch", "transformers", "safetensors")


def train(
    run: Run = "default",
    data: Data = DEFAULT_DATA,
    model: Annotated[
        str | None, typer.Option("--model", help="Folder of the model to begin with.")
    ] = None,
    manifest: Annotated[
        Path | None, typer.Option("--manifest", help="Tasks; by default the run's own manifest.")
    ] = None,
    sampler: Annotated[
        str | None, typer.Option("--sampler", help="vllm, server or transformers.")
    ] = None,
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
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise Misconfigured(
            f"training needs {', '.join(missing)}, which the plain install leaves out: "
            "pip install 'envgen[train]'"
        )
    tasks = manifest or folder.manifest
    if not tasks.exists():
        raise Misconfigured(f"{tasks} does not exist: `envgen run` makes tasks and their manifest")
    done = _trained(folder, settings, tasks)
    say(f"{done} optimiser steps done; weights: {folder.path / 'train' / 'weights'}")
    say(f"curves: tensorboard --logdir {folder.path / 'train' / 'tensorboard'}")


def _trained(folder: "RunFolder", settings: "RunConfig", manifest: Path) -> int:
    from envgen import runs
    from envgen.config import save
    from envgen.sandbox.pool import Pool
    from envgen.train.chat import TemplateChat
    from envgen.train.episodes import playing, writing_text
    from envgen.train.loop import Training
    from envgen.train.policy import model_folder
    from envgen.train.tasks import probes, tasks_of

    model = model_folder(settings.train.model)
    writing_text(settings.agent)

    async def work(kit: "Kit", stop: "Stop") -> int:
        await runs.accepted(folder, kit)
        chat = TemplateChat(model)
        tasks = await tasks_of(manifest, settings.train, kit)
        say(
            f"{len(tasks.training)} tasks to train on, {len(tasks.held_out)} held out, "
            f"{tasks.refused} left out that the policy of their audit rejects"
        )
        pool = Pool(kit.sandbox.engine, settings.engine.in_flight)
        training = Training(
            settings=settings.train,
            folder=folder.path / "train",
            training=tasks.training,
            held_out=tasks.held_out,
            play=lambda engine: playing(tasks.known, kit, pool, chat, engine),
            probes=probes(tasks, chat, settings.agent),
            watch=_told,
            stop=lambda: stop.drain,
        )
        return await training.run()

    with runs.held(folder):
        (folder.path / "train").mkdir(exist_ok=True)
        save(settings, folder.path / "train" / "config.yaml")
        done: int = with_kit(settings, folder.path, work)
    return done


def _told(phase: str, row: dict[str, float]) -> None:
    """One line for the start check and for each step."""
    if row:
        shown = (
            "gap_start",
            "solved",
            "held_out_solved",
            "reward",
            "entropy",
            "gap_fresh",
            "lag",
            "tokens",
        )
        parts = [f"{name} {row[name]:.3g}" for name in shown if name in row]
        parts += [f"{n[8:]} {s:.1f} s" for n, s in row.items() if n.startswith("seconds_")]
        say(", ".join(parts))
