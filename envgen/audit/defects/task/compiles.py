"""The program can be built, and the rest is there."""

import inner
from planted import PLANTED

from verifiers import Check


def checks(task):
    for path in PLANTED["paths"]:
        yield Check(f"{path} is there", float(task.exists(path)))
    source = task.read(PLANTED["program"])
    made = source and inner.start_of(task, *PLANTED["before"], source)
    yield Check("it can be started", float(bool(made)))
