"""The manifest: golden schema, layout in the file, and manifests that are damaged or not ours."""

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envgen import rebuild
from envgen.config import ExportConfig
from envgen.digest import digest_bytes
from envgen.errors import Misconfigured
from envgen.export import audits, harbor, parquet, repairs, rollouts, unpack
from envgen.files import FileTree
from envgen.records import BuiltTask, Rejection

RECEIPTS = "list<element: struct<gate: string, keys: list<element: string>, summary: string>>"
LIMITS = (
    "struct<agent_seconds: int64, verify_seconds: int64, build_seconds: int64, memory_mb: int64, "
    "cpus: int64, pids: int64, disk_mb: int64, outputs_mb: int64>"
)
FINDINGS = (
    "list<element: struct<id: string, label: string, code: string, message: string, "
    "soundness: string, exploitability: string, severity: int64, proven: bool, "
    "places: list<element: string>, proof: list<element: string>>>"
)
TEXTS = "list<element: string>"
TRAIL = (
    f"list<element: struct<before: string, after: string, labels: {TEXTS}, ways: {TEXTS}, "
    f"diagnosis: {TEXTS}, changed: {TEXTS}, diff: string, matrix: list<element: struct<name: "
    f"string, holds: bool, told: string, proof: {TEXTS}>>, refused: string, answers: {TEXTS}>>"
)
SPEC = """schema_version string
task string
seed int64
index int64
domain string
skill_type string
skills list<element: string>
persona string
language string
task_complexity string
command_complexity string
verifier string
fixture string"""
MEASURE = (
    "model: string, settings: string, attempts: int64, passes: int64, invalid: int64, "
    "faults: int64, reward: double, pass_at: list<element: double>"
)
MANIFEST = f"""{SPEC}
catalogue string
title string
instruction string
author string
revision int64
parent string
draft string
dockerfile string
workdir string
outputs list<element: string>
limits {LIMITS}
archive binary
archive_sha256 string
base string
base_content string
base_lock string
packages list<element: string>
layers string
image_id string
image_bytes int64
baseline double
repeats int64
evidence {RECEIPTS}
licence string
label string
audit_policy string
kill_rate double
findings {FINDINGS}
pass_at_k list<element: struct<{MEASURE}>>
label_before string
trail {TRAIL}"""
REJECTIONS = (
    f"{SPEC}\nstep string\ncode string\ndetail string\nproof list<element: string>\ntrail {TRAIL}"
)

Row = dict[str, Any]


@pytest.fixture(scope="session")
def row(built: BuiltTask) -> Row:
    return parquet.manifest_row(built, harbor.folder(built, ExportConfig()))


@pytest.fixture
def manifest(tmp_path: Path, row: Row) -> Path:
    path = tmp_path / "manifest.parquet"
    assert parquet.write_manifest(path, [row, row | {"task": "other-1", "index": 4}]) == 2
    return path


def described(path: Path) -> str:
    schema = pq.ParquetFile(path).schema_arrow
    return "\n".join(f"{field.name} {field.type}" for field in schema)


def test_golden_schema(tmp_path: Path, manifest: Path) -> None:
    parquet.write_rejections(tmp_path / "rejections.parquet", [])
    assert described(manifest) == MANIFEST
    assert described(tmp_path / "rejections.parquet") == REJECTIONS
    metadata = pq.ParquetFile(manifest).schema_arrow.metadata
    assert metadata == {b"envgen.schema_version": b"4"}
    assert "map<" not in described(manifest)


def test_a_row_says_what_the_task_is(built: BuiltTask, row: Row) -> None:
    assert list(row) == [line.partition(" ")[0] for line in MANIFEST.splitlines()]
    wanted = {
        "schema_version": "4", "task": "data_querying-golden00", "seed": 7, "index": 3,
        "domain": "data_querying", "skills": ["inner_join", "group_by", "window"],
        "author": "procedural/golden", "revision": 0, "parent": None, "draft": built.draft.digest,
        "workdir": "/home/agent", "outputs": ["/home/agent"], "packages": ["jq"],
        "base": "data_querying", "base_content": "sha256:ba", "layers": "sha256:1a",
        "image_id": "sha256:e1", "image_bytes": 4321, "baseline": 0.25, "repeats": 2,
        "licence": "Apache-2.0",
    }  # fmt: skip
    assert {name: row[name] for name in wanted} == wanted
    assert row["archive_sha256"] == digest_bytes(row["archive"])
    assert row["limits"]["memory_mb"] == 1024
    assert row["evidence"][1] == {"gate": "build", "keys": ["sha256:01"], "summary": "ok"}


