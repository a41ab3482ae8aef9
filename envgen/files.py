"""FileTree: safe relative path -> bytes and mode, as one immutable value.

Every path that a model, a corpus or a family wrote passes `check_path` here, so nothing later has
to think about traversal. Trees hold regular files only: no links, no devices.
"""

import base64
import hashlib
import io
import os
import tarfile
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from envgen.digest import digest

EPOCH = 1_704_067_200
"""The modification time of every file that we write (2024-01-01), so that archives are equal."""

TAR_END = b"\0" * 2 * tarfile.BLOCKSIZE

MAX_PATH_BYTES, MAX_NAME_BYTES, MAX_DEPTH = 400, 200, 16
_REFUSED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def check_path(path: str) -> str:
    """The path itself when it is safe and relative; ValueError with the reason otherwise."""
    reason = _path_trouble(path)
    if reason:
        raise ValueError(f"unsafe path {path!r}: {reason}")
    return path


@lru_cache(maxsize=1 << 14)
def _path_trouble(path: str) -> str:
    if not path or path.startswith("/"):
        return "it must be relative and not empty"
    if "\\" in path:
        return "it holds a backslash"
    if any(unicodedata.category(c) in _REFUSED_CATEGORIES for c in path):
        return "it holds a control, format or unassigned character"
    if unicodedata.normalize("NFC", path) != path:
        return "it is not in Unicode normal form C"
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return "it has an empty, '.' or '..' component"
    if any(part != part.strip() or part.startswith("~") for part in parts):
        return "a component begins with '~' or has space at an end"
    if len(path.encode()) > MAX_PATH_BYTES or len(parts) > MAX_DEPTH:
        return f"it is over {MAX_PATH_BYTES} bytes or {MAX_DEPTH} levels"
    if any(len(part.encode()) > MAX_NAME_BYTES for part in parts):
        return f"a name is over {MAX_NAME_BYTES} bytes"
    return ""


class File:
    """Bytes and permission bits of one regular file."""

    def __init__(self, data: bytes, mode: int = 0o644) -> None:
        if mode & ~0o777:
            raise ValueError(f"mode {mode:o}: only permission bits, no set-id or sticky bit")
        self.data = data
        self.mode = mode

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, File) and (self.data, self.mode) == (other.data, other.mode)

    def __hash__(self) -> int:
        return int(self.sha256[:15], 16) ^ self.mode

    def __repr__(self) -> str:
        return f"File({len(self.data)} bytes, {self.mode:04o})"


