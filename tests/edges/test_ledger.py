"""The ledger: what is executed once, what is never recorded, and what damage is told."""

import asyncio
import multiprocessing
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from envgen.digest import digest
from envgen.errors import Fault, HostDiskFull, Misconfigured
from envgen.ledger import Blobs, Ledger, Use, key_of
from envgen.records import BaseImage, BaseRecipe, Job, JobResult, Record

USE = Use("task-1", "noop")
Do = Callable[[Awaitable[Any]], Any]


def job(name: str = "x") -> Job:
    return Job(image=f"sha256:{name}", image_ref="ref", command=("true",))


class Edge:
    """Counts its calls; answers with `output`, or raises."""

    def __init__(self, output: str = "seen", error: BaseException | None = None) -> None:
        self.output, self.error, self.calls = output, error, 0

    async def __call__(self) -> JobResult:
        self.calls += 1
        await asyncio.sleep(0.01)
        if self.error is not None:
            raise self.error
        return JobResult(status="done", exit_code=0, output=self.output)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    made = Ledger(tmp_path / "run")
    yield made
    made.close()


def rows(ledger: Ledger, table: str = "effects") -> int:
    return int(ledger._db.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0])


def ask(ledger: Ledger, edge: Edge, request: Record | None = None, use: Use = USE) -> Any:
    return ledger.once("job", request or job(), edge, use, JobResult)


def test_the_same_request_is_executed_once(ledger: Ledger, do: Do) -> None:
    edge = Edge()
    key, made = do(ask(ledger, edge))
    again = do(ask(ledger, edge))
    assert edge.calls == 1
    assert again == (key, made)
    assert key == key_of("job", job())
    assert (ledger.made, ledger.recalled) == (1, 1)


def test_kind_and_request_make_the_key(ledger: Ledger) -> None:
    assert len({key_of("job", job()), key_of("image", job()), key_of("job", job("y"))}) == 3
    assert key_of("job", job()) == digest(["job", job().digest])


def test_keys_are_equal_across_processes() -> None:
    script = (
        "from envgen.ledger import key_of; from envgen.records import Job; "
        "print(key_of('job', Job(image='sha256:x', image_ref='r', command=('true',))))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", script],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout.strip()
        for seed in ("0", "99")
    }
    assert found == {key_of("job", job())}


def test_a_second_process_recalls(ledger: Ledger, tmp_path: Path, do: Do) -> None:
    do(ask(ledger, Edge("first")))
    other = Ledger(tmp_path / "run")
    edge = Edge("second")
    _, recalled = do(ask(other, edge))
    other.close()
    assert (edge.calls, recalled.output) == (0, "first")


def test_fifty_tasks_that_ask_at_once_share_one_call(ledger: Ledger, do: Do) -> None:
    edge = Edge()

    async def crowd() -> list[Any]:
        return await asyncio.gather(
            *(ask(ledger, edge, use=Use(f"task-{n}", "noop")) for n in range(50))
        )

    found = do(crowd())
    assert edge.calls == 1
    assert len({result for _, result in found}) == 1
    assert (ledger.made, ledger.recalled) == (1, 49)
    assert rows(ledger) == 1
    assert rows(ledger, "uses") == 50


@pytest.mark.parametrize(
    "error", [HostDiskFull("full"), Fault("build:failed", "no"), RuntimeError("bug")]
)
def test_trouble_reaches_everyone_who_waits_and_leaves_nothing(
    ledger: Ledger, do: Do, error: Exception
) -> None:
    edge = Edge(error=error)

    async def crowd() -> list[Any]:
        return await asyncio.gather(*(ask(ledger, edge) for _ in range(5)), return_exceptions=True)

    assert do(crowd()) == [error] * 5
    assert edge.calls == 1
    assert (rows(ledger), rows(ledger, "uses")) == (0, 0)
    assert do(ask(ledger, Edge("later")))[1].output == "later"


