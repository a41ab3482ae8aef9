"""What an image is said to add is what its layers hold, as `docker save` hands them out."""

import hashlib
import io
import json
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from envgen import dockerfile
from envgen.files import File, FileTree
from envgen.grade import build_image
from envgen.records import Environment, Image, TaskDraft
from tests.box.conftest import USE, Bench, draft_of
from tests.conftest import opened

pytestmark = pytest.mark.box

FILES: dict[str, File | str] = {
    "home/agent/numbers.txt": "1\n2\n",
    "home/agent/tools/run.sh": File(b"#!/bin/sh\necho run\n", 0o755),
    "home/agent/tools/private.key": File(b"not for everybody\n", 0o600),
    "home/agent/gone/soon.txt": "deleted by set-up\n",
    "home/agent/kept/twin.txt": "deleted by set-up, and here as well\n",
    "home/agent/gone/twin.txt": "deleted by set-up, and here as well\n",
    "home/agent/naïve café.txt": "a name that is not ASCII\n",
    "opt/app/settings.conf": "colour = blue\n",
    "srv/site/index.html": "<p>hello\n",
    "var/lib/app/state.db": "\0\1\2",
}
SETUP = (
    "rm -r gone",
    "printf made > made.txt",
    "chmod 640 numbers.txt",
    "echo 3 >> numbers.txt",
    "mkdir -p deep/er && mv tools/run.sh deep/er/",
    "ln -s ../numbers.txt deep/link && ln -s /etc/passwd away",
    "ln made.txt twice.txt",
    "mkfifo pipe",
    "chmod 700 kept",
    ": > empty",
    "printf left > /tmp/left && mkdir /var/tmp/d",
    "printf '\\377' > \"$(printf 'bad\\377')\"",
)
DRAFTS: dict[str, TaskDraft] = {
    "files and set-up": draft_of(
        environment=Environment(base="data_querying", files=FileTree(FILES), setup=SETUP)
    ),
    "a folder of its own": draft_of(
        workdir="/srv/work",
        outputs=("/srv/work", "/home/agent/out"),
        environment=Environment(
            base="data_querying",
            files=FileTree({"srv/work/a": "a", "home/agent/out/b": "b", "home/agent/c": "c"}),
            setup=("rm a", "touch /home/agent/out/d"),
        ),
    ),
}
Entry = dict[str, Any]


@pytest.fixture(params=DRAFTS.values(), ids=DRAFTS.keys(), scope="module")
def built(request: pytest.FixtureRequest, bench: Bench) -> tuple[TaskDraft, Image]:
    draft: TaskDraft = request.param
    return draft, bench.image(draft)


@pytest.fixture(scope="module")
def layers(built: tuple[TaskDraft, Image], bench: Bench, tmp_path_factory: Any) -> list[list[Any]]:
    """(member, content) of every entry of each layer that the task adds over its base."""
    docker = bench.kit.sandbox.engine.client
    base = bench.do(bench.kit.bases.get("data_querying"))
    below = len(docker.images.get(base.ref).attrs["RootFS"]["Layers"])
    archive = tmp_path_factory.mktemp("save") / "image.tar"
    with archive.open("wb") as file:
        for chunk in docker.images.get(built[1].ref).save(chunk_size=1 << 20):
            file.write(chunk)
    with tarfile.open(archive) as image:
        names = json.loads(read(image, "manifest.json"))[0]["Layers"]
        found = [list(members(read(image, name))) for name in names[below:]]
    archive.unlink()
    return found


def read(archive: tarfile.TarFile, name: str) -> bytes:
    stream = archive.extractfile(name)
    assert stream is not None
    return stream.read()


def members(layer: bytes) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    with tarfile.open(fileobj=io.BytesIO(layer), errors="surrogateescape") as archive:
        for member in archive:
            stream = archive.extractfile(member) if member.isreg() or member.islnk() else None
            yield member, stream.read() if stream else b""


def overlaid(layers: list[list[Any]]) -> tuple[dict[str, Entry], set[str]]:
    """The layers as one: entries by path, and paths of the base that are gone."""
    found: dict[str, Entry] = {}
    gone: set[str] = set()
    for layer in layers:
        for member, content in layer:
            # Bytes that are no UTF-8 are told as escapes.
            named = member.name.encode(errors="surrogateescape").decode(errors="backslashreplace")
            folder, _, name = f"/{named.strip('/')}".rpartition("/")
            if name.startswith(".wh."):
                path = f"{folder}/{name[4:]}"
                held = [p for p in found if p == path or p.startswith(f"{path}/")]
                gone |= set() if held else {path}
                for old in held:
                    del found[old]
            else:
                found[f"{folder}/{name}"] = entry_of(member, content)
    return found, gone


def entry_of(member: tarfile.TarInfo, content: bytes) -> Entry:
    kind = "l" if member.issym() else "d" if member.isdir() else "o" if member.isfifo() else "f"
    entry = {"kind": kind, "mode": member.mode & 0o7777, "uid": member.uid, "gid": member.gid}
    if kind == "f":
        entry |= {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    return entry | ({"target": member.linkname} if kind == "l" else {})


def test_entries_are_what_the_layers_hold(
    built: tuple[TaskDraft, Image], layers: list[list[Any]], bench: Bench
) -> None:
    _, image = built
    said = {e["path"]: e for e in json.loads(bench.kit.sandbox.blobs.get(image.entries))}
    held, gone = overlaid(layers)
    assert {p for p, e in said.items() if e["kind"] == "gone"} == gone
    told = {
        path: {k: v for k, v in entry.items() if k != "path"}
        for path, entry in said.items()
        if entry["kind"] != "gone"
    }
    folders = {path for path, entry in held.items() if entry["kind"] == "d"}
    assert {p: e for p, e in told.items() if p not in folders} == {
        p: e for p, e in held.items() if p not in folders
    }
    # A layer names every folder on the way; told are those that the base does not have so.
    assert {p: e for p, e in told.items() if p in folders} == {
        p: held[p] for p in folders & told.keys()
    }
    assert {"/home", "/var", "/tmp"}.isdisjoint(told)


def test_every_content_of_every_layer_is_scanned(
    built: tuple[TaskDraft, Image], layers: list[list[Any]], bench: Bench
) -> None:
    draft, image = built
    scanned = {file.sha256 for file in dockerfile.context(draft).values()}
    if image.extra:
        with tarfile.open(fileobj=io.BytesIO(bench.kit.sandbox.blobs.get(image.extra))) as extra:
            scanned |= {member.name for member in extra}
    held = {
        hashlib.sha256(content).hexdigest()
        for layer in layers
        for member, content in layer
        if (member.isreg() or member.islnk()) and "/.wh." not in f"/{member.name}"
    }
    assert len(held) >= len(set(draft.environment.files.values())) - 1
    assert held - scanned == set()


def test_bytes_added_are_those_at_the_end(
    built: tuple[TaskDraft, Image], layers: list[list[Any]]
) -> None:
    held, _ = overlaid(layers)
    assert built[1].bytes_added == sum(entry.get("size", 0) for entry in held.values())


def test_a_rebuild_has_the_same_content(
    tmp_path: Path, bench: Bench, do: Callable[..., Any]
) -> None:
    draft = DRAFTS["files and set-up"]
    first = bench.image(draft)
    for kit in opened(tmp_path / "run", do, rebuild=True):
        _, again, _ = do(build_image(draft, kit, USE))
    assert again.engine_id != first.engine_id
    assert (again.layers, again.content) == (first.layers, first.content)
    assert (again.entries, again.extra, again.config) == (first.entries, first.extra, first.config)