class FileTree(Mapping[str, File]):
    """Sorted mapping of safe relative paths to files; equal content means equal digest.

    Raises:
        ValueError: a path is unsafe, is both a file and a folder, or collides with another one
            when case is folded.
    """

    def __init__(self, files: Mapping[str, File | bytes | str] | None = None) -> None:
        made = {check_path(p): _file(f) for p, f in sorted((files or {}).items())}
        folders = {folder for path in made for folder in _parents(path)}
        if clash := folders & made.keys():
            raise ValueError(f"{min(clash)!r} is a file and a folder at once")
        folded: dict[str, str] = {}
        for path in [*made, *folders]:
            other = folded.setdefault(path.casefold(), path)
            if other != path:
                raise ValueError(f"{path!r} and {other!r} differ only in case")
        self._files = made

    def __getitem__(self, path: str) -> File:
        return self._files[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __hash__(self) -> int:
        return int(self.digest[7:22], 16)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FileTree) and self._files == other._files

    def __repr__(self) -> str:
        return f"FileTree({', '.join(self._files)})"

    @cached_property
    def digest(self) -> str:
        """Tagged digest over path, mode and content of every file."""
        return digest({p: [f.mode, f.sha256] for p, f in self._files.items()})

    @property
    def size(self) -> int:
        """Total bytes of all files."""
        return sum(len(f.data) for f in self._files.values())

    def merged(self, other: "FileTree") -> "FileTree":
        """Both trees as one; a path that both hold is a ValueError."""
        if both := self.keys() & other.keys():
            raise ValueError(f"{min(both)!r} is in both trees")
        return FileTree({**self, **other})

    def under(self, folder: str) -> "FileTree":
        """The same files below a relative folder."""
        return FileTree({f"{folder}/{p}": f for p, f in self._files.items()})

    def below(self, folder: str) -> "FileTree":
        """Only the files inside a relative folder, with their paths seen from there."""
        start = f"{folder}/"
        return FileTree({p[len(start) :]: f for p, f in self.items() if p.startswith(start)})

    def blocks(self, *, uid: int = 0, root: str = "", root_mode: int = 0o755) -> bytes:
        """Deterministic tar entries (GNU format, fixed times, numeric owners), no end marker.

        Args:
            uid: owner and group of every entry.
            root: folder that everything is put under; it and all folders below get entries.
            root_mode: permission bits of that folder.
        """
        out: list[bytes] = []
        seen: set[str] = set()
        if root:
            seen.add(root)
            out.append(_header(root, uid, root_mode, folder=True))
        for path, file in self._files.items():
            for parent in _parents(path):
                folder = f"{root}/{parent}" if root else parent
                if folder not in seen:
                    seen.add(folder)
                    out.append(_header(folder, uid, 0o755, folder=True))
            name = f"{root}/{path}" if root else path
            out += [_header(name, uid, file.mode, size=len(file.data)), file.data]
            out.append(b"\0" * (-len(file.data) % tarfile.BLOCKSIZE))
        return b"".join(out)

    def tar(self, *, uid: int = 0, root: str = "", root_mode: int = 0o755) -> bytes:
        """`blocks` as a whole archive."""
        return self.blocks(uid=uid, root=root, root_mode=root_mode) + TAR_END

    @classmethod
    def from_tar(cls, data: bytes) -> "FileTree":
        """Read what `tar` wrote; ValueError for links, devices, or anything unsafe."""
        files: dict[str, File] = {}
        try:
            with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
                for member in archive:
                    if member.isdir():
                        continue
                    plain = member.isreg() and not member.issparse()
                    stream = archive.extractfile(member) if plain else None
                    if stream is None:
                        raise ValueError(f"{member.name!r} is not a regular, plain file")
                    if member.name in files:
                        raise ValueError(f"{member.name!r} is there twice")
                    files[member.name] = File(stream.read(), member.mode & 0o777)
        except (tarfile.TarError, RecursionError) as error:
            raise ValueError(f"not a readable tar: {error}") from error
        return cls(files)

    @classmethod
    def read(cls, folder: Path) -> "FileTree":
        """All regular files below a folder of our own (bytecode caches left out)."""
        files = {
            path.relative_to(folder).as_posix(): File(
                path.read_bytes(), 0o755 if path.stat().st_mode & 0o100 else 0o644
            )
            for path in folder.rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        return cls(files)

    def write(self, folder: Path) -> None:
        """Write into a folder that does not hold these paths yet."""
        folder.mkdir(parents=True, exist_ok=True)
        for parent in sorted({f for path in self._files for f in _parents(path)}):
            (folder / parent).mkdir(exist_ok=True)
        for path, file in self._files.items():
            with (folder / path).open("xb") as stream:
                stream.write(file.data)
                os.fchmod(stream.fileno(), file.mode)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            _validate,
            serialization=core_schema.plain_serializer_function_ser_schema(
                _serialise, info_arg=True
            ),
        )


def _file(value: File | bytes | str) -> File:
    if isinstance(value, File):
        return value
    return File(value.encode() if isinstance(value, str) else value)


@lru_cache(maxsize=1 << 14)
def _parents(path: str) -> tuple[str, ...]:
    """The folders above a path, the highest first."""
    return tuple(path[:i] for i, character in enumerate(path) if character == "/")


@lru_cache(maxsize=1 << 13)
def _header(name: str, uid: int, mode: int, *, size: int = 0, folder: bool = False) -> bytes:
    entry = tarfile.TarInfo(name)
    entry.type = tarfile.DIRTYPE if folder else tarfile.REGTYPE
    entry.mode, entry.uid, entry.gid, entry.size, entry.mtime = mode, uid, uid, size, EPOCH
    return entry.tobuf(tarfile.GNU_FORMAT)


def _serialise(tree: FileTree, info: core_schema.SerializationInfo) -> Any:
    """In an identity (see `records.Record.digest`) the digest stands for the content."""
    if info.context and info.context.get("identity"):
        return tree.digest
    return {path: {"mode": f.mode, **_content(f.data)} for path, f in tree.items()}


def _content(data: bytes) -> dict[str, str]:
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def _validate(value: Any) -> FileTree:
    if isinstance(value, FileTree):
        return value
    if not isinstance(value, Mapping):
        raise ValueError("a file tree is a mapping of paths to files")
    files: dict[str, File | bytes | str] = {}
    for path, file in value.items():
        if isinstance(file, File | bytes | str):
            files[path] = file
        elif "text" in file:
            files[path] = File(file["text"].encode(), file["mode"])
        else:
            files[path] = File(base64.b64decode(file["base64"], validate=True), file["mode"])
    return FileTree(files)
