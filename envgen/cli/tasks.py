"""From axes to proven tasks: sample, generate, build, run."""

from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from envgen.cli.options import (
    DEFAULT_DATA,
    Author,
    Axes,
    Config,
    Data,
    Json,
    Number,
    Preset,
    Run,
    Seed,
    Sets,
)
from envgen.cli.work import existing, finish, leave, print_json, say, settings_of, with_kit

if TYPE_CHECKING:
    from envgen.config import RunConfig
    from envgen.kit import Kit
    from envgen.pipeline import Stop


def sample(
    run: Run = "default",
    data: Data = DEFAULT_DATA,
    n: Number = None,
    seed: Seed = None,
    preset: Preset = None,
    axes: Axes = None,
    author: Author = None,
    config: Config = None,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Draw task specs, balanced over nine axes, into specs.parquet."""
    from envgen import runs
    from envgen.tables import balance_table

    settings = settings_of(config, sets, n, seed, preset, axes, author)
    folder = runs.folder_of(data, run)
    with runs.held(folder):
        found = runs.draw(folder, settings, author)
    if as_json:
        scores = {name: b._asdict() for name, b in found.items()}
        print_json({"specs": str(folder.specs), "balance": scores})
    else:
        say(f"{settings.sample.n} specs in {folder.specs}")
        balance_table(found)


def generate(
    run: Run = "default", data: Data = DEFAULT_DATA, config: Config = None, sets: Sets = None
) -> None:
    """Let the author write the drafts of a run's specs (stops before the gates)."""
    from envgen import runs

    folder, settings, specs = existing(data, run, config, sets)

    async def work(kit: "Kit", stop: "Stop") -> Any:
        return await runs.draft_all(folder, specs, kit, stop)

    with runs.held(folder):
        drafted, tally = with_kit(settings, folder.path, work)
    rejected = sum(tally.rejected.values())
    say(f"{drafted} drafts in {folder.path / 'drafts'}, {rejected} specs rejected by the author")
    if tally.bugs:
        say(f"{tally.bugs} tasks met a bug in envgen: see {folder.crashes}, please report it")
    if drafted + rejected + tally.bugs < len(specs):
        say("some are unfinished: the same command continues")
        leave(3)
    leave(1 if rejected or tally.bugs else 0)


def build(
    run: Run = "default",
    data: Data = DEFAULT_DATA,
    manifest: Annotated[
        Path | None, typer.Option("--from", help="Rebuild the tasks of this manifest.")
    ] = None,
    shard: Annotated[str, typer.Option("--shard", help="i/n: every n-th task.")] = "1/1",
    config: Config = None,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Take a run's specs through author and gates; or rebuild a manifest and say what drifted."""
    if manifest is not None:
        _rebuild(manifest, shard, data, settings_of(config, sets), as_json)
        return
    folder, settings, specs = existing(data, run, config, sets)
    finish(folder, settings, specs, as_json)


def run(
    run: Run = "default",
    data: Data = DEFAULT_DATA,
    n: Number = None,
    seed: Seed = None,
    preset: Preset = None,
    axes: Axes = None,
    author: Author = None,
    config: Config = None,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Sample, author, prove and export: everything, and again only what is not done yet."""
    from envgen import axes as catalogues
    from envgen import runs

    settings = settings_of(config, sets, n, seed, preset, axes, author)
    folder = runs.folder_of(data, run)
    with runs.held(folder):
        runs.draw(folder, settings, settings.author.name)
    finish(folder, settings, catalogues.read_specs(folder.specs), as_json)


def _rebuild(manifest: Path, shard: str, data: Path, settings: "RunConfig", as_json: bool) -> None:
    from envgen import rebuild as rebuilds
    from envgen import runs

    rows = rebuilds.rows_of(manifest, rebuilds.shard_of(shard))
    data.mkdir(parents=True, exist_ok=True)

    async def work(kit: "Kit", stop: "Stop") -> Any:
        found = []
        async with aclosing(rebuilds.rebuild(rows, kit, stop)) as verdicts:
            async for verdict in verdicts:
                found.append(verdict)
                state = f"DRIFTED: {verdict.drift}" if verdict.drift else f"same {verdict.note}"
                say(f"{len(found)}/{len(rows)} {verdict.task}: {state}".strip())
        kit.sandbox.engine.keep_only(set())
        return found

    own = runs.RunFolder(data / "rebuilds" / shard.replace("/", "-of-"))
    with runs.held(own):
        runs.empty(own)  # nothing of an earlier rebuild is recalled
        verdicts = with_kit(settings, own.path, work, rebuild=True)
        runs.empty(own)
    drifted = sorted(v.task for v in verdicts if v.drift)
    if as_json:
        print_json({"tasks": len(verdicts), "drifted": drifted})
    say(f"{len(verdicts) - len(drifted)} of {len(rows)} tasks are what the manifest says")
    leave(1 if drifted else 0 if len(verdicts) == len(rows) else 3)
