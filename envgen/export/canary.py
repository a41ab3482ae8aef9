"""A canary in the text of published tasks: who finds its GUID in a model knows what it has read.

The line stands on top of the files that a person or a crawler opens first, as a comment of their
language; clients of Harbor take it away before an agent sees the instruction. It is noted in
`envgen.json`, and taken away exactly when a task is read back.
"""

import json
import re

from envgen.digest import digest, short
from envgen.files import File, FileTree

_COMMENTS = {
    "instruction.md": "<!-- {} -->\n",
    "task.toml": "# {}\n",
    "tests/test.sh": "# {}\n",
    "solution/solve.sh": "# {}\n",
}
_GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NOTED = "envgen.json"


def guid_of(drafts: list[str]) -> str:
    """The GUID of a corpus, from the digests of its drafts (RFC 9562, version 8)."""
    text = short(digest(["canary", *sorted(drafts)]), 32)
    text = f"{text[:12]}8{text[13:16]}a{text[17:]}"
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def line_of(guid: str) -> str:
    """The line, without its comment signs."""
    return f"envgen-canary GUID {guid}"


def marked(tree: FileTree, guid: str) -> FileTree:
    """A task's folder of ours with the canary in it."""
    files = dict(tree.items())
    for path, comment in _COMMENTS.items():
        if path in files:
            above, below = _split(files[path].data)
            line = comment.format(line_of(guid)).encode()
            files[path] = File(above + line + below, files[path].mode)
    noted = json.loads(files[_NOTED].data) | {"canary": guid}
    text = json.dumps(noted, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    files[_NOTED] = File(text.encode())
    return FileTree(files)


def without(tree: FileTree, guid: object) -> FileTree:
    """The folder as it was before it was marked. ValueError when it is not marked with `guid`."""
    if not (isinstance(guid, str) and _GUID.fullmatch(guid)):
        raise ValueError("the canary is no GUID")
    files = dict(tree.items())
    for path, comment in _COMMENTS.items():
        if path in files:
            above, below = _split(files[path].data)
            line = comment.format(line_of(guid)).encode()
            if not below.startswith(line):
                raise ValueError(f"{path} has lost its canary")
            files[path] = File(above + below[len(line) :], files[path].mode)
    return FileTree(files)


def _split(data: bytes) -> tuple[bytes, bytes]:
    """The line that names an interpreter, and what is below it."""
    if not data.startswith(b"#!"):
        return b"", data
    first, end, rest = data.partition(b"\n")
    return (first + end, rest) if end else (b"", data)
