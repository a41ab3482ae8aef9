"""What commands share: settings, a kit to work with, and how they end.

Exit codes: 0 done, 1 the run finished with failures that the command is about, 2 wrong use,
3 infrastructure.
"""

import asyncio
import json
import signal
import sys
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import typer
from typer.core import TyperGroup

from envgen.errors import Misconfigured
from envgen.plural import many

if TYPE_CHECKING:
    from envgen.config import RunConfig
    from envgen.export.parquet import Row
    from envgen.kit import Kit
    from envgen.pipeline import Items, Stop
    from envgen.runs import RunFolder
    from envgen.sandbox.registry import Registry
    from envgen.tally import Tally

T = TypeVar("T")


class FirstByDefault(TyperGroup):
    """A group whose first command is meant where no command is named: `envgen export DIR`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] != "--help":
            args = [next(iter(self.commands)), *args]
        return super().parse_args(ctx, args)


def settings_of(
    config: Path | None, sets: list[str] | None, **flags: dict[str, Any]
) -> "RunConfig":
    """Defaults, the file, `--set` and flags (by group) as one configuration."""
    from envgen.config import load

    return load(config, sets or [], **flags)


def existing(
    data: Path,
    run: str,
    config: Path | None,
    sets: list[str] | None,
    **flags: dict[str, Any],
) -> tuple["RunFolder", "RunConfig", "Items"]:
    """A run that was started, with its own configuration unless another is named."""
    from envgen import items, runs

    folder = runs.known(data, run)
    own = folder.config if folder.config.exists() else None
    settings = settings_of(config or own, sets, **flags)
    return folder, settings, items.items_of(folder)


def finish(folder: "RunFolder", settings: "RunConfig", items: "Items", as_json: bool) -> None:
    """Produce what is not done yet, print the funnel, and end with the exit code."""
    from envgen import report as reports
    from envgen import runs, tables, web
    from envgen.terminal import progress

    async def work(kit: "Kit", stop: "Stop") -> Any:
        await runs.accepted(folder, kit)
        with progress(len(items), spent(kit)) as watch:
            return await runs.finish(folder, items, kit, stop, watch)

    with runs.held(folder):
        tally = with_kit(settings, folder.path, work)
        found = reports.report(folder, settings)
        web.write(folder, found)
    if as_json:
        print_json(reports.as_json(found))
    else:
        tables.funnel_table(found)
        say(f"manifest: {folder.manifest}")
        say(f"tasks:    {folder.tasks}/<task>/instruction.md, tests/, solution/, envgen.json")
        say(f"more:     envgen report --run {folder.path.name} --data {folder.path.parent.parent}")
    ended(folder, tally)


def ended(folder: "RunFolder", tally: "Tally", failed: bool = False) -> NoReturn:
    """Say what is left to do, and end with the exit code; 1 when a bug or the caller says so."""
    if tally.bugs:
        met = many(tally.bugs, "task")
        say(f"{met} met a bug in envgen: see {folder.crashes}, please report it")
    if left := tally.total - tally.done + tally.unfinished:
        reason = f" ({tally.last_trouble.splitlines()[-1]})" if tally.last_trouble else ""
        say(f"{many(left, 'task is', 'tasks are')} unfinished{reason}: the same command continues")
        leave(3)
    leave(1 if tally.bugs or failed else 0)


def spent(kit: "Kit") -> Callable[[], float] | None:
    """What a run has cost so far, for its progress; None where no model is asked."""
    attempts = kit.sandbox.ledger.attempts
    return (lambda: attempts.spent()[0]) if kit.llm else None


def check_model(settings: "RunConfig") -> None:
    """Misconfigured where the llm author has no model to ask."""
    if settings.author.name == "llm" and settings.author.model is None:
        raise Misconfigured(
            "the llm author needs a model: --model gemini:NAME, or openai:NAME (with --base-url "
            "for a server of your own)"
        )


def with_kit(
    settings: "RunConfig",
    folder: Path,
    work: Any,
    rebuild: bool = False,
    registry: "Registry | None" = None,
) -> Any:
    """Run `work(kit, stop)`; the first Ctrl-C drains, the second cancels."""
    from envgen.kit import open_kit

    async def opened(stop: "Stop") -> Any:
        held = open_kit(settings, folder, rebuild=rebuild, registry=registry, say=say)
        async with held as kit:
            return await work(kit, stop)

    return interruptible(opened)


def interruptible(work: Callable[["Stop"], Coroutine[Any, Any, T]]) -> T:
    """Run `work(stop)`; the first Ctrl-C drains, the second cancels."""
    from envgen.pipeline import Stop

    async def main() -> T:
        stop = Stop()
        task = asyncio.current_task()

        def interrupted() -> None:
            if stop.drain and task:
                task.cancel()
            stop.drain = True
            say("finishing what is in work; press Ctrl-C again to cancel it")

        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, interrupted)
        return await work(stop)

    return _run(main())


def again(
    rows: "list[Row]",
    name: str,
    data: Path,
    settings: "RunConfig",
    as_json: bool,
    registry: "Registry | None" = None,
) -> NoReturn:
    """Rebuild tasks of a manifest, say which drifted, and end with the exit code.

    Args:
        rows: of the manifest.
        name: of the rebuild, for the folder that it works in.
        data: holds that folder.
        settings: the engine's.
        as_json: print what drifted as JSON.
        registry: where images are pulled from, in place of being built.
    """
    from envgen import rebuild as rebuilds
    from envgen import runs

    data.mkdir(parents=True, exist_ok=True)

    async def work(kit: "Kit", stop: "Stop") -> Any:
        found = []
        rebuilt = rebuilds.rebuild(rows, kit, stop, pulled=registry is not None)
        async with aclosing(rebuilt) as verdicts:
            async for verdict in verdicts:
                found.append(verdict)
                state = f"DRIFTED: {verdict.drift}" if verdict.drift else f"same {verdict.note}"
                say(f"{len(found)}/{len(rows)} {verdict.task}: {state}".strip())
        kit.sandbox.engine.keep_only(set())
        return found

    own = runs.RunFolder(data / "rebuilds" / name)
    with runs.held(own):
        runs.empty(own)  # nothing of an earlier rebuild is recalled
        verdicts = with_kit(settings, own.path, work, rebuild=not registry, registry=registry)
        runs.empty(own)
    drifted = sorted(v.task for v in verdicts if v.drift)
    if as_json:
        print_json({"tasks": len(verdicts), "drifted": drifted})
    say(f"{len(verdicts) - len(drifted)} of {many(len(rows), 'task')} as the manifest says")
    leave(1 if drifted else 0 if len(verdicts) == len(rows) else 3)


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
