"""An agent's work in a session: for which tasks there is any, and the sandbox that it gets."""

from envgen.errors import Misconfigured
from envgen.foreign import imported
from envgen.grade import grade, too_much
from envgen.jobs import opening_of
from envgen.kit import Kit
from envgen.ledger import Use
from envgen.records import AGENT_UID, Image, Key, Opening, Score, TaskDraft
from envgen.sandbox import Session


def check_gradable(draft: TaskDraft) -> None:
    """Whether an agent's work can be graded. Misconfigured when it could forge its grade."""
    if draft.foreign is not None and draft.foreign.grading == "shared":
        raise Misconfigured(
            f"{draft.slug} is graded where the agent worked, which a policy can forge, or would "
            "learn to: import it with --grading fresh"
        )


def opening(draft: TaskDraft, image: Image, seconds: int) -> Opening:
    """The sandbox that an agent works in for at most so many seconds: as `solve`'s, but open.

    Raises:
        Misconfigured: what is done in it could not be graded.
    """
    check_gradable(draft)
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
