"""Authors turn a TaskSpec into a TaskDraft."""

from envgen.authors import procedural
from envgen.kit import Kit
from envgen.records import TaskDraft, TaskSpec

AUTHORS = {"procedural": procedural.author}


async def author(spec: TaskSpec, kit: Kit) -> TaskDraft:
    """The draft of the configured author. Raises Fault when it cannot make one."""
    return await AUTHORS[kit.config.author.name](spec, kit)
