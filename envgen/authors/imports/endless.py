"""Endless Terminals folders: as TMax's, and pytest's exit status is the verdict."""

from pathlib import Path

from envgen.authors.imports import tmax
from envgen.authors.imports.options import Options
from envgen.records import TaskDraft

MARKER = tmax.MARKER
_WRAPPER = """\
#!/bin/bash
cd /tests
exec python3 -m pytest -q test_final_state.py
"""


def read(path: Path, origin: str, options: Options) -> TaskDraft:
    """The draft of one folder. Raises Fault with the reason why there is none."""
    return tmax.wrapped(path, origin, options, _WRAPPER, "status")
