"""SIGKILL at random moments, then finish: the same bytes as undisturbed, and nothing left over.

The full measurement: ENVGEN_KILL_TASKS=40 ENVGEN_KILLS=10 pytest -s tests/pipeline/test_kill.py
"""

import fcntl
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from envgen.digest import digest, short
from envgen.export import parquet

TASKS = int(os.environ.get("ENVGEN_KILL_TASKS", "6"))
KILLS = int(os.environ.get("ENVGEN_KILLS", "3"))
SEED = int(os.environ.get("ENVGEN_KILL_SEED", str(1_000_000 + os.getpid())))
"""Of specs and moments. A process's own by default: two test runs on one engine share no image."""
FAMILIES = os.environ.get("ENVGEN_KILL_FAMILIES", "[archive_recovery,ledger_reports]")
LONGEST = max(5.0, 0.35 * TASKS)
"""Seconds until a kill, at most: short enough that every kill meets a run that has work left."""

NAME = "kill"


def command(data: Path) -> list[str]:
    words = [sys.executable, "-m", "envgen.cli", "run", "--run", NAME, "--data", str(data)]
    words += ["--n", str(TASKS), "--seed", str(SEED)]
    return [*words, "--set", f"author.families={FAMILIES}"]


def finish(data: Path) -> None:
    done = subprocess.run(command(data), capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stderr


def killed(data: Path, moments: random.Random) -> list[float]:
    """Kill the run again and again; the seconds that each had."""
    lived = []
    for _ in range(KILLS):
        seconds = moments.uniform(1.0, LONGEST)
        process = subprocess.Popen(
            command(data), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        try:
            _, stderr = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            lived.append(round(seconds, 1))
        else:
            assert process.returncode == 0, stderr
    return lived


# -- what may be left --------------------------------------------------------------------------


def stale_owners() -> set[str]:
    """Lock files of processes that no longer live."""
    from envgen.sandbox import owner

    found = set()
    for path in owner._folder().iterdir():
        if path.name == "all":
            continue
        try:
            with path.open() as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            found.add(path.name)
        except (BlockingIOError, FileNotFoundError):
            continue
    return found


class Left:
    """What is on the engine and in the owners' folder that should not be."""

    def __init__(self) -> None:
        from envgen.sandbox import daemon

        self.client = daemon.connect(None)
        self.daemon = daemon
        self.before = self.dangling(), stale_owners()

    def dangling(self) -> set[str]:
        filters = {"label": self.daemon.LABEL, "dangling": True}
        return {image["Id"] for image in self.client.api.images(filters=filters)}

    def containers(self) -> list[str]:
        """Of owners that are dead."""
        from envgen.sandbox.owner import Owner

        found = self.client.api.containers(all=True, filters={"label": self.daemon.OWNER_LABEL})
        owners = [container["Labels"][self.daemon.OWNER_LABEL] for container in found]
        return [owner for owner in owners if not Owner.alive(owner)]

    def images(self, data: Path) -> dict[str, list[str]]:
        """Images of a run: id -> names."""
        run = short(digest(str((data / "runs" / NAME).resolve())), 24)
        filters = {"label": f"{self.daemon.RUN_LABEL}={run}"}
        found = self.client.api.images(filters=filters)
        return {image["Id"]: image["RepoTags"] for image in found}

    def remove(self, data: Path) -> None:
        for image in self.images(data):
            self.client.api.remove_image(image, force=True)

    def check(self, data: Path) -> None:
        """Other runs on this engine come and go, so each thing gets a moment to disappear."""
        named = {row["image_id"] for row in parquet.read(manifest(data), ["image_id"])}
        assert settled(lambda: stale_owners() - self.before[1]) == set()
        assert settled(self.containers) == []
        assert settled(lambda: self.dangling() - self.before[0]) == set()
        assert set(self.images(data)) <= named
        assert temporary(data) == []


def settled(look: Callable[[], object]) -> object:
    """What `look` finds, once it is nothing or five seconds have passed."""
    for _ in range(10):
        found = look()
        if not found:
            break
        time.sleep(0.5)
    return found


def temporary(data: Path) -> list[str]:
    """Files and folders that were to be renamed or removed."""
    return sorted(
        path.relative_to(data).as_posix()
        for path in data.rglob("*")
        if path.name.endswith((".part", "-journal"))
        or (path.name.startswith(".") and path.name != ".lock" and "tasks" not in path.parts[:-2])
        or path.name.startswith((".torn-", ".rebuild-"))
    )


def manifest(data: Path) -> Path:
    return data / "runs" / NAME / "manifest.parquet"


def written(data: Path) -> dict[str, bytes]:
    """Task folders and rejections, byte by byte."""
    folder = data / "runs" / NAME
    paths = [folder / "rejections.parquet", *(folder / "tasks").rglob("*")]
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in paths if p.is_file()}


@pytest.fixture
def left() -> Iterator[Left]:
    found = Left()
    yield found
    found.client.close()


@pytest.mark.box
def test_a_run_that_is_killed_ends_in_the_same_bytes_and_leaves_nothing(
    tmp_path: Path, left: Left, engine_passed: Callable[[Path], None]
) -> None:
    one, other = tmp_path / "killed", tmp_path / "undisturbed"
    for data in (one, other):
        engine_passed(data / "runs" / NAME)
    try:
        lived = killed(one, random.Random(SEED))
        print(f"seed {SEED}: killed after {lived} s")
        assert len(lived) == KILLS
        finish(one)
        left.check(one)
        left.remove(one)  # so that the other run builds its own
        finish(other)
        left.check(other)
        same(one, other)
    finally:
        left.remove(one)
        left.remove(other)


def same(one: Path, other: Path) -> None:
    rows, others = list(parquet.read(manifest(one))), list(parquet.read(manifest(other)))
    assert len(rows) == len(others) == TASKS
    for row, twin in zip(rows, others, strict=True):
        differing = [name for name in row if row[name] != twin[name]]
        assert differing in ([], ["image_id"])
    # The files differ in nothing but that column: with the other's ids, they are the other's.
    swapped = manifest(one).with_name("swapped.parquet")
    ids = (row | {"image_id": twin["image_id"]} for row, twin in zip(rows, others, strict=True))
    parquet.write_manifest(swapped, ids)
    assert swapped.read_bytes() == manifest(other).read_bytes()
    tables = [pq.read_table(manifest(data)).drop_columns(["image_id"]) for data in (one, other)]
    assert tables[0].equals(tables[1], check_metadata=True)
    assert written(one) == written(other)
