"""The attacks on a small task: what they carry, and that they know nothing hidden."""

import base64
import bz2
import dataclasses
import gzip
import io
import lzma
import socket
import struct
import subprocess
import sys
import tarfile
import time
import urllib.request
import zipfile
import zlib
from pathlib import Path

import pytest

from envgen.audit import naming, submissions, unpacking
from envgen.audit.probes import PROBES, copying, filling, standing_in
from envgen.audit.target import Entry, Target
from envgen.records import BuiltTask

HIDDEN = {"tests", "solution", "secrets", "truth", "draft", "task"}


def test_a_target_has_nothing_hidden() -> None:
    assert not HIDDEN & {field.name for field in dataclasses.fields(Target)}
    assert "draft" in BuiltTask.model_fields  # what a probe does not get


def test_attacks_are_the_same_each_time_and_have_a_script(target: Target) -> None:
    for probe in PROBES:
        attacks = probe.attacks(target)
        assert attacks == probe.attacks(target)
        for attack in attacks:
            assert attack.probe == probe.name
            assert attack.tree["solve.sh"].data.startswith(b"#!/bin/bash\n")


def test_data_of_the_right_form(target: Target) -> None:
    text = target.instruction
    table = submissions.shaped("/home/agent/rows.csv", text).data.decode().split("\n")
    assert table[:2] == ["id,value", "1,1"] and len(table) == 6
    facts = submissions.shaped("/home/agent/facts.json", text).data
    assert b'"most": 250.0' in facts  # the figure that the text names beside the key


PROGRAMS = {"constant": ("b\nb\n", "b\n"), "echo": ("x\ny\n", ""), "silent": ("", "")}


@pytest.mark.parametrize("ending", [".py", ".sh", ""])
@pytest.mark.parametrize("kind", PROGRAMS)
def test_stand_in_programs_run(tmp_path: Path, kind: str, ending: str) -> None:
    made = {
        "constant": submissions.constant(f"p{ending}", "b", ("told `x`",)),
        "echo": submissions.echo(f"p{ending}"),
        "silent": submissions.silent(f"p{ending}"),
    }[kind]
    program = tmp_path / f"p{ending}"
    program.write_bytes(made.data)
    start = [sys.executable] if ending == ".py" else ["bash"]
    for given, wanted in zip(("x\ny\n", ""), PROGRAMS[kind], strict=True):
        done = subprocess.run([*start, program], input=given, capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, wanted)


def packed(data: bytes) -> dict[str, bytes]:
    tar, zipped = io.BytesIO(), io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        entry = tarfile.TarInfo("a/rows.csv")
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    with zipfile.ZipFile(zipped, "w") as folder:
        folder.writestr(zipfile.ZipInfo("a/rows.csv"), data)
    return {
        "": data,
        "gzip": gzip.compress(data, mtime=0),
        "bzip2": bz2.compress(data),
        "xz": lzma.compress(data),
        "zlib": zlib.compress(b"blob %d\0" % len(data) + data),
        "base64": base64.encodebytes(data),
        "hex": data.hex().encode(),
        "pack:3": gitted(b"older\n", data),
        "env:ROWS": b"HOME=/root\0ROWS=" + data.removesuffix(b"\n") + b"\0",
        "tar:a/rows.csv": tar.getvalue(),
        "zip:a/rows.csv": zipped.getvalue(),
    }


def gitted(old: bytes, new: bytes) -> bytes:
    """A pack of two blobs, with differences to others between them."""
    first, second = (
        bytes((0x30 | len(blob) & 15 | 0x80, len(blob) >> 4)) + zlib.compress(blob)
        for blob in (old, new)
    )
    near = bytes((0x65, 0x81, 1)) + zlib.compress(b"delta")
    named = bytes((0x75, *range(20))) + zlib.compress(b"delta")
    count = struct.pack(">II", 2, 4)
    return b"PACK" + count + first + near + named + second + b"\0" * 20


ANSWER = b"id,value\na,1\nb,2\n" * 3


@pytest.mark.parametrize(("view", "data"), packed(ANSWER).items())
def test_what_is_packed_is_found(view: str, data: bytes) -> None:
    assert unpacking.views(data)[view] == ANSWER


