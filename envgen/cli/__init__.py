"""The command line: parse, call one function, print. Exit codes stand in `work.py`."""

import errno
import os
import sqlite3
from typing import Annotated

import typer

from envgen import __version__
from envgen.cli import (
    audit,
    bases,
    corpus,
    ledger,
    look,
    publish,
    repair,
    rollouts,
    selfgen,
    tasks,
    training,
)
from envgen.cli.work import FirstByDefault, end
from envgen.errors import Misconfigured, Weather

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Make training environments for terminal agents, and prove that they are sound.",
)
_UNWRITABLE = (
    *(errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS, errno.EPERM),
    *(errno.EEXIST, errno.ENOTDIR, errno.EISDIR),
)


def _group(name: str, about: str, **commands: object) -> None:
    group = typer.Typer(no_args_is_help=True, help=about)
    for title, function in commands.items():
        group.command(title)(function)  # type: ignore[type-var]
    app.add_typer(group, name=name)


app.command("sample")(tasks.sample)
app.command("generate")(tasks.generate)
app.command("build")(tasks.build)
app.command("run")(tasks.run)
app.command("eval")(rollouts.evaluate)
_exports = typer.Typer(
    no_args_is_help=True, cls=FirstByDefault, help="Hand on what a run made; DIR: Harbor folders."
)
_exports.command("harbor")(look.export)
_exports.command("dataset")(publish.dataset)
_exports.command("images")(publish.images)
_exports.command("verify")(publish.verify)
_exports.command("sft")(rollouts.sft)
_exports.command("atif")(rollouts.trajectories)
app.add_typer(_exports, name="export")
app.command("overlap")(corpus.overlap)
app.command("duplicates")(corpus.duplicates)
app.command("compare")(corpus.compare)
app.command("train")(training.train)
app.command("selfgen")(selfgen.selfgen)
app.command("report")(look.report)
app.command("view")(look.view)
app.command("doctor")(look.doctor)
_audits = typer.Typer(invoke_without_command=True)
_audits.callback()(audit.audit)
_audits.command("show")(audit.show)
_audits.command("replay")(audit.replay)
_audits.command("export-probes")(audit.export_probes)
app.add_typer(_audits, name="audit")
_repairs = typer.Typer(invoke_without_command=True)
_repairs.callback()(repair.repair)
_repairs.command("show")(repair.show)
app.add_typer(_repairs, name="repair")
_group("rollout", "What a policy did.", show=rollouts.show)
_group("bases", "The images that tasks stand on.", build=bases.build, list=bases.list_bases)
_group(
    "ledger",
    "What was executed, and what came of it.",
    summary=ledger.summary,
    show=ledger.show,
    cost=ledger.cost,
    dead=ledger.dead,
    retry=ledger.retry,
    forget=ledger.forget,
    merge=ledger.merge,
)


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
        end(str(error), 2)
    except Weather as error:
        end(str(error), 3)
    except sqlite3.OperationalError as error:
        end(f"the ledger cannot be written ({error}): free some space, then run again", 3)
    except OSError as error:
        if error.errno not in _UNWRITABLE:
            raise
        place = f" at {error.filename}" if error.filename else ""
        end(f"cannot write{place}: {os.strerror(error.errno)}; nothing that was done is lost", 3)
