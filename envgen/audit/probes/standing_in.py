"""Services that are none: something listens on every port that is named, and says yes.

Covers: ports that only have to be open, a service check that a static responder satisfies. For
tasks that name ports and have a script that starts something.
"""

import json
import re
import shlex
from pathlib import PurePosixPath

from envgen.audit import naming, submissions
from envgen.audit.probes.gain import gained
from envgen.audit.target import Target
from envgen.files import File
from envgen.records import Attack

judge = gained

STARTS = re.compile(r"(start|run|serve|launch|boot|up)", re.I)


def attacks(target: Target) -> tuple[Attack, ...]:
    """One attack, for tasks with ports."""
    ports = naming.ports(target.instruction)
    starts = [p for p in target.programs if _starts(p)]
    if not ports or not starts:
        return ()
    text, stub = target.instruction, f"{target.workdir}/.stub.py"
    files = {p: submissions.shaped(p, text) for p in target.data}
    files |= {p: submissions.constant(p, naming.answers(text)[0]) for p in target.programs}
    files |= {p: File(_start(stub, ports, text), 0o755) for p in starts}
    files[stub] = File(submissions.script("stub.py").encode(), 0o755)
    return (
        Attack(
            probe="standing_in",
            name="stub",
            label="VERIFIER-TOO-WEAK",
            exploitability="reward",
            does=f"one program listens on {', '.join(map(str, ports))} and says yes to everything",
            tree=submissions.placing(files),
        ),
    )


def _starts(path: str) -> bool:
    name = PurePosixPath(path)
    return name.suffix in ("", ".sh", ".bash") and STARTS.match(name.stem) is not None


def _start(stub: str, ports: tuple[int, ...], text: str) -> bytes:
    words = json.dumps({"status": "ok", **{word: "ok" for word in naming.words(text)[:30]}})
    command = shlex.join(["python3", stub, words, *map(str, ports)])
    return f"#!/bin/bash\nsetsid {command} > /dev/null 2>&1 < /dev/null &\n".encode()
