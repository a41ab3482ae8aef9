"""Load a data set with one reader, in a process of its own, and print what it sees as JSON.

`python read_with.py READER FOLDER`; READER is datasets, pandas, polars or duckdb.
"""

import hashlib
import io
import json
import sys
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Rows = list[dict[str, Any]]


def with_datasets(folder: Path) -> tuple[Rows, Rows]:
    from datasets import get_dataset_config_names, load_dataset

    assert get_dataset_config_names(str(folder)) == ["default", "index"]
    where = {"cache_dir": str(folder.parent / "cache")}
    return (
        list(load_dataset(str(folder), split="train", **where)),
        list(load_dataset(str(folder), "index", split="train", **where)),
    )


def with_pandas(folder: Path) -> tuple[Rows, Rows]:
    import pandas

    return _both(folder, lambda path: pandas.read_parquet(path).to_dict("records"))


def with_polars(folder: Path) -> tuple[Rows, Rows]:
    import polars

    return _both(folder, lambda path: polars.read_parquet(path / "*.parquet").to_dicts())


def with_duckdb(folder: Path) -> tuple[Rows, Rows]:
    import duckdb

    def read(path: Path) -> Rows:
        found = duckdb.sql(f"select * from '{path}/*.parquet' order by all")
        return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]

    return _both(folder, read)


def _both(folder: Path, read: Callable[[Path], Rows]) -> tuple[Rows, Rows]:
    return read(folder / "data"), read(folder / "index")


def seen(rows: Rows) -> Iterator[dict[str, Any]]:
    """What must be the same for every reader."""
    for row in rows:
        told = {name: row[name] for name in ("task", "domain", "instruction", "canary")}
        told["outputs"] = list(row["outputs"])
        told["agent_seconds"] = row["limits"]["agent_seconds"]
        if "archive" in row:
            data = bytes(row["archive"])
            told["archive"] = hashlib.sha256(data).hexdigest()
            with tarfile.open(fileobj=io.BytesIO(data)) as tar:
                told["files"] = len(tar.getnames())
        yield told


if __name__ == "__main__":
    data, index = globals()[f"with_{sys.argv[1]}"](Path(sys.argv[2]))
    both = [sorted(seen(rows), key=lambda told: told["task"]) for rows in (data, index)]
    print(json.dumps({"data": both[0], "index": both[1], "columns": sorted(index[0])}))
