"""The command line: parse, call one function, print. Exit codes: 0 done, 1 the run finished with
failures that the command is about, 2 wrong use, 3 infrastructure."""

import asyncio
import errno
import json
import os
import signal
import sqlite3
import sys
from collections.abc import Coroutine
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar

import typer

from envgen import __version__
from envgen.errors import Misconfigured, Weather

if TYPE_CHECKING:
    from envgen.config import RunConfig
    from envgen.kit import Kit
    from envgen.pipeline import Stop
    from envgen.records import TaskSpec
    from envgen.runs import RunFolder

T = TypeVar("T")

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Make training environments for terminal agents, and prove that they are sound.",
)
bases_app = typer.Typer(no_args_is_help=True, help="The images that tasks stand on.")
ledger_app = typer.Typer(no_args_is_help=True, help="What was executed, and what came of it.")
app.add_typer(bases_app, name="bases")
app.add_typer(ledger_app, name="ledger")

Run = Annotated[str, typer.Option("--run", help="Name of the run.")]
Data = Annotated[Path, typer.Option("--data", help="Folder that holds runs/NAME.")]
Config = Annotated[Path | None, typer.Option("--config", help="YAML file with settings.")]
Sets = Annotated[list[str] | None, typer.Option("--set", help="group.key=value; may be repeated.")]
Number = Annotated[int | None, typer.Option("--n", help="How many specs.")]
Seed = Annotated[int | None, typer.Option("--seed", help="Seed of the sampler.")]
Preset = Annotated[str | None, typer.Option("--preset", help="Preset in axes/presets.yaml.")]
Axes = Annotated[str | None, typer.Option("--axes", help="Folder with axis files of your own.")]
Author = Annotated[str | None, typer.Option("--author", help="Who writes the tasks: procedural.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
DEFAULT_DATA = Path("data")
_UNWRITABLE = (
    *(errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS, errno.EPERM),
    *(errno.EEXIST, errno.ENOTDIR, errno.EISDIR),
)


@app.command()
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

    settings = _settings(config, sets, n, seed, preset, axes, author)
    folder = runs.folder_of(data, run)
    with runs.held(folder):
        found = runs.draw(folder, settings, author)
    if as_json:
        scores = {name: b._asdict() for name, b in found.items()}
        _print_json({"specs": str(folder.specs), "balance": scores})
    else:
        _say(f"{settings.sample.n} specs in {folder.specs}")
        balance_table(found)


@app.command()
def generate(
    run: Run = "default", data: Data = DEFAULT_DATA, config: Config = None, sets: Sets = None
) -> None:
    """Let the author write the drafts of a run's specs (stops before the gates)."""
    from envgen import runs

    folder, settings, specs = _existing(data, run, config, sets)

    async def work(kit: "Kit", stop: "Stop") -> Any:
        return await runs.draft_all(folder, specs, kit, stop)

    with runs.held(folder):
        drafted, tally = _with_kit(settings, folder.path, work)
    rejected = sum(tally.rejected.values())
    _say(f"{drafted} drafts in {folder.path / 'drafts'}, {rejected} specs rejected by the author")
    if tally.bugs:
        _say(f"{tally.bugs} tasks met a bug in envgen: see {folder.crashes}, please report it")
    if drafted + rejected + tally.bugs < len(specs):
        _say("some are unfinished: the same command continues")
        _exit(3)
    _exit(1 if rejected or tally.bugs else 0)


@app.command()
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
        _rebuild(manifest, shard, data, _settings(config, sets), as_json)
        return
    folder, settings, specs = _existing(data, run, config, sets)
    _finish(folder, settings, specs, as_json)


@app.command("run")
def run_command(
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

    settings = _settings(config, sets, n, seed, preset, axes, author)
    folder = runs.folder_of(data, run)
    with runs.held(folder):
        runs.draw(folder, settings, settings.author.name)
    _finish(folder, settings, catalogues.read_specs(folder.specs), as_json)


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="Folder to write task folders into.")],
    run: Run = "default",
    data: Data = DEFAULT_DATA,
    manifest: Annotated[
        Path | None, typer.Option("--from", help="A manifest in place of a run's.")
    ] = None,
) -> None:
    """Write the Harbor folders of a run's manifest, or of any manifest."""
    from envgen import runs
    from envgen.export import unpack

    source = manifest or runs.known(data, run).manifest
    written = unpack.unpack(source, folder)
    _say(f"{written} task folders in {folder}")


@app.command()
def report(run: Run = "default", data: Data = DEFAULT_DATA, as_json: Json = False) -> None:
    """Show the funnel, the reasons, balance before and after, times and bytes."""
    from envgen import report as reports
    from envgen import runs, tables
    from envgen.config import load

    folder = runs.known(data, run)
    settings = load(folder.config if folder.config.exists() else None, [])
    found = reports.report(folder, settings)
    (folder.path / "report.json").write_text(json.dumps(found, indent=1) + "\n")
    if as_json:
        _print_json(found)
    else:
        tables.report_tables(found)


