"""A corpus as a data set: sharded Parquet, an index without binaries, a card, checksums.

    README.md                               the card: configurations, licence, statistics, warnings
    SHA256SUMS                              of every other file, for `sha256sum -c` as well
    data/train-00000-of-00003.parquet       the manifest's rows; the folders carry the canary
    index/train-00000-of-00001.parquet      the same without archives, and where each row stands
    images.json                             where a run has one: images in a registry, by digest

Equal manifests give equal bytes.
"""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from envgen.digest import digest_bytes
from envgen.errors import Misconfigured
from envgen.export import canary, parquet, schema
from envgen.export.unpack import AUDITED, refused
from envgen.publish import card, checksums, images

ROWS = 1000
"""Rows of a shard."""
VERSION = "1"
_LEFT_OUT = ("archive", "dockerfile", "evidence", "trail")
"""Columns that the index does without."""


@dataclass(frozen=True)
class Published:
    """What became of a manifest's tasks."""

    written: int
    refused: int
    """Those that the policy of their audit rejects."""
    shards: int
    canary: str
    checksum: str
    """SHA-256 of the list of checksums: who has it can tell a forgery."""


def write(
    manifest: Path, target: Path, name: str, *, everything: bool = False, rows: int = ROWS
) -> Published:
    """Write a data set; the folder is there whole or not at all.

    Args:
        manifest: of a run, or any other.
        target: a folder that is not there, is empty, or holds a data set, which is replaced.
        name: of the data set, for its card.
        everything: also tasks that the policy of their audit rejects.
        rows: of a shard.

    Raises:
        Misconfigured: the manifest has no such rows, or `target` holds something else.
    """
    _check(target)
    chosen, left_out = _chosen(manifest, everything)
    if not chosen:
        raise Misconfigured(f"{manifest} has no task to publish: {left_out} are rejected (--all)")
    guid = canary.guid_of(list(chosen.values()))
    part = target.with_name(f".{target.name}.part")
    if part.exists():
        shutil.rmtree(part)
    try:
        shards = _shards(manifest, set(chosen), part, guid, rows)
        index = part / "index" / "train-00000-of-00001.parquet"
        index.parent.mkdir()
        parquet.write_rows(index, index_rows(shards), index_schema())
        if (listed := manifest.with_name(images.NAME)).is_file():
            (part / images.NAME).write_bytes(listed.read_bytes())
        text = card.text(name, guid, list(read(index)), _sizes(shards))
        (part / "README.md").write_text(text, encoding="utf-8")
        checksum = checksums.write(part)
        if target.exists():
            shutil.rmtree(target)
        part.rename(target)
    finally:
        if part.exists():
            shutil.rmtree(part)
    return Published(len(chosen), left_out, len(shards), guid, checksum)


def index_rows(shards: list[Path]) -> Iterator[parquet.Row]:
    """What the index says of the rows of shards, in their order."""
    columns = [n for n in dataset_schema().names if n not in _LEFT_OUT]
    for shard in shards:
        for number, row in enumerate(read(shard, columns)):
            yield row | {"data_file": f"data/{shard.name}", "data_row": number}


def read(path: Path, columns: list[str] | None = None) -> Iterator[parquet.Row]:
    """Rows of a shard or of the index. Misconfigured when it is none of ours."""
    return parquet.read_own(path, "dataset", VERSION, "export the data set anew", columns)


def dataset_schema() -> Any:
    """The manifest's columns and the canary."""
    import pyarrow as pa

    found = schema.manifest()
    more = {"envgen.dataset_version": VERSION}
    return found.append(pa.field("canary", pa.string())).with_metadata(
        {k.decode(): v.decode() for k, v in found.metadata.items()} | more
    )


def index_schema() -> Any:
    """The columns of the index."""
    import pyarrow as pa

    kept = [field for field in dataset_schema() if field.name not in _LEFT_OUT]
    place = [pa.field("data_file", pa.string()), pa.field("data_row", pa.int64())]
    return pa.schema([*kept, *place], metadata=dataset_schema().metadata)


def _check(target: Path) -> None:
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise Misconfigured(f"{target} is no folder: name one that is not there yet")
    if target.is_dir() and any(target.iterdir()) and not (target / checksums.NAME).is_file():
        raise Misconfigured(f"{target} holds something else: name a folder that is not there yet")


def _chosen(manifest: Path, everything: bool) -> tuple[dict[str, str], int]:
    """Drafts by the name of the task, of what is published; and how many are not."""
    chosen: dict[str, str] = {}
    left_out = 0
    for row in parquet.read(manifest, ["task", "draft"], AUDITED):
        if refused(row) and not everything:
            left_out += 1
        elif row["task"] in chosen:
            raise Misconfigured(f"{manifest} names the task {row['task']} twice")
        else:
            chosen[row["task"]] = row["draft"]
    return chosen, left_out


def _shards(manifest: Path, chosen: set[str], part: Path, guid: str, most: int) -> list[Path]:
    folder = part / "data"
    folder.mkdir(parents=True)
    count = -(-len(chosen) // most)
    rows = (_row(r, guid) for r in parquet.read(manifest) if r["task"] in chosen)
    paths = [folder / f"train-{n:05}-of-{count:05}.parquet" for n in range(count)]
    for path in paths:
        parquet.write_rows(path, islice(rows, most), dataset_schema())
    return paths


def _row(row: parquet.Row, guid: str) -> parquet.Row:
    """A row as it is published; without the engine's own name of the image."""
    archive = canary.marked(parquet.tree_of(row), guid).tar()
    own = {
        "schema_version": schema.SCHEMA,
        "archive": archive,
        "archive_sha256": digest_bytes(archive),
        "image_id": None,
        "canary": guid,
    }
    return dict.fromkeys(dataset_schema().names) | row | own


def _sizes(shards: list[Path]) -> int:
    return sum(path.stat().st_size for path in shards)
