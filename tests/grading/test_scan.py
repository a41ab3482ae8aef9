"""The filesystem scanner, run as a script of its own, as in a container."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "envgen" / "sandbox" / "scan.py"
pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="no scan.py in this tree")


def scan(*arguments: str | Path, code: int = 0) -> dict[str, Any]:
    command = [sys.executable, "-I", "-B", str(SCRIPT), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (code, b"")
    document = json.loads(done.stdout)
    assert isinstance(document, dict)
    return document


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def root(place: Path) -> Path:
    folder = place / "root"
    for name in ("etc", "usr", "proc", "tests", "logs", ".scan"):
        (folder / name).mkdir(parents=True)
    for name in ("etc/hosts", "etc/keep", "etc/edit", "etc/gone", "proc/1", "tests/x", "logs/x"):
        (folder / name).write_text(name)
    (folder / "usr" / "link").symlink_to("old")
    return folder


def diff(root: Path, parent: dict[str, Any], known: list[str], limit: int, code: int = 0) -> Any:
    aside = root.parent
    (aside / "parent.json").write_text(json.dumps(parent))
    (aside / "known.json").write_text(json.dumps(known))
    return scan(
        "diff", aside / "parent.json", aside / "known.json", str(limit), aside / "out.tar", root,
        code=code,
    )  # fmt: skip


def stored(root: Path) -> dict[str, bytes]:
    with tarfile.open(root.parent / "out.tar") as tar:
        read = {one.name: tar.extractfile(one) for one in tar}
        return {name: file.read() for name, file in read.items() if file is not None}


def test_list(root: Path) -> None:
    found = scan("list", root)
    assert sorted(found) == [
        "/etc", "/etc/edit", "/etc/gone", "/etc/keep", "/usr", "/usr/link",
    ]  # fmt: skip
    info = (root / "etc" / "keep").stat()
    assert found["/etc/keep"] == [8, info.st_mtime_ns, info.st_mode & 0o7777, os.geteuid(),
                                  os.getegid(), "f"]  # fmt: skip
    assert (found["/etc"][5], found["/etc"][0], found["/usr/link"][5]) == ("d", 0, "l")


def test_diff(root: Path) -> None:
    parent = scan("list", root)
    assert diff(root, parent, [], 1000) == {"entries": {}, "removed": [], "stored": 0}
    (root / "etc" / "gone").unlink()
    (root / "etc" / "edit").write_text("changed")
    (root / "etc" / "new").write_text("known")
    (root / "etc" / "twin").write_text("changed")
    (root / "usr" / "link").unlink()
    (root / "usr" / "link").symlink_to("new")
    os.mkfifo(root / "usr" / "pipe", 0o600)
    (root / "usr").chmod(0o700)
    document = diff(root, parent, [sha(b"known")], 1000)
    assert document["removed"] == ["/etc/gone"] and document["stored"] == 1
    entries = document["entries"]
    assert sorted(entries) == [
        "/etc/edit", "/etc/new", "/etc/twin", "/usr", "/usr/link", "/usr/pipe",
    ]  # fmt: skip
    owner = {"uid": os.geteuid(), "gid": os.getegid()}
    assert entries["/etc/new"] == {
        "kind": "f", "size": 5, "mode": 0o644, "sha256": sha(b"known"), **owner,
    }  # fmt: skip
    assert entries["/usr"] == {"kind": "d", "size": 0, "mode": 0o700, **owner}
    assert entries["/usr/link"]["target"] == "new" and entries["/usr/pipe"]["kind"] == "o"
    assert stored(root) == {sha(b"changed"): b"changed"}


def test_the_tar_is_deterministic(root: Path) -> None:
    tars = []
    for moment in (1, 2):
        (root / "etc" / "new").write_text("same")
        os.utime(root / "etc" / "new", (moment, moment))
        diff(root, {}, [], 1000)
        tars.append((root.parent / "out.tar").read_bytes())
    assert tars[0] == tars[1] and b"ustar  \0" in tars[0]


def test_hostile_names_survive_the_round_trip(root: Path) -> None:
    names = [b"\xff\xfe", b"a\nb", b"\x1b[2J", b'"', b"-rf", "é".encode(), b"x" * 255]
    for name in names:
        (root / os.fsdecode(name)).write_bytes(name)
    document = diff(root, {}, [], 10_000)
    paths = [path.encode("utf-8", "surrogateescape") for path in document["entries"]]
    assert {b"/" + name for name in names} <= set(paths)
    assert set(names) <= set(stored(root).values())
    assert diff(root, scan("list", root), [], 1000)["entries"] == {}


def test_too_large_is_told_at_once(root: Path) -> None:
    with (root / "sparse").open("wb") as file:
        file.truncate(1 << 42)
    start = time.monotonic()
    assert diff(root, {}, [], 1 << 30, code=1) == {"error": "too large"}
    assert time.monotonic() - start < 5
    (root / "sparse").unlink()
    (root / "a").write_bytes(b"a" * 600)
    (root / "b").write_bytes(b"b" * 600)
    assert diff(root, {}, [], 1000, code=1) == {"error": "too large"}
    assert diff(root, {}, [sha(b"a" * 600)], 1000)["stored"] > 0


def test_pipes_devices_and_loops_hold_nothing_up(root: Path) -> None:
    os.mkfifo(root / "pipe")
    (root / "loop").symlink_to("loop")
    (root / "up").symlink_to("..")
    with contextlib.suppress(PermissionError):
        os.mknod(root / "zero", 0o600 | 0o020000, os.makedev(1, 5))
    assert set(diff(root, {}, [], 1000)["entries"]) >= {"/pipe", "/loop", "/up"}


def test_a_tree_too_deep_for_a_path_is_refused_not_skipped(root: Path) -> None:
    here = os.open(root, os.O_RDONLY)
    for _ in range(30):
        os.mkdir("d" * 200, dir_fd=here)
        below = os.open("d" * 200, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    assert scan("list", root, code=1)["error"].startswith("File name too long: /ddd")


def test_ten_thousand_files_are_fast(root: Path) -> None:
    for folder in range(100):
        (root / "usr" / str(folder)).mkdir()
        for file in range(100):
            (root / "usr" / str(folder) / str(file)).touch()
    parent = scan("list", root)
    (root.parent / "parent.json").write_text(json.dumps(parent))
    times = []
    for _ in range(3):
        start = time.monotonic()
        diff(root, parent, [], 1000)
        times.append(time.monotonic() - start)
    # Aim 0.3 s; the bound leaves room for a busy machine.
    assert len(parent) > 10_000 and min(times) < 2.0
