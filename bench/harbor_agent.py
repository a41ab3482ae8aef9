"""The scripted agent of the episode benchmark for Harbor: `bench.harbor_agent:Scripted`.

Harbor has no shell that lives on; what one command needs of those before is put in front of it.
"""

from typing import Any

from harbor.agents.base import BaseAgent

from bench.commands import COMMANDS

STATE = "cd ~; export WORK=$PWD/work; add() { awk '{ s += $1 } END { print s }' \"$@\"; }\n"


class Scripted(BaseAgent):
    """Runs the commands, one `exec` each."""

    @staticmethod
    def name() -> str:
        return "scripted"

    def version(self) -> str:
        return "1"

    async def setup(self, environment: Any) -> None:
        pass

    async def run(self, instruction: str, environment: Any, context: Any) -> None:
        for number, command in enumerate(COMMANDS):
            inside = "cd work 2>/dev/null\n" if 4 <= number < 20 else ""
            await environment.exec(command=f"{STATE}{inside}{command}", timeout_sec=60)
