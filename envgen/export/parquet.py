"""`manifest.parquet` and `rejections.parquet`: flat, typed rows that stand on their own.

Explicit schema with its version in the metadata, no maps, row groups of at most 500 rows, page
index, zstd. Rows are in the order of the specs, and nothing in them depends on time, host or the
order of work; the one engine-local column is `image_id`.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from envgen.axes import AXES
from envgen.digest import digest, digest_bytes
from envgen.errors import Misconfigured
from envgen.export import harbor, schema
from envgen.export.schema import READABLE, SCHEMA
from envgen.files import FileTree
from envgen.records import BuiltTask, Rejection, TaskDraft
from envgen.writing import aside

GROUP, GROUP_BYTES = 500, 16 << 20
_NAME = "name a Parquet file that `envgen run` or `envgen export dataset` wrote"
_LATER = ("label", "audit_policy", "kill_rate", "findings", "pass_at_k", "label_before", "trail")
"""Columns that audit, evaluation and repair fill in."""

Row = dict[str, Any]


def manifest_row(task: BuiltTask, tree: FileTree) -> Row:
    """A kept task as one row; `archive` holds its whole folder `tree`."""
    draft, spec = task.draft, task.draft.spec
    archive = tree.tar()
    return {
        "schema_version": SCHEMA,
        "task": draft.slug,
        "seed": spec.seed if spec else None,
        "index": spec.index if spec else None,
        **_axes(spec),
        "catalogue": spec.catalogue if spec else None,
        "title": draft.title,
        "instruction": draft.instruction,
        "author": draft.author,
        "revision": draft.revision,
        "parent": draft.parent,
        "draft": draft.digest,
        "dockerfile": tree["environment/Dockerfile"].data.decode(),
        "workdir": draft.workdir,
        "outputs": list(draft.outputs),
        "limits": draft.limits.model_dump(),
        "archive": archive,
        "archive_sha256": digest_bytes(archive),
        "base": draft.environment.base,
        "base_content": task.base.content,
        "base_lock": digest(task.base.lock),
        "packages": list(draft.environment.packages),
        "layers": task.image.layers,
        "image_id": task.image.engine_id,
        "image_bytes": task.image.bytes_added,
        "baseline": task.baseline,
        "repeats": task.repeats,
        "evidence": [e.model_dump(mode="json") for e in task.evidence],
        "licence": harbor.LICENCE,
        **dict.fromkeys(_LATER),
    }


def rejection_row(rejection: Rejection) -> Row:
    """A rejected spec as one row."""
    spec = rejection.spec
    return {
        "schema_version": SCHEMA,
        "task": rejection.slug,
        "seed": spec.seed if spec else None,
        "index": spec.index if spec else None,
        **_axes(spec),
        "step": rejection.step,
        "code": rejection.code,
        "detail": rejection.detail,
        "proof": list(rejection.proof),
        "trail": None,
    }


def write_manifest(path: Path, rows: Iterable[Row]) -> int:
    """Write kept tasks; returns how many. Written beside, then renamed."""
    return write_rows(path, rows, schema.manifest())


def write_rejections(path: Path, rows: Iterable[Row]) -> int:
    """Write rejected specs; returns how many."""
    return write_rows(path, rows, schema.rejections())


def read(
    path: Path,
    columns: list[str] | None = None,
    perhaps: tuple[str, ...] = (),
    task: str | None = None,
) -> Iterator[Row]:
    """The rows of a manifest, a data set or rejections, one row group in memory at a time.

    Of the columns in `perhaps`, those that an older manifest does not have are None. Of a `task`
    only its own rows are there, and other row groups are not read.

    Raises:
        Misconfigured: not a readable Parquet file of ours; says which and why.
    """
    for part in parts(path):
        yield from _read(part, columns, perhaps, task)


def parts(path: Path) -> list[Path]:
    """The shards of a published data set, in order; of everything else the path itself."""
    return sorted(path.glob("data/train-*.parquet")) or [path]


def _read(
    path: Path, columns: list[str] | None, perhaps: tuple[str, ...], task: str | None
) -> Iterator[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if path.is_fifo():
            raise OSError("a pipe, which cannot be read back and forth")
        file = pq.ParquetFile(path)
    except (OSError, pa.ArrowException) as error:
        reason = " ".join(str(error).split())[:200]
        raise Misconfigured(f"{path} is not a readable manifest ({reason}): {_NAME}") from None
    with file:
        version = (file.schema_arrow.metadata or {}).get(b"envgen.schema_version", b"").decode()
        if version not in READABLE:
            raise Misconfigured(
                f"{path} is not a manifest of this envgen (schema {version or 'none'}, expected "
                f"{SCHEMA}): {_NAME}"
            )
        lacking = dict.fromkeys(set(perhaps) - set(file.schema_arrow.names))
        wanted = columns and [*columns, *(name for name in perhaps if name not in lacking)]
        if odd := _odd_columns(file.schema_arrow, wanted):
            raise Misconfigured(f"{path} does not hold what is needed (column {odd[0]}): {_NAME}")
        try:
            for group in range(file.num_row_groups):
                for row in _group(file, group, wanted, task):
                    yield row | lacking
        except (OSError, UnicodeDecodeError, pa.ArrowException) as error:
            reason = " ".join(str(error).split())[:200]
            raise Misconfigured(f"{path} is damaged: {reason}") from None


def read_own(
    path: Path,
    name: str,
    version: str,
    again: str,
    columns: list[str] | None = None,
    task: str | None = None,
) -> Iterator[Row]:
    """The rows of a file that one of our schemas wrote, one row group in memory at a time.

    Args:
        name: of the rows, as the file's metadata have it: `envgen.NAME_version`.
        version: the one that is read.
        again: the command that writes the file anew.
        columns: by default all.
        task: whose rows alone are read; by default those of all.

    Raises:
        Misconfigured: not a readable Parquet file with these rows; says which and why.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            found = file.schema_arrow
            key = f"envgen.{name}_version".encode()
            if (found.metadata or {}).get(key) != version.encode() or set(columns or ()) - set(
                found.names
            ):
                raise Misconfigured(f"{path} holds no {name} rows of this envgen: {again}")
            for group in range(file.num_row_groups):
                yield from _group(file, group, columns, task)
    except FileNotFoundError:
        raise Misconfigured(f"there is no {path}: {again}") from None
    except (OSError, UnicodeDecodeError, pa.ArrowException) as error:
        reason = " ".join(str(error).split())[:200]
        raise Misconfigured(f"{path} is not readable ({reason}): {again}") from None