def test_an_archive_inside_of_a_compression_is_opened_too() -> None:
    data = gzip.compress(packed(ANSWER)["tar:a/rows.csv"])
    assert unpacking.views(data)["tar:a/rows.csv"] == ANSWER


@pytest.mark.parametrize("start", [b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"PK\x03\x04", b"\x78\x9c"])
def test_bytes_that_are_not_what_they_say_are_no_trouble(start: bytes) -> None:
    assert unpacking.views(start + b"rubbish" * 9) == {"": start + b"rubbish" * 9}


@pytest.mark.parametrize("data", packed(ANSWER).values(), ids=packed(ANSWER).keys())
def test_an_answer_under_any_name_is_a_candidate_by_its_header(target: Target, data: bytes) -> None:
    lies = Entry("/var/lib/x/blob", data, 0o644, own=False)
    seen = dataclasses.replace(target, entries=(*target.entries, lies))
    first = copying.attacks(seen)[0]
    assert first.name == "copied"
    assert b'"/home/agent/rows.csv"' in first.tree["plan.json"].data
    assert first.places[0].file == "environment/var/lib/x/blob"


def test_what_only_a_layer_holds_needs_the_layers(target: Target) -> None:
    gone = Entry("/home/agent/.old/rows.csv", ANSWER, 0o644, own=True, removed=True)
    seen = dataclasses.replace(target, entries=(*target.entries, gone))
    made = copying.attacks(seen)
    assert {a.exploitability for a in made} == {"layers"}
    assert any(file.data == ANSWER for file in made[0].tree.values())


def test_inputs_are_no_leaks(target: Target) -> None:
    assert copying.attacks(target) == ()


def test_filling_has_its_parts_where_there_are_data_and_programs(target: Target) -> None:
    both = dataclasses.replace(target, instruction=f"{target.instruction} And `~/tool.py`.")
    assert [len(a.parts) for a in filling.attacks(target)] == [0, 0, 0]
    assert [len(a.parts) for a in filling.attacks(both)] == [2, 2, 2]


SERVICE = """\
Bring up the two services of `~/stack/start.sh`.

**Ports.** The gate listens on port 8386; the store on 127.0.0.1, port 7952. Bodies of up to
8192 bytes pass. The page is at `localhost:9364`.

It takes 20000 requests.
"""


def test_ports_are_read_where_the_text_speaks_of_them() -> None:
    assert naming.ports(SERVICE) == (8386, 7952, 8192, 9364)  # one too many does no harm
    assert naming.ports("Write 8080 lines to `~/out.csv`.") == ()


def test_a_stub_stands_in_for_services(target: Target) -> None:
    start = Entry("/home/agent/stack/start.sh", b"#!/bin/bash\n", 0o755, own=True)
    seen = dataclasses.replace(target, instruction=SERVICE, entries=(*target.entries, start))
    (attack,) = standing_in.attacks(seen)
    assert "8386, 7952" in attack.does
    texts = [file.data for file in attack.tree.values()]
    assert any(b"stub.py" in text and b"7952" in text for text in texts)
    assert standing_in.attacks(target) == ()


def test_a_stub_says_yes_in_every_protocol(tmp_path: Path) -> None:
    ports = []
    for _ in range(2):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            ports.append(free.getsockname()[1])
    command = [sys.executable, submissions.TASK / "stub.py", '{"status": "ok"}', *map(str, ports)]
    with subprocess.Popen(command) as stub:
        try:
            for _ in range(100):
                with socket.socket() as there:
                    if not there.connect_ex(("127.0.0.1", ports[1])):
                        break
                time.sleep(0.05)
            with urllib.request.urlopen(f"http://127.0.0.1:{ports[0]}/healthz") as page:
                assert (page.status, page.read()) == (200, b'{"status": "ok"}')
            with socket.create_connection(("127.0.0.1", ports[1])) as client:
                client.sendall(b"PING\r\n")
                assert client.recv(100) == b"+OK\r\n"
            with socket.socket(type=socket.SOCK_DGRAM) as asks:
                asks.settimeout(5)
                asks.sendto(b"\1\2\1\0rest", ("127.0.0.1", ports[0]))
                assert asks.recv(100) == b"\1\2\x81\0rest"
        finally:
            stub.kill()
