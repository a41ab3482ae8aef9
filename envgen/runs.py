"""A run's folder: what is in it, and how outcomes become its manifest.

Only the ledger is precious. Everything else is derived and comes back when the run is repeated.
"""

import asyncio
import fcntl
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from envgen import axes, config
from envgen.authors.llm.small import plan
from envgen.authors.procedural import chosen
from envgen.config import RunConfig
from envgen.errors import Misconfigured
from envgen.export import audits, harbor, parquet, rollouts
from envgen.kit import Kit
from envgen.pipeline import Items, Stop, Unfinished, authored, produce
from envgen.pipeline import run as run_all
from envgen.records import BuiltTask, Rejection, TaskDraft, TaskSpec
from envgen.sandbox.selftest import BASE, failures, rules
from envgen.spool import Spool
from envgen.tally import Tally
from envgen.writing import write_whole

LOCK = ".lock"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True)
class RunFolder:
    """`<data>/runs/<name>/` and the names of what it holds."""

    path: Path

    @property
    def specs(self) -> Path:
        return self.path / "specs.parquet"

    @property
    def imported(self) -> Path:
        """In place of specs, in a run of tasks that others made."""
        return self.path / "import.json"

    @property
    def config(self) -> Path:
        return self.path / "config.yaml"

    @property
    def manifest(self) -> Path:
        return self.path / "manifest.parquet"

    @property
    def rejections(self) -> Path:
        return self.path / "rejections.parquet"

    @property
    def audits(self) -> Path:
        return self.path / "audit.parquet"

    @property
    def repairs(self) -> Path:
        return self.path / "repair.parquet"

    @property
    def rollouts(self) -> Path:
        """A file of episodes for each model and way of playing."""
        return self.path / "rollouts"

    @property
    def critic(self) -> Path:
        """What the critic of the last audit said about tasks with a known label."""
        return self.path / "critic.json"

    @property
    def report(self) -> Path:
        """For a browser; `report.json` beside it is for scripts."""
        return self.path / "report.html"

    @property
    def drafts(self) -> Path:
        return self.path / "drafts"

    @property
    def tasks(self) -> Path:
        return self.path / "tasks"

    @property
    def crashes(self) -> Path:
        return self.path / "crashes"


def folder_of(data: Path, name: str) -> RunFolder:
    """The folder of a run, which need not exist. Misconfigured when the name cannot be one."""
    if not NAME.fullmatch(name):
        raise Misconfigured(
            f"--run {name!r}: a run's name has letters, digits, '.', '_' and '-', at most 64"
        )
    return RunFolder(data / "runs" / name)


def known(data: Path, name: str) -> RunFolder:
    """The folder of a run that exists; Misconfigured names the ones that do."""
    found = folder_of(data, name)
    if not found.path.is_dir():
        others = sorted(p.name for p in (data / "runs").glob("*") if p.is_dir())
        raise Misconfigured(
            f"there is no run {name!r} in {data / 'runs'}: "
            + (f"there are {', '.join(others[:20])}" if others else "start one with `envgen run`")
        )
    return found


