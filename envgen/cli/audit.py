"""Audit: what is wrong with a run's tasks, shown and executed once more."""

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from envgen.cli.options import (
    DEFAULT_DATA,
    BaseMap,
    BaseUrl,
    Budget,
    Config,
    Critic,
    CriticProfile,
    Data,
    FetchWheels,
    Grading,
    Import,
    Json,
    NoBudget,
    Run,
    Sets,
    Wheels,
)
from envgen.cli.work import (
    ended,
    existing,
    leave,
    print_json,
    say,
    settings_of,
    spent,
    with_kit,
)
from envgen.errors import Misconfigured

if TYPE_CHECKING:
    from envgen.config import RunConfig
    from envgen.kit import Kit
    from envgen.pipeline import Items, Stop
    from envgen.runs import RunFolder


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
    critic: Critic = None,
    profile: CriticProfile = None,
    base_url: BaseUrl = None,
    budget: Budget = None,
    no_budget: NoBudget = None,
    source: Import = None,
    base_map: BaseMap = None,
    wheels: Wheels = None,
    fetch_wheels: FetchWheels = None,
    grading: Grading = None,
    config: Config = None,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Audit every task of a run that passes its gates; exit 1 when the policy rejects one.

    With --import the run is of tasks that others made; later calls know it by its name.
    """
    if context.invoked_subcommand:
        return
    chosen: dict[str, dict[str, Any]] = {
        "audit": {"policy": policy, "critic": critic, "critic_profile": profile},
        "llm": {"base_url": base_url, "budget": budget, "no_budget": no_budget},
    }
    if self_test:
        _self_test(data, settings_of(config, sets, **chosen), each, as_json)
        return
    given = given_of(base_map, wheels, fetch_wheels, grading)
    folder, settings, items = run_of(data, run, config, sets, source, chosen, given)
    tally = _audited(folder, settings, items)
    rejected = folder.audits.exists() and _told(folder, settings.audit.policy, as_json)
    ended(folder, tally, failed=bool(rejected))


def run_of(
    data: Path,
    run: str,
    config: Path | None,
    sets: list[str] | None,
    source: str | None,
    groups: dict[str, dict[str, Any]],
    given: dict[str, Any],
) -> tuple["RunFolder", "RunConfig", "Items"]:
    """The run that a command is about: one that was started, or one of an import."""
    if source is not None:
        return _imported(source, given, data, run, config, sets, groups)
    if given:
        option = min(given).replace("_", "-")
        raise Misconfigured(f"--{option} says how to import: add --import KIND:FOLDER")
    return existing(data, run, config, sets, **groups)


def _told(folder: "RunFolder", policy: str, as_json: bool) -> bool:
    """Print what was found; whether the policy rejects a task."""
    from envgen import auditing, tables

    found = auditing.summary(folder, policy)
    if as_json:
        print_json(found)
    else:
        tables.audit_tables(found)
        say(f"reports: {folder.audits}; one: envgen audit show TASK --run {folder.path.name}")
    return bool(found["rejected"])


def given_of(
    base_map: list[str] | None,
    wheels: Path | None,
    fetch_wheels: bool | None,
    grading: str | None,
) -> dict[str, Any]:
    """What was said about how to import."""
    how = {
        "base_map": _mapped(base_map),
        "wheels": None if wheels is None else str(wheels.resolve()),
        "fetch_wheels": fetch_wheels,
        "grading": grading,
    }
    return {name: value for name, value in how.items() if value is not None}


def _mapped(base_map: list[str] | None) -> tuple[tuple[str, str], ...] | None:
    """IMAGE=BASE of the command line, as pairs."""
    if base_map is None:
        return None
    pairs = []
    for text in base_map:
        image, _, base = text.partition("=")
        if not (image and base):
            raise Misconfigured(f"--base-map {text}: write IMAGE=BASE or IMAGE=BASE+package")
        pairs.append((image, base))
    return tuple(pairs)


def _imported(
    source: str,
    given: dict[str, Any],
    data: Path,
    run: str,
    config: Path | None,
    sets: list[str] | None,
    chosen: dict[str, dict[str, Any]],
) -> tuple["RunFolder", "RunConfig", "Items"]:
    """A run of tasks that others made; what it is made of is saved with it."""
    from envgen import config as configs
    from envgen import items, runs
    from envgen.authors import imports
    from envgen.items import Import

    if given.get("grading") not in (None, "fresh", "shared"):
        raise Misconfigured(f"--grading {given['grading']}: write fresh or shared")
    kind, path = imports.parse(source)
    wanted = Import(kind=kind, folder=str(path.resolve()), **given)
    items.imported(wanted)  # before anything is written
    folder = runs.folder_of(data, run)
    own = folder.config if folder.config.exists() else None
    settings = settings_of(config or own, sets, **chosen)
    with runs.held(folder):
        found = items.start(folder, wanted)
        configs.save(settings, folder.config)
    return folder, settings, found


def _audited(folder: "RunFolder", settings: "RunConfig", items: "Items") -> Any:
    """The tally of the audits; an import goes through the gates first, as nobody else does it."""
    from envgen import auditing, runs
    from envgen.terminal import progress

    async def work(kit: "Kit", stop: "Stop") -> Any:
        await runs.accepted(folder, kit)
        if folder.imported.exists():
            with progress(len(items), spent(kit)) as watch:
                gates = await runs.finish(folder, items, kit, stop, watch)
            if stop.drain:
                return gates
        with progress(len(items), spent(kit)) as watch:
            return await auditing.audit_all(folder, items, kit, stop, watch)

    with runs.held(folder):
        return with_kit(settings, folder.path, work)


def show(
    task: Annotated[str, typer.Argument(help="A task of the run.")],
    run: Run = "default",
    data: Data = DEFAULT_DATA,
) -> None:
    """Show what was found with a task: attack, what happened, reward."""
    from envgen import pages, runs
    from envgen.export import audits, parquet

    folder = runs.known(data, run)
    reports = [r for r in audits.read(folder.audits) if r.slug == task]
    if not reports:
        raise Misconfigured(f"no audit of a task {task!r} in run {run!r}")
    rows = parquet.read(folder.manifest, ["task", "instruction"])
    text = next((row["instruction"] for row in rows if row["task"] == task), "")
    pages.audit_page(reports[0], text)


def replay(
    finding: Annotated[str, typer.Argument(help="A finding's name, or the beginning of it.")],
    run: Run = "default",
    data: Data = DEFAULT_DATA,
    config: Config = None,
    sets: Sets = None,
) -> None:
    """Execute a finding's receipt once more, recalling nothing; exit 1 when it comes out other."""
    from envgen import auditing, runs
    from envgen.items import find
    from envgen.kit import open_kit
    from envgen.pipeline import produce
    from envgen.records import Rejection

    folder, settings, items = existing(data, run, config, sets)
    wanted = auditing.known(folder, finding)
    item = find(items, wanted.report.slug)

    async def work(kit: "Kit", stop: "Stop") -> Any:
        task = await produce(item, kit)
        if isinstance(task, Rejection):
            raise Misconfigured(f"{item.slug} does not pass its gates any more: {task.code}")
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


def export_probes(
    folder: Annotated[Path, typer.Argument(help="Where the agents are written.")],
) -> None:
    """Write the attacks as agents for Harbor, to be run against any tasks."""
    from envgen.audit import submissions
    from envgen.writing import write_whole

    folder.mkdir(parents=True, exist_ok=True)
    name = "envgen_probes"
    write_whole(folder / f"{name}.py", submissions.script(f"{name}.py"))
    say(f"agents: {folder / name}.py")
    say(f"run:    PYTHONPATH={folder} harbor run -p TASKS -a {name}:Filling")


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
        kinds = {kind: dict(row) for kind, row in table.items()}
        noted = list(benchmark.noted(results))
        print_json({**figures._asdict(), "kinds": kinds, "clean_tasks": noted})
    else:
        tables.benchmark_table(table, benchmark.noted(results))
        typer.echo(json.dumps(figures._asdict()))
    if len(results) < len(cases):
        leave(3)
    leave(0 if benchmark.kept(figures) else 1)