@app.command()
def doctor(
    data: Data = DEFAULT_DATA, config: Config = None, sets: Sets = None, as_json: Json = False
) -> None:
    """Check engine, disk and bases; execute every parity rule."""
    from envgen.doctor import examine
    from envgen.tables import doctor_table

    settings = _settings(config, sets)
    findings = asyncio.run(examine(settings, data))
    if as_json:
        _print_json([finding._asdict() for finding in findings])
    else:
        doctor_table(findings)
    _exit(0 if all(finding.ok for finding in findings) else 3)


@bases_app.command("build")
def bases_build(
    names: Annotated[
        list[str] | None, typer.Argument(help="Bases; all when none is named.")
    ] = None,
    data: Data = DEFAULT_DATA,
    config: Config = None,
    sets: Sets = None,
) -> None:
    """Build bases, and the root image before them (pulled, or bootstrapped from packages)."""
    from envgen import bases

    wanted = names or list(bases.names())
    for name in wanted:
        bases.recipe(name)

    async def work(kit: "Kit", stop: "Stop") -> Any:
        return [await kit.bases.get(name) for name in wanted]

    for base in _with_kit(_settings(config, sets), data / "base-builds", work):
        _say(f"{base.recipe.name}: {base.ref}, {len(base.lock.splitlines())} packages")


@bases_app.command("list")
def bases_list(as_json: Json = False) -> None:
    """List the bases and the packages that each names."""
    from envgen import bases

    found = {name: list(bases.contents(name)) for name in bases.names()}
    if as_json:
        _print_json(found)
    else:
        for name, packages in found.items():
            typer.echo(f"{name}: {' '.join(packages)}")


@ledger_app.command("summary")
def ledger_summary(run: Run = "default", data: Data = DEFAULT_DATA, as_json: Json = False) -> None:
    """Effects and seconds by kind and step."""
    from envgen import runs
    from envgen.ledger import Ledger

    ledger = Ledger(runs.known(data, run).path)
    rows = ledger.summary()
    ledger.close()
    if as_json:
        _print_json([dict(zip(("kind", "step", "times", "seconds"), r, strict=True)) for r in rows])
    else:
        for kind, step, times, seconds in rows:
            typer.echo(f"{kind:6} {step:14} {times:8} times {seconds:10.1f} s")


@ledger_app.command("show")
def ledger_show(
    key: Annotated[str, typer.Argument(help="A receipt, or the beginning of one.")],
    run: Run = "default",
    data: Data = DEFAULT_DATA,
) -> None:
    """Print one receipt: what was asked, and what came back."""
    from envgen import runs
    from envgen.ledger import Ledger

    ledger = Ledger(runs.known(data, run).path)
    found = ledger.show(key if key.startswith("sha256:") else f"sha256:{key}")
    ledger.close()
    if found is None:
        raise Misconfigured(f"no single receipt in run {run!r} begins with {key!r}")
    kind, request, response, seconds, made_at = found
    parts = {"kind": kind, "made_at": made_at, "seconds": seconds}
    _print_json(parts | {"request": json.loads(request), "response": json.loads(response)})


@ledger_app.command("forget")
def ledger_forget(
    run: Run = "default",
    data: Data = DEFAULT_DATA,
    step: Annotated[str | None, typer.Option("--step", help="Only this step.")] = None,
    task: Annotated[str | None, typer.Option("--task", help="Only this task.")] = None,
) -> None:
    """Delete effects, so that they are executed again."""
    from envgen import runs
    from envgen.ledger import Ledger

    if step is None and task is None:
        raise Misconfigured("name what to forget: --step STEP, --task TASK, or both")
    folder = runs.known(data, run)
    with runs.held(folder):
        ledger = Ledger(folder.path)
        gone = ledger.forget(step=step, task=task)
        ledger.close()
    _say(f"{gone} effects forgotten")


@ledger_app.command("merge")
def ledger_merge(
    other: Annotated[str, typer.Argument(help="The run whose ledger is taken over.")],
    run: Run = "default",
    data: Data = DEFAULT_DATA,
) -> None:
    """Take over what another run executed (of the same engine's facts, keys are equal)."""
    from envgen import runs
    from envgen.ledger import Ledger

    source, folder = runs.known(data, other), runs.folder_of(data, run)
    with runs.held(folder):
        ledger, gained = Ledger(folder.path), Ledger(source.path)
        count = ledger.merge(gained)
        ledger.close()
        gained.close()
    _say(f"{count} effects gained from run {other!r}")