def test_a_cancelled_call_leaves_nothing_and_can_be_asked_again(ledger: Ledger, do: Do) -> None:
    async def cancelled() -> None:
        task = asyncio.create_task(ask(ledger, Edge()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    do(cancelled())
    assert rows(ledger) == 0
    assert do(ask(ledger, Edge()))[1].output == "seen"


def test_one_who_waits_may_leave_without_disturbing_the_call(ledger: Ledger, do: Do) -> None:
    edge = Edge()

    async def scene() -> JobResult:
        first = asyncio.create_task(ask(ledger, edge))
        await asyncio.sleep(0)
        second = asyncio.create_task(ask(ledger, edge))
        await asyncio.sleep(0)
        second.cancel()
        return (await first)[1]

    assert do(scene()).output == "seen"
    assert rows(ledger) == 1


def test_receipts_say_what_was_asked_and_what_came_back(ledger: Ledger, do: Do) -> None:
    key, _ = do(ask(ledger, Edge()))
    found = ledger.show(key[:20])
    assert found is not None
    kind, request, response, seconds, made_at = found
    assert kind == "job"
    assert '"command":["true"]' in request and "image_ref" not in request
    assert '"output":"seen"' in response
    assert 0.009 < seconds < 5
    assert time.strptime(made_at, "%Y-%m-%dT%H:%M:%SZ").tm_year >= 2024
    assert ledger.seconds([key, "sha256:unknown"]) == seconds
    assert ledger.show("sha256:") == found
    assert ledger.show("sha256:zz") is None
    assert ledger.knows(key)


def test_summary_counts_an_effect_once_for_each_step(ledger: Ledger, do: Do) -> None:
    for use in (USE, USE, Use("task-2", "noop"), Use("task-1", "leak")):
        do(ask(ledger, Edge(), use=use))
    assert [(kind, step, n) for kind, step, n, _ in ledger.summary()] == [
        ("job", "leak", 1),
        ("job", "noop", 1),
    ]


@pytest.mark.parametrize(
    ("what", "left"),
    [
        ({"step": "noop"}, ["1-lint"]),
        ({"task": "2"}, ["1-lint", "1-noop"]),
        ({"step": "noop", "task": "1"}, ["1-lint", "2-noop"]),
        ({"step": "none"}, ["1-lint", "1-noop", "2-noop"]),
    ],
)
def test_forget(ledger: Ledger, do: Do, what: dict[str, str], left: list[str]) -> None:
    names = ["1-lint", "1-noop", "2-noop"]
    for name in names:
        do(ask(ledger, Edge(), job(name), Use(*name.split("-"))))
    assert ledger.forget(**what) == 3 - len(left)
    assert [name for name in names if ledger.knows(key_of("job", job(name)))] == left
    assert rows(ledger, "uses") == len(left)
    edge = Edge()
    do(ask(ledger, edge, job("2-noop"), Use("2", "noop")))
    assert edge.calls == (0 if "2-noop" in left else 1)


def test_drop_forgets_one_effect(ledger: Ledger, do: Do) -> None:
    key, _ = do(ask(ledger, Edge()))
    ledger.drop(key)
    assert not ledger.knows(key)


def test_merging_adds_what_is_new_and_keeps_what_is_there(
    ledger: Ledger, tmp_path: Path, do: Do
) -> None:
    other = Ledger(tmp_path / "other")
    do(ask(ledger, Edge("mine"), job("both")))
    do(ask(other, Edge("theirs"), job("both"), Use("task-2", "noop")))
    do(ask(other, Edge("theirs"), job("new")))
    blob = other.blobs.put(b"captured")
    assert ledger.merge(other) == 1
    assert ledger.merge(other) == 0
    other.close()
    assert do(ask(ledger, Edge(), job("both")))[1].output == "mine"
    assert do(ask(ledger, Edge(), job("new")))[1].output == "theirs"
    assert ledger.blobs.get(blob) == b"captured"
    assert rows(ledger, "uses") == 3


# -- damage ------------------------------------------------------------------------------------


def test_a_ledger_of_a_newer_envgen_is_refused(tmp_path: Path) -> None:
    Ledger(tmp_path).close()
    with sqlite3.connect(tmp_path / "ledger.sqlite") as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(Misconfigured, match=r"newer envgen \(schema 99, this one knows 2\)"):
        Ledger(tmp_path)


@pytest.mark.parametrize(
    "content", [b"not a database, but long enough to be read" * 9, b"\0" * 999]
)
def test_a_file_that_is_no_ledger_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "ledger.sqlite").write_bytes(content)
    with pytest.raises(Misconfigured, match=r"ledger.sqlite is not a readable ledger .*move it"):
        Ledger(tmp_path)


@pytest.mark.parametrize("first", [100, 4096])
def test_pages_written_over_are_named(tmp_path: Path, do: Do, first: int) -> None:
    """In the first page it is seen at once; further in, when something is asked."""
    made = Ledger(tmp_path)
    for number in range(40):
        do(ask(made, Edge("x" * 200), job(str(number))))
    made.close()
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(path.read_bytes()[:first].ljust(path.stat().st_size, b"\xff"))
    with (
        pytest.raises(Misconfigured, match="is not a readable ledger"),
        closing(Ledger(tmp_path)) as damaged,
    ):
        do(ask(damaged, Edge()))


def test_blobs_are_kept_once_and_named_by_content(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path / "blobs")
    names = {blobs.put(b"data") for _ in range(3)}
    assert names == {"sha256:3a6eb0790f39ac87c94f3856b2dd2c5d110e6811602261a9a923d3bb23adc8b7"}
    (path,) = (p for p in blobs.folder.rglob("*") if p.is_file())
    assert path.relative_to(blobs.folder).as_posix() == (
        "3a/6eb0790f39ac87c94f3856b2dd2c5d110e6811602261a9a923d3bb23adc8b7"
    )
    assert blobs.get(names.pop()) == b"data"


def test_a_torn_blob_is_swept_by_who_holds_the_run(tmp_path: Path) -> None:
    half = tmp_path / ".torn-abc"
    half.write_bytes(b"half")
    blobs = Blobs(tmp_path)  # somebody reads, while a run may be writing
    assert half.exists()
    blobs.sweep()
    assert list(tmp_path.iterdir()) == []


def test_a_missing_or_changed_blob_is_named(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    name = blobs.put(b"data")
    path = next(p for p in tmp_path.rglob("*") if p.is_file())
    path.write_bytes(b"dato")
    with pytest.raises(Misconfigured, match=f"blob {name} .* was changed"):
        blobs.get(name)
    path.unlink()
    with pytest.raises(Misconfigured, match=f"blob {name} is missing"):
        blobs.get(name)


# -- many writers ------------------------------------------------------------------------------


def _writer(folder: str, first: int) -> None:
    async def work() -> None:
        ledger = Ledger(Path(folder))
        for number in range(first, first + 30):
            await ledger.once("job", job(str(number)), Edge(str(number)), USE, JobResult)
            ledger.blobs.put(str(number).encode())
        ledger.close()

    asyncio.run(work())


def test_two_processes_may_write_into_one_ledger(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_writer, args=(str(tmp_path), first)) for first in (0, 15)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0, 0]
    ledger = Ledger(tmp_path)
    assert rows(ledger) == 45
    assert [p for p in tmp_path.rglob(".torn-*")] == []
    ledger.close()


def test_bases_are_answered_with_their_recipe(ledger: Ledger, do: Do) -> None:
    """Any record may be a response: it comes back as the class that was asked for."""
    recipe = BaseRecipe(name="x", lines="RUN true\n")
    image = BaseImage(recipe=recipe, content="c", ref="r", lock="l")

    async def made() -> BaseImage:
        return image

    for _ in range(2):
        assert do(ledger.once("base", recipe, made, USE, BaseImage))[1] == image
