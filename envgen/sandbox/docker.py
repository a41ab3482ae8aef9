"""The Docker engine: Docker (Engine 20.10 and newer) and Podman's socket, through the docker SDK.

The SDK is blocking, so calls run in a pool of as many threads as containers may live at once. A
missing image is never pulled.
"""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import requests

from envgen import bases
from envgen.errors import EngineDown, SetupTimeout
from envgen.ledger import Blobs
from envgen.records import (
    BaseImage,
    BaseRecipe,
    Image,
    ImageRequest,
    Job,
    JobResult,
    Observation,
    Opening,
)
from envgen.sandbox import Session, retried
from envgen.sandbox.containers import Containers
from envgen.sandbox.daemon import API_SECONDS, LABEL, OWNER_LABEL, RUN_LABEL, connect, typed
from envgen.sandbox.images import Images
from envgen.sandbox.owner import Owner
from envgen.sandbox.roots import Roots
from envgen.sandbox.session import Sandbox

T = TypeVar("T")

SESSIONS = 1024
"""Most sessions that are worked for at once; a pool bounds how many there are."""


class DockerSession:
    """A `Session` in a container; its calls run in the engine's threads, one at a time.

    Args:
        engine: runs it.
        box: the sandbox.
        held: what has to be given back for it.
    """

    def __init__(self, engine: "Docker", box: Sandbox, held: ExitStack) -> None:
        self._engine = engine
        self._box, self._held = box, held
        self._began = time.monotonic()
        self._one = asyncio.Lock()

    @property
    def age(self) -> float:
        return time.monotonic() - self._began

    async def run(self, command: str, seconds: float) -> Observation:
        cancelled = threading.Event()
        async with self._one:
            return await self._engine._thread(
                self._box.run,
                command,
                seconds,
                cancelled,
                on_cancel=cancelled.set,
                pool=self._engine.sessions,
            )

    async def capture(self, folders: tuple[str, ...]) -> str | None:
        async with self._one:  # it changes nothing but what has ended: it may be tried again
            return await retried(
                lambda: self._engine._thread(self._box.capture, folders, pool=self._engine.sessions)
            )

    async def end(self) -> None:
        await self._engine._thread(self._held.close, pool=self._engine.sessions)


