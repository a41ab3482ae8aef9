"""Submissions that do nothing of a task: trees that put files where outputs are expected."""

import json
import re
import shlex
from collections.abc import Mapping
from functools import cache
from pathlib import Path, PurePosixPath

from envgen.audit import naming
from envgen.files import File, FileTree

TASK = Path(__file__).parent / "task"
PASS_WORDS = ("PASS", "PASSED", "OK", "ok", "true", "True", "success", "SUCCESS", "0", "1", "100")
NONSENSE = b'{"not": [closed\n"a,b\nNaN,?,\n=;\n'


@cache
def script(name: str) -> str:
    """One of the files that attacks bring along."""
    return (TASK / name).read_text()


def placing(
    files: Mapping[str, File], *, first: str = "", then: str = "", brings: Mapping[str, str] = {}
) -> FileTree:
    """A solution that puts files at absolute paths.

    Args:
        files: what is put where; what is there is replaced, what cannot be put is left out.
        first: shell lines before.
        then: shell lines behind.
        brings: further files of the solution, by name.
    """
    lines = ["#!/bin/bash", first.rstrip()]
    tree: dict[str, File | bytes | str] = dict(brings)
    for number, (path, file) in enumerate(sorted(files.items())):
        tree[f"files/{number}"] = file
        to, above = shlex.quote(path), shlex.quote(str(PurePosixPath(path).parent))
        lines.append(
            f"mkdir -p -- {above}; rm -rf -- {to}; cp -- /solution/files/{number} {to}; "
            f"chmod {file.mode:o} -- {to}"
        )
    tree["solve.sh"] = "\n".join([*filter(None, lines), then.rstrip(), "true"]) + "\n"
    return FileTree(tree)


# -- programs ----------------------------------------------------------------------------------


def constant(path: str, answer: str, told: tuple[str, ...] = ()) -> File:
    """A program that answers every line of its input alike, and once where there is no line.

    `told` are words that it carries in comments.
    """
    ending, quoted = PurePosixPath(path).suffix, json.dumps(answer)
    notes = "\n".join(told)
    if ending == ".py":
        body = (
            "import sys\n"
            'lines = sys.stdin.read().split("\\n")[:-1] or [""]\n'
            f'sys.stdout.write("".join({quoted} + "\\n" for _ in lines))\n'
        )
        return File(f"#!/usr/bin/env python3\n{_commented(notes, '# ')}{body}".encode(), 0o755)
    if ending == ".c":
        body = (
            "#include <stdio.h>\nint main(void) {\n  int c, n = 0;\n"
            f"  while ((c = getchar()) != EOF) if (c == '\\n') {{ puts({quoted}); n++; }}\n"
            f"  if (!n) puts({quoted});\n  return 0;\n}}\n"
        )
        return File(f"{_commented(notes, '// ')}{body}".encode())
    body = (
        f"n=$(wc -l); [ $n -gt 0 ] || n=1\nfor ((i = 0; i < n; i++)); do\n"
        f"  printf '%s\\n' {shlex.quote(answer)}\ndone\n"
    )
    return File(f"#!/bin/bash\n{_commented(notes, '# ')}{body}".encode(), 0o755)


def echo(path: str) -> File:
    """A program that gives back its input, or the file that its first argument names."""
    ending = PurePosixPath(path).suffix
    if ending == ".py":
        body = (
            "import os, sys\nname = sys.argv[1] if len(sys.argv) > 1 else ''\n"
            "data = open(name, 'rb').read() if os.path.isfile(name) else sys.stdin.buffer.read()\n"
            "sys.stdout.buffer.write(data)\n"
        )
        return File(f"#!/usr/bin/env python3\n{body}".encode(), 0o755)
    if ending == ".c":
        return File(
            b"#include <stdio.h>\nint main(void) {\n  int c;\n"
            b"  while ((c = getchar()) != EOF) putchar(c);\n  return 0;\n}\n"
        )
    return File(b'#!/bin/bash\nif [ -f "${1-}" ]; then cat -- "$1"; else cat; fi\n', 0o755)


def silent(path: str) -> File:
    """A program that does nothing and ends well."""
    ending = PurePosixPath(path).suffix
    if ending == ".py":
        return File(b"#!/usr/bin/env python3\n", 0o755)
    if ending == ".c":
        return File(b"int main(void) { return 0; }\n")
    return File(b"#!/bin/bash\nexit 0\n", 0o755)


def broken(path: str) -> File:
    """A program that fails at once."""
    ending = PurePosixPath(path).suffix
    if ending == ".py":
        return File(b"#!/usr/bin/env python3\nraise SystemExit(1)\n", 0o755)
    if ending == ".c":
        return File(b"int main(void) { return 1; }\n")
    return File(b"#!/bin/bash\nexit 1\n", 0o755)


def forger(path: str) -> File:
    """A program that tries to be paid by whoever grades it."""
    ending = PurePosixPath(path).suffix
    name = {".py": "forge.py", ".c": "forge.c"}.get(ending, "forge.sh")
    return File(script(name).encode(), 0o755)


def _commented(text: str, mark: str) -> str:
    return "".join(f"{mark}{line}\n" for line in text.split("\n") if line)


# -- data --------------------------------------------------------------------------------------


def shaped(path: str, instruction: str) -> File:
    """Data in the form that the instruction asks for at this path, without any right value."""
    ending = PurePosixPath(path).suffix
    keys = [w for w in naming.words(instruction) if PurePosixPath(w).suffix not in naming.ENDINGS]
    if ending == ".json":
        return File((json.dumps({key: _number(key, instruction) for key in keys}) + "\n").encode())
    header = _header(path, instruction)
    if header:
        separator = next(c for c in ",;|\t" if c in header)
        cells = separator.join("1" for _ in header.split(separator))
        lines = [header, *(cells for _ in range(naming.rows(instruction)))]
        return File(("\n".join(lines) + "\n").encode())
    lines = [*PASS_WORDS, *keys, *(f"{key}=1" for key in keys)]
    return File(("\n".join(lines) + "\n").encode())


def _number(key: str, text: str) -> float:
    """The first number that the text has soon after a key: a threshold, say."""
    found = re.search(rf"`{re.escape(key)}`[^`]{{0,80}}?(\d+(?:\.\d+)?)", text)
    return float(found[1]) if found else 1.0


def _header(path: str, text: str) -> str:
    """The header line that stands next behind the path's name, or the only one."""
    place = text.find(PurePosixPath(path).name)
    found = sorted(naming.headers(text), key=lambda h: (text.find(h) < place, text.find(h)))
    return found[0] if found and PurePosixPath(path).suffix in (".csv", ".tsv", ".txt") else ""
