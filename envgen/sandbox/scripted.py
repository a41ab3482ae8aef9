"""The double that ships with the package: an engine whose answers are a function.

For tests of what stands above the edge, and for measuring the pipeline's own cost. It keeps count
of what it was asked, and holds images by tag as a real engine does.
"""

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from envgen.digest import digest, digest_bytes
from envgen.errors import ImageMissing, SandboxLost
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
from envgen.sandbox import Session, tag_of
from envgen.sandbox.archive import packed

Script = Callable[[Job], JobResult]
Shell = Callable[[Opening, str], Observation]
"""Answers the commands of sessions; it may raise Weather."""


class ScriptedSession:
    """A `Session` without a sandbox.

    Attributes:
        commands: what was run, in order.
        ended: it was captured or closed.
    """

    def __init__(self, opening: Opening, shell: Shell, blobs: Blobs) -> None:
        self.opening = opening
        self.commands: list[str] = []
        self.ended = False
        self._shell = shell
        self._blobs = blobs
        self._age = 0.0

    @property
    def age(self) -> float:
        """What its commands say that they took."""
        return self._age

    async def run(self, command: str, seconds: float) -> Observation:
        if self.ended:
            raise SandboxLost("the session has ended")
        self.commands.append(command)
        observed = self._shell(self.opening, command)
        self._age += observed.seconds
        return observed

    async def capture(self, folders: tuple[str, ...]) -> str | None:
        self.ended = True
        return self._blobs.put(_OUTPUTS)

    async def end(self) -> None:
        self.ended = True


class Scripted:
    """An `Engine` without containers.

    Args:
        blobs: where captured bytes go.
        script: answers jobs; the default one lets every reference pass and every no-op fail.
        shell: answers the commands of sessions; the default one prints nothing and exits with 0.
    """

    description = "scripted"
    cpus = 2
    slots = 1024

    def __init__(
        self, blobs: Blobs, script: Script | None = None, shell: Shell | None = None
    ) -> None:
        self.blobs = blobs
        self.script = script or self.sound
        self.shell = shell or (lambda opening, command: Observation(output="", exit_code=0))
        self.sessions: list[ScriptedSession] = []
        self.asked: Counter[str] = Counter()
        self.images: set[str] = set()

    async def base(self, recipe: BaseRecipe) -> BaseImage:
        self.asked["base"] += 1
        ref = f"envgen/base:{recipe.name}"
        self.images.add(ref)
        return BaseImage(recipe=recipe, content=digest(recipe.lines), ref=ref, lock="python3=3\n")

    async def build(self, request: ImageRequest) -> Image:
        self.asked["build"] += 1
        self.images.add(tag_of(request.digest))
        entries = [
            {"path": path, "kind": "f", "mode": file.mode, "sha256": file.sha256}
            for path, file in request.context.items()
        ]
        layers = digest(entries)
        return Image(
            content=digest([request.parent, layers]),
            layers=layers,
            ref=tag_of(request.digest),
            engine_id=digest(request.digest),
            bytes_added=request.context.size,
            entries=self.blobs.put(json.dumps(entries).encode()),
            config=request.dockerfile,
        )

    async def run(self, job: Job) -> JobResult:
        self.asked["run"] += 1
        if job.image_ref not in self.images:
            raise ImageMissing(f"no image {job.image_ref}")
        return self.script(job)

    def open(self, opening: Opening) -> AbstractAsyncContextManager[Session]:
        return self._open(opening)

    @asynccontextmanager
    async def _open(self, opening: Opening) -> AsyncIterator[ScriptedSession]:
        self.asked["open"] += 1
        if opening.image_ref not in self.images:
            raise ImageMissing(f"no image {opening.image_ref}")
        session = ScriptedSession(opening, self.shell, self.blobs)
        self.sessions.append(session)
        try:
            yield session
        finally:
            session.ended = True

    async def discard(self, image: Image) -> None:
        self.images.discard(image.ref)

    def has(self, image: Image) -> bool:
        return image.ref in self.images

    def keep_only(self, tags: set[str]) -> None:
        self.images = {name for name in self.images if name in tags or "/base:" in name}

    def close(self) -> None:
        pass

    def sound(self, job: Job) -> JobResult:
        """What a sound task does: nothing earns nothing, the reference earns everything."""
        captured = self.blobs.put(_OUTPUTS) if job.capture else None
        collected = verdict(1.0 if job.restore else 0.0) if job.collect else ()
        return JobResult(
            status="done", exit_code=0, output="", captured=captured, collected=collected
        )


def verdict(reward: float) -> tuple[tuple[str, str], ...]:
    """The files that a grader leaves for a reward."""
    check = {"name": "scripted", "score": reward, "weight": 1.0, "must": False, "detail": ""}
    report = {"reward": reward, "passed": reward == 1.0, "checks": [check]}
    return (("report.json", json.dumps(report)), ("reward.txt", f"{reward}\n"))


_OUTPUTS = packed(())
OUTPUTS = digest_bytes(_OUTPUTS)
