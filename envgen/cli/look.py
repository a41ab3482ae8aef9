"""What a run came to, and whether this machine can do one: export, report, doctor."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from envgen.cli.options import DEFAULT_DATA, Config, Data, Json, Run, Sets
from envgen.cli.work import leave, print_json, say, settings_of
from envgen.plural import many

if TYPE_CHECKING:
    pass


def export(
    folder: Annotated[Path, typer.Argument(help="Folder to write task folders into.")],
    run: Run = "default",
    data: Data = DEFAULT_DATA,
    manifest: Annotated[
        Path | None, typer.Option("--from", help="A manifest in place of a run's.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also tasks that their audit rejects.")
    ] = False,
) -> None:
    """Write the Harbor folders of a run's manifest, or of any manifest.

    Tasks that the policy of their audit rejects are left out.
    """
    from envgen import runs
    from envgen.export import unpack

    source = manifest or runs.known(data, run).manifest
    done = unpack.unpack(source, folder, everything=everything)
    say(f"{many(done.written, 'task folder')} in {folder}")
    if done.refused:
        more = many(done.refused, "more is", "more are")
        say(f"{more} rejected by the audit, and left out (see --all)")
    if done.unaudited:
        them = many(done.unaudited, "of them was", "of them were")
        say(f"{them} never audited: `envgen audit` does that")


def report(run: Run = "default", data: Data = DEFAULT_DATA, as_json: Json = False) -> None:
    """Show what became of a run, how sound and how hard it is, what it took; write report.html."""
    from envgen import report as reports
    from envgen import runs, tables, web
    from envgen.config import load

    folder = runs.known(data, run)
    settings = load(folder.config if folder.config.exists() else None, [])
    found = reports.report(folder, settings)
    web.write(folder, found)
    if as_json:
        print_json(reports.as_json(found))
    else:
        tables.report_tables(found)
        say(f"to look at: {folder.report}; with a page per task: envgen view --run {run}")


def view(
    run: Run = "default",
    data: Data = DEFAULT_DATA,
    host: Annotated[
        str, typer.Option("--host", help="A loopback address; others are refused.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: one that is free.")] = 0,
) -> None:
    """Serve a run's report, with a page for each task, on this machine until Ctrl-C."""
    from envgen import report as reports
    from envgen import runs
    from envgen.config import load
    from envgen.web import server

    folder = runs.known(data, run)
    settings = load(folder.config if folder.config.exists() else None, [])
    found = reports.report(folder, settings)
    with server.opened(folder, found, host, port) as serving:
        say(f"run {run}: {serving.url} (Ctrl-C ends)")
        serving.forever()


def doctor(
    data: Data = DEFAULT_DATA, config: Config = None, sets: Sets = None, as_json: Json = False
) -> None:
    """Check engine, disk and bases; execute every parity rule."""
    from envgen.doctor import examine
    from envgen.tables import doctor_table

    settings = settings_of(config, sets)
    findings = asyncio.run(examine(settings, data))
    if as_json:
        print_json([finding._asdict() for finding in findings])
    else:
        doctor_table(findings)
    leave(0 if all(finding.ok for finding in findings) else 3)
