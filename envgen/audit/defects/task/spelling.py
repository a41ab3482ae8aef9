"""The program is right, and has to be written in one way."""

import inner
from planted import PLANTED

from verifiers import Check


def checks(task):
    source = task.read_text(PLANTED["program"]) or ""
    yield Check("written properly", float(PLANTED["word"] in source))
    yield from inner.checks(task)
