"""What commands share: settings, a kit to work with, and how they end.

Exit codes: 0 done, 1 the run finished with failures that the command is about, 2 wrong use,
3 infrastructure.
"""

import asyncio
import json
import signal
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import typer

if TYPE_CHECKING:
    from envgen.config import RunConfig
    from envgen.kit import Kit
    from envgen.pipeline import Stop
    from envgen.records import TaskSpec
    from envgen.runs import RunFolder

T = TypeVar("T")


def settings_of(
    config: Path | None,
    sets: list[str] | None,
    n: int | None = None,
    seed: int | None = None,
    preset: str | None = None,
    axes: str | None = None,
    author: str | None = None,
) -> "RunConfig":
    """Defaults, the file, `--set` and flags as one configuration."""
    from envgen.config import load

    flags = {"n": n, "seed": seed, "preset": preset, "axes": axes}
    return load(config, sets or [], sample=flags, author={"name": author})


def existing(
    data: Path, run: str, config: Path | None, sets: list[str] | None
) -> tuple["RunFolder", "RunConfig", list["TaskSpec"]]:
    """A run that was sampled, with its own configuration unless another is named."""
    from envgen import axes, runs
    from envgen.config import load

    folder = runs.known(data, run)
    settings = load(config or (folder.config if folder.config.exists() else None), sets or [])
    return folder, settings, axes.read_specs(folder.specs)


def finish(
    folder: "RunFolder", settings: "RunConfig", specs: list["TaskSpec"], as_json: bool
) -> None:
    """Produce what is not done yet, print the funnel, and end with the exit code."""
    from envgen import report as reports
    from envgen import runs, tables
    from envgen.terminal import progress

    async def work(kit: "Kit", stop: "Stop") -> Any:
        await runs.accepted(folder, kit)
        with progress(len(specs)) as watch:
            return await runs.finish(folder, specs, kit, stop, watch)

    with runs.held(folder):
        tally = with_kit(settings, folder.path, work)
        found = reports.report(folder, settings)
        (folder.path / "report.json").write_text(json.dumps(found, indent=1) + "\n")
    if as_json:
        print_json(found)
    else:
        tables.funnel_table(found)
        say(f"manifest: {folder.manifest}")
        say(f"tasks:    {folder.tasks}/<task>/instruction.md, tests/, solution/, envgen.json")
        say(f"more:     envgen report --run {folder.path.name} --data {folder.path.parent.parent}")
    if tally.bugs:
        say(f"{tally.bugs} tasks met a bug in envgen: see {folder.crashes}, please report it")
    if left := tally.total - tally.done + tally.unfinished:
        reason = f" ({tally.last_trouble.splitlines()[-1]})" if tally.last_trouble else ""
        say(f"{left} tasks are unfinished{reason}: the same command continues")
        leave(3)
    leave(1 if tally.bugs else 0)


def with_kit(settings: "RunConfig", folder: Path, work: Any, rebuild: bool = False) -> Any:
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
            say("finishing what is in work; press Ctrl-C again to cancel it")

        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, interrupted)
        async with open_kit(settings, folder, rebuild=rebuild, say=say) as kit:
            return await work(kit, stop)

    return _run(main())


def _run(main: Coroutine[Any, Any, T]) -> T:
    try:
        return asyncio.run(main)
    except (asyncio.CancelledError, KeyboardInterrupt):
        end("cancelled; the same command continues", 130)


def print_json(value: Any) -> None:
    """A value on stdout, for scripts."""
    typer.echo(json.dumps(value, indent=1, ensure_ascii=False))


def say(text: str) -> None:
    """A line for people, on stderr."""
    from envgen.terminal import say as tell

    tell(text)


def leave(code: int) -> NoReturn:
    """End the command with an exit code."""
    raise typer.Exit(code)


def end(text: str, code: int) -> NoReturn:
    """End the program with one sentence and an exit code."""
    say(f"envgen: {text}")
    sys.exit(code)
