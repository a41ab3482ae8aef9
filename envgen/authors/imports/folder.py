"""Folders that strangers wrote, read with care: no link is followed, nothing is too large.

What cannot be read is a Fault with the path and the reason. Sizes are looked at before bytes.
"""

import os
import stat
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from envgen.errors import Fault, Misconfigured
from envgen.files import MAX_DEPTH, File, FileTree

MOST_FILES, MOST_BYTES = 5_000, 64 << 20
MOST_TEXT = 1 << 20
DEPTH = 3
"""Levels of folders in which tasks are looked for."""
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def tasks(folder: Path, marker: str) -> Iterator[tuple[str, Path]]:
    """Every folder that holds the marker file, with its name from `folder`, in order of names.

    Listed level by level as it is read, so a folder of many thousand tasks costs no more memory
    than its names. A link to a folder is passed on as well, for the reader to refuse it.
    """
    if _is_file(folder / marker):
        yield folder.name or folder.resolve().name, folder
        return
    yield from _below(folder, marker, "", DEPTH)


def _below(folder: Path, marker: str, prefix: str, depth: int) -> Iterator[tuple[str, Path]]:
    try:
        with os.scandir(folder) as listed:
            entries = sorted(
                (e.name, e.is_dir(follow_symlinks=False), e.is_symlink()) for e in listed
            )
    except OSError as error:
        raise Misconfigured(f"{folder} cannot be listed ({error.strerror}): mend that") from None
    for name, is_folder, is_link in entries:
        path = folder / name
        if is_link:
            if _is_file(path / marker):
                yield f"{prefix}{name}", path
        elif is_folder and _is_file(path / marker):
            yield f"{prefix}{name}", path
        elif is_folder and depth > 1 and not name.startswith("."):
            yield from _below(path, marker, f"{prefix}{name}/", depth - 1)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that the file system refuses, or a loop of links
        return False


def text(path: Path, most: int = MOST_TEXT) -> str:
    """A text file in UTF-8, line ends as they are."""
    data = read(path, most).data
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise Fault("import:encoding", f"{path.name} is not UTF-8: {error.reason}") from None


def read(path: Path, most: int = MOST_BYTES) -> File:
    """One regular file; never through a link."""
    try:
        handle = os.open(path, _OPEN)
    except FileNotFoundError:
        raise Fault("import:missing", f"{path.name} is missing") from None
    except OSError as error:
        raise Fault("import:unreadable", f"{path.name}: {error.strerror}") from None
    with os.fdopen(handle, "rb") as stream:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode):
            raise Fault("import:special", f"{path.name} is not a regular file")
        if info.st_size > most:
            raise Fault("import:size", f"{path.name} has {info.st_size} bytes, over {most}")
        data = stream.read(info.st_size)
    return File(data, info.st_mode & 0o777)


def tree(folder: Path) -> FileTree:
    """All files below a folder; empty when there is none. Links and devices are refused."""
    if folder.is_symlink():
        raise Fault("import:link", f"{folder.name} is a link")
    found: dict[str, File] = {}
    left = MOST_BYTES
    for name, path in _files(folder, "", MAX_DEPTH):
        if len(found) >= MOST_FILES:
            raise Fault("import:size", f"{folder.name} holds over {MOST_FILES} files")
        found[name] = read(path, left)
        left -= len(found[name].data)
    try:
        return FileTree(found)
    except ValueError as error:
        raise Fault("import:path", f"in {folder.name}: {error}") from None


def _files(folder: Path, prefix: str, depth: int) -> Iterator[tuple[str, Path]]:
    if depth == 0:
        raise Fault("import:path", f"{prefix[:80]} is over {MAX_DEPTH} levels deep")
    try:
        with os.scandir(folder) as listed:
            entries = sorted(listed, key=lambda entry: entry.name)
    except FileNotFoundError:
        return
    except OSError as error:
        raise Fault("import:unreadable", f"{prefix or folder.name}: {error.strerror}") from None
    for entry in entries:
        name = f"{prefix}{entry.name}"
        if entry.is_symlink():
            raise Fault("import:link", f"{name} is a link, and a task's files are copied")
        if entry.is_dir(follow_symlinks=False):
            yield from _files(Path(entry.path), f"{name}/", depth - 1)
        else:
            yield name, Path(entry.path)


def without_ignored(files: FileTree) -> FileTree:
    """A build context without what its `.dockerignore` names."""
    if ".dockerignore" not in files:
        return files
    lines = files[".dockerignore"].data.decode(errors="replace").splitlines()
    rules = [line.strip().strip("/") for line in lines if line.strip() and line[0] != "#"]
    if any(rule.startswith("!") for rule in rules):
        raise Fault("import:ignore", "its .dockerignore has exceptions (`!`)")
    return FileTree({p: f for p, f in files.items() if not any(_ignored(p, r) for r in rules)})


def _ignored(path: str, rule: str) -> bool:
    rule = rule.removeprefix("./")
    parents = [path[:i] for i, c in enumerate(path) if c == "/"] + [path]
    deep = rule.removeprefix("**/")
    return any(
        (fnmatchcase(p, rule) and p.count("/") == rule.count("/"))
        or (deep != rule and fnmatchcase(p.rpartition("/")[2], deep))
        for p in parents
    )


def printable(name: str) -> str:
    """A name that can stand in a record, whatever bytes the file system has."""
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else "?" for c in text)[:200]