class Docker:
    """An `Engine` on a Docker-compatible daemon.

    Args:
        url: address of the daemon; None finds one.
        blobs: where captured bytes go.
        slots: containers and builds at once.
        run: name of the run, a digest; its images are labelled with it.
        rebuild: build every task's image anew, without the builder's cache.
        say: told about slow steps (pulling, bootstrapping, building a base).
    """

    def __init__(
        self,
        url: str | None,
        blobs: Blobs,
        slots: int,
        run: str,
        *,
        rebuild: bool = False,
        say: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.client = connect(url)
        self.api = self.client.api
        self.run_name = run
        self.slots = slots
        self.owner = Owner()
        self.pool = ThreadPoolExecutor(slots, thread_name_prefix="sandbox")
        self.sessions = ThreadPoolExecutor(SESSIONS, thread_name_prefix="session")
        self._numbers = count()
        with typed():
            info = self.client.info()
            self.cpus = int(info["NCPU"])
            self.description = _description(self.client.version(), info)
            self.containers = Containers(
                self.api, blobs, self.cpus, _has_quota(info), self.owner.name
            )
            self._root = _local_root(self.client.api.base_url, info)
            self.images = Images(self.client, self.containers, run, rebuild)
            self.roots = Roots(self.client, self.containers, bases.root(), say)
            self._sweep()
            ours = self.api.images(filters={"label": LABEL})
            self._present = {tag for image in ours for tag in image.get("RepoTags") or ()}

    async def base(self, recipe: BaseRecipe) -> BaseImage:
        return await self._thread(self.roots.base, recipe)

    async def build(self, request: ImageRequest) -> Image:
        image = await self._thread(self.images.build, request)
        self._present.add(image.ref)
        return image

    async def run(self, job: Job) -> JobResult:
        cancelled = threading.Event()
        return await self._thread(self.containers.run, job, cancelled, on_cancel=cancelled.set)

    def open(self, opening: Opening) -> AbstractAsyncContextManager[Session]:
        return self._open(opening)

    @asynccontextmanager
    async def _open(self, opening: Opening) -> AsyncIterator[Session]:
        held = ExitStack()  # outside of the thread: whoever is cancelled meanwhile closes it
        try:
            box = await retried(
                lambda: self._thread(self._sandbox, opening, held, pool=self.sessions)
            )
            yield DockerSession(self, box, held)
        finally:
            await asyncio.shield(self._thread(held.close, pool=self.sessions))

    def _sandbox(self, opening: Opening, held: ExitStack) -> Sandbox:
        """A sandbox that runs commands. Nothing is left when this fails: it may be retried.

        Args:
            held: gets what has to be given back.
        """
        with ExitStack() as own:
            name = f"{self.owner.name}-{next(self._numbers)}"
            try:
                made = own.enter_context(self.containers.sandbox(opening, name))
            except requests.ReadTimeout as error:
                raise SetupTimeout(f"a sandbox was not ready in {API_SECONDS} s") from error
            box = Sandbox(self.containers, made, opening, self._root)
            box.check()
            held.push(own.pop_all())
            return box
        raise AssertionError("a sandbox, or an exception")

    async def discard(self, image: Image) -> None:
        await self._thread(self.images.remove, image.ref)
        self._present.discard(image.ref)

    def has(self, image: Image) -> bool:
        tag = image.ref
        return tag in self._present or f"localhost/{tag}" in self._present

    def close(self) -> None:
        """Wait for what runs, sweep what is left, and let go."""
        self.pool.shutdown(wait=True, cancel_futures=True)
        self.sessions.shutdown(wait=True, cancel_futures=True)
        try:
            with typed():
                self._sweep()
        except EngineDown:
            pass  # what a dead daemon holds is swept at the next start
        self.owner.release()
        self.client.close()

    async def _thread(
        self,
        call: Callable[..., T],
        *args: Any,
        on_cancel: Callable[[], None] = lambda: None,
        pool: ThreadPoolExecutor | None = None,
    ) -> T:
        """Run in a pool; when cancelled, still wait: a container must not be left behind."""

        def work() -> T:
            with typed():
                return call(*args)

        submitted = (pool or self.pool).submit(work)
        future = asyncio.wrap_future(submitted)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            if not submitted.cancel():  # it is running
                on_cancel()
                await asyncio.wait([future])
                future.exception()  # whoever asked is gone: that is no reason to warn
            raise

    def _sweep(self) -> None:
        """Remove what killed runs left: their containers, and torn builds when we are alone."""
        for container in self.api.containers(all=True, filters={"label": OWNER_LABEL}):
            owner = container["Labels"][OWNER_LABEL]
            if owner == self.owner.name or not Owner.alive(owner):
                self.containers.remove(container["Id"])
        Owner.forget_dead()
        with self.owner.alone() as alone:
            if alone:
                for image in self.api.images(filters={"label": LABEL, "dangling": True}):
                    self.images.remove(image["Id"])

    def keep_only(self, tags: set[str]) -> None:
        for image in self.api.images(filters={"label": f"{RUN_LABEL}={self.run_name}"}):
            names = {name.removeprefix("localhost/") for name in image.get("RepoTags") or ()}
            if not names & tags:
                for name in names or {image["Id"]}:
                    self.images.remove(name)


def _description(version: dict[str, Any], info: dict[str, Any]) -> str:
    name = (version.get("Components") or [{}])[0].get("Name", "Engine")
    return f"{name} {version.get('Version')} on {info.get('OperatingSystem')}, id {info.get('ID')}"


def _local_root(url: str, info: dict[str, Any]) -> Path | None:
    """Where an engine on this machine keeps its data; None for one elsewhere."""
    root = Path(info.get("DockerRootDir") or "")
    return root if url.startswith("http+") and root.is_absolute() and root.exists() else None


def _has_quota(info: dict[str, Any]) -> bool:
    """Whether `storage_opt size=` works: xfs with quotas, btrfs or zfs; elsewhere we watch."""
    driver = info.get("Driver")
    backing = dict(s for s in info.get("DriverStatus") or () if len(s) == 2)
    return driver in ("btrfs", "zfs") or (
        driver == "overlay2" and backing.get("Backing Filesystem") == "xfs"
    )
