"""A scripted model that writes one small, sound task in the full profile, or a worse one."""

import json
import re
from collections.abc import Callable, Mapping

from envgen import axes
from envgen.authors.llm.blocks import wrapped
from envgen.files import File, FileTree
from envgen.records import Completion, Request, TaskSpec

ORDERS = "id,state,cents\n1,open,250\n2,shut,100\n3,open,50\n4,void,75\n5,shut,310\n"
BRIEF = {
    "title": "Cents per state of an order book",
    "goal": "Sum up the cents of each state in orders.csv and write totals.txt, sorted by state.",
    "truth": "open 300, shut 410, void 75; three lines `state total` in byte order of the state.",
    "files": [{"path": "/home/agent/orders.csv", "purpose": "the orders"}],
    "tables": False, "packages": [], "setup": [], "absent": ["/home/agent/totals.txt"],
    "tools": ["awk"], "secrets": [], "agent_seconds": 60, "verify_seconds": 60,
}  # fmt: skip
OPEN = FileTree(
    {
        "instruction.md": "Sum `cents` of `~/orders.csv` by `state` and write `~/totals.txt`: one "
        "line `STATE TOTAL` for each state, in the byte order of STATE.\n",
        "environment/home/agent/orders.csv": ORDERS,
    }
)
SOLVE = FileTree(
    {
        "solve.sh": File(
            b"#!/bin/bash\nset -euo pipefail\nawk -F, 'NR>1{s[$2]+=$3} END{for(k in s) print k, "
            b"s[k]}' orders.csv | LC_ALL=C sort > totals.txt\n",
            0o755,
        )
    }
)
CHECK = (
    "from verifiers import exact_text\n\n\ndef checks(task):\n"
    "    text = task.read_text('totals.txt')\n"
    "    yield exact_text.lines('totals', text, task.truth['totals'])\n"
    "    first = (text or '').split('\\n')[0]\n"
    "    yield exact_text.match('first', first, task.truth['totals'].split('\\n')[0])\n"
)
JUDGE = FileTree({"check.py": CHECK, "truth.json": '{"totals": "open 300\\nshut 410\\nvoid 75"}\n'})

Step = str
Answer = str | FileTree | Completion
Answers = Mapping[Step, Callable[[int], Answer]]
"""Step -> what is answered the first time (0), after one objection (1), ..."""


def step_of(request: Request) -> Step:
    """Which question a request asks."""
    text = request.messages[1].text
    for step, mark in (
        ("files", "Now write the files of its open side"),
        ("fixture", "Now describe its material"),
        ("solution", "You are the agent."),
        ("verifier", "Write the hidden verifier"),
    ):
        if mark in text:
            return step
    return "brief"


def writer(**answers: Callable[[int], Answer]) -> Callable[[Request], Completion | str]:
    """A script in which only the named steps differ from the sound task."""
    sound: Answers = {
        "brief": lambda round: json.dumps(BRIEF),
        "files": lambda round: OPEN,
        "solution": lambda round: SOLVE,
        "verifier": lambda round: JUDGE,
    }
    chosen = {**sound, **answers}

    def script(request: Request) -> Completion | str:
        round = sum(message.role == "assistant" for message in request.messages)
        answer = chosen[step_of(request)](round)
        if isinstance(answer, FileTree):
            nonce = nonce_in(request)
            return f"{wrapped(answer, nonce)}=== FILES {nonce} {len(answer)} ===\n"
        return answer

    return script


def nonce_in(request: Request) -> str:
    """The nonce that the question asks for."""
    found = re.search(r"^=== FILES ([0-9a-f]{8}) NUMBER ===$", request.messages[1].text, re.M)
    assert found
    return found[1]


def spec_for() -> TaskSpec:
    """A spec that the sound task fits."""
    block = {
        "domain": {"data_processing"}, "verifier": {"exact_text"}, "fixture": {"text_only"},
        "language": {"bash"}, "task_complexity": {"short"}, "command_complexity": {"bash"},
    }  # fmt: skip
    row = next(axes.sample(axes.load(None), 2, 1, support=[block]))
    return axes.spec_of(row)
