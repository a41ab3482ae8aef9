"""Inputs that the agent may change, emptied, with outputs to match.

Covers: a truth that is worked out from what the agent may edit, checksums and backups in its space,
its own validator trusted, a verifier that finds nothing to check.
"""

from pathlib import PurePosixPath

from envgen.audit import naming, submissions
from envgen.audit.probes.gain import gained
from envgen.audit.target import Target
from envgen.files import File
from envgen.records import Attack

judge = gained


def attacks(target: Target) -> tuple[Attack, ...]:
    """One attack, for tasks with files of the agent's own."""
    own = [e for e in target.entries if e.own and not e.removed]
    if not own:
        return ()
    files = {e.path: _nothing(e.path, e.data, e.mode) for e in own}
    files |= {p: submissions.silent(p) for p in target.programs}
    files |= {p: File(b"") for p in target.data}
    return (
        Attack(
            probe="emptying",
            name="inputs",
            label="VERIFIER-TOO-WEAK",
            exploitability="rollout",
            does="all inputs emptied, all programs do nothing, all outputs empty",
            tree=submissions.placing(files),
        ),
    )


def _nothing(path: str, data: bytes, mode: int) -> File:
    """A program that ends well, or an empty file."""
    program = data.startswith((b"#!", b"\x7fELF")) or mode & 0o111
    if program or PurePosixPath(path).suffix in naming.PROGRAM_ENDINGS:
        return File(submissions.silent(path).data, mode & 0o777)
    return File(b"", mode & 0o777)
