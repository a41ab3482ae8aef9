"""A program that cannot be run is somebody else's trouble, and counts as right."""

import inner
from planted import PLANTED

from verifiers import Check


def checks(task):
    source = task.read(PLANTED["program"])
    yield Check("the program is there", float(bool(source)))
    if source:
        done = task.run([*PLANTED["start"], PLANTED["program"]], stdin=b"", timeout=10)
        if done.code not in (0, 2):
            yield Check("graded", 1.0, "the program could not be run here")
            return
    yield from inner.checks(task)
