"""Repair: tasks that the audit flags, mended and shown to be so."""

from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from envgen.cli.audit import given_of, run_of
from envgen.cli.options import (
    DEFAULT_DATA,
    BaseMap,
    BaseUrl,
    Config,
    Data,
    FetchWheels,
    Grading,
    Import,
    Json,
    NoBudget,
    Profile,
    Run,
    Sets,
    Wheels,
)
from envgen.cli.work import ended, leave, print_json, say, settings_of, spent, with_kit
from envgen.errors import Misconfigured

if TYPE_CHECKING:
    from pathlib import Path

    from envgen.config import RunConfig
    from envgen.kit import Kit
    from envgen.pipeline import Items, Stop
    from envgen.records import Label
    from envgen.runs import RunFolder

Only = Annotated[
    list[str] | None, typer.Option("--only", help="Repair this label alone; may be repeated.")
]
MaxCost = Annotated[
    float | None, typer.Option("--max-cost", help="Most dollars of the whole run, with a model.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Only say what would be tried, from the last audit.")
]
Policy = Annotated[str | None, typer.Option("--policy", help="strict, proven or report.")]
SelfTest = Annotated[
    bool, typer.Option("--self-test", help="Measure the repairer on planted defects instead.")
]
Each = Annotated[int, typer.Option("--each", min=1, help="Of the self-test: tasks of each kind.")]
Kinds = Annotated[
    list[str] | None, typer.Option("--kind", help="Of the self-test: this kind alone.")
]
RepairModel = Annotated[
    str | None, typer.Option("--model", help="gemini:NAME or openai:NAME; none = no model.")
]


def repair(
    context: typer.Context,
    run: Run = "default",
    data: Data = DEFAULT_DATA,
    only: Only = None,
    max_cost: MaxCost = None,
    dry_run: DryRun = False,
    model: RepairModel = None,
    base_url: BaseUrl = None,
    no_budget: NoBudget = None,
    profile: Profile = None,
    policy: Policy = None,
    self_test: SelfTest = False,
    each: Each = 3,
    kinds: Kinds = None,
    source: Import = None,
    base_map: BaseMap = None,
    wheels: Wheels = None,
    fetch_wheels: FetchWheels = None,
    grading: Grading = None,
    config: Config = None,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Audit a run's tasks, repair those that are flagged; exit 1 when some are refused.

    A repair is accepted when everything that worked against the task fails, executed, and right
    work still passes. With --import the run is of tasks that others made.
    """
    if context.invoked_subcommand:
        return
    groups: dict[str, dict[str, Any]] = {
        "repair": {"model": model},
        "author": {"profile": profile},
        "audit": {"policy": policy},
        "llm": {"base_url": base_url, "budget": max_cost, "no_budget": no_budget},
    }
    if self_test:
        _self_test(data, settings_of(config, sets, **groups), each, tuple(kinds or ()), as_json)
        return
    given = given_of(base_map, wheels, fetch_wheels, grading)
    folder, settings, items = run_of(data, run, config, sets, source, groups, given)
    labels = _labels(only)
    if dry_run:
        _planned(folder, settings, labels, as_json)
        return
    tally = _repaired(folder, settings, items, labels)
    if folder.repairs.exists():
        _told(folder, as_json)
    ended(folder, tally, failed=bool(tally.rejected))


def show(
    task: Annotated[str, typer.Argument(help="A task that a repair was tried on.")],
    run: Run = "default",
    data: Data = DEFAULT_DATA,
) -> None:
    """Show what was found with a task, what was changed, and what then held and what did not."""
    from envgen import repairing, runs
    from envgen.pages import repair_page

    repair_page(repairing.shown(runs.known(data, run), task))


def _labels(only: list[str] | None) -> tuple["Label", ...]:
    from envgen.repair.ways import REPAIRABLE

    if unknown := [name for name in only or () if name not in REPAIRABLE]:
        known = ", ".join(REPAIRABLE)
        raise Misconfigured(f"--only {unknown[0]}: labels that can be repaired are {known}")
    return cast("tuple[Label, ...]", tuple(only or ()))


def _planned(
    folder: "RunFolder", settings: "RunConfig", only: tuple["Label", ...], as_json: bool
) -> None:
    from envgen import repairing
    from envgen.tables import plan_table

    if not folder.audits.exists():
        raise Misconfigured(
            f"run {folder.path.name!r} was not audited, so nothing is known to be wrong with it: "
            f"`envgen audit --run {folder.path.name}` first"
        )
    rows = list(repairing.planned(folder, settings, only))
    if as_json:
        print_json(rows)
    else:
        plan_table(rows)


def _repaired(
    folder: "RunFolder", settings: "RunConfig", items: "Items", only: tuple["Label", ...]
) -> Any:
    from envgen import repairing, runs
    from envgen.terminal import progress

    async def work(kit: "Kit", stop: "Stop") -> Any:
        await runs.accepted(folder, kit)
        with progress(len(items), spent(kit)) as watch:
            return await repairing.repair_all(folder, items, kit, stop, only, watch)

    with runs.held(folder):
        return with_kit(settings, folder.path, work)


def _told(folder: "RunFolder", as_json: bool) -> None:
    from envgen import repairing
    from envgen.tables import repair_tables

    found = repairing.summary(folder)
    if as_json:
        print_json(found)
        return
    repair_tables(found)
    say(f"manifest: {folder.manifest}; one repair: envgen repair show TASK --run {found['run']}")


def _self_test(
    data: "Path", settings: "RunConfig", each: int, kinds: tuple[str, ...], as_json: bool
) -> None:
    """Planted defects; exit 1 when an accepted repair is broken, or too few are repaired."""
    from envgen import runs
    from envgen.repair import benchmark
    from envgen.tables import repaired_table

    own = runs.RunFolder(data / "repair-test")
    cases = list(benchmark.cases(settings, each, kinds))

    async def work(kit: "Kit", stop: "Stop") -> Any:
        await runs.accepted(own, kit)
        results = []
        async for result in benchmark.measured(cases, kit, stop):
            results.append(result)
            say(f"{len(results)}/{len(cases)} {benchmark.told(result)}")
        return results

    with runs.held(own):
        results = with_kit(settings, own.path, work)
    figures, table = benchmark.figures(results), benchmark.by_kind(results)
    if as_json:
        tasks = [benchmark.written(result) for result in results]
        print_json({**figures._asdict(), "kinds": table, "tasks": tasks})
    else:
        repaired_table(table)
        say(str(figures._asdict()))
    if len(results) < len(cases):
        leave(3)
    leave(0 if benchmark.kept(figures) else 1)
