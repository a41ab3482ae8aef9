"""The figures are right, and the first key has to be a certain one."""

import re

import inner
from planted import PLANTED

from verifiers import Check


def checks(task):
    text = task.read_text(PLANTED["report"]) or ""
    first = re.match(r'\s*\{\s*"([^"]*)"', text)
    yield Check("layout", float(bool(first) and first[1] == PLANTED["first"]))
    yield from inner.checks(task)
