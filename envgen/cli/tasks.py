"""From axes to proven tasks: sample, generate, build, run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from envgen.cli.options import (
    DEFAULT_DATA,
    Author,
    Axes,
    BaseUrl,
    Budget,
    Config,
    Data,
    Json,
    Model,
    NoBudget,
    Number,
    Preset,
    Profile,
    Run,
    Seed,
    Sets,
)
from envgen.cli.work import (
    again,
    check_model,
    ended,
    existing,
    finish,
    print_json,
    say,
    settings_of,
    spent,
    with_kit,
)
from envgen.errors import Misconfigured
from envgen.plural import many

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
    profile: Profile = None,
    config: Config = None,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Draw task specs, balanced over nine axes, into specs.parquet."""
    from envgen import runs
    from envgen.tables import balance_table

    settings = settings_of(
        config,
        sets,
        sample={"n": n, "seed": seed, "preset": preset, "axes": axes},
        author={"name": author, "profile": profile},
    )
    folder = runs.folder_of(data, run)
    with runs.held(folder):
        found = runs.draw(folder, settings, author)
    if as_json:
        scores = {name: b._asdict() for name, b in found.items()}
        print_json({"specs": str(folder.specs), "balance": scores})
    else:
        say(f"{many(settings.sample.n, 'spec')} in {folder.specs}")
        balance_table(found)


def generate(
    run: Run = "default",
    data: Data = DEFAULT_DATA,
    n: Number = None,
    seed: Seed = None,
    preset: Preset = None,
    axes: Axes = None,
    author: Author = None,
    model: Model = None,
    base_url: BaseUrl = None,
    budget: Budget = None,
    no_budget: NoBudget = None,
    profile: Profile = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what it would ask, and what that costs.")
    ] = False,
    config: Config = None,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Let the author write the drafts of a run's specs (stops before the gates).

    A run that was not sampled yet, or is told --n, --seed, --preset or --axes, is sampled first.
    """
    from envgen import axes as catalogues
    from envgen import config as configs
    from envgen import runs
    from envgen.terminal import progress

    drawn = {"n": n, "seed": seed, "preset": preset, "axes": axes}
    folder = runs.folder_of(data, run)
    own = folder.config if folder.config.exists() else None
    settings = settings_of(
        config or own,
        sets,
        sample=drawn,
        author={"name": author, "model": model, "profile": profile},
        llm={"base_url": base_url, "budget": budget, "no_budget": no_budget},
    )
    check_model(settings)
    if dry_run:
        _estimate(settings, as_json)
        return

    async def work(kit: "Kit", stop: "Stop") -> Any:
        with progress(len(specs), spent(kit)) as watch:
            return await runs.draft_all(folder, specs, kit, stop, watch)

    with runs.held(folder):
        if not folder.specs.exists() or any(value is not None for value in drawn.values()):
            runs.draw(folder, settings, settings.author.name)
        configs.save(settings, folder.config)
        specs = catalogues.read_specs(folder.specs)
        tally = with_kit(settings, folder.path, work)
    if as_json:
        rejected = dict(tally.rejected)
        print_json({"folder": str(folder.drafts), "drafts": tally.drafted, "rejected": rejected})
    else:
        say(f"{many(tally.drafted, 'draft')} in {folder.drafts}")
    ended(folder, tally, failed=bool(tally.rejected))


def build(
    run: Run = "default",
    data: Data = DEFAULT_DATA,
    manifest: Annotated[
        Path | None, typer.Option("--from", help="Rebuild the tasks of this manifest.")
    ] = None,
    shard: Annotated[str, typer.Option("--shard", help="i/n: every n-th task.")] = "1/1",
    registry: Annotated[
        str | None,
        typer.Option("--registry", help="Pull images by digest from HOST/PREFIX; build none."),
    ] = None,
    config: Config = None,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Take a run through author and gates; or rebuild a manifest and say what drifted."""
    if manifest is not None:
        from envgen import rebuild as rebuilds
        from envgen.publish import images

        wanted = rebuilds.shard_of(shard)
        rows = rebuilds.rows_of(manifest, wanted)
        there = images.read(manifest, images.place_of(registry)) if registry else None
        own = "{}-of-{}".format(*wanted)
        again(rows, own, data, settings_of(config, sets), as_json, there)
    if registry is not None:
        raise Misconfigured("--registry needs a manifest whose images were pushed: add --from")
    folder, settings, items = existing(data, run, config, sets)
    finish(folder, settings, items, as_json)


def run(
    run: Run = "default",
    data: Data = DEFAULT_DATA,
    n: Number = None,
    seed: Seed = None,
    preset: Preset = None,
    axes: Axes = None,
    author: Author = None,
    model: Model = None,
    base_url: BaseUrl = None,
    budget: Budget = None,
    no_budget: NoBudget = None,
    profile: Profile = None,
    config: Config = None,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Sample, author, prove and export: everything, and again only what is not done yet."""
    from envgen import axes as catalogues
    from envgen import runs

    settings = settings_of(
        config,
        sets,
        sample={"n": n, "seed": seed, "preset": preset, "axes": axes},
        author={"name": author, "model": model, "profile": profile},
        llm={"base_url": base_url, "budget": budget, "no_budget": no_budget},
    )
    check_model(settings)
    folder = runs.folder_of(data, run)
    with runs.held(folder):
        runs.draw(folder, settings, settings.author.name)
    finish(folder, settings, catalogues.read_specs(folder.specs), as_json)


def _estimate(settings: "RunConfig", as_json: bool) -> None:
    """What the llm author would ask for the specs of these settings, at list prices."""
    from envgen import runs
    from envgen.authors.llm import estimate
    from envgen.llm.prices import tariff
    from envgen.records import Usage
    from envgen.tables import estimate_table

    if settings.author.name != "llm":
        raise Misconfigured(f"the {settings.author.name} author asks no model: nothing to estimate")
    model = str(settings.author.model)
    priced = tariff(model, settings.llm.model_copy(update={"no_budget": True}))
    calls = estimate.estimate(runs.specs_of(settings), settings, runs.catalogue_of(settings))
    used = {call: Usage(input=call.input, output=call.output) for call in calls}
    rows = [{**vars(c), "dollars": priced.total(used[c], c.calls)} for c in calls]
    if as_json:
        print_json({"model": model, "priced": priced.known, "steps": rows})
    else:
        estimate_table(model, rows, priced.known)
        say(
            "questions are measured at four characters a token; answers, and how often a part is "
            "asked again, are assumed (docs/models.md); thinking is not in it"
        )
