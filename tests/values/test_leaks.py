"""The leak scan: what of the hidden side is found, in which disguise, and where."""

import base64
import bz2
import gzip
import io
import json
import lzma
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envgen.files import FileTree
from envgen.grade import verifier_kit
from envgen.leaks import _views, leaks
from envgen.ledger import Blobs
from envgen.records import Environment, Image, TaskDraft

SECRET = "wisteria-4471"
LINE = "hidden line of the tests that is long enough to tell"


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path / "blobs")


def image(blobs: Blobs, made: dict[str, bytes] | None = None, config: str = "{}") -> Image:
    """An image whose set-up made these files, as `sandbox/images.py` describes it."""
    files = FileTree({path.strip("/"): data for path, data in (made or {}).items()})
    stored = {file.sha256: file.data for file in files.values()}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for sha, data in sorted(stored.items()):
            member = tarfile.TarInfo(sha)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    entries = [{"kind": "f", "path": f"/{p}", "sha256": f.sha256} for p, f in files.items()]
    entries.append({"kind": "d", "path": "/x"})
    return Image(
        content="c", layers="l", ref="r", engine_id="e", bytes_added=0, config=config,
        entries=blobs.put(json.dumps(entries).encode()), extra=blobs.put(out.getvalue()),
    )  # fmt: skip


def context(draft: TaskDraft, path: str, data: bytes) -> TaskDraft:
    return draft.model_copy(
        update={"environment": Environment(base="data_querying", files=FileTree({path: data}))}
    )


def zipped(data: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as folder:
        folder.writestr(zipfile.ZipInfo("inner"), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def test_a_sound_task_leaks_nothing(golden: TaskDraft, blobs: Blobs) -> None:
    assert leaks(golden, image(blobs, {"/home/agent/logs/first": b"it's fine\n"}), blobs) == []


DISGUISES = {
    "as it is": SECRET.encode(),
    "inside other text": f"x{SECRET}y".encode(),
    "hex": SECRET.encode().hex().encode(),
    "reversed": SECRET[::-1].encode(),
    "base64": base64.b64encode(SECRET.encode()),
    "base64, shifted by one": base64.b64encode(b"x" + SECRET.encode() + b"yz"),
    "base64, shifted by two": base64.b64encode(b"xy" + SECRET.encode()),
    "gzip": gzip.compress(SECRET.encode(), mtime=0),
    "bzip2": bz2.compress(SECRET.encode()),
    "xz": lzma.compress(SECRET.encode()),
    "zip": zipped(SECRET.encode()),
}


@pytest.mark.parametrize("data", DISGUISES.values(), ids=DISGUISES)
def test_a_secret_is_found(golden: TaskDraft, blobs: Blobs, data: bytes) -> None:
    where = "build context own0/x"
    found = leaks(context(golden, "home/agent/x", data), image(blobs), blobs)
    assert set(found) == {f"{where} holds a secret"}
    found = leaks(golden, image(blobs, {"/opt/made": data}), blobs)
    assert set(found) == {"/opt/made holds a secret"}


def test_a_secret_in_the_history_is_found(golden: TaskDraft, blobs: Blobs) -> None:
    found = leaks(golden, image(blobs, config=f'{{"history": ["echo {SECRET}"]}}'), blobs)
    assert found == ["the image's configuration holds a secret"]


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress, zipped])
def test_a_line_of_the_tests_is_found(golden: TaskDraft, blobs: Blobs, pack: type) -> None:
    data = pack(f"before\n   {LINE}  \nafter\n".encode())
    assert leaks(golden, image(blobs, {"/opt/made": data}), blobs) == [
        "/opt/made holds a line of tests/data/more.txt"
    ]


def test_a_whole_file_is_found_by_its_hash(golden: TaskDraft, blobs: Blobs) -> None:
    whole = golden.solution["solve.sh"].data
    found = leaks(golden, image(blobs, {"/opt/made": whole}), blobs)
    assert "/opt/made is solution/solve.sh" in found
    found = leaks(context(golden, "srv/a/copy", whole), image(blobs), blobs)
    assert "build context root/srv/a/copy is solution/solve.sh" in found


def test_what_everybody_may_know_is_no_leak(golden: TaskDraft, blobs: Blobs) -> None:
    public = "This very long line stands in the instruction as well as in the tests."
    kit = max(verifier_kit()["verifiers/process.py"].data.split(b"\n"), key=len)
    draft = golden.model_copy(
        update={
            "instruction": f"{public}\n",
            "tests": FileTree({"check.py": f"{public}\n".encode() + kit + b"\nimport json\n"}),
        }
    )
    held = f"{public}\nimport json\n".encode() + kit
    assert leaks(draft, image(blobs, {"/opt/made": held}), blobs) == []


PACKED = [
    gzip.compress(b"x" * 99, mtime=0),
    bz2.compress(b"x" * 99),
    lzma.compress(b"x"),
    zipped(b"x" * 99),
]
quiet = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)


@quiet
@given(st.data())
def test_damaged_archives_are_looked_at_raw_and_never_raise(
    golden: TaskDraft, blobs: Blobs, data: st.DataObject
) -> None:
    damaged = bytearray(data.draw(st.sampled_from(PACKED)))
    for _ in range(data.draw(st.integers(1, 3))):
        damaged[data.draw(st.integers(4, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(damaged[: data.draw(st.integers(4, len(damaged)))])
    assert leaks(context(golden, "srv/a/x", cut), image(blobs), blobs) == []


def test_no_more_is_unpacked_of_a_bomb_than_the_limit(golden: TaskDraft, blobs: Blobs) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as folder:
        for number in range(24):
            folder.writestr(str(number), b"\0" * (2 << 20))
    packed = [gzip.compress(b"\0" * (40 << 20), 1), out.getvalue()]
    for bomb in packed:
        assert sum(map(len, _views(bomb))) == len(bomb) + (32 << 20)
    assert leaks(context(golden, "srv/a/bomb.zip", packed[1]), image(blobs), blobs) == []


def test_programs_share_idioms_but_not_four_lines(golden: TaskDraft, blobs: Blobs) -> None:
    lines = [f"with socket.create_server(('127.0.0.1', {n})) as server:" for n in range(4)]
    tests = FileTree({**golden.tests, "helper.py": "\n".join(lines)})
    draft = golden.model_copy(update={"tests": tests})
    shared = {
        n: image(blobs, {"/opt/made": "\n".join(lines[:n]).encode() + b"\n#"}) for n in (3, 4)
    }
    assert leaks(draft, shared[3], blobs) == []
    assert leaks(draft, shared[4], blobs) == ["/opt/made holds a line of tests/helper.py"]
