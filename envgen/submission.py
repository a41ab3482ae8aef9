"""An agent's work in a session: the sandbox that it gets, and the grade of what it leaves there."""

from envgen.foreign import imported
from envgen.grade import grade, too_much
from envgen.jobs import opening_of
from envgen.kit import Kit
from envgen.ledger import Use
from envgen.records import AGENT_UID, Image, Key, Opening, Score, TaskDraft
from envgen.sandbox import Session


def opening(draft: TaskDraft, image: Image, seconds: int) -> Opening:
    """The sandbox that an agent works in for at most so many seconds: as `solve`'s, but open."""
    maker = draft.foreign
    return opening_of(
        draft,
        image,
        uid=AGENT_UID if maker is None else maker.agent_uid,
        cwd=draft.workdir,
        env=() if maker is None else maker.env + maker.agent_env,
        puts=imported.log_folders() if maker else (),
        seconds=seconds,
    )


async def handed_in(
    draft: TaskDraft, image: Image, session: Session, kit: Kit, use: Use
) -> tuple[Key | None, Score]:
    """End a session and grade what is in its output folders, as `attempt` does."""
    captured = await session.capture(draft.outputs)
    if captured is None:
        return None, too_much(draft)
    return await grade(draft, image, captured, kit, use)
