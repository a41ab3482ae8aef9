"""Compares the twin with the oracle on fresh lines, and reads the findings.

The original is not on this machine any more, and the agent's folder is closed while the twin runs:
a copy of the original that was put aside there is out of reach.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from typing import Optional

import codec  # type: ignore[import-not-found]
import probes  # type: ignore[import-not-found]

from verifiers import Check, Outcome, Task, fuzz_equivalence

SOURCE_LIMIT = 32768
BATCHES = 6
LINES = 14
LONG_RUN = 420


def checks(task: Task) -> Iterable[Check]:
    source = task.read(task.truth["source"], limit=SOURCE_LIMIT)
    why = "" if source else task.why(task.truth["source"]) or "empty"
    yield Check("the source is there, within its limit", float(bool(source)), why, must=True)
    if source:
        with closed(task):
            argv = start_of(task, source)
            yield Check("it can be started", float(argv is not None), must=True)
            if argv:
                yield from behaviour(task, argv)
    yield findings(task)


@contextlib.contextmanager
def closed(task: Task) -> Iterator[None]:
    """Nobody but the grader gets into the agent's folder."""
    before = os.stat(task.workdir)
    if os.geteuid() == 0:
        os.chown(task.workdir, 0, 0)
        os.chmod(task.workdir, 0o700)
    try:
        yield
    finally:
        os.chmod(task.workdir, before.st_mode & 0o777)
        if os.geteuid() == 0:
            os.chown(task.workdir, before.st_uid, before.st_gid)


def start_of(task: Task, source: bytes) -> Optional[list[str]]:
    """How the twin is started; C is compiled first."""
    name = os.path.basename(task.truth["source"])
    folder = task.scratch({name: source})
    if name.endswith(".py"):
        return ["python3", os.path.join(folder, name)]
    program = os.path.join(folder, name[:-2])
    made = task.run(["gcc", "-O2", "-std=c11", "-o", program, name], cwd=folder, timeout=60)
    return [program] if made.ok and task.exists(program) else None


def behaviour(task: Task, argv: list[str]) -> Iterable[Check]:
    params = task.truth["params"]
    for mode, kinds in probes.DRAWS.items():
        for kind in kinds:
            rng = fuzz_equivalence.rng(task, f"{mode} {kind}")
            inputs = [probes.batch(params, rng, mode, kind, LINES) for _ in range(BATCHES)]
            yield compared(task, argv, mode, kind, inputs)
        rng = fuzz_equivalence.rng(task, f"{mode} long")
        first = next(iter(kinds))
        long = [probes.batch(params, rng, mode, first, LONG_RUN) for _ in range(2)]
        yield compared(task, argv, mode, f"{first}, long runs", long)
    yield arguments(task, argv)


def compared(task: Task, argv: list[str], mode: str, kind: str, inputs: list[str]) -> Check:
    params = task.truth["params"]
    command = params["commands"][mode == "decode"]

    def twin(stdin: bytes) -> bytes:
        return shown(outside(task, [*argv, command], stdin))

    def oracle(stdin: bytes) -> bytes:
        text, status = codec.run(params, mode, stdin.decode())
        return bytes(text.encode() + b"status %d" % status)

    return fuzz_equivalence.grade(
        f"{mode}: {kind}", twin, oracle, [text.encode() for text in inputs], weight=2.0
    )


def outside(task: Task, argv: list[str], stdin: bytes) -> Outcome:
    return task.run(argv, stdin=stdin, timeout=10, files={}, env={"HOME": "/nonexistent"})


def shown(outcome: Outcome) -> bytes:
    """Output and exit status as one answer; nothing for a run that was cut short."""
    if outcome.timed_out or outcome.truncated or outcome.error or outcome.code is None:
        return b""
    return outcome.stdout + b"status %d" % outcome.code


def arguments(task: Task, argv: list[str]) -> Check:
    """Wrong arguments: status 2 and nothing on standard output."""
    params = task.truth["params"]
    one, two = params["commands"]
    wrong = [[], ["help"], [one, two], [one.upper()]]
    answers = [outside(task, [*argv, *extra], b"") for extra in wrong]
    right = sum(answer.code == 2 and not answer.stdout for answer in answers) / len(wrong)
    return Check("wrong arguments", right, f"{right:.0%} answered as the notes say")


def findings(task: Task) -> Check:
    text = task.read_text("twin/protocol.txt", limit=65536) or ""
    pairs = [line.partition("=") for line in text.split("\n")]
    given = {key.strip(): value.replace(" ", "").strip() for key, _, value in pairs}
    facts = task.truth["facts"]
    right = sum(given.get(key) == value for key, value in facts.items()) / len(facts)
    return Check("findings", right, f"{right:.0%} of the keys", weight=1.5)
