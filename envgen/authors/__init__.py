"""Authors turn a TaskSpec into a TaskDraft."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from envgen.authors import llm, procedural
from envgen.kit import Kit
from envgen.records import Rejection, TaskDraft, TaskSpec


@dataclass(frozen=True)
class Author:
    """Who turns specs into drafts.

    Attributes:
        write: the first draft. Raises Fault when there is none.
        mend: the next draft, after the rejections that the ones before it met, in order; None for
            an author that would only write the same again.
    """

    write: Callable[[TaskSpec, Kit], Awaitable[TaskDraft]]
    mend: Callable[[TaskSpec, Sequence[Rejection], Kit], Awaitable[TaskDraft]] | None = None


AUTHORS = {
    "procedural": Author(procedural.author),
    "llm": Author(llm.author, llm.mend),
}


async def author(spec: TaskSpec, kit: Kit, trail: Sequence[Rejection] = ()) -> TaskDraft:
    """The draft of the configured author. Raises Fault when it cannot make one."""
    chosen = AUTHORS[kit.config.author.name]
    if trail and chosen.mend:
        return await chosen.mend(spec, trail, kit)
    return await chosen.write(spec, kit)


def rounds(kit: Kit) -> int:
    """Times that the configured author may be told what a gate saw."""
    return kit.config.author.mend_rounds if AUTHORS[kit.config.author.name].mend else 0
