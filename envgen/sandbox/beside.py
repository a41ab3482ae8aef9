"""A short container among the processes of another, which can do nothing to it."""

from collections.abc import Sequence

import requests
from docker.types import LogConfig

from envgen.records import Opening
from envgen.sandbox.containers import Containers
from envgen.sandbox.daemon import LABEL, OWNER_LABEL, is_timeout


def beside(
    containers: Containers, name: str, opening: Opening, command: Sequence[str], seconds: int
) -> bool:
    """Run a command as root among the processes of another container; whether it exits with 0.

    Args:
        containers: runs it.
        name: the other container.
        opening: what that is; its image is used.
        command: may signal processes, and nothing else that the agent may not.
        seconds: its limit.
    """
    host = containers.api.create_host_config(
        network_mode="none",
        pid_mode=f"container:{name}",
        mem_limit="64m",
        cap_drop=["ALL"],
        cap_add=["KILL"],
        security_opt=["no-new-privileges"],
        log_config=LogConfig(type="none"),
    )
    made = containers.api.create_container(
        image=opening.image_ref,
        command=list(command),
        entrypoint=[],
        user="0:0",
        labels={LABEL: "job", OWNER_LABEL: containers.owner},
        host_config=host,
    )["Id"]
    try:
        containers.api.start(made)
        return int(containers.api.wait(made, timeout=seconds)["StatusCode"]) == 0
    except (requests.ReadTimeout, requests.ConnectionError) as error:
        if not is_timeout(error):
            raise
        return False
    finally:
        containers.remove(made)
