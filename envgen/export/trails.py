"""The trail of a task's repairs as a column: a list of attempts, each as in the record `Repair`."""

from collections.abc import Sequence
from typing import Any

from envgen.records import Repair


def values(trail: Sequence[Repair]) -> list[dict[str, Any]]:
    """Attempts at a task as they stand in a row."""
    return [attempt.model_dump(mode="json") for attempt in trail]


def kind() -> Any:
    """The column's type."""
    import pyarrow as pa

    text, texts = pa.string(), pa.list_(pa.string())
    line = pa.struct([("name", text), ("holds", pa.bool_()), ("told", text), ("proof", texts)])
    kinds = {"before": text, "after": text, "diff": text, "refused": text, "matrix": pa.list_(line)}
    return pa.list_(pa.struct([(name, kinds.get(name, texts)) for name in Repair.model_fields]))
