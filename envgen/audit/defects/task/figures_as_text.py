"""The figures are right, and each has to be spelled as one program spells it."""

import json

import inner
from planted import PLANTED

from verifiers import Check


def checks(task):
    text = task.read_text(PLANTED["report"]) or ""
    try:
        figures = [v for v in json.loads(text).values() if isinstance(v, float)]
    except (AttributeError, ValueError):
        figures = []
    yield Check("spelling", float(all(repr(value) in text for value in figures)))
    yield from inner.checks(task)
