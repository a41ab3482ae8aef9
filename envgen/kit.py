"""The tools in hand: what every step gets, opened and closed in one place."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from envgen import bases
from envgen.config import RunConfig
from envgen.digest import digest, short
from envgen.errors import Misconfigured, Weather
from envgen.ledger import Ledger
from envgen.llm import Asked, Model
from envgen.llm.opened import open_models
from envgen.plural import many
from envgen.records import BaseImage
from envgen.sandbox import Engine, Recorded, retried
from envgen.writing import write_whole

if TYPE_CHECKING:
    from envgen.sandbox.registry import Registry


@dataclass
class Bases:
    """The engine's bases, each made once per process and held to its lock.

    Attributes:
        engine: makes them.
        locks: folder with one lock per recipe; None keeps none.
    """

    engine: Engine
    locks: Path | None = None
    _asked: dict[str, asyncio.Task[BaseImage]] = field(default_factory=dict)

    async def get(self, base: str, packages: tuple[str, ...] = ()) -> BaseImage:
        """A base, or a package set on it.

        Raises:
            Misconfigured: the engine's image holds other packages than when it was locked.
        """
        recipe = bases.recipe(base, tuple(sorted(packages)))
        if recipe.digest not in self._asked:
            made = retried(lambda: self.engine.base(recipe))
            self._asked[recipe.digest] = asyncio.create_task(made)
        asked = self._asked[recipe.digest]
        try:
            image = await asyncio.shield(asked)
        except Weather:
            if self._asked.get(recipe.digest) is asked:
                del self._asked[recipe.digest]  # the next one who asks gets another chance
            raise
        if self.locks is not None:
            self._hold(image, self.locks)
        return image

    def _hold(self, image: BaseImage, folder: Path) -> None:
        path = folder / f"{image.recipe.name}-{short(image.recipe.digest)}.lock"
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            write_whole(path, image.lock)
            return
        locked = set(path.read_text().splitlines())
        if changed := sorted(locked ^ set(image.lock.splitlines())):
            raise Misconfigured(
                f"base {image.recipe.name} differs from its lock in {many(len(changed), 'line')} "
                f"(first: {changed[0]}): tasks built before would not be the same; accept it by "
                f"deleting {path}"
            )


@dataclass(frozen=True)
class Kit:
    """Configuration and edges. Steps get it and open nothing themselves."""

    config: RunConfig
    sandbox: Recorded
    bases: Bases
    llm: Mapping[str, Asked] = field(default_factory=dict)
    """Models by role (`author`, `critic`, `repairer`, `agent`), as far as they are configured."""


def _roles(config: RunConfig) -> dict[str, str]:
    """The models of a configuration; a script is none."""
    wanted = {
        "author": config.author.model,
        "critic": config.audit.critic,
        "repairer": config.repair.model,
        "agent": config.agent.model,
    }
    return {r: name for r, name in wanted.items() if name and not name.startswith("scripted:")}


@asynccontextmanager
async def open_kit(
    config: RunConfig,
    folder: Path,
    *,
    rebuild: bool = False,
    registry: "Registry | None" = None,
    say: Callable[[str], None] = lambda text: None,
    own: Mapping[str, Model] | None = None,
) -> AsyncIterator[Kit]:
    """A kit on the configured engine, with the ledger of a run's folder.

    Args:
        config: the run's configuration.
        folder: the run's folder.
        rebuild: build every image anew (nothing that the engine has is used).
        registry: where missing images are pulled from; nothing is built then.
        say: told about slow steps.
        own: models of this process, by name.
    """
    from envgen.sandbox.docker import Docker  # the SDK costs a quarter of a second

    ledger = Ledger(folder)
    ledger.blobs.sweep()
    try:
        name = digest(str(folder.resolve()))
        engine = Docker(
            config.engine.url,
            ledger.blobs,
            config.engine.containers,
            short(name, 24),
            rebuild=rebuild,
            registry=registry,
            say=say,
        )
        try:
            roles = _roles(config)
            async with open_models(roles, config.llm, ledger, say=say, own=own) as models:
                held = Bases(engine, folder / "locks")
                yield Kit(config, Recorded(engine, ledger), held, models)
        finally:
            engine.close()
    finally:
        ledger.close()
