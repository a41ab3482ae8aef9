"""A small built task on an engine that pays for submissions as a test wants it to."""

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from envgen.audit.target import Target, target_of
from envgen.config import load
from envgen.files import FileTree
from envgen.kit import Bases, Kit
from envgen.ledger import Ledger
from envgen.pipeline import proven
from envgen.records import BuiltTask, Image, ImageRequest, Job, JobResult, TaskDraft
from envgen.sandbox import Recorded
from envgen.sandbox.archive import STAGING, packed
from envgen.sandbox.scripted import Scripted, verdict

Pays = Callable[[FileTree | None, dict[str, bytes]], float]
"""(the submission, or None for outputs that no submission made; the outputs) -> reward."""
OUTPUTS = {
    "/home/agent/count.txt": b"17\n",
    "/home/agent/rows.csv": b"id,value\na,1\nb,2\nc,3\nd,4\n",
    "/home/agent/facts.json": b'{"most": 4, "least": 1}\n',
    "/home/agent/notes.md": b"thinking\n",
}
INSTRUCTION = """\
`~/orders.csv` holds the orders. Write three files: `~/count.txt`, `rows.csv` with the header
`id,value` and 4 rows, and `~/facts.json` with the keys `most` (at most 250) and `least`.
Python 3 and jq are installed.
"""


def tarred(files: dict[str, bytes]) -> bytes:
    entries = []
    for path, data in sorted(files.items()):
        entry = tarfile.TarInfo(f"{STAGING}{path}")
        entry.size, entry.mode, entry.uid, entry.gid = len(data), 0o644, 1000, 1000
        entries.append((entry, data))
    return packed(entries)


def untarred(data: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        streams = {m.name[len(STAGING) :]: archive.extractfile(m) for m in archive}
    return {name: stream.read() for name, stream in streams.items() if stream}


class Paying(Scripted):
    """Solves by leaving what the submission is, and pays as it is told."""

    def __init__(
        self,
        blobs: Any,
        pays: Pays,
        is_reference: Callable[[FileTree], bool] = lambda tree: "reference" in tree,
    ) -> None:
        self.pays, self.is_reference = pays, is_reference
        self.trees: dict[str, FileTree] = {}
        super().__init__(blobs, self.answer)

    async def build(self, request: ImageRequest) -> Image:
        """Lists what is added by the paths of the image, as real engines do."""
        image = await super().build(request)
        listed = json.loads(self.blobs.get(image.entries))
        for entry in listed:
            top, _, path = entry["path"].partition("/")
            entry["path"] = f"/{path}" if top == "root" else f"/home/agent/{path}"
        entries = self.blobs.put(json.dumps(listed).encode())
        return image.model_copy(update={"entries": entries})

    def answer(self, job: Job) -> JobResult:
        puts = {put.target: put.tree for put in job.puts}
        if "/solution" in puts:
            tree = puts["/solution"]
            files = OUTPUTS if self.is_reference(tree) else _left(tree)
            if len(puts) > 1:  # the task's files are empty
                files = files | {"/home/agent/.blind": b"1"}
            captured = self.blobs.put(tarred(files))
            self.trees[captured] = tree
            return JobResult(status="done", exit_code=0, output="", captured=captured)
        if job.capture:  # the clock
            data = tarred({"/out/clock.so": b"so"})
            return JobResult(status="done", exit_code=0, output="", captured=self.blobs.put(data))
        if not job.collect:
            return JobResult(status="done", exit_code=0, output="")
        reward = 0.0
        if job.restore:
            outputs = untarred(self.blobs.get(job.restore))
            reward = self.pays(self.trees.get(job.restore), outputs)
        return JobResult(status="done", exit_code=0, output="", collected=verdict(reward))


def _left(tree: FileTree) -> dict[str, bytes]:
    """What a submission leaves: its digest; of some, what their comments promise."""
    script = tree["solve.sh"].data.decode()
    facts = "/home/agent/facts.json"
    if "# as the reference" in script or "# leaves" in script:
        return OUTPUTS
    if "# reformatted" in script:
        return OUTPUTS | {facts: b'{"least": 1, "most": 4}'}
    return {"/home/agent/.tree": tree.digest.encode()}


def strict(tree: FileTree | None, outputs: dict[str, bytes]) -> float:
    """Pays for the right answers alone."""
    wanted = {k: v for k, v in OUTPUTS.items() if not k.endswith("notes.md")}
    return float(all(_read(p, outputs.get(p)) == _read(p, data) for p, data in wanted.items()))


def to_the_byte(tree: FileTree | None, outputs: dict[str, bytes]) -> float:
    """The same, and JSON has to be written as the reference does."""
    facts = "/home/agent/facts.json"
    return strict(tree, outputs) * (outputs.get(facts) == OUTPUTS[facts])


def _read(path: str, data: bytes | None) -> object:
    try:
        return json.loads(data or b"") if path.endswith(".json") else data
    except ValueError:
        return data


@pytest.fixture
def draft(golden: TaskDraft) -> TaskDraft:
    """A task with data outputs."""
    return golden.model_copy(
        update={
            "instruction": INSTRUCTION,
            "author": "imports/test",
            "environment": golden.environment.model_copy(
                update={
                    "files": FileTree({"home/agent/orders.csv": "id,value\na,1\nb,2\n"}),
                    "setup": (),
                }
            ),
            "solution": FileTree({"solve.sh": "true\n", "reference": "x"}),
            "workdir": "/home/agent",
            "outputs": ("/home/agent",),
            "hide": (),
            "secrets": (),
        }
    )


@pytest.fixture
def paying(tmp_path: Path) -> Callable[..., Kit]:
    """`paying(pays, *settings)`: a kit whose engine pays so."""

    def made(pays: Pays, *sets: str) -> Kit:
        ledger = Ledger(tmp_path / "run")
        engine = Paying(ledger.blobs, pays)
        return Kit(load(None, list(sets)), Recorded(engine, ledger), Bases(engine))

    return made


@pytest.fixture
def built(do: Any) -> Callable[[TaskDraft, Kit], BuiltTask]:
    def make(draft: TaskDraft, kit: Kit) -> BuiltTask:
        task = do(proven(draft, kit))
        assert isinstance(task, BuiltTask), task
        return task

    return make


@pytest.fixture
def target(draft: TaskDraft, paying: Callable[..., Kit], built: Any) -> Target:
    kit = paying(strict)
    return target_of(built(draft, kit), kit.sandbox.blobs, 0.1)
