"""Task folders from a manifest alone."""

from pathlib import Path
from typing import NamedTuple

from envgen.audit.verdict import POLICIES, refuses
from envgen.errors import Misconfigured
from envgen.export import harbor, parquet
from envgen.files import check_path

AUDITED = ("label", "audit_policy")
"""Columns that `refused` looks at; manifests of before audits lack them."""


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
    written = left_out = unaudited = 0
    columns = ["task", "archive", "archive_sha256"]
    for row in parquet.read(manifest, columns, AUDITED):
        if refused(row) and not everything:
            left_out += 1
            continue
        harbor.write(parquet.tree_of(row), target / _folder(row["task"]))
        written += 1
        unaudited += row["audit_policy"] is None
    return Unpacked(written, left_out, unaudited)


def refused(row: parquet.Row) -> bool:
    """Whether the policy of its audit rejects a manifest's row; never where there was no audit.

    Raises:
        Misconfigured: the policy is none that is known.
    """
    policy = row["audit_policy"]
    if policy is None:
        return False
    if policy not in POLICIES:
        raise Misconfigured(f"{row['task']} was audited under an unknown policy: {policy!r}")
    return refuses(policy, row["label"] or "")


def _folder(task: str | None) -> str:
    try:
        name = check_path(task or "")
    except ValueError as error:
        raise Misconfigured(f"a task's name is no name of a folder: {error}") from None
    if "/" in name:
        raise Misconfigured(f"a task's name is no name of a folder: {name!r}")
    return name
