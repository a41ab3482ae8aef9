"""Episodes: play the tasks of a run, look at a trajectory, hand conversations on."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from envgen.cli.options import DEFAULT_DATA, Budget, Config, Data, Json, NoBudget, Run, Sets
from envgen.cli.work import existing, leave, print_json, say, spent, with_kit
from envgen.errors import Misconfigured
from envgen.plural import many

if TYPE_CHECKING:
    from envgen.agent.prefix import Shape
    from envgen.config import RunConfig
    from envgen.kit import Kit
    from envgen.pipeline import Stop
    from envgen.runs import RunFolder

Player = Annotated[
    str | None,
    typer.Option("--model", help="Whose episodes: a model, or the name of a way of playing."),
]


def evaluate(
    run: Run = "default",
    data: Data = DEFAULT_DATA,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            help="gemini:NAME, openai:NAME, scripted:reference or scripted:nothing.",
        ),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option("--base-url", help="A server of your own, http://host:8000/v1.")
    ] = None,
    k: Annotated[int, typer.Option("--k", min=1, max=1000, help="Attempts at each task.")] = 1,
    concurrency: Annotated[int, typer.Option("--concurrency", min=1, help="Episodes at once.")] = 4,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Most tasks.")] = None,
    where: Annotated[
        list[str] | None, typer.Option("--where", help="AXIS=VALUE[,VALUE]; may be repeated.")
    ] = None,
    shape: Annotated[
        Path | None,
        typer.Option("--shape", help="The model's config.json: also count the FLOPs of prompts."),
    ] = None,
    budget: Budget = None,
    no_budget: NoBudget = None,
    config: Config = None,
    sets: Sets = None,
    as_json: Json = False,
) -> None:
    """Let a policy play each task k times: pass@1 to pass@k, reward, by axis; again, it continues.

    Exit code 3 when episodes ended in faults of the infrastructure: those are played again then.
    """
    from envgen import evaluating, runs
    from envgen.agent.players import check
    from envgen.terminal import progress

    flags: dict[str, dict[str, Any]] = {
        "agent": {"model": model},
        "llm": {"base_url": base_url, "budget": budget, "no_budget": no_budget},
        "engine": {"in_flight": concurrency},
    }
    folder, settings, items = existing(data, run, config, sets, **flags)
    check(settings.agent)
    known = _shape(shape)
    wanted = evaluating.chosen(folder, items, evaluating.where_of(where or []), limit)

    async def work(kit: "Kit", stop: "Stop") -> Any:
        await runs.accepted(folder, kit)
        with progress(k * len(wanted), spent(kit)) as watch:
            return await evaluating.evaluate(folder, wanted, k, kit, stop, watch)

    with runs.held(folder):
        tally = with_kit(settings, folder.path, work)
    _told(folder, settings, known, as_json)
    missing = tally.total - tally.done + tally.unfinished + tally.rejected["faults"] + tally.bugs
    if missing:
        reason = f" ({tally.last_trouble.splitlines()[-1]})" if tally.last_trouble else ""
        say(f"no verdict on {many(missing, 'episode')}{reason}: the same command continues")
        leave(3)


def _told(folder: "RunFolder", settings: "RunConfig", shape: "Shape | None", as_json: bool) -> None:
    """Print what the episodes came to."""
    from envgen import evaluated, tables

    file = evaluated.file_of(folder.rollouts, settings.agent)
    if file.path.exists():
        found = evaluated.summary(file, shape)
        print_json(found) if as_json else tables.evaluation_tables(found)
        name = folder.path.name
        say(f"one of them: envgen rollout show TASK --run {name} --model {file.model}")


def _shape(path: Path | None) -> "Shape | None":
    from envgen.agent.prefix import shape_of

    if path is None:
        return None
    try:
        told = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise Misconfigured(f"--shape {path}: {error}") from None
    if not isinstance(told, dict):
        raise Misconfigured(f"--shape {path}: not the config.json of a model")
    return shape_of(told)


def show(
    task: Annotated[str, typer.Argument(help="A task of the run.")],
    run: Run = "default",
    data: Data = DEFAULT_DATA,
    model: Player = None,
    sample: Annotated[int, typer.Option("--sample", min=0, help="Which of its attempts.")] = 0,
    as_atif: Annotated[
        bool, typer.Option("--atif", help="Print it in ATIF, the format that Harbor reads.")
    ] = False,
) -> None:
    """Show one trajectory: what was said, run and seen, and what it earned."""
    from envgen import evaluated, pages, runs
    from envgen.export import atif

    folder = runs.known(data, run)
    found = [
        (file, row)
        for file in evaluated.named(folder.rollouts, model)
        for row in evaluated.rows_of(file, task, sample)
    ]
    if len(found) != 1:
        names = ", ".join(sorted({f"{file.model} ({file.settings})" for file, _ in found}))
        why = (
            f"several play it, {names}: add --model"
            if found
            else f"`envgen eval --run {run}` plays the tasks that have none yet"
        )
        several = many(len(found), "episode is", "episodes are")
        raise Misconfigured(f"{several} sample {sample} of {task!r}: {why}")
    episode, flags = found[0][1]
    if as_atif:
        print_json(atif.of(episode))
    else:
        pages.episode_page(episode, flags)


def sft(
    file: Annotated[Path, typer.Argument(help="JSON lines to write.")],
    run: Run = "default",
    data: Data = DEFAULT_DATA,
    model: Player = None,
    failures: Annotated[
        bool, typer.Option("--all", help="Also episodes that did not pass, marked.")
    ] = False,
    tokens: Annotated[
        int | None, typer.Option("--tokens", min=1, help="Most tokens of all conversations.")
    ] = None,
    longest: Annotated[
        int | None, typer.Option("--longest", min=1, help="Most tokens of one conversation.")
    ] = None,
) -> None:
    """Write the conversations of passing episodes for fine-tuning; duplicates are left out."""
    from envgen import evaluated, runs
    from envgen.export import conversations, rollouts

    folder = runs.known(data, run)
    played = evaluated.named(folder.rollouts, model)
    if len(played) > 1:
        names = ", ".join(f"{p.model} ({p.settings})" for p in played)
        raise Misconfigured(f"several play in run {run!r}, {names}: say whose with --model")
    path = played[0].path
    selection = conversations.Selection(failures, longest, tokens)
    selection.choose(map(conversations.light, rollouts.episodes(path)))
    written = conversations.write(file, selection.of(rollouts.episodes(path)))
    left = ", ".join(f"{n} {reason}" for reason, n in sorted(selection.left.items()))
    say(f"{many(written, 'conversation')} with {many(selection.tokens, 'token')} in {file}")
    if left:
        say(f"left out: {left}")


def trajectories(
    folder: Annotated[Path, typer.Argument(help="Folder to write one file an episode into.")],
    run: Run = "default",
    data: Data = DEFAULT_DATA,
    model: Player = None,
) -> None:
    """Write the trajectories of a run in ATIF, the format that Harbor reads."""
    from envgen import evaluated, runs
    from envgen.export import atif, rollouts

    source = runs.known(data, run)
    folder.mkdir(parents=True, exist_ok=True)
    written = 0
    for file in evaluated.named(source.rollouts, model):
        for episode in rollouts.episodes(file.path):
            if episode.trajectory is not None:
                name = f"{episode.slug}-{file.path.stem}-{episode.play.sample}.json"
                atif.write(folder / name, atif.of(episode))
                written += 1
    say(f"{many(written, 'trajectory', 'trajectories')} in {folder}")
