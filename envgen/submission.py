"""An agent's work in a session: for which tasks there is any, and the sandbox that it gets."""

from envgen.errors import Misconfigured
from envgen.foreign import imported
from envgen.jobs import opening_of
from envgen.records import AGENT_UID, Image, Opening, TaskDraft


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
