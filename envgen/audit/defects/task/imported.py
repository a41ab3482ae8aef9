"""The program is loaded as a module, to see that it has no side effects."""

import contextlib
import importlib.util
import io
import sys

import inner
from planted import PLANTED

from verifiers import Check


def checks(task):
    spec = importlib.util.spec_from_file_location("candidate", task.path(PLANTED["program"]))
    sys.stdin = io.StringIO("")
    loaded = 0.0
    try:
        module = importlib.util.module_from_spec(spec)
        with contextlib.redirect_stdout(io.StringIO()):
            spec.loader.exec_module(module)
        loaded = 1.0
    except (Exception, SystemExit):
        loaded = float(task.exists(PLANTED["program"]))
    yield Check("can be loaded", loaded)
    yield from inner.checks(task)
