"""Work without sight of what it is about: what still earns its reward then, does not do the task.

A script of a critic's that is paid proves nothing by that: it may have done the work. So it runs a
second time where every file that the task adds is empty, and in what it leaves, every program is
replaced by one that runs it in an empty folder, without arguments, input or environment, and
without the paths that it spells; the task's files stay empty then. Honest work fails so; a hole in
the tests does not care. What a program notices of this can only make it fail.
"""

import json
import re
import shlex
from collections import Counter
from collections.abc import Mapping
from pathlib import PurePosixPath

from envgen.audit import captured, naming
from envgen.audit.target import ENVIRONMENT, Entry, Target
from envgen.files import File, FileTree
from envgen.records import AGENT_UID, Put, TaskDraft

_CODE = ".awk .c .cc .cpp .go .h .hpp .java .js .lua .mk .php .pl .rb .rs .so .sql .ts"
CODE = frozenset(_CODE.split())
"""Endings of programs that cannot be replaced so."""
_SPARE = ".unseen-"
_PYTHON = """\
#!/usr/bin/env python3
import os
import shutil
import subprocess
import sys
import tempfile

if __name__ == "__main__":
    here = tempfile.mkdtemp()
    kept = os.path.join(os.path.dirname(os.path.abspath(__file__)), NAME)
    program = shutil.copy(kept, os.path.join(here, "program.py"))
    environment = {"HOME": here, "PATH": os.environ.get("PATH", "/usr/bin:/bin")}
    done = subprocess.run(
        [sys.executable, program], cwd=here, env=environment, stdin=subprocess.DEVNULL
    )
    sys.exit(done.returncode)
"""
_BASH = """\
#!/bin/bash
kept=$(dirname -- "$0")/NAME
here=$(mktemp -d) && cp -- "$kept" "$here/program" && chmod 755 "$here/program" || exit 1
cd "$here" && exec env -i HOME="$here" PATH="$PATH" ./program < /dev/null
"""
NOWHERE = b"/nowhere"


def emptied(target: Target, draft: TaskDraft, paths: frozenset[str] | None = None) -> list[Put]:
    """What empties the task's files (or only some) in a container, before anything runs there."""
    folders: dict[str, dict[str, File]] = {}
    owner: dict[str, int] = {}
    agent = AGENT_UID if draft.foreign is None else draft.foreign.agent_uid
    for entry in target.entries:
        meant = paths is None or entry.path in paths
        if entry.removed or entry.path == ENVIRONMENT or not meant:
            continue
        folder, _, name = entry.path.rpartition("/")
        folders.setdefault(folder or "/", {})[name] = File(b"", entry.mode & 0o777)
        owner[folder or "/"] = agent if entry.own else 0
    return [
        Put(target=folder, tree=FileTree(files), uid=owner[folder],
            mode=0o1777 if folder in ("/tmp", "/var/tmp") else 0o755)
        for folder, files in sorted(folders.items())
    ]  # fmt: skip


def programs(target: Target, outputs: bytes) -> dict[str, bytes]:
    """Programs that somebody left: new ones, and changed ones of the task's."""
    own = {e.path: e.data for e in target.entries if e.own and not e.removed}
    return {
        path: data
        for path, entry, data in captured.files(captured.entries(outputs))
        if data and own.get(path) != data and _runs(path, data, entry.mode, target)
    }


def unsighted(target: Target, outputs: bytes) -> bytes | None:
    """What a blind run left, as it is graded; None where it left a program that cannot be replaced.

    Where it left none, the task's own files are put back as they were: nothing can read them any
    more, and the tests may ask for them.
    """
    entries, left = captured.entries(outputs), programs(target, outputs)
    if any(PurePosixPath(path).suffix in CODE for path in left):
        return None
    changed: dict[str, File] = {}
    for path, data in left.items():
        changed |= _without_sight(path, data, target)
    if not left:
        sizes = {path: len(data) for path, _, data in captured.files(entries)}
        changed = {
            e.path: File(e.data, e.mode & 0o777)
            for e in target.entries
            if e.own and not e.removed and sizes.get(e.path) == 0
        }
    return captured.holding(entries, changed)


def agreement(target: Target, outputs: bytes, reference: bytes) -> float:
    """Share of the words and figures in the data of the reference that other data have as well.

    Of files that the instruction asks for; 0 where it asks for none.
    """
    right, given = _words(target, reference), _words(target, outputs)
    return (right & given).total() / right.total() if right else 0.0


def same(target: Target, outputs: bytes, reference: bytes) -> bool:
    """Whether everything that the reference makes or changes is there, byte for byte, or as JSON
    with the same values."""
    right, given = _changed(target, reference), _changed(target, outputs)
    return bool(right) and all(
        path in given and _value(path, given[path]) == _value(path, data)
        for path, data in right.items()
    )


def _changed(target: Target, outputs: bytes) -> dict[str, bytes]:
    own: Mapping[str, Entry] = {e.path: e for e in target.entries if not e.removed}
    found = captured.files(captured.entries(outputs))
    return {p: d for p, _, d in found if p not in own or own[p].data != d}


def _value(path: str, data: bytes) -> object:
    if PurePosixPath(path).suffix == ".json":
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            return data
    return data


def _words(target: Target, outputs: bytes) -> Counter[bytes]:
    found = captured.files(captured.entries(outputs))
    texts = (data for path, _, data in found if path in target.data)
    return Counter(word for text in texts for word in re.findall(rb"[\w.+-]+", text))


def _runs(path: str, data: bytes, mode: int, target: Target) -> bool:
    return (
        path in target.programs
        or bool(mode & 0o111)
        or data.startswith((b"#!", b"\x7fELF"))
        or PurePosixPath(path).suffix in naming.PROGRAM_ENDINGS | CODE
    )


def _without_sight(path: str, data: bytes, target: Target) -> dict[str, File]:
    name = PurePosixPath(path).name
    spare = f"{_SPARE}{name}"
    python = path.endswith(".py") or data.split(b"\n", 1)[0].endswith((b"python3", b"python"))
    text = (
        _PYTHON.replace("NAME", json.dumps(spare))
        if python
        else _BASH.replace("NAME", shlex.quote(spare))
    )
    if b"\0" not in data:
        for folder in sorted({target.home, target.workdir, *target.folders}, key=len, reverse=True):
            data = data.replace(folder.encode(), NOWHERE)
    beside = str(PurePosixPath(path).with_name(spare))
    return {
        path: File(text.encode(errors="surrogateescape"), 0o755),
        beside: File(data, 0o755),
    }
