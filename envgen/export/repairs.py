"""`repair.parquet`: one row for each task that a repair was tried on, with everything about it.

The flat columns are derived from the record, which stands beside them as JSON without the task's
files: those are in the manifest.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from envgen.export import parquet, trails
from envgen.records import Mended, Repair

SCHEMA = "1"


def row(mended: Mended) -> parquet.Row:
    """What repairing a task came to, as one row."""
    return {
        "task": mended.slug,
        "repaired": mended.task.draft.slug,
        "label_before": mended.before,
        "label_after": mended.after,
        "reason": mended.reason,
        "attempts": len(mended.trail),
        "ways": list(mended.trail[-1].ways) if mended.trail else [],
        "trail": trails.values(mended.trail),
    }


def write(path: Path, rows: Iterable[parquet.Row]) -> int:
    """Write tasks that repairs were tried on; returns how many. Written beside, then renamed."""
    return parquet.write_rows(path, rows, columns())


def read(path: Path, task: str | None = None) -> Iterator[parquet.Row]:
    """The rows of a file, or that of a task; `trail` as records. Misconfigured when it is none of
    ours."""
    again = "run `envgen repair`"
    for found in parquet.read_own(path, "repair", SCHEMA, again, task=task):
        trail = tuple(Repair.model_validate(one) for one in found["trail"])
        yield found | {"trail": trail}


def columns() -> Any:
    """The schema of `repair.parquet`, its version in the metadata."""
    import pyarrow as pa

    text = pa.string()
    fields = [
        *((name, text) for name in ("task", "repaired", "label_before", "label_after", "reason")),
        ("attempts", pa.int64()),
        ("ways", pa.list_(text)),
        ("trail", trails.kind()),
    ]
    return pa.schema(fields, metadata={"envgen.repair_version": SCHEMA})