def test_rows_read_back_as_they_were(manifest: Path, row: Row, built: BuiltTask) -> None:
    first, second = parquet.read(manifest)
    assert first == row
    assert (second["task"], second["index"]) == ("other-1", 4)
    assert parquet.draft_of(first) == built.draft
    assert list(parquet.read(manifest, ["task"])) == [
        {"task": "data_querying-golden00"},
        {"task": "other-1"},
    ]


def test_a_rejection_as_a_row(built: BuiltTask, tmp_path: Path) -> None:
    spec = built.draft.spec
    rejection = Rejection(
        spec=spec, slug="x-1", step="noop", code="noop:passes", detail="d", proof=("k",)
    )
    imported = rejection.model_copy(update={"spec": None})
    path = tmp_path / "rejections.parquet"
    rows = [parquet.rejection_row(rejection), parquet.rejection_row(imported)]
    assert parquet.write_rejections(path, rows) == 2
    first, second = parquet.read(path)
    assert (first["task"], first["code"], first["proof"]) == ("x-1", "noop:passes", ["k"])
    assert first["skills"] == ["inner_join", "group_by", "window"]
    assert (second["domain"], second["skills"], second["seed"]) == (None, None, None)


def test_layout_in_the_file(tmp_path: Path, row: Row) -> None:
    path = tmp_path / "m.parquet"
    small = row | {"archive": b"x", "instruction": "x"}
    assert parquet.write_manifest(path, (small for _ in range(1201))) == 1201
    metadata = pq.ParquetFile(path).metadata
    groups = [metadata.row_group(n) for n in range(metadata.num_row_groups)]
    assert [group.num_rows for group in groups] == [500, 500, 201]
    columns = [group.column(n) for group in groups for n in range(group.num_columns)]
    assert {column.compression for column in columns} == {"ZSTD"}
    assert all(column.has_offset_index for column in columns)
    # Bounds of every flat column; the archive's bytes bound nothing.
    unbounded = {c.path_in_schema for c in columns if not c.has_column_index}
    assert {name for name in unbounded if "." not in name} == {"archive"}


def test_an_empty_manifest_has_the_schema(tmp_path: Path) -> None:
    path = tmp_path / "m.parquet"
    assert parquet.write_manifest(path, []) == 0
    assert described(path) == MANIFEST
    assert list(parquet.read(path)) == []


def test_equal_rows_are_equal_bytes(tmp_path: Path, row: Row) -> None:
    for name in ("a", "b"):
        parquet.write_manifest(tmp_path / name, [row] * 3)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_it_reads_with_nothing_of_ours(manifest: Path) -> None:
    table = pq.read_table(manifest)
    assert table.num_rows == 2
    assert table.column("skills").to_pylist()[0] == ["inner_join", "group_by", "window"]
    only = pq.read_table(manifest, columns=["task"], filters=[("baseline", ">", 0.2)])
    assert only.num_rows == 2


def test_a_writer_that_dies_leaves_the_old_file(tmp_path: Path, row: Row) -> None:
    path = tmp_path / "m.parquet"
    parquet.write_manifest(path, [row])

    def broken() -> Iterator[Row]:
        yield from islice([row] * 600, 501)
        raise RuntimeError("died")

    with pytest.raises(RuntimeError, match="died"):
        parquet.write_manifest(path, broken())
    assert len(list(parquet.read(path))) == 1
    assert [p.name for p in tmp_path.iterdir()] == ["m.parquet"]


# -- manifests of strangers --------------------------------------------------------------------


def sentence(path: Path) -> str:
    """What both users of a manifest say about it: one sentence."""
    found = set()
    for use in (
        lambda: unpack.unpack(path, path.parent / "out"),
        lambda: rebuild.rows_of(path, (1, 1)),
    ):
        with pytest.raises(Misconfigured) as caught:
            use()
        found.add(str(caught.value))
    (text,) = found
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    "data",
    [b"", b"PAR1", b"not parquet", b"\0" * 5000, b"PAR1" + b"x" * 500 + b"PAR1"],
    ids=["empty", "magic", "text", "zeros", "framed"],
)
def test_what_is_no_parquet_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "m.parquet"
    path.write_bytes(data)
    assert sentence(path).startswith(f"{path} is not a readable manifest (")


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    assert "is not a readable manifest" in sentence(tmp_path / "none.parquet")
    (tmp_path / "folder").mkdir()
    assert "is not a readable manifest" in sentence(tmp_path / "folder")
    os.mkfifo(tmp_path / "pipe.parquet")
    assert "is not a readable manifest (a pipe, " in sentence(tmp_path / "pipe.parquet")


