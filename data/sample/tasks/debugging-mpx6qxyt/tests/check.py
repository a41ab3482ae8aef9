"""Runs the mended tool on fresh inputs, and the reproduction on the tool as it was handed out."""

from __future__ import annotations

import base64
import os
import zlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Optional

from verifiers import Check, Outcome, Task, VerifierError, fuzz_equivalence

SOURCE_LIMIT = 100_000
REPRO_LIMIT = 20_000


def checks(task: Task) -> Iterable[Check]:
    truth = task.truth
    oracle = oracle_of(truth)
    source = task.read(truth["source"], limit=SOURCE_LIMIT)
    why = "" if source else task.why(truth["source"]) or "empty"
    yield Check("the source is there", float(bool(source)), why, must=True)
    argv = start_of(task, os.path.basename(truth["source"]), source) if source else None
    if source:
        yield Check("it can be started", float(argv is not None), must=True)
    if argv:
        yield from behaviour(task, argv, oracle)
    yield reproduction(task)


def oracle_of(truth: dict[str, Any]) -> Callable[[bytes], bytes]:
    """The tool without faults."""
    space: dict[str, Any] = {"__name__": "oracle"}
    exec(unpacked(truth["oracle"]), space)
    return lambda text: str(space["run"](text.decode())).encode()


def unpacked(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text))


def start_of(task: Task, name: str, source: bytes) -> Optional[list[str]]:
    """How a program is started; C is compiled first."""
    folder = task.scratch({name: source})
    if name.endswith(".py"):
        return ["python3", os.path.join(folder, name)]
    program = os.path.join(folder, name[:-2])
    made = task.run(["gcc", "-O2", "-std=c11", "-o", program, name], cwd=folder, timeout=60)
    return [program] if made.ok and task.exists(program) else None


def behaviour(task: Task, argv: list[str], oracle: Callable[[bytes], bytes]) -> Iterable[Check]:
    """Inputs that show the faults, by fault; then inputs on which nothing was wrong.

    What was right before earns something only together with what was mended: a tool that was not
    touched, or does nothing, is worth nothing.
    """

    def tool(stdin: bytes) -> Outcome:
        return task.run(argv, stdin=stdin, timeout=5, files={})

    mended = 0.0
    for number, texts in enumerate(task.truth["faults"], start=1):
        check = fuzz_equivalence.grade(f"inputs {number}", tool, oracle, encoded(texts), weight=2.0)
        mended = max(mended, check.score)
        yield check
    kept = fuzz_equivalence.grade("other inputs", tool, oracle, encoded(task.truth["sound"]))
    yield kept._replace(score=kept.score * mended)


def encoded(texts: Sequence[str]) -> list[bytes]:
    return [text.encode() for text in texts]


def reproduction(task: Task) -> Check:
    """A short input on which the tool as it was prints something else than it should.

    An input that the README does not cover proves nothing: there even our own versions of the tool
    may differ.
    """
    name, truth = "reproduction", task.truth
    data = task.read(truth["repro"], limit=REPRO_LIMIT)
    if not data:
        return Check(name, 0.0, task.why(truth["repro"]) or "empty")
    lines = data.count(b"\n") + (not data.endswith(b"\n"))
    if not data.isascii() or lines > truth["repro_lines"]:
        return Check(name, 0.0, "not ASCII" if not data.isascii() else f"{lines} lines")
    oracle, right, was = (printed(task, data, which) for which in ("oracle", "right", "broken"))
    if oracle is None or right != oracle:
        return Check(name, 0.0, "the input is outside of what the README describes")
    differs = was != oracle
    return Check(name, float(differs), "it shows a fault" if differs else "nothing is wrong on it")


def printed(task: Task, data: bytes, which: str) -> Optional[bytes]:
    """What one of our versions prints. It runs as the agent: the input is the agent's."""
    ending = ".py" if which == "oracle" else os.path.splitext(task.truth["source"])[1]
    argv = start_of(task, f"{which}{ending}", unpacked(task.truth[which]))
    if argv is None:
        raise VerifierError(f"{which}: our own version cannot be built")
    outcome = task.run(argv, stdin=data, timeout=5, files={})
    return None if outcome.timed_out or outcome.truncated else outcome.stdout
