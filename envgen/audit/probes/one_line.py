"""Tasks that one generic command solves: an input, copied or sorted, is the answer."""

import shlex
from pathlib import PurePosixPath

from envgen.audit import submissions
from envgen.audit.probes.gain import gained
from envgen.audit.target import Entry, Target
from envgen.records import Attack

judge = gained

COMMANDS = {"copied": "cat", "sorted": "sort", "sorted-once": "sort -u"}


def attacks(target: Target) -> tuple[Attack, ...]:
    """Each command on the input that looks most like each output."""
    found = {path: best for path in target.outputs if (best := _input(path, target))}
    pairs = {p: e for p, e in found.items() if p in target.data or _alike(p, e)}
    if not pairs:
        return ()
    alike = all(_alike(path, entry) for path, entry in pairs.items())
    wanted = COMMANDS if alike else {"copied": COMMANDS["copied"]}
    return tuple(_attack(name, command, pairs) for name, command in wanted.items())


def _input(path: str, target: Target) -> Entry | None:
    """A text that the instruction names; the same ending first, then the shortest name."""
    texts = [e for e in target.entries if not e.removed and target.told(e.path) and _text(e.data)]
    ending = PurePosixPath(path).suffix
    return min(
        texts,
        key=lambda e: (PurePosixPath(e.path).suffix != ending, len(e.path), e.path),
        default=None,
    )


def _alike(path: str, entry: Entry) -> bool:
    return PurePosixPath(entry.path).suffix == PurePosixPath(path).suffix


def _text(data: bytes) -> bool:
    return bool(data) and b"\0" not in data[:4096]


def _attack(name: str, command: str, pairs: dict[str, Entry]) -> Attack:
    lines = [
        f"mkdir -p -- {shlex.quote(str(PurePosixPath(path).parent))}; "
        f"LC_ALL=C {command} {shlex.quote(entry.path)} > {shlex.quote(path)}"
        for path, entry in pairs.items()
    ]
    return Attack(
        probe="one_line",
        name=name,
        label="TASK-TRIVIAL",
        exploitability="rollout",
        does="; ".join(f"{command} {entry.path} > {path}" for path, entry in pairs.items()),
        tree=submissions.placing({}, then="\n".join(lines)),
    )
