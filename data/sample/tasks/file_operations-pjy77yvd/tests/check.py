"""Grades the sorted collection: what lies where, and each list line by line.

truth.json holds salted digests instead of contents and lines, so that nothing in it can be found
in the image or be copied from it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from verifiers import Check, Task, exact_text


def checks(task: Task) -> Iterable[Check]:
    """Layout weighs as much as all lists together."""
    truth = task.truth
    layout = _layout(task)
    yield layout
    yield _inbox(task, layout.score > 0)
    for list_name, expected in truth["lists"].items():
        found = task.read_text(f"{truth['out']}/{list_name}")
        weight = 3.0 if list_name == truth["manifest"] else 1.0
        got = None if found is None else "\n".join(_tokens(task, found))
        yield exact_text.lines(f"list {list_name}", got, "\n".join(expected), weight=weight)


def _layout(task: Task) -> Check:
    """Right files over all that are wanted or there: a heap of everything earns little."""
    truth = task.truth
    out, wanted = truth["out"], truth["files"]
    found = {path for path in task.listing(out, deep=True) if not path.endswith("/")}
    found -= set(truth["lists"])
    right = sum(
        1
        for path, digest in wanted.items()
        if path in found and _digest(task, task.read(f"{out}/{path}")) == digest
    )
    share = right / len(found | set(wanted))
    return Check("layout", share, f"{right} files are right, {len(found)} are there", weight=4.0)


def _inbox(task: Task, begun: bool) -> Check:
    """The hand-over is still as it was; worth nothing before anything was done."""
    same = all(_digest(task, task.read(p)) == digest for p, digest in task.truth["inbox"].items())
    return Check("hand-over untouched", float(same and begun), weight=0.5)


def _tokens(task: Task, text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").rstrip("\n").split("\n")
    return [str(_digest(task, line.encode())) for line in lines]


def _digest(task: Task, data: bytes | None) -> str | None:
    if data is None:
        return None
    salt = bytes.fromhex(task.truth["salt"])
    return hashlib.blake2b(data, digest_size=9, key=salt).hexdigest()
