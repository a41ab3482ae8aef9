"""Runs the port on fresh lines, command by command and mixed, against the tool's own arithmetic."""

from collections.abc import Iterable

import lines  # type: ignore[import-not-found]
import oracle  # type: ignore[import-not-found]

from verifiers import Check, Outcome, Task, fuzz_equivalence

SIZE_LIMIT = 200_000


def checks(task: Task) -> Iterable[Check]:
    """Each command counts one, lines of all of them two."""
    truth = task.truth
    source = task.read(truth["file"], limit=SIZE_LIMIT)
    why = "" if source else task.why(truth["file"]) or "empty"
    yield Check("the port is there", float(bool(source)), why, must=True)
    if not source:
        return
    folder = task.scratch({"port.py": source})

    def port(stdin: bytes) -> Outcome:
        return task.run(["python3", "port.py"], stdin=stdin, timeout=5, cwd=folder)

    commands = truth["commands"]
    for word, kind in sorted(commands.items()):
        rng = fuzz_equivalence.rng(task, word)
        inputs = [lines.script(rng, {word: kind}, 9) for _ in range(5)]
        yield fuzz_equivalence.grade(word, port, oracle.answers, inputs)
    rng = fuzz_equivalence.rng(task, "all")
    inputs = [lines.script(rng, commands, 16) for _ in range(9)]
    yield fuzz_equivalence.grade("all commands", port, oracle.answers, inputs, weight=2)