def _settings(
    config: Path | None,
    sets: list[str] | None,
    n: int | None = None,
    seed: int | None = None,
    preset: str | None = None,
    axes: str | None = None,
    author: str | None = None,
) -> "RunConfig":
    from envgen.config import load

    flags = {"n": n, "seed": seed, "preset": preset, "axes": axes}
    return load(config, sets or [], sample=flags, author={"name": author})


def _existing(
    data: Path, run: str, config: Path | None, sets: list[str] | None
) -> tuple["RunFolder", "RunConfig", list["TaskSpec"]]:
    """A run that was sampled, with its own configuration unless another is named."""
    from envgen import axes, runs
    from envgen.config import load

    folder = runs.known(data, run)
    settings = load(config or (folder.config if folder.config.exists() else None), sets or [])
    return folder, settings, axes.read_specs(folder.specs)


def _finish(
    folder: "RunFolder", settings: "RunConfig", specs: list["TaskSpec"], as_json: bool
) -> None:
    from envgen import report as reports
    from envgen import runs, tables
    from envgen.terminal import progress

    async def work(kit: "Kit", stop: "Stop") -> Any:
        await runs.accepted(folder, kit)
        with progress(len(specs)) as watch:
            return await runs.finish(folder, specs, kit, stop, watch)

    with runs.held(folder):
        tally = _with_kit(settings, folder.path, work)
        found = reports.report(folder, settings)
        (folder.path / "report.json").write_text(json.dumps(found, indent=1) + "\n")
    if as_json:
        _print_json(found)
    else:
        tables.funnel_table(found)
        _say(f"manifest: {folder.manifest}")
        _say(f"tasks:    {folder.tasks}/<task>/instruction.md, tests/, solution/, envgen.json")
        _say(f"more:     envgen report --run {folder.path.name} --data {folder.path.parent.parent}")
    if tally.bugs:
        _say(f"{tally.bugs} tasks met a bug in envgen: see {folder.crashes}, please report it")
    if left := tally.total - tally.done + tally.unfinished:
        reason = f" ({tally.last_trouble.splitlines()[-1]})" if tally.last_trouble else ""
        _say(f"{left} tasks are unfinished{reason}: the same command continues")
        _exit(3)
    _exit(1 if tally.bugs else 0)


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
                _say(f"{len(found)}/{len(rows)} {verdict.task}: {state}".strip())
        kit.sandbox.engine.keep_only(set())
        return found

    own = runs.RunFolder(data / "rebuilds" / shard.replace("/", "-of-"))
    with runs.held(own):
        runs.empty(own)  # nothing of an earlier rebuild is recalled
        verdicts = _with_kit(settings, own.path, work, rebuild=True)
        runs.empty(own)
    drifted = sorted(v.task for v in verdicts if v.drift)
    if as_json:
        _print_json({"tasks": len(verdicts), "drifted": drifted})
    _say(f"{len(verdicts) - len(drifted)} of {len(rows)} tasks are what the manifest says")
    _exit(1 if drifted else 0 if len(verdicts) == len(rows) else 3)


def _with_kit(settings: "RunConfig", folder: Path, work: Any, rebuild: bool = False) -> Any:
    """Run `work(kit, stop)`; the first Ctrl-C drains, the second cancels."""
    from envgen.kit import open_kit
    from envgen.pipeline import Stop

    async def main() -> Any:
        stop = Stop()
        task = asyncio.current_task()

        def interrupted() -> None:
            if stop.drain and task:
                task.cancel()
            stop.drain = True
            _say("finishing what is in work; press Ctrl-C again to cancel it")

        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, interrupted)
        async with open_kit(settings, folder, rebuild=rebuild, say=_say) as kit:
            return await work(kit, stop)

    return _run(main())


def _run(main: Coroutine[Any, Any, T]) -> T:
    try:
        return asyncio.run(main)
    except (asyncio.CancelledError, KeyboardInterrupt):
        _end("cancelled; the same command continues", 130)


def _print_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=1, ensure_ascii=False))


def _say(text: str) -> None:
    from envgen.terminal import say

    say(text)


def _exit(code: int) -> NoReturn:
    raise typer.Exit(code)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit()


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Make training environments for terminal agents, and prove that they are sound."""


def main() -> None:
    """Entry point: known trouble becomes one sentence and an exit code."""
    try:
        app()
    except Misconfigured as error:
        _end(str(error), 2)
    except Weather as error:
        _end(str(error), 3)
    except sqlite3.OperationalError as error:
        _end(f"the ledger cannot be written ({error}): free some space, then run again", 3)
    except OSError as error:
        if error.errno not in _UNWRITABLE:
            raise
        place = f" at {error.filename}" if error.filename else ""
        _end(f"cannot write{place}: {os.strerror(error.errno)}; nothing that was done is lost", 3)


def _end(text: str, code: int) -> NoReturn:
    _say(f"envgen: {text}")
    sys.exit(code)


if __name__ == "__main__":
    main()
