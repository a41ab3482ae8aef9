"""Task folders from a manifest alone."""

from pathlib import Path
from typing import NamedTuple

from envgen.audit.verdict import POLICIES, refuses
from envgen.errors import Misconfigured
from envgen.export import harbor, parquet
from envgen.files import check_path


class Unpacked(NamedTuple):
    """What became of a manifest's tasks."""

    written: int
    refused: int
    """Those that the policy of their audit rejects."""
    unaudited: int
    """Of the written ones."""


def unpack(manifest: Path, target: Path, *, everything: bool = False) -> Unpacked:
    """Write the folders of a manifest's tasks below `target`.

    Args:
        manifest: whose rows have labels where an audit put them.
        target: a folder.
        everything: also tasks that the policy of their audit rejects.

    Raises:
        Misconfigured: an archive is not the one that the manifest names, or a task's name is no
            name of a folder.
    """
    written = refused = unaudited = 0
    columns = ["task", "archive", "archive_sha256"]
    for row in parquet.read(manifest, columns, ("label", "audit_policy")):
        policy, label = row["audit_policy"], row["label"]
        if policy is not None and policy not in POLICIES:
            raise Misconfigured(f"{row['task']} was audited under an unknown policy: {policy!r}")
        if policy is not None and refuses(policy, label or "") and not everything:
            refused += 1
            continue
        harbor.write(parquet.tree_of(row), target / _folder(row["task"]))
        written += 1
        unaudited += policy is None
    return Unpacked(written, refused, unaudited)


def _folder(task: str | None) -> str:
    try:
        name = check_path(task or "")
    except ValueError as error:
        raise Misconfigured(f"a task's name is no name of a folder: {error}") from None
    if "/" in name:
        raise Misconfigured(f"a task's name is no name of a folder: {name!r}")
    return name
