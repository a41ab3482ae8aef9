"""Kept tasks on a scripted engine, for evaluations without containers."""

import asyncio
import tarfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from envgen import axes, runs
from envgen.config import RunConfig, load
from envgen.kit import Bases, Kit
from envgen.ledger import Ledger
from envgen.llm import Asked
from envgen.llm.scripted import Scripted as ScriptedModel
from envgen.pipeline import Stop
from envgen.records import Job, JobResult, Opening
from envgen.runs import RunFolder
from envgen.sandbox import Recorded
from envgen.sandbox.archive import STAGING, packed
from envgen.sandbox.scripted import Scripted, ScriptedSession, verdict

TASKS = 3


class Writing(ScriptedSession):
    """Leaves a file with the commands that were run."""

    async def capture(self, folders: tuple[str, ...]) -> str | None:
        self.ended = True
        data = "\n".join(self.commands).encode()
        entry = tarfile.TarInfo(f"{STAGING}{folders[0]}/commands")
        entry.size = len(data)
        return None if "too much" in self.commands else self._blobs.put(packed([(entry, data)]))


class Engine(Scripted):
    """Its sessions leave what was run in them."""

    @asynccontextmanager
    async def _open(self, opening: Opening) -> AsyncIterator[ScriptedSession]:
        self.asked["open"] += 1
        session = Writing(opening, self.shell, self.blobs)
        self.sessions.append(session)
        yield session


class Bench(NamedTuple):
    """A run whose tasks are kept, and an engine that is told what sessions come to."""

    folder: RunFolder
    items: list[Any]
    engine: Engine
    ledger: Ledger

    def kit(self, *sets: str, model: Callable[..., Any] | None = None) -> Kit:
        config = settings(*sets)
        models = {"agent": Asked(ScriptedModel(model), self.ledger)} if model else {}
        return Kit(config, Recorded(self.engine, self.ledger), Bases(self.engine), models)


def settings(*sets: str) -> RunConfig:
    return load(None, [f"sample.n={TASKS}", "author.families=[ledger_reports]", *sets])


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    folder = runs.folder_of(tmp_path, "eval")
    config = settings()
    runs.draw(folder, config, "procedural")
    ledger = Ledger(folder.path)
    engine = Engine(ledger.blobs)
    kit = Kit(config, Recorded(engine, ledger), Bases(engine))
    items: list[Any] = list(axes.read_specs(folder.specs))
    asyncio.run(runs.finish(folder, items, kit, Stop()))
    yield Bench(folder, items, engine, ledger)
    ledger.close()


def graded(reward: float) -> Callable[[Job], JobResult]:
    """An engine's script that grades everything so."""
    return lambda job: JobResult(
        status="done", exit_code=0, output="", collected=verdict(reward) if job.collect else ()
    )
