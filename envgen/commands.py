"""How many commands a reference gives, measured by running it.

Bash itself says where a command ends: its history is switched on for the script, and each entry is
one complete command, as somebody types it at the prompt. So a pipeline, a list, a loop with all its
rounds, a document that a program is written from: each is one. Comments, options, variables and
moving between folders (`set`, `export`, `X=1`, `cd`) are none. Whatever a script starts counts as
the one command that starts it.
"""

import re

from envgen.errors import Fault
from envgen.files import FileTree
from envgen.jobs import job_of
from envgen.kit import Kit
from envgen.ledger import Use
from envgen.records import AGENT_UID, Image, Put, TaskDraft

NOTES = "/tmp/history"
_MARK = "\x01"
_START = """#!/bin/bash
BASH_ENV=/solution/.history bash /solution/reference.sh
"""
_HISTORY = f"""unset BASH_ENV
HISTSIZE=-1 HISTFILE= HISTCONTROL= HISTTIMEFORMAT={_MARK}
shopt -s cmdhist lithist
trap 'history > {NOTES}/commands' EXIT
set -o history
"""
_NONE = re.compile(
    r"#|(set|shopt|export|cd|umask|exit|unset|trap)\b(?!.*&&)"
    r"|([A-Za-z_]\w*=(\([^()]*\)|'[^']*'|\"[^\"$`]*\"|[^\s()'\"`$;&|]*)\s*)+$"
)


def told(history: str) -> tuple[str, ...]:
    """The commands in what `history` prints, without those that count for nothing."""
    entries = (re.sub(r"\n +\d+\*?\s*$", "", e).strip() for e in history.split(_MARK)[1:])
    return tuple(entry for entry in entries if entry and not _NONE.match(entry))


async def commands(draft: TaskDraft, image: Image, kit: Kit, use: Use) -> tuple[str, ...]:
    """The commands of a task's reference, in their order.

    Raises:
        Fault: it does not end well, or sets an EXIT trap of its own.
    """
    solution = {path: file for path, file in draft.solution.items() if path != "solve.sh"}
    solution |= {"reference.sh": draft.solution["solve.sh"]}
    tree = FileTree({**solution, "solve.sh": _START, ".history": _HISTORY})
    job = job_of(
        draft,
        image,
        command=("/bin/bash", "/solution/solve.sh"),
        uid=AGENT_UID,
        cwd=draft.workdir,
        puts=(
            Put(target="/solution", tree=tree),
            Put(target=NOTES, tree=FileTree(), uid=AGENT_UID),
        ),
        collect=NOTES,
        seconds=draft.limits.agent_seconds,
    )
    key, result = await kit.sandbox.run(job, use)
    history = result.file("commands")
    if not result.ok or history is None:
        detail = f"{result.status} {result.exit_code}: {result.output[-500:]}"
        raise Fault("commands:unknown", detail, (key,))
    return told(history)
