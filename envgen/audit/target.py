"""What somebody who attacks a task can see: the instruction, and what is readable in the image.

Probes get this and nothing else, so that no attack can rest on hidden tests.
"""

import io
import json
import tarfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from envgen import dockerfile, foreign
from envgen.audit import naming
from envgen.ledger import Blobs
from envgen.records import HOME, BuiltTask

ENVIRONMENT = "/proc/self/environ"
"""Where the variables of an image can be read by whoever runs in it."""


@dataclass(frozen=True)
class Entry:
    """A regular file that the task adds to its base; or what its image says in variables."""

    path: str
    """Absolute."""
    data: bytes
    mode: int
    own: bool
    """Below a folder of the agent's, which it may change and which carries over to grading."""
    removed: bool = False
    """Set-up removed it: it is in a layer of the image, and not in its file system."""


@dataclass(frozen=True)
class Target:
    """A task as seen from outside."""

    instruction: str
    workdir: str
    folders: tuple[str, ...]
    """Folders of the agent's that carry over to grading."""
    entries: tuple[Entry, ...]
    absent: tuple[str, ...]
    """Paths that the task promises not to be there yet."""
    baseline: float
    """Reward of the untouched container."""
    noise: float
    """Reward above the baseline that means nothing yet."""
    home: str = HOME
    """The agent's."""
    verifier: str = "tests/check.py"
    """Where the verdict is made."""
    together: bool = False
    """Graded where the agent worked, as some makers of tasks do."""

    @cached_property
    def named(self) -> tuple[str, ...]:
        """Absolute paths in the instruction."""
        return naming.paths(self.instruction, self.home)

    @cached_property
    def there(self) -> frozenset[str]:
        return frozenset(e.path for e in self.entries if not e.removed)

    @cached_property
    def directories(self) -> frozenset[str]:
        above = (str(p) for path in self.there for p in PurePosixPath(path).parents)
        return frozenset({*above, self.workdir, *self.folders, self.home})

    def holds(self, path: str) -> bool:
        """Whether the task adds a file with this path; or, for a relative one, a file that ends so
        where the instruction sends the agent: to its own folders, or to one that is named."""
        if path.startswith("/"):
            return path in self.there
        return any(
            known.endswith(f"/{path}") and "/." not in known
            for known in self.there
            if any(known.startswith(f"{folder}/") for folder in self.visited)
        )

    @cached_property
    def visited(self) -> tuple[str, ...]:
        """Places where the instruction sends the agent: its own folders, and what is named."""
        return (*self.folders, *self.named)

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        """Files that the instruction asks for, below the folders that carry over."""
        named = naming.outputs(
            self.instruction, self.home, self.workdir, self.holds, self.directories.__contains__
        )
        absent = [p for p in self.absent if PurePosixPath(p).name in self.instruction]
        wanted = dict.fromkeys([*named, *absent])
        mine = [p for p in wanted if any(p.startswith(f"{f}/") for f in self.folders)]
        return tuple(p for p in mine if not naming.is_folder(p, self.instruction, tuple(mine)))

    @cached_property
    def changed(self) -> tuple[str, ...]:
        """Files of the agent's that the instruction names and the image holds: inputs, or work."""
        named = set(self.named)
        names = {name for name, _ in naming.relative(self.instruction)}
        return tuple(
            e.path
            for e in self.entries
            if e.own
            and not e.removed
            and (e.path in named or any(e.path.endswith(f"/{name}") for name in names))
        )

    @cached_property
    def programs(self) -> tuple[str, ...]:
        """Those of the outputs that are programs, and programs that are there to be mended."""
        mended = [p for p in self.changed if PurePosixPath(p).suffix in naming.PROGRAM_ENDINGS]
        asked = [p for p in self.outputs if naming.is_program(p, self.instruction)]
        return (*asked, *mended)

    @cached_property
    def data(self) -> tuple[str, ...]:
        """Those of the outputs that are no programs."""
        return tuple(p for p in self.outputs if p not in self.programs)

    def told(self, path: str) -> bool:
        """Whether the instruction names a file: by its path, its name, or a folder above it.

        The name of an output is its own: another file that is called so is not meant.
        """
        name = PurePosixPath(path).name
        if path == ENVIRONMENT:
            return False
        if name in self._own_names:
            return path in self.named or path in self.outputs
        return name in self.instruction or any(
            path.startswith(f"{folder}/") for folder in self.named if folder not in self.folders
        )

    @cached_property
    def _own_names(self) -> frozenset[str]:
        return frozenset(PurePosixPath(path).name for path in self.outputs)


def target_of(task: BuiltTask, blobs: Blobs, noise: float) -> Target:
    """What can be seen of a built task."""
    draft, maker = task.draft, task.draft.foreign
    listed = json.loads(blobs.get(task.image.entries))
    known = {file.sha256: file.data for file in dockerfile.context(draft).values()}
    if task.image.extra:
        known |= _extra(blobs.get(task.image.extra))
    now = {entry["path"]: entry for entry in listed if entry["kind"] == "f"}
    entries = [
        Entry(path, known.get(entry["sha256"], b""), entry["mode"], _own(path, draft.outputs))
        for path, entry in now.items()
    ]
    entries += [
        Entry(f"/{path}", file.data, file.mode, _own(f"/{path}", draft.outputs), removed=True)
        for path, file in draft.environment.files.items()
        if not path.startswith(f"{foreign.WHEELS}/")
        and (f"/{path}" not in now or now[f"/{path}"]["sha256"] != file.sha256)
    ]
    if maker and (variables := maker.env + maker.agent_env):
        data = "".join(f"{name}={value}\0" for name, value in variables).encode()
        entries.append(Entry(ENVIRONMENT, data, 0o400, own=False))
    return Target(
        instruction=draft.instruction,
        workdir=draft.workdir,
        folders=draft.outputs,
        entries=tuple(sorted(entries, key=lambda e: (e.path, e.removed))),
        absent=draft.initial.absent,
        baseline=task.baseline,
        noise=noise,
        home=dict(maker.agent_env).get("HOME", HOME) if maker else HOME,
        verifier="tests/test.sh" if maker else "tests/check.py",
        together=maker is not None and maker.grading == "shared",
    )


def _own(path: str, folders: tuple[str, ...]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)


def _extra(data: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        streams = {m.name: archive.extractfile(m) for m in archive if m.isreg()}
    return {name: stream.read() for name, stream in streams.items() if stream}
