"""Hostile files: whatever the agent left in its folder, reading is bounded and never raises."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from verifiers import Task, files

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: another uid is the agent")
same_place = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def test_reading(task: Task, work: Path) -> None:
    (work / "a.json").write_text('{"x": [1]}')
    (work / "sub").mkdir()
    (work / "sub" / "b.txt").write_bytes(b"\xff")
    assert task.read("a.json") == b'{"x": [1]}' == task.read(str(work / "a.json"))
    assert task.read_json("a.json") == {"x": [1]} and task.why("a.json") == ""
    assert task.read("sub/b.txt") == b"\xff" == task.read("./sub//b.txt")
    assert task.read_text("sub/b.txt") is None and task.why("sub/b.txt") == "not UTF-8"
    assert task.read_json("sub") is None and task.why("sub") == "not a regular file but a folder"
    assert task.exists("sub") and task.exists("a.json") and not task.exists("c")
    assert task.listing() == ["a.json", "sub/"]
    assert task.listing(deep=True) == ["a.json", "sub/", "sub/b.txt"]
    assert task.listing("sub") == ["b.txt"] and task.listing("none") == []


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("missing", "missing"),
        ("../tests/truth.json", "a path with '..'"),
        ("/etc/passwd", "outside the outputs"),
        ("nul\0byte", "not an absolute path"),
        ("x" * 300, "File name too long"),
        ("a/" * 3000 + "b", "missing"),
        (".", "not a regular file but a folder"),
        ("", "not a regular file but a folder"),
        ("/", "outside the outputs"),
        ("\udcff\ud800", "not a valid path"),
    ],
)
def test_paths_that_give_nothing(task: Task, path: str, why: str) -> None:
    assert task.read(path) is None and task.why(path) == why
    assert task.read_text(path) is None and task.read_json(path) is None
    assert not task.exists(path) or path in ("", ".")
    assert task.readlink(path) is None


def test_links_are_never_followed(task: Task, work: Path, place: Path) -> None:
    (place / "tests").mkdir()
    (place / "tests" / "truth.json").write_text("secret")
    (work / "file").symlink_to(place / "tests" / "truth.json")
    (work / "dir").symlink_to(place / "tests")
    (work / "loop").symlink_to("loop")
    (work / "shadow").symlink_to("/etc/shadow")
    for path in ("file", "loop", "shadow"):
        assert (
            task.read(path) is None and task.why(path) == "not a regular file but a symbolic link"
        )
    assert task.read("dir/truth.json") is None and task.why("dir/truth.json") != ""
    assert task.read("loop/x/y") is None and task.listing("dir") == []
    assert not task.exists("file") and not task.exists("dir")
    assert task.readlink("file") == str(place / "tests" / "truth.json")
    assert task.listing() == ["dir", "file", "loop", "shadow"]


def test_the_folder_itself_replaced_by_a_link(place: Path, work: Path, agent_uid: int) -> None:
    (place / "other").mkdir()
    (place / "other" / "f").write_text("x")
    work.rmdir()
    work.symlink_to(place / "other")
    task = Task(str(work), agent_uid=agent_uid)
    assert task.read("f") is None and task.listing() == []


def test_a_hard_link_to_the_tests_is_no_answer(place: Path, work: Path, agent_uid: int) -> None:
    (place / "tests").mkdir()
    (place / "tests" / "truth.json").write_text("secret")
    os.link(place / "tests" / "truth.json", work / "answer")
    task = Task(str(work), agent_uid=agent_uid, tests=str(place / "tests"))
    assert task.read("answer") is None and task.why("answer") == "a hard link to the tests"


def test_pipes_sockets_and_devices(task: Task, work: Path) -> None:
    os.mkfifo(work / "pipe")
    assert task.read("pipe") is None and task.why("pipe") == "not a regular file but a named pipe"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(work / "sock"))
        assert task.read("sock") is None
    with contextlib.suppress(PermissionError):
        os.mknod(work / "zero", 0o666 | stat.S_IFCHR, os.makedev(1, 5))
        assert task.read("zero") is None and task.why("zero") == "not a regular file but a device"


def test_sizes_are_capped(task: Task, work: Path) -> None:
    with (work / "sparse").open("wb") as file:
        file.truncate(1 << 42)
    assert task.read("sparse") is None and "larger than" in task.why("sparse")
    (work / "ten").write_bytes(b"0123456789")
    assert task.read("ten", limit=9) is None and task.read("ten", limit=10) == b"0123456789"


def test_files_that_lie_about_their_size_are_capped_too(agent_uid: int) -> None:
    # /proc files claim 0 bytes and hold more.
    task = Task("/proc", agent_uid=agent_uid)
    assert task.read("filesystems", limit=5) is None
    assert task.read("filesystems") not in (None, b"")


@root_only
def test_unreadable_modes_are_read_all_the_same(task: Task, work: Path) -> None:
    (work / "shut").mkdir()
    (work / "shut" / "f").write_text("x")
    (work / "shut" / "f").chmod(0)
    (work / "shut").chmod(0)
    assert task.read("shut/f") == b"x"


def test_deep_folders_and_many_entries_are_bounded(task: Task, work: Path) -> None:
    here = os.open(work, os.O_RDONLY)
    for _ in range(1000):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    assert len(task.listing(deep=True)) == files.MAX_DEPTH
    for n in range(50):
        (work / f"f{n}").touch()
    assert task.listing(limit=50) == [] and task.why(".") == "more than 50 entries"


@same_place
@given(name=st.binary(min_size=1, max_size=40), data=st.binary(max_size=300))
def test_any_name_any_bytes(task: Task, work: Path, name: bytes, data: bytes) -> None:
    if b"/" in name or b"\0" in name or name in (b".", b".."):
        return
    path = work / os.fsdecode(name)
    path.write_bytes(data)
    try:
        assert task.read(os.fsdecode(name)) == data
        assert task.listing() == [os.fsdecode(name)]
        task.read_text(os.fsdecode(name))
        task.read_json(os.fsdecode(name))
    finally:
        path.unlink()


@same_place
@given(path=st.text(max_size=60))
def test_any_path(task: Task, path: str) -> None:
    for look in (task.read, task.read_text, task.read_json, task.stat, task.listing, task.readlink):
        look(path)
    assert isinstance(task.why(path), str)


def test_json_bombs(task: Task, work: Path) -> None:
    (work / "deep").write_text("[" * 200_000)
    assert task.read_json("deep") is None and task.why("deep") == "not JSON"


@root_only
def test_handing_over_follows_no_link(place: Path, work: Path, agent_uid: int) -> None:
    outside = place / "outside"
    outside.mkdir()
    (outside / "f").touch()
    (work / "sub").mkdir()
    (work / "sub" / "own").touch()
    (work / "out").symlink_to(outside)
    (work / "file").symlink_to(outside / "f")
    os.mkfifo(work / "pipe")
    os.link(outside / "f", work / "hard")
    os.link(work / "sub" / "own", work / "twin")
    for path in (work, work / "sub", work / "sub" / "own"):
        os.chown(path, 0, 0)
    assert files.hand_over(str(work), agent_uid, agent_uid) == files.Handover(given=6, left=1)
    owners = {
        path.name: path.lstat().st_uid for path in (work, *work.rglob("*"), outside, outside / "f")
    }
    assert owners == {
        "work": agent_uid, "sub": agent_uid, "own": agent_uid, "twin": agent_uid,
        "out": agent_uid, "file": agent_uid, "pipe": agent_uid, "hard": 0, "outside": 0, "f": 0,
    }  # fmt: skip