def test_parquet_of_others_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.parquet"
    pq.write_table(pa.table({"task": ["x"], "archive": [b""]}), path)
    assert sentence(path) == (
        f"{path} is not a manifest of this envgen (schema none, expected 4): name a Parquet file "
        "that `envgen run` or `envgen export dataset` wrote"
    )


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.parquet"
    schema = pa.schema([("task", pa.string())], metadata={"envgen.schema_version": "5"})
    pq.write_table(pa.Table.from_pylist([], schema), path)
    assert "(schema 5, expected 4)" in sentence(path)


@pytest.mark.parametrize(
    ("kind", "name", "again"),
    [
        (audits, "audit", "run `envgen audit`"),
        (repairs, "repair", "run `envgen repair`"),
        (rollouts, "rollouts", "delete it, and run `envgen eval` again"),
    ],
)
def test_what_audits_repairs_and_episodes_are_read_from_is_ours(
    kind: Any, name: str, again: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.parquet"

    def said() -> str:
        with pytest.raises(Misconfigured) as caught:
            list(kind.read(path))
        return str(caught.value)

    assert said() == f"there is no {path}: {again}"
    for metadata in ({}, {f"envgen.{name}_version": "0"}, {"envgen.schema_version": "1"}):
        pq.write_table(pa.Table.from_pylist([], pa.schema([], metadata=metadata)), path)
        assert said() == f"{path} holds no {name} rows of this envgen: {again}"
    path.unlink()
    kind.write(path, [], *([set()] if kind is rollouts else []))
    assert list(kind.read(path)) == []
    data = bytearray(path.read_bytes())
    path.write_bytes(data[: len(data) // 2])
    assert said().startswith(f"{path} is not readable (") and said().endswith(f"): {again}")


def test_a_file_of_ours_without_a_column_that_is_needed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "audit.parquet"
    schema = pa.schema([("task", pa.string())], metadata={"envgen.audit_version": audits.SCHEMA})
    pq.write_table(pa.Table.from_pylist([{"task": "x"}], schema), path)
    with pytest.raises(Misconfigured, match="holds no audit rows of this envgen: run `envgen aud"):
        list(audits.read(path))


def test_rejections_are_no_manifest(tmp_path: Path) -> None:
    path = tmp_path / "rejections.parquet"
    parquet.write_rejections(path, [])
    assert sentence(path).startswith(f"{path} does not hold what is needed (column archive): ")


def test_columns_of_another_type_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.parquet"
    names = rebuild.NEEDED
    schema = pa.schema(
        [(name, pa.int64()) for name in names], metadata={"envgen.schema_version": "1"}
    )
    pq.write_table(pa.Table.from_pylist([dict.fromkeys(names, 1)], schema), path)
    assert sentence(path).startswith(f"{path} does not hold what is needed (column task): ")


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_damaged_manifest_is_refused_or_read(manifest: Path, data: st.DataObject) -> None:
    """Wherever bytes are changed or missing: rows, or one sentence."""
    whole = manifest.read_bytes()
    damaged = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 5))):
        damaged[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    path = manifest.with_name("damaged.parquet")
    path.write_bytes(bytes(damaged)[: data.draw(st.sampled_from([None, len(whole) // 2, -3]))])
    try:
        for row in parquet.read(path):
            parquet.tree_of(row)
    except Misconfigured as error:
        assert "\n" not in str(error)


def test_an_archive_that_was_changed_is_refused(tmp_path: Path, row: Row) -> None:
    path = tmp_path / "m.parquet"
    parquet.write_manifest(path, [row | {"archive": row["archive"] + b"\0"}])
    with pytest.raises(Misconfigured, match="golden00: its archive was changed"):
        unpack.unpack(path, tmp_path / "out")
    with pytest.raises(Misconfigured, match="its archive was changed"):
        parquet.draft_of(next(parquet.read(path)))


@pytest.mark.parametrize("archive", [b"no tar", None, b"x" * 5000])
def test_an_archive_that_is_none_is_refused(row: Row, archive: bytes | None) -> None:
    stated = digest_bytes(archive or b"")
    with pytest.raises(Misconfigured, match=r"golden00: unreadable archive|not a task folder"):
        parquet.draft_of(row | {"archive": archive, "archive_sha256": stated})


EVIL = ["../evil", "/tmp/evil", "", ".", "..", "a/b", "a\0b", "x\n", "~", "a\\b", None]


@pytest.mark.parametrize("task", EVIL)
def test_a_task_cannot_name_a_place_outside_of_the_target(
    tmp_path: Path, row: Row, task: str | None
) -> None:
    path, target = tmp_path / "m.parquet", tmp_path / "a" / "out"
    target.mkdir(parents=True)
    (target / "mine").write_text("kept")
    parquet.write_manifest(path, [row | {"task": task}])
    with pytest.raises(Misconfigured, match="a task's name is no name of a folder"):
        unpack.unpack(path, target)
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["a", "m.parquet", "mine", "out"]


def test_unpacking_gives_the_folders_and_again_changes_nothing(
    tmp_path: Path, manifest: Path, row: Row
) -> None:
    target = tmp_path / "out"
    assert unpack.unpack(manifest, target) == (2, 0, 2)
    assert sorted(path.name for path in target.iterdir()) == ["data_querying-golden00", "other-1"]
    tree = FileTree.from_tar(row["archive"])
    assert FileTree.read(target / "other-1") == tree
    inode = (target / "other-1").stat().st_ino
    assert unpack.unpack(manifest, target) == (2, 0, 2)
    assert (target / "other-1").stat().st_ino == inode


@pytest.mark.parametrize(
    ("label", "policy", "everything", "counts"),
    [
        ("CLEAN", "proven", False, (1, 0, 0)),
        ("ANSWER-LEAK", "proven", False, (0, 1, 0)),
        ("ANSWER-LEAK", "strict", False, (0, 1, 0)),
        ("ANSWER-LEAK", "report", False, (1, 0, 0)),
        ("ANSWER-LEAK", "proven", True, (1, 0, 0)),
        (None, None, False, (1, 0, 1)),
    ],
)
def test_what_its_audit_rejects_is_left_out(
    tmp_path: Path, row: Row, label: str, policy: str, everything: bool, counts: tuple[int, ...]
) -> None:
    path, target = tmp_path / "m.parquet", tmp_path / "out"
    target.mkdir()
    parquet.write_manifest(path, [row | {"label": label, "audit_policy": policy}])
    assert unpack.unpack(path, target, everything=everything) == counts
    assert len(list(target.iterdir())) == counts[0]


def test_a_policy_that_is_not_known_is_refused(tmp_path: Path, row: Row) -> None:
    path = tmp_path / "m.parquet"
    parquet.write_manifest(path, [row | {"label": "CLEAN", "audit_policy": "kind"}])
    with pytest.raises(Misconfigured, match="under an unknown policy: 'kind'"):
        unpack.unpack(path, tmp_path / "out")


def test_a_manifest_of_before_audits_is_unpacked_as_well(tmp_path: Path, manifest: Path) -> None:
    import pyarrow.parquet as pq

    table = pq.read_table(manifest)
    audit = ["label", "audit_policy", "kill_rate", "findings"]
    old = table.drop_columns(audit).replace_schema_metadata({"envgen.schema_version": "1"})
    pq.write_table(old, tmp_path / "old.parquet")
    assert unpack.unpack(tmp_path / "old.parquet", tmp_path / "out") == (2, 0, 2)


# -- shards ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shard"), [("1/1", (1, 1)), ("3/24", (3, 24)), ("24/24", (24, 24))]
)
def test_shards(text: str, shard: tuple[int, int]) -> None:
    assert rebuild.shard_of(text) == shard


@pytest.mark.parametrize(
    "text", ["", "1", "0/3", "4/3", "1/0", "-1/3", "a/b", "1/3/5", "1.0/3", " 1/3", "1/ 3", "²/3"]
)
def test_bad_shards_are_refused(text: str) -> None:
    with pytest.raises(Misconfigured, match="write it as i/n with i from 1 to n"):
        rebuild.shard_of(text)


def test_shards_are_a_partition_of_the_rows(tmp_path: Path, row: Row) -> None:
    path = tmp_path / "m.parquet"
    parquet.write_manifest(path, [row | {"task": f"t-{n}"} for n in range(7)])
    found = [[r["task"] for r in rebuild.rows_of(path, (i, 3))] for i in (1, 2, 3)]
    assert found == [["t-0", "t-3", "t-6"], ["t-1", "t-4"], ["t-2", "t-5"]]
