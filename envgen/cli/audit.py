"""Audit: what is wrong with a run's tasks, shown and executed once more."""

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from envgen.cli.options import DEFAULT_DATA, Config, Data, Json, Run, Sets
from envgen.cli.work import existing, leave, print_json, say, settings_of, with_kit
from envgen.errors import Misconfigured

if TYPE_CHECKING:
    from envgen.config import RunConfig
    from envgen.kit import Kit
    from envgen.pipeline import Stop


def audit(
    context: typer.Context,
    run: Run = "default",
    data: Data = DEFAULT_DATA,
    policy: Annotated[
        str | None, typer.Option("--policy", help="strict, proven or report.")
    ] = None,
    self_test: Annotated[
        bool, typer.Option("--self-test", help="Measure the auditor on planted defects instead.")
    ] = False,
    each: Annotated[
        int, typer.Option("--each", min=1, help="Of the self-test: tasks of each kind.")
    ] = 6,
    config: Config = None,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Audit every kept task of a run; exit 1 when the policy rejects one."""
    if context.invoked_subcommand:
        return
    chosen = [*(sets or []), *([f"audit.policy={policy}"] if policy else [])]
    if self_test:
        _self_test(data, settings_of(config, chosen), each, as_json)
        return
    from envgen import auditing, runs, tables
    from envgen.terminal import progress

    folder, settings, specs = existing(data, run, config, chosen)

    async def work(kit: "Kit", stop: "Stop") -> Any:
        await runs.accepted(folder, kit)
        with progress(len(specs)) as watch:
            return await auditing.audit_all(folder, specs, kit, stop, watch)

    with runs.held(folder):
        tally = with_kit(settings, folder.path, work)
    found = auditing.summary(folder, settings.audit.policy)
    if as_json:
        print_json(found)
    else:
        tables.audit_tables(found)
        say(f"reports: {folder.audits}; one: envgen audit show TASK --run {run}")
    if tally.unfinished + tally.bugs or tally.done < tally.total:
        reason = f" ({tally.last_trouble.splitlines()[-1]})" if tally.last_trouble else ""
        say(f"some tasks are unfinished{reason}: the same command continues")
        leave(3)
    leave(1 if found["rejected"] else 0)


def show(
    task: Annotated[str, typer.Argument(help="A task of the run.")],
    run: Run = "default",
    data: Data = DEFAULT_DATA,
) -> None:
    """Show what was found with a task: attack, what happened, reward."""
    from envgen import runs, tables
    from envgen.export import audits, parquet

    folder = runs.known(data, run)
    reports = [r for r in audits.read(folder.audits) if r.slug == task]
    if not reports:
        raise Misconfigured(f"no audit of a task {task!r} in run {run!r}")
    rows = parquet.read(folder.manifest, ["task", "instruction"])
    text = next((row["instruction"] for row in rows if row["task"] == task), "")
    tables.audit_page(reports[0], text)


def replay(
    finding: Annotated[str, typer.Argument(help="A finding's name, or the beginning of it.")],
    run: Run = "default",
    data: Data = DEFAULT_DATA,
    config: Config = None,
    sets: Sets = None,
) -> None:
    """Execute a finding's receipt once more, recalling nothing; exit 1 when it comes out other."""
    from envgen import auditing, runs
    from envgen.kit import open_kit
    from envgen.pipeline import produce
    from envgen.records import Rejection

    folder, settings, specs = existing(data, run, config, sets)
    wanted = auditing.known(folder, finding)
    spec = next(s for s in specs if s.slug == wanted.report.slug)

    async def work(kit: "Kit", stop: "Stop") -> Any:
        task = await produce(spec, kit)
        if isinstance(task, Rejection):
            raise Misconfigured(f"{spec.slug} does not pass its gates any more: {task.code}")
        with tempfile.TemporaryDirectory(prefix="envgen-replay-") as empty:
            async with open_kit(settings, Path(empty), say=say) as fresh:
                return await auditing.replayed(task, wanted, kit.sandbox.blobs, fresh)

    with runs.held(folder):
        again = with_kit(settings, folder.path, work)
    before = wanted.trial
    then = (before.reward, before.passed, before.note) if before else (wanted.report.baseline,)
    now = (again.reward, again.passed, again.note) if before else (again.reward,)
    say(f"{wanted.finding.label}, {wanted.finding.code}: {wanted.finding.message}")
    say(f"then: {' '.join(map(str, then))}")
    say(f"now:  {' '.join(map(str, now))}")
    say("the same" if then == now else "NOT the same")
    leave(0 if then == now else 1)


def _self_test(data: Path, settings: "RunConfig", each: int, as_json: bool) -> None:
    """Planted defects and clean tasks; exit 1 when the figures are not what is promised."""
    from envgen import runs, tables
    from envgen.audit.defects import KINDS, benchmark

    own = runs.RunFolder(data / "self-test")
    cases = list(benchmark.cases(each, clean=each * len(KINDS)))

    async def work(kit: "Kit", stop: "Stop") -> Any:
        await runs.accepted(own, kit)
        results = []
        async for result in benchmark.measured(cases, kit, stop):
            results.append(result)
            case = result.case
            said = f"gate {result.gate}" if result.gate else result.label
            say(f"{len(results)}/{len(cases)} {case.kind} in {case.family}: {said}")
        return results

    with runs.held(own):
        results = with_kit(settings, own.path, work)
    figures, table = benchmark.figures(results), benchmark.confusion(results)
    if as_json:
        print_json({**figures._asdict(), "kinds": {k: dict(row) for k, row in table.items()}})
    else:
        tables.benchmark_table(table)
        typer.echo(json.dumps(figures._asdict()))
    if len(results) < len(cases):
        leave(3)
    leave(0 if benchmark.kept(figures) else 1)
