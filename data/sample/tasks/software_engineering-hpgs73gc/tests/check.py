"""Calls both versions on fresh arguments, and compares with what they are documented to do."""

import base64
import json
import types
import zlib
from collections.abc import Callable, Iterable
from typing import Any, Dict, List

import calls  # type: ignore[import-not-found]
import driver  # type: ignore[import-not-found]
import version1  # type: ignore[import-not-found]

from verifiers import Check, Outcome, Task, fuzz_equivalence

SCRIPTS, LINES = 5, 11


def checks(task: Task) -> Iterable[Check]:
    truth = task.truth
    exec(zlib.decompress(base64.b64decode(truth["second"])), second.__dict__)
    for function in truth["functions"]:
        rng = fuzz_equivalence.rng(task, function)
        inputs = [
            _script([(1, *calls.first(rng, function)) for _ in range(LINES)])
            for _ in range(SCRIPTS)
        ]
        yield fuzz_equivalence.grade(f"version 1: {function}", _running(task), _answers, inputs)
    for fault in truth["faults"]:
        rng = fuzz_equivalence.rng(task, f"fault {fault}")
        inputs = [_script(_second(rng, truth, fault)) for _ in range(SCRIPTS)]
        yield fuzz_equivalence.grade(
            f"version 2: {truth['names'][fault]}", _running(task), _answers, inputs, weight=2
        )


def _second(rng: Any, truth: Dict[str, Any], fault: str) -> List[Any]:
    """Calls that show the fault among calls of all functions: what worked must still work."""
    rest = [rng.choice(sorted(truth["names"])) for _ in range(LINES - 3)]
    made = [(2, *calls.second(rng, fault, truth["names"], n < 2)) for n in range(3)]
    made += [
        (2, *calls.second(rng, one, truth["names"], rng.random() < 0.5 and one == fault))
        for one in rest
    ]
    rng.shuffle(made)
    return made


def _script(made: List[Any]) -> bytes:
    return "".join(json.dumps(one) + "\n" for one in made).encode()


second = types.ModuleType("second")
"""Version 2 without faults, once `checks` has filled it."""


def _answers(script: bytes) -> bytes:
    modules = {1: version1, 2: second}
    lines = script.decode().splitlines()
    return "".join(
        json.dumps(driver.answered(modules, x), sort_keys=True) + "\n" for x in lines
    ).encode()


def _running(task: Task) -> Callable[[bytes], Outcome]:
    with open(driver.__file__, "rb") as stream:
        text = stream.read()
    argv = ["python3", "driver.py", task.path("app"), task.truth["package"]]
    return lambda stdin: task.run(argv, stdin=stdin, timeout=10, files={"driver.py": text})
