"""What the columns of `manifest.parquet` and `rejections.parquet` are, and of what type."""

from typing import Any

from envgen.axes import AXES
from envgen.export import trails

SCHEMA = "4"

READABLE = ("1", "2", "3", SCHEMA)
"""Version 1 has no columns of an audit, 2 no `pass_at_k`, 3 none of repairs."""

LIMITS = (
    "agent_seconds",
    "verify_seconds",
    "build_seconds",
    "memory_mb",
    "cpus",
    "pids",
    "disk_mb",
    "outputs_mb",
)

COLUMNS = (
    "catalogue",
    "title",
    "instruction",
    "author",
    "revision",
    "parent",
    "draft",
    "dockerfile",
    "workdir",
    "outputs",
    "limits",
    "archive",
    "archive_sha256",
    "base",
    "base_content",
    "base_lock",
    "packages",
    "layers",
    "image_id",
    "image_bytes",
    "baseline",
    "repeats",
    "evidence",
    "licence",
    "label",
    "audit_policy",
    "kill_rate",
    "findings",
    "pass_at_k",
    "label_before",
    "trail",
)


def finding_type() -> Any:
    """A finding of an audit, flat."""
    import pyarrow as pa

    text, texts = pa.string(), pa.list_(pa.string())
    names = ("id", "label", "code", "message", "soundness", "exploitability")
    return pa.struct(
        [(name, text) for name in names]
        + [("severity", pa.int64()), ("proven", pa.bool_()), ("places", texts), ("proof", texts)]
    )


def _spec_fields() -> list[Any]:
    import pyarrow as pa

    texts = [(axis, pa.string()) for axis in AXES]
    fields = [("schema_version", pa.string()), ("task", pa.string())]
    fields += [("seed", pa.int64()), ("index", pa.int64())]
    return fields + [(n, pa.list_(pa.string()) if n == "skills" else t) for n, t in texts]


def manifest() -> Any:
    """The schema of `manifest.parquet`, its version in the metadata."""
    import pyarrow as pa

    strings, limits = pa.list_(pa.string()), pa.struct([(n, pa.int64()) for n in LIMITS])
    receipt = pa.struct([("gate", pa.string()), ("keys", strings), ("summary", pa.string())])
    measure = [("model", pa.string()), ("settings", pa.string())]
    measure += [(name, pa.int64()) for name in ("attempts", "passes", "invalid", "faults")]
    measure += [("reward", pa.float64()), ("pass_at", pa.list_(pa.float64()))]
    kinds = {
        "revision": pa.int64(),
        "outputs": strings,
        "limits": limits,
        "archive": pa.binary(),
        "packages": strings,
        "image_bytes": pa.int64(),
        "baseline": pa.float64(),
        "repeats": pa.int64(),
        "evidence": pa.list_(receipt),
        "kill_rate": pa.float64(),
        "findings": pa.list_(finding_type()),
        "pass_at_k": pa.list_(pa.struct(measure)),
        "trail": trails.kind(),
    }
    fields = [*_spec_fields(), *((name, kinds.get(name, pa.string())) for name in COLUMNS)]
    return pa.schema(fields, metadata={"envgen.schema_version": SCHEMA})


def rejections() -> Any:
    """The schema of `rejections.parquet`."""
    import pyarrow as pa

    texts = [(name, pa.string()) for name in ("step", "code", "detail")]
    lists = [("proof", pa.list_(pa.string())), ("trail", trails.kind())]
    fields = [*_spec_fields(), *texts, *lists]
    return pa.schema(fields, metadata={"envgen.schema_version": SCHEMA})
