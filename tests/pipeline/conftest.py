"""Specs that families realise without fixtures, kits on scripted engines, and the command line."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from envgen import axes, config, runs
from envgen.config import RunConfig
from envgen.digest import digest, short
from envgen.kit import Bases, Kit
from envgen.ledger import Blobs, Ledger
from envgen.records import Image, ImageRequest, Job, JobResult, TaskSpec
from envgen.sandbox import Recorded, tag_of
from envgen.sandbox.scripted import Scripted

FAMILIES = "author.families=[archive_recovery,ledger_reports]"

Judge = Callable[[str, str], JobResult | None]
"""(gate, base of the task) -> an answer, or None for what a sound task does."""
MakeKit = Callable[..., Kit]


def settings(*sets: str) -> RunConfig:
    return config.load(None, [FAMILIES, *sets])


def step_of(job: Job) -> str:
    """Which gate asks for this job."""
    if not job.collect:
        return "solve" if job.capture else "initial"
    if not job.restore:
        return "noop"
    return "reference" if dict(job.env)["PYTHONHASHSEED"] == "0" else "determinism"


class Judged(Scripted):
    """Asks `judge` first."""

    def __init__(self, blobs: Blobs, judge: Judge) -> None:
        self.judge = judge
        self.parents: dict[str, str] = {}
        super().__init__(blobs, self.answer)

    async def build(self, request: ImageRequest) -> Image:
        self.parents[tag_of(request.digest)] = request.parent_ref.removeprefix("envgen/base:")
        return await super().build(request)

    def answer(self, job: Job) -> JobResult:
        return self.judge(step_of(job), self.parents[job.image_ref]) or self.sound(job)


@pytest.fixture(scope="session")
def specs(tmp_path_factory: pytest.TempPathFactory) -> list[TaskSpec]:
    """Twelve specs that two families realise."""
    folder = runs.RunFolder(tmp_path_factory.mktemp("specs"))
    runs.draw(folder, settings("sample.n=12"), "procedural")
    return axes.read_specs(folder.specs)


@pytest.fixture
def make_kit(tmp_path: Path) -> Iterator[MakeKit]:
    """`make_kit(judge, sets=..., folder=...)`; without a judge every task is sound."""
    ledgers: list[Ledger] = []

    def make(
        judge: Judge | None = None,
        sets: tuple[str, ...] = (),
        folder: str = "run",
    ) -> Kit:
        ledger = Ledger(tmp_path / folder)
        ledgers.append(ledger)
        engine = Judged(ledger.blobs, judge) if judge else Scripted(ledger.blobs)
        return Kit(settings(*sets), Recorded(engine, ledger), Bases(engine))

    yield make
    for ledger in ledgers:
        ledger.close()


@pytest.fixture(scope="session")
def engine_passed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Path], None]]:
    """Notes in a run's folder that the engine passed its self-test, which other tests execute.

    The images of these runs are removed in the end.
    """
    from envgen.sandbox.daemon import RUN_LABEL, connect
    from envgen.sandbox.docker import Docker

    folders: list[Path] = []
    engine = Docker(None, Blobs(tmp_path_factory.mktemp("blobs")), 1, "test-pipeline")
    description = engine.description
    engine.close()

    def note(folder: Path) -> None:
        folder.mkdir(parents=True)
        (folder / "engine.txt").write_text(description)
        folders.append(folder.resolve())

    yield note
    client = connect(None)
    for folder in folders:
        run = short(digest(str(folder)), 24)
        for image in client.api.images(filters={"label": f"{RUN_LABEL}={run}"}):
            client.api.remove_image(image["Id"], force=True)
    client.close()
