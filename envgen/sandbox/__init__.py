"""The container edge: build an image, run a job, open a session. Facts are recorded, weather is
retried.

`Sandbox` is what the steps see. `Recorded` puts the ledger and the one retry policy around an
`Engine`; engines only translate. `docker.py` speaks to Docker and to Podman's socket, `scripted.py`
is the double that ships with the package, `conformance.py` is the suite that both must pass.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeVar

from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_exponential

from envgen.digest import short
from envgen.errors import Fault, Weather
from envgen.ledger import Blobs, Ledger, Use, key_of
from envgen.records import (
    BaseImage,
    BaseRecipe,
    Built,
    Image,
    ImageRequest,
    Job,
    JobResult,
    Key,
    Observation,
    Opening,
)

T = TypeVar("T")

ATTEMPTS = 5
"""At something that the weather stopped; half a second between the first two, then doubled."""


class Session(Protocol):
    """A sandbox that an agent works in, one command after the other.

    Every method raises Weather when the infrastructure is at fault (the sandbox is lost, the engine
    is down, the host's disk is full, the lease ran out); a command is never tried again, for it may
    have changed something. What the agent caused is an Observation.
    """

    @property
    def age(self) -> float:
        """Seconds since the sandbox was handed over: the episode's clock."""
        ...

    async def run(self, command: str, seconds: float) -> Observation:
        """Run a command in the session's shell; directory, variables and functions carry over.

        Args:
            command: any text; `bash` reads it.
            seconds: its limit; what it started in the foreground is killed then.
        """
        ...

    async def capture(self, folders: tuple[str, ...]) -> str | None:
        """Kill what runs and hand over folders, as a blob for `grade`; None when over the cap."""
        ...

    async def end(self) -> None:
        """Remove the sandbox now, whatever it does; nothing can be asked of it afterwards."""
        ...


class Engine(Protocol):
    """A container engine. Raises Weather for trouble of its own, Fault for a build that fails."""

    description: str
    """Kind, version and id of the engine."""
    cpus: int
    """CPUs of its host."""
    slots: int
    """Jobs and builds that it works on at once; more of them wait."""

    async def base(self, recipe: BaseRecipe) -> BaseImage:
        """The base of a recipe; built when it is not there yet, and listed anew every time."""
        ...

    async def build(self, request: ImageRequest) -> Image: ...

    async def run(self, job: Job) -> JobResult: ...

    def open(self, opening: Opening) -> AbstractAsyncContextManager[Session]:
        """A sandbox to run commands in; it is removed at the end of the context, whatever happened.

        Raises Weather (ImageMissing when the image is gone: it is never pulled).
        """
        ...

    async def discard(self, image: Image) -> None:
        """Remove an image that nothing will ask for again."""
        ...

    def has(self, image: Image) -> bool:
        """Whether the engine still holds the image (cheap; asked for every kept task)."""
        ...

    def keep_only(self, tags: set[str]) -> None:
        """Remove this run's images that have none of these tags."""
        ...

    def close(self) -> None: ...


class Recorded:
    """An engine behind the ledger: each request is executed once."""

    def __init__(self, engine: Engine, ledger: Ledger) -> None:
        self.engine = engine
        self.ledger = ledger
        self._turn = asyncio.Semaphore(engine.slots)

    @property
    def blobs(self) -> Blobs:
        return self.ledger.blobs

    async def image(self, request: ImageRequest, use: Use) -> tuple[Key, Image]:
        """Build, or recall. Raises Fault when the build fails, Weather when the engine does."""

        async def call() -> Built:
            try:
                return Built(image=await retried(lambda: self.engine.build(request)))
            except Fault as fault:
                return Built(code=fault.code, detail=fault.detail)

        key, built = await self.ledger.once("image", request, call, use, Built, self._turn)
        if built.image is None:
            raise Fault(built.code, built.detail, (key,))
        return key, built.image

    def forget_image(self, request: ImageRequest) -> None:
        """The engine lost an image: the next time that it is asked for, it is built again."""
        self.ledger.drop(key_of("image", request))

    async def run(self, job: Job, use: Use) -> tuple[Key, JobResult]:
        """Run, or recall. ImageMissing when the image is gone and something must be run in it."""
        return await self.ledger.once(
            "job", job, lambda: retried(lambda: self.engine.run(job)), use, JobResult, self._turn
        )


def tag_of(request_digest: str, repository: str = "envgen/task") -> str:
    """The engine's name for the image of a request: nothing is built twice under one name."""
    return f"{repository}:{short(request_digest, 40)}"


async def retried(call: Callable[[], Awaitable[T]]) -> T:
    """The one retry policy: weather that may pass gets five chances."""
    policy = AsyncRetrying(
        retry=retry_if_exception(lambda e: isinstance(e, Weather) and e.retryable),
        stop=stop_after_attempt(ATTEMPTS),
        wait=wait_exponential(multiplier=0.5, max=8),
        reraise=True,
    )
    async for attempt in policy:
        with attempt:
            return await call()
    raise AssertionError("the policy ends with a result or an exception")


__all__ = ["Engine", "Recorded", "Session", "retried", "tag_of"]