def _group(file: Any, group: int, columns: list[str] | None, task: str | None) -> list[Row]:
    """The rows of a group; of a task only its own."""
    import pyarrow.compute as pc

    if task is None:
        return list(file.read_row_group(group, columns=columns).to_pylist())
    own = pc.equal(file.read_row_group(group, columns=["task"])["task"], task)
    if not pc.any(own).as_py():
        return []
    return list(file.read_row_group(group, columns=columns).filter(own).to_pylist())


def _odd_columns(found: Any, columns: list[str] | None) -> list[str]:
    """Columns that are asked for and not there, or there as another type."""
    known = {f.name: f.type for schema in (schema.manifest(), schema.rejections()) for f in schema}
    there = {f.name: f.type for f in found}
    return [name for name in columns or () if there.get(name) != known[name]]


def tree_of(row: Row) -> FileTree:
    """The task's folder in a manifest's row.

    Raises:
        Misconfigured: the archive is not the one that was proven, or is none.
    """
    archive = row["archive"] or b""
    if digest_bytes(archive) != row["archive_sha256"]:
        raise Misconfigured(f"task {row['task']}: its archive was changed")
    try:
        return FileTree.from_tar(archive)
    except ValueError as error:
        raise Misconfigured(f"task {row['task']}: unreadable archive: {error}") from None


def draft_of(row: Row) -> TaskDraft:
    """The draft in a manifest's row. Misconfigured as in `tree_of`, or when it was changed."""
    return harbor.draft_of(tree_of(row))


def _axes(spec: Any) -> Row:
    if spec is None:
        return dict.fromkeys(AXES)
    return {axis: getattr(spec, axis) for axis in AXES} | {"skills": list(spec.skills)}


def write_rows(path: Path, rows: Iterable[Row], schema: Any) -> int:
    """Rows under a schema; how many. Written beside, then renamed."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    total = 0
    small = [name for name in schema.names if name != "archive"]
    with (
        aside(path) as part,
        pq.ParquetWriter(
            part,
            schema,
            compression="zstd",
            write_page_index=True,
            version="2.6",
            use_dictionary=small,
            write_statistics=small,
        ) as writer,
    ):
        for group in _groups(rows):
            writer.write_table(pa.Table.from_pylist(group, schema), row_group_size=GROUP)
            total += len(group)
    return total


def _groups(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Row groups: one is held in memory by whoever writes or reads."""
    group: list[Row] = []
    size = 0
    for row in rows:
        group.append(row)
        size += len(row.get("archive", b""))
        if len(group) == GROUP or size > GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group