@contextmanager
def held(folder: RunFolder) -> Iterator[None]:
    """Hold the folder for one process: two would write over each other."""
    folder.path.mkdir(parents=True, exist_ok=True)
    with (folder.path / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Misconfigured(
                f"run {folder.path.name!r} is in use by another process: wait for it, or use "
                "another --run"
            ) from None
        yield


def empty(folder: RunFolder) -> None:
    """Remove everything in a folder that is held, but the lock."""
    for path in folder.path.iterdir():
        if path.is_dir():
            harbor.discard(path)
        elif path.name != LOCK:
            path.unlink()


def draw(folder: RunFolder, settings: RunConfig, author: str | None) -> dict[str, axes.Balance]:
    """Sample the run's specs into `specs.parquet`, save the configuration; returns the balance.

    For an author who realises a part of the axes, only that part is drawn.
    """
    if folder.imported.exists():
        raise Misconfigured(
            f"run {folder.path.name!r} is of tasks that were imported: use another --run for specs"
        )
    folder.path.mkdir(parents=True, exist_ok=True)
    catalogue, census = catalogue_of(settings), axes.Census()
    support = support_of(settings, author)
    rows = _rows(settings, catalogue, support)
    config.save(settings, folder.config)
    axes.write_specs(folder.specs, census.watch(rows))
    return census.balance(catalogue, settings.sample.preset, support)


def specs_of(settings: RunConfig) -> Iterator[TaskSpec]:
    """The specs that a run of these settings and their author would have, without writing any."""
    support = support_of(settings, settings.author.name)
    return map(axes.spec_of, _rows(settings, catalogue_of(settings), support))


def _rows(
    settings: RunConfig, catalogue: axes.Catalogue, support: Sequence[axes.Block] | None
) -> Iterator[axes.Row]:
    wanted = settings.sample
    return axes.sample(catalogue, wanted.seed, wanted.n, preset=wanted.preset, support=support)


def catalogue_of(settings: RunConfig) -> axes.Catalogue:
    """The axis files that the configuration names."""
    return axes.load(Path(settings.sample.axes) if settings.sample.axes else None)


def support_of(settings: RunConfig, author: str | None) -> Sequence[axes.Block] | None:
    """What an author realises, for the sampler to draw from; None = everything."""
    if author == "procedural":
        return [family.realises for family in chosen(settings.author.families)]
    if author == "llm" and settings.author.profile == "small":
        return plan.support()
    return None


async def accepted(folder: RunFolder, kit: Kit) -> None:
    """Let the engine take its self-test, once per run and engine.

    Raises:
        Misconfigured: the engine breaks a parity rule, which is named.
    """
    engine = kit.sandbox.engine
    passed = folder.path / "engine.txt"
    if passed.exists() and passed.read_text() == engine.description:
        return
    base = await kit.bases.get(BASE)
    broken = await failures(engine, base, rules(engine.cpus))
    if broken:
        name, seen = next(iter(broken.items()))
        raise Misconfigured(
            f"the engine ({engine.description}) breaks the rule {name!r}: {seen}; tasks would not "
            "mean the same there: see `envgen doctor`, or use another engine"
        )
    write_whole(passed, engine.description)


async def draft_all(
    folder: RunFolder,
    specs: list[TaskSpec],
    kit: Kit,
    stop: Stop,
    watch: Callable[[Tally], None] = lambda tally: None,
) -> Tally:
    """Write every spec's draft below `drafts/`; what became of all of them."""
    tally = Tally(len(specs))
    async with aclosing(run_all(specs, kit, stop, authored)) as outcomes:
        async for _, outcome in outcomes:
            tally.count(outcome)
            if isinstance(outcome, TaskDraft):
                tree = harbor.draft_folder(outcome, kit.config.export)
                harbor.write(tree, folder.drafts / outcome.slug)
            elif isinstance(outcome, Unfinished):
                crash(folder, outcome)
            watch(tally)
    return tally


async def finish(
    folder: RunFolder,
    items: Items,
    kit: Kit,
    stop: Stop,
    watch: Callable[[Tally], None] = lambda tally: None,
) -> Tally:
    """Produce every item, write task folders as they come, then manifest and rejections.

    Called again, it recalls what was executed and ends in the same bytes.
    """
    tally = Tally(len(items))
    kept, rejected = Spool(folder.path), Spool(folder.path)
    tags, slugs = set[str](), set[str]()
    try:
        folder.tasks.mkdir(exist_ok=True)
        async with aclosing(run_all(items, kit, stop, produce)) as outcomes:
            async for number, outcome in outcomes:
                tally.count(outcome)
                if isinstance(outcome, BuiltTask):
                    tree = harbor.folder(outcome, kit.config.export)
                    harbor.write(tree, folder.tasks / outcome.draft.slug)
                    kept.add(number, parquet.manifest_row(outcome, tree))
                    tags.add(outcome.image.ref)
                    slugs.add(outcome.draft.slug)
                elif isinstance(outcome, Rejection):
                    rejected.add(number, parquet.rejection_row(outcome))
                else:
                    crash(folder, outcome)
                watch(tally)
                await asyncio.sleep(0)
        parquet.write_manifest(folder.manifest, kept.rows())
        if folder.audits.exists():
            audits.label_manifest(folder.manifest, folder.audits)
        if folder.rollouts.exists():
            rollouts.note_manifest(folder.manifest, folder.rollouts)
        parquet.write_rejections(folder.rejections, rejected.rows())
        if tally.done == tally.total and not (tally.unfinished or tally.bugs):
            tidy(folder, slugs, kit, tags)
    finally:
        kept.close()
        rejected.close()
    return tally


def crash(folder: RunFolder, outcome: Unfinished) -> None:
    """A bug's traceback is kept where the user can find it and send it."""
    if outcome.bug:
        folder.crashes.mkdir(exist_ok=True)
        (folder.crashes / f"{outcome.slug}.txt").write_text(outcome.reason)


def tidy(folder: RunFolder, slugs: set[str], kit: Kit, tags: set[str]) -> None:
    """Once everything is decided: no image and no folder that the manifest does not name."""
    kit.sandbox.engine.keep_only(tags)
    for path in folder.tasks.iterdir():
        if path.is_dir() and path.name not in slugs:
            harbor.discard(path)
    if folder.crashes.exists():
        harbor.discard(folder.crashes)
    name = folder.path.name.lower().replace(".", "-")
    listing = harbor.dataset_toml(sorted(slugs), kit.config.export, name)
    write_whole(folder.tasks / "dataset.toml", listing)
