"""`specs.parquet`: what `sample` drew, one row per spec. pyarrow is imported on use only."""

import errno
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from envgen.axes.row import Row, slug_of, spec_of
from envgen.errors import Misconfigured
from envgen.records import TaskSpec
from envgen.writing import aside

GROUP = 50_000
"""Rows in memory and in a row group."""
FORMAT = "1"


def _schema() -> Any:
    import pyarrow as pa

    kinds = {"seed": pa.int64(), "index": pa.int64(), "skills": pa.list_(pa.string())}
    fields = [pa.field(name, kinds.get(name, pa.string()), nullable=False) for name in Row._fields]
    return pa.schema(fields, metadata={"envgen.specs": FORMAT})


def write_specs(path: Path, rows: Iterable[Row]) -> int:
    """Stream rows to a Parquet file, written beside and renamed; returns how many there were.

    Raises:
        Misconfigured: the place cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = _schema()
    total = 0
    try:
        with (
            aside(path) as part,
            pq.ParquetWriter(part, schema, compression="zstd") as writer,
        ):
            for chunk in _chunks(rows):
                columns = zip(schema, zip(*chunk, strict=True), strict=True)
                arrays = [pa.array(column, field.type) for field, column in columns]
                writer.write_batch(pa.record_batch(arrays, schema=schema), row_group_size=GROUP)
                total += len(chunk)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise  # a full disk is no wrong use
        raise Misconfigured(f"{path}: cannot be written: {error.strerror or error}") from None
    return total


def _chunks(rows: Iterable[Row]) -> Iterator[list[Row]]:
    rest = iter(rows)
    while chunk := list(islice(rest, GROUP)):
        yield chunk


def read_specs(path: Path) -> list[TaskSpec]:
    """The specs in a file that `write_specs` wrote.

    Raises:
        Misconfigured: the file is missing, damaged, of another kind, or was edited.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    again = "draw the specs again with `envgen sample`"
    try:
        table = pq.read_table(path, partitioning=None)
    except FileNotFoundError:
        raise Misconfigured(f"{path} does not exist; {again}") from None
    except (OSError, pa.ArrowException) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise Misconfigured(f"{path} is not a readable Parquet file ({reason}); {again}") from None
    if not table.schema.equals(_schema()):
        found = ", ".join(table.schema.names)
        raise Misconfigured(f"{path} does not hold specs (its columns: {found}); {again}")
    specs = []
    for number, values in enumerate(table.to_pylist()):
        try:
            row = Row(**{**values, "skills": tuple(values["skills"])})
            if slug_of(row) != row.slug:
                raise Misconfigured(f"{path}: row {number} was changed after sampling; {again}")
            specs.append(spec_of(row))
        except (TypeError, ValidationError):
            raise Misconfigured(f"{path}: row {number} is not a spec; {again}") from None
    return specs
