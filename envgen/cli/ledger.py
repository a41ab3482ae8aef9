"""What was executed, and what came of it."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from envgen.cli.options import DEFAULT_DATA, Data, Json, Run
from envgen.cli.work import print_json, say
from envgen.errors import Misconfigured
from envgen.plural import many

if TYPE_CHECKING:
    pass


def summary(run: Run = "default", data: Data = DEFAULT_DATA, as_json: Json = False) -> None:
    """Effects and seconds by kind and step."""
    from envgen import runs
    from envgen.ledger import Ledger

    ledger = Ledger(runs.known(data, run).path)
    rows = ledger.spending.by_step()
    ledger.close()
    if as_json:
        print_json([row._asdict() for row in rows])
    else:
        for row in rows:
            times = many(row.times, "time")
            typer.echo(f"{row.kind:6} {row.step:14} {times:>14} {row.seconds:10.1f} s")


def show(
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
    print_json(parts | {"request": json.loads(request), "response": json.loads(response)})


def forget(
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
    say(f"{many(gone, 'effect')} forgotten")


def merge(
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
    say(f"{many(count, 'effect')} gained from run {other!r}")


def cost(run: Run = "default", data: Data = DEFAULT_DATA, as_json: Json = False) -> None:
    """What models were asked, and what was paid: every attempt, by model, lane and outcome."""
    from envgen import runs
    from envgen.ledger import Ledger
    from envgen.tables import cost_table

    ledger = Ledger(runs.known(data, run).path)
    rows, (dollars, perhaps) = ledger.attempts.table(), ledger.attempts.spent()
    ledger.close()
    if as_json:
        told = [row._asdict() for row in rows]
        print_json({"dollars": dollars, "perhaps": perhaps, "attempts": told})
    else:
        cost_table(rows)
        say(f"${dollars:.4f} paid; up to ${perhaps:.4f} more for calls that ended without a word")


def dead(
    task: Annotated[str, typer.Argument(help="Only this task, with all its raw answers.")] = "",
    run: Run = "default",
    data: Data = DEFAULT_DATA,
    as_json: Json = False,
) -> None:
    """List the dead letters: rejected tasks that a model wrote, critics that could not be read."""
    from envgen import letters, pages, runs, tables
    from envgen.ledger import Ledger

    folder = runs.known(data, run)
    ledger = Ledger(folder.path)
    found = letters.dead(folder.rejections, ledger, task, folder.audits)
    ledger.close()
    if as_json:
        print_json([letters.told(letter) for letter in found])
    elif task:
        pages.letter_page(found[0])
    else:
        tables.letters_table(found)


def retry(
    task: Annotated[str, typer.Argument(help="Only this task; all when none is named.")] = "",
    run: Run = "default",
    data: Data = DEFAULT_DATA,
) -> None:
    """Give dead letters another chance: at the next run their model is asked anew."""
    from envgen import letters, runs
    from envgen.ledger import Ledger

    folder = runs.known(data, run)
    with runs.held(folder):
        ledger = Ledger(folder.path)
        count = letters.retry(letters.dead(folder.rejections, ledger, task, folder.audits), ledger)
        ledger.close()
    say(f"{many(count, 'task gets', 'tasks get')} another chance: run the same command again")
