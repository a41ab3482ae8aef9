"""Published data sets: bytes, card, canary, the four readers, and what `verify` finds."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from envgen.config import ExportConfig
from envgen.digest import digest_bytes
from envgen.errors import Misconfigured
from envgen.export import canary, harbor, parquet
from envgen.files import File, FileTree
from envgen.publish import card, checksums, dataset, verify
from envgen.records import BuiltTask

SAMPLE = Path(__file__).parents[2] / "data" / "sample" / "manifest.parquet"
READERS = ("datasets", "pandas", "polars", "duckdb")


def rows_of(folder: Path) -> list[parquet.Row]:
    return [row for path in verify.shards(folder) for row in dataset.read(path)]


@pytest.fixture
def copied(published: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(published, tmp_path / "copied"))


# -- what is written ----------------------------------------------------------------------------


def test_what_is_in_the_folder(published: Path) -> None:
    files = sorted(p.relative_to(published).as_posix() for p in published.rglob("*") if p.is_file())
    assert files == [
        "README.md", "SHA256SUMS", *(f"data/train-0000{n}-of-00003.parquet" for n in range(3)),
        "index/train-00000-of-00001.parquet",
    ]  # fmt: skip
    assert [pq.ParquetFile(p).metadata.num_rows for p in verify.shards(published)] == [7, 7, 4]


def test_equal_manifests_give_equal_bytes(published: Path, tmp_path: Path) -> None:
    dataset.write(SAMPLE, tmp_path / "again", "sample", rows=7)
    for path in published.rglob("*"):
        if path.is_file():
            again = tmp_path / "again" / path.relative_to(published)
            assert again.read_bytes() == path.read_bytes(), path.name


def test_a_row_is_the_manifests_row_but_for_the_canary(published: Path) -> None:
    ours = {"archive", "archive_sha256", "image_id", "canary", "schema_version"}
    for row, was in zip(rows_of(published), parquet.read(SAMPLE), strict=True):
        assert {k: v for k, v in row.items() if k not in ours} == {
            k: v for k, v in was.items() if k not in ours
        }
        assert row["image_id"] is None
        assert row["archive_sha256"] == digest_bytes(row["archive"])
        assert parquet.draft_of(row) == parquet.draft_of(was)


def test_the_index_has_no_binaries_and_says_where_rows_are(published: Path) -> None:
    (path,) = (published / "index").iterdir()
    index, rows = list(dataset.read(path)), rows_of(published)
    assert not {str(f.type) for f in pq.ParquetFile(path).schema_arrow} & {"binary"}
    for number, (told, row) in enumerate(zip(index, rows, strict=True)):
        assert (told["data_file"], told["data_row"]) == (
            f"data/train-0000{number // 7}-of-00003.parquet", number % 7
        )  # fmt: skip
        assert told["instruction"] == row["instruction"]
    assert path.stat().st_size < sum(p.stat().st_size for p in verify.shards(published)) / 4


def test_the_canary_is_in_each_task_and_not_in_what_the_agent_is_told(published: Path) -> None:
    rows = rows_of(published)
    (guid,) = {row["canary"] for row in rows}
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}", guid)
    assert f"envgen-canary GUID {guid}" in (published / "README.md").read_text()
    for row, was in zip(rows, parquet.read(SAMPLE), strict=True):
        tree, before = parquet.tree_of(row), parquet.tree_of(was)
        for path in ("instruction.md", "task.toml", "tests/test.sh", "solution/solve.sh"):
            assert tree[path].data.decode().count(guid) == 1
            lines, old = tree[path].data.splitlines(), before[path].data.splitlines()
            assert len(lines) == len(old) + 1
            assert not old[0].startswith(b"#!") or lines[0] == old[0]
        assert guid not in row["instruction"]


@given(
    files=st.dictionaries(
        st.sampled_from(["instruction.md", "task.toml", "tests/test.sh", "solution/solve.sh"]),
        st.one_of(
            st.binary(max_size=60),
            st.sampled_from([b"#!", b"#!/bin/sh", b"#!/bin/sh\n", b"#!/bin/sh\r\nexit", b"\n"]),
        ),
    ),
    twice=st.booleans(),
)
def test_taking_the_canary_away_is_exact(files: dict[str, bytes], twice: bool) -> None:
    guid = canary.guid_of(["a"])
    tree = FileTree({**files, "envgen.json": "{}"})
    first = canary.marked(tree, guid) if twice else tree
    marked = canary.marked(first, guid)
    back = canary.without(marked, guid)
    assert {p: f for p, f in back.items() if p != "envgen.json"} == {
        p: f for p, f in first.items() if p != "envgen.json"
    }


def test_a_task_that_lost_its_canary_is_not_read(published: Path) -> None:
    tree = parquet.tree_of(rows_of(published)[0])
    assert harbor.draft_of(tree).instruction
    plain = {**tree, "instruction.md": File(harbor.draft_of(tree).instruction.encode())}
    with pytest.raises(Misconfigured, match=r"instruction\.md has lost its canary"):
        harbor.draft_of(FileTree(plain))


# -- the card -----------------------------------------------------------------------------------


def header(text: str) -> dict[str, object]:
    _, head, _ = text.split("---\n", 2)
    found = yaml.safe_load(head)
    assert isinstance(found, dict)
    return found


def test_the_header_of_the_card(published: Path) -> None:
    text = (published / "README.md").read_text()
    found = header(text)
    assert found["license"] == "apache-2.0"
    assert found["size_categories"] == ["n<1K"]
    assert found["configs"] == [
        {"config_name": name, **default, "data_files": [{"split": "train", "path": path}]}
        for name, default, path in (
            ("default", {"default": True}, "data/train-*.parquet"),
            ("index", {}, "index/train-*.parquet"),
        )
    ]
    assert "code that nobody has read" in text
    assert "| verifier | 0.917 | exact_text 6, fuzz_equivalence 4," in text.replace("\\", "")


HOSTILE = (
    "x\n---\nlicense: mit\nconfigs: []\n---\n# pwned",
    "<script>alert(1)</script>",
    "[click](javascript:alert(1)) ![](http://tracker/x.png) | cell | `code` &lt;b&gt;",
    "\x1b[31mred\x1b[0m \u202egnp.exe",
    "${{ secrets }} {{ jinja }} %s {0}",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_in_a_card_is_text(text: str, built: BuiltTask, tmp_path: Path) -> None:
    row = parquet.manifest_row(built, harbor.folder(built, ExportConfig()))
    row |= {"domain": text, "skills": [text], "label": text, "licence": text}
    measure = {"model": text, "settings": text, "attempts": 2, "passes": 1, "pass_at": [0.5, 1.0]}
    row |= {"pass_at_k": [measure | {"invalid": 0, "faults": 0, "reward": 0.5}]}
    parquet.write_manifest(tmp_path / "manifest.parquet", [row])
    dataset.write(tmp_path / "manifest.parquet", tmp_path / "out", text)
    said = (tmp_path / "out" / "README.md").read_text()
    found = header(said)
    assert list(found) == [
        *("pretty_name", "license", "license_name", "size_categories", "task_categories", "tags"),
        "configs",
    ]
    assert found["license"] == "other"
    body = said.split("---\n", 2)[2]
    told = re.sub(r"\\[!-/:-@\[-`{-~]", "", body.split("## Load")[0] + body.split("## Figures")[1])
    assert not re.search(r"[<>\[\]\x1b\u202e]", told.replace("> **", "").replace("\n> ", "\n"))
    assert "# pwned" not in told
    assert "pass@k" in told
    assert len([line for line in body.splitlines() if line.startswith("| label")]) == 1
    assert list(verify.verify(tmp_path / "out")) == []


@given(st.text(max_size=80))
@settings(max_examples=50)
def test_any_name_survives_the_header(name: str) -> None:
    rows = [{"task": "t", "instruction": "", "author": "a", "licence": "MIT", "data_file": "f"}]
    found = header(card.text(name, canary.guid_of([]), rows, 1))
    assert isinstance(found["pretty_name"], str)
    assert found["license"] == "mit"


# -- where it may be written --------------------------------------------------------------------


def test_only_a_data_set_is_replaced(tmp_path: Path, published: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("precious")
    with pytest.raises(Misconfigured, match="holds something else"):
        dataset.write(SAMPLE, tmp_path / "mine", "x")
    (tmp_path / "link").symlink_to(published)
    with pytest.raises(Misconfigured, match="is no folder"):
        dataset.write(SAMPLE, tmp_path / "link", "x")
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "precious"
    assert dataset.write(SAMPLE, tmp_path / "new", "x", rows=18).shards == 1
    assert dataset.write(SAMPLE, tmp_path / "new", "x", rows=9).shards == 2
    assert len(verify.shards(tmp_path / "new")) == 2


def test_what_an_audit_rejects_is_left_out(tmp_path: Path) -> None:
    rows = list(parquet.read(SAMPLE))
    for row in rows[:5]:
        row |= {"audit_policy": "proven", "label": "ANSWER-LEAK"}
    parquet.write_manifest(tmp_path / "manifest.parquet", rows)
    done = dataset.write(tmp_path / "manifest.parquet", tmp_path / "out", "x")
    assert (done.written, done.refused) == (13, 5)
    done = dataset.write(tmp_path / "manifest.parquet", tmp_path / "out", "x", everything=True)
    assert (done.written, done.refused) == (18, 0)
    parquet.write_manifest(tmp_path / "manifest.parquet", rows[:5])
    with pytest.raises(Misconfigured, match="5 are rejected"):
        dataset.write(tmp_path / "manifest.parquet", tmp_path / "out", "x")
    parquet.write_manifest(tmp_path / "manifest.parquet", [rows[5], rows[5]])
    with pytest.raises(Misconfigured, match="twice"):
        dataset.write(tmp_path / "manifest.parquet", tmp_path / "out", "x")
    assert len(rows_of(tmp_path / "out")) == 18


# -- readers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("reader", READERS)
def test_a_fresh_process_loads_it(reader: str, copied: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-I", str(Path(__file__).with_name("read_with.py")), reader, str(copied)],
        capture_output=True, text=True, timeout=120, check=False,
        env=os.environ | {"HF_HUB_OFFLINE": "1", "HOME": str(copied.parent)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    rows = sorted(rows_of(copied), key=lambda row: str(row["task"]))
    told = [
        {
            **{name: row[name] for name in ("task", "domain", "instruction", "canary", "outputs")},
            "agent_seconds": row["limits"]["agent_seconds"],
        }
        for row in rows
    ]
    assert found["index"] == told
    archives = [row["archive_sha256"].removeprefix("sha256:") for row in rows]
    assert [one.pop("archive") for one in found["data"]] == archives
    assert all(one.pop("files") > 20 for one in found["data"])
    assert found["data"] == told
    assert "archive" not in found["columns"]


# -- verify -------------------------------------------------------------------------------------


def test_a_data_set_as_it_was_published_has_no_fault(published: Path) -> None:
    assert list(verify.verify(published)) == []


def test_one_flipped_bit_anywhere_is_found_and_named(copied: Path) -> None:
    draw = random.Random(5)
    for path in sorted(p for p in copied.rglob("*") if p.is_file()):
        data = path.read_bytes()
        for at in {0, len(data) - 1, *(draw.randrange(len(data)) for _ in range(20))}:
            changed = bytearray(data)
            changed[at] ^= 1 << draw.randrange(8)
            path.write_bytes(changed)
            found = list(verify.verify(copied))
            assert [trouble.file for trouble in found] == [path.relative_to(copied).as_posix()], at
        path.write_bytes(data)
    assert list(verify.verify(copied)) == []


def test_missing_new_and_linked_files_are_named(copied: Path) -> None:
    (copied / "index" / "train-00000-of-00001.parquet").unlink()
    (copied / "data" / "extra.parquet").write_bytes(b"PAR1")
    (copied / "README.md").rename(copied.parent / "README.md")
    (copied / "README.md").symlink_to(copied.parent / "README.md")
    (copied / ".gitattributes").write_text("hosts of data sets add such")
    assert {(t.file, t.reason) for t in verify.verify(copied)} == {
        ("README.md", "it is missing"),
        ("README.md", "it is a link"),
        ("index/train-00000-of-00001.parquet", "it is missing"),
        ("data/extra.parquet", "it is not listed"),
    }


def test_a_folder_without_a_list_is_none_of_ours(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="has no SHA256SUMS"):
        list(verify.verify(tmp_path))


def forged(folder: Path, number: int, **changes: object) -> None:
    """Change a row, and make the checksums fit."""
    (path, *_) = verify.shards(folder)
    rows = list(dataset.read(path))
    rows[number] |= changes
    parquet.write_rows(path, rows, dataset.dataset_schema())
    checksums.write(folder)


def test_rows_that_do_not_hold_what_they_say_are_named(copied: Path) -> None:
    (path, *_) = verify.shards(copied)
    first, second, *_ = dataset.read(path)
    forged(copied, 0, archive=second["archive"])
    (trouble,) = verify.verify(copied)
    assert trouble.file == "data/train-00000-of-00003.parquet"
    assert trouble.reason == f"task {first['task']}: its archive was changed"
    forged(copied, 0, archive_sha256=second["archive_sha256"])
    found = list(verify.verify(copied))
    assert [t.file for t in found] == ["data/train-00000-of-00003.parquet", "index"]
    assert "names another task" in found[0].reason


def test_a_sample_is_always_the_same_and_of_the_data_set(published: Path) -> None:
    drafts = [row["draft"] for row in rows_of(published)]
    three, five = verify.sample(published, 3), verify.sample(published, 5)
    assert len(three) == 3
    assert {r["draft"] for r in three} < {r["draft"] for r in five} < set(drafts)
    assert len(verify.sample(published, 99)) == 18
