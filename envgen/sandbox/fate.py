"""What became of a container, as its engine tells: evidence from outside of it."""

import time
from typing import NoReturn

from docker.api import APIClient
from docker.errors import NotFound

from envgen.errors import SandboxLost
from envgen.plural import many
from envgen.records import AGENT_UID, Opening


def has_ended(api: APIClient, name: str) -> bool:
    """Whether a container runs no more. Raises SandboxLost when somebody took it away."""
    try:
        state = api.inspect_container(name)["State"]
    except NotFound:
        lost("removed by somebody else")
    if state.get("Paused"):
        lost("paused by somebody else")
    return not state["Running"]


def reason(api: APIClient, name: str, opening: Opening, began: float) -> str:
    """Why the container has ended, if that was the agent's doing.

    The agent cannot end the process that keeps it alive, except by using up its memory; if it
    is root, it can. All else came from outside.
    """
    state = api.inspect_container(name)["State"]
    seen = api.events(
        since=int(began) - 60,
        until=int(time.time()) + 1,  # the engine waits until then
        filters={"container": name, "type": "container"},
        decode=True,
    )
    happened = {str(event.get("Action")) for event in seen}
    if happened & {"kill", "stop", "destroy"}:
        lost("killed by somebody else")
    if "die" not in happened:
        lost("gone with the engine, which was restarted")
    if state.get("OOMKilled") or "oom" in happened:
        return f"it had used more than {opening.memory_mb} MB of memory"
    if state["ExitCode"] == 0:
        return f"its {many(opening.seconds, 'second is', 'seconds are')} over"
    if opening.uid != AGENT_UID:
        return "its first process was killed"
    lost(f"ended from outside, with code {state['ExitCode']}")


def lost(why: str) -> NoReturn:
    """Say what became of a sandbox that the agent is not to blame for."""
    raise SandboxLost(f"the sandbox was {why}")
