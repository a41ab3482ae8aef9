"""Authors that ask a language model; every answer passes the same gates as any other draft.

A draft is a function of the spec, of what the model answers, and of what the gates said of the
drafts before it. All three are recalled from the ledger, so nothing else has to be remembered.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from envgen import axes
from envgen.authors.llm import full, small
from envgen.kit import Kit
from envgen.records import Rejection, TaskDraft, TaskSpec


async def author(spec: TaskSpec, kit: Kit) -> TaskDraft:
    """The first draft. Raises Fault when the model gives none."""
    return await mend(spec, (), kit)


async def mend(spec: TaskSpec, trail: Sequence[Rejection], kit: Kit) -> TaskDraft:
    """The draft after what the gates said of the earlier ones, in order. Raises Fault."""
    profile = {"full": full.written, "small": small.written}[kit.config.author.profile]
    return await profile(spec, trail, kit, _catalogue(kit.config.sample.axes))


@cache
def _catalogue(folder: str | None) -> axes.Catalogue:
    return axes.load(Path(folder) if folder else None)
