"""Rebuild tasks from a manifest alone, prove them again, and say which drifted."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from envgen.errors import Fault, Misconfigured
from envgen.export import parquet
from envgen.grade import build_image
from envgen.kit import Kit
from envgen.ledger import Use
from envgen.pipeline import Stop, bounded, proven
from envgen.records import BuiltTask, Rejection, TaskDraft

NEEDED = ["task", "archive", "archive_sha256", "layers", "baseline", "base_content"]
OTHER = "its layers have other content than the manifest says"


@dataclass(frozen=True)
class Verdict:
    """What a rebuild of one task showed."""

    task: str
    drift: str
    """Why it is no longer what the manifest says; empty when it is."""
    note: str = ""


def shard_of(text: str) -> tuple[int, int]:
    """`i/n` with 1 <= i <= n."""
    first, slash, second = text.partition("/")
    if slash and first.isdecimal() and second.isdecimal() and 1 <= int(first) <= int(second):
        return int(first), int(second)
    raise Misconfigured(f"--shard {text!r}: write it as i/n with i from 1 to n, for example 3/24")


def rows_of(manifest: Path, shard: tuple[int, int]) -> list[parquet.Row]:
    """The rows of a shard: every n-th one, beginning with the i-th."""
    first, of = shard
    return [row for n, row in enumerate(parquet.read(manifest, NEEDED)) if n % of == first - 1]


async def rebuild(
    rows: list[parquet.Row], kit: Kit, stop: Stop, *, pulled: bool = False
) -> AsyncGenerator[Verdict, None]:
    """Build each task of the rows again from its archive, take it through the gates, compare.

    The kit must have been opened with `rebuild`, on a ledger of its own, so that nothing is
    recalled; or, where images are `pulled`, with their registry. What was pulled is compared before
    anything of the task runs in it.
    """

    async def again(row: parquet.Row) -> Verdict:
        try:
            draft = parquet.draft_of(row)
        except Misconfigured as error:
            return Verdict(row["task"], str(error))
        if pulled and (trouble := await _other(row, draft, kit)):
            return Verdict(row["task"], trouble)
        return _compared(row, await proven(draft, kit))

    async with aclosing(bounded(again, rows, kit.config.engine.in_flight, stop)) as verdicts:
        async for verdict in verdicts:
            yield verdict


async def _other(row: parquet.Row, draft: TaskDraft, kit: Kit) -> str:
    """Why the image that the registry has is not the manifest's; empty when it is."""
    try:
        _, image, _ = await build_image(draft, kit, Use(draft.slug, "build"))
    except Fault as fault:
        return f"{fault.code}: {fault.detail}"
    return "" if image.layers == row["layers"] else OTHER


def _compared(row: parquet.Row, task: BuiltTask | Rejection) -> Verdict:
    if isinstance(task, Rejection):
        return Verdict(row["task"], f"{task.code}: {task.detail}")
    if task.image.layers != row["layers"]:
        return Verdict(row["task"], OTHER)
    if task.baseline != row["baseline"]:
        was, now = row["baseline"], task.baseline
        return Verdict(row["task"], f"the untouched container earns {now:g}, and earned {was:g}")
    moved = task.base.content != row["base_content"]
    return Verdict(row["task"], "", "its base has newer packages" if moved else "")
