"""`Task`: everything a check may touch. The agent's files are read here, its programs run here."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pwd
import random
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import ending, files, process
from .ending import Agent, Ident
from .files import remove
from .process import Limits, Outcome

DEFAULT_UID = 1000
READ_LIMIT = 16 << 20


class Task:
    """One task being graded.

    `truth` is what `/tests/truth.json` holds; `workdir` is where the agent worked. Paths given to
    the methods are relative to `workdir`, or absolute inside an output or a scratch folder.
    """

    def __init__(
        self,
        workdir: str,
        truth: Mapping[str, Any] | None = None,
        *,
        outputs: Sequence[str] = (),
        agent_uid: int | None = None,
        tests: str | None = None,
        scratch_root: str | None = None,
        exclusive: bool = False,
    ) -> None:
        self.truth: dict[str, Any] = dict(truth or {})
        self.workdir = os.path.normpath(str(workdir))
        self.outputs = tuple(os.path.normpath(path) for path in (self.workdir, *outputs))
        self.agent = agent_of(agent_uid, self.workdir, exclusive)
        self.services = 0  # running ones; see multi_protocol
        self._tests = tests
        self._secret = _inodes(tests)
        self._why: dict[str, str] = {}
        self._scratch_root = scratch_root
        self._scratch = ""
        self._count = 0

    # -- reading ----------------------------------------------------------------------------

    def read(self, path: str, limit: int = READ_LIMIT) -> bytes | None:
        """Bytes of a regular file, or None: missing, a link on the way, not a file, too large."""
        with self._remembering(path):
            return files.read(self._inside(path), limit, self._secret)
        return None

    def read_text(self, path: str, limit: int = READ_LIMIT) -> str | None:
        """The same as text; None too when it is not UTF-8."""
        data = self.read(path, limit)
        try:
            return None if data is None else data.decode("utf-8")
        except UnicodeDecodeError:
            self._why[path] = "not UTF-8"
            return None

    def read_json(self, path: str, limit: int = READ_LIMIT) -> Any:
        """The same as a JSON value; None when it is not JSON (or is null)."""
        text = self.read_text(path, limit)
        try:
            return None if text is None else json.loads(text)
        except (ValueError, RecursionError):
            self._why[path] = "not JSON"
            return None

    def exists(self, path: str) -> bool:
        """A file or folder is there, reached without a link."""
        found = self.stat(path)
        return found is not None and (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode))

    def stat(self, path: str) -> os.stat_result | None:
        """Size, mode and times of the entry itself (`stat.S_IMODE(...)` for the permissions)."""
        with self._remembering(path):
            return files.look(self._inside(path))
        return None

    def readlink(self, path: str) -> str | None:
        """Where a symbolic link points, or None when it is none."""
        with self._remembering(path), files.parent_of(self._inside(path)) as (fd, name):
            return os.readlink(name, dir_fd=fd)
        return None

    def listing(self, path: str = ".", deep: bool = False, limit: int = 10_000) -> list[str]:
        """Sorted names in a folder, folders with a closing "/". Empty when there is no folder."""
        with self._remembering(path):
            return files.listing(self._inside(path), deep, limit)
        return []

    def why(self, path: str) -> str:
        """Why the last read of `path` gave nothing; "" when it gave something."""
        return self._why.get(path, "")

    def path(self, path: str) -> str:
        """The absolute path, for an argument of a command."""
        return os.path.join(self.workdir, path)

    # -- running ----------------------------------------------------------------------------

    def run(
        self,
        argv: Sequence[str],
        stdin: bytes = b"",
        timeout: float = 10,
        cwd: str | None = None,
        files: Mapping[str, bytes] | None = None,
        *,
        env: Mapping[str, str] | None = None,
        memory_mb: int = 512,
        output_limit: int = 1 << 20,
        processes: int = 64,
        file_mb: int = 64,
    ) -> Outcome:
        """Run a program as the agent; whatever it does is in the `Outcome`.

        `argv[0]`: absolute, or with a "/" relative to `workdir`, or found on the fixed PATH. With
        `files` it runs in a new folder that holds them and goes away after. `memory_mb=0` lifts
        the memory limit of the kit (the container's stays).
        """
        limits = Limits(timeout, memory_mb, output_limit, processes, file_mb)
        command = self.command(argv)
        folder = self.scratch(files) if files is not None else None
        try:
            where = self.path(cwd) if cwd is not None else folder or self.workdir
            return process.run(command, self.agent, limits, where, stdin, env, self.keep())
        finally:
            if folder is not None:
                remove(folder)

    def command(self, argv: Sequence[str]) -> list[str]:
        """`argv` with its program resolved, never through a folder that the agent can write."""
        first = argv[0]
        if "/" in first:
            return [self.path(first), *argv[1:]]
        return [shutil.which(first, path=process.PATH) or f"/missing/{first}", *argv[1:]]

    def scratch(self, files: Mapping[str, bytes] | None = None) -> str:
        """A new folder of the agent's, holding `files` (relative path -> bytes)."""
        if not self._scratch:
            self._scratch = self._make_scratch_root()
        self._count += 1
        folder = os.path.join(self._scratch, f"{self._count:04d}")
        os.mkdir(folder, 0o700)  # ours until it is filled: nobody can plant a link meanwhile
        for name, data in (files or {}).items():
            _put(folder, name, data)
        if self.agent.uid != os.geteuid():
            for path in [folder, *_below(folder)]:
                os.chown(path, self.agent.uid, self.agent.gid)
        return folder

    def rng(self, label: str) -> random.Random:
        """A generator seeded from the hidden truth: the same each time, unknown to the agent."""
        truth = json.dumps(self.truth, sort_keys=True, ensure_ascii=True)
        return random.Random(hashlib.sha256(f"{label}\n{truth}".encode()).digest())

    def keep(self) -> frozenset[Ident]:
        """Processes that the end of a run must spare: services, or others that we started."""
        if self.services or not self.agent.exclusive:
            return ending.living(self.agent)
        return frozenset()

    def close(self) -> None:
        """Remove the scratch folders."""
        if self._scratch:
            remove(self._scratch)
            self._scratch = ""

    def __enter__(self) -> Task:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- inside -----------------------------------------------------------------------------

    def _inside(self, path: str) -> str:
        full = "/" + "/".join(files.parts(self.path(path)))
        roots = (*self.outputs, self._scratch) if self._scratch else self.outputs
        if not any(full == root or full.startswith(root.rstrip("/") + "/") for root in roots):
            raise files.Refused("outside the outputs")
        return full

    @contextlib.contextmanager
    def _remembering(self, path: str) -> Iterator[None]:
        self._why.pop(path, None)
        try:
            yield
        except files.Refused as refused:
            self._why[path] = str(refused)
        except OSError as error:
            self._why[path] = error.strerror or "unreadable"
        except ValueError:  # a lone surrogate, say
            self._why[path] = "not a valid path"

    def _make_scratch_root(self) -> str:
        # A fixed name in a grading container, so that a program that prints its folder grades
        # the same each time; a random one wherever else.
        if self._scratch_root is None:
            root = tempfile.mkdtemp(prefix="envgen-grade-")
        else:
            root = self._scratch_root
            remove(root)
            os.mkdir(root)
        os.chmod(root, 0o711)
        return os.path.realpath(root)


def agent_of(uid: int | None, workdir: str, exclusive: bool = False) -> Agent:
    """The agent's identity: uid 1000 under root, else ourselves (never exclusively then)."""
    if uid is None:
        uid = DEFAULT_UID if os.geteuid() == 0 else os.geteuid()
    exclusive = exclusive and os.geteuid() == 0 != uid
    try:
        entry = pwd.getpwuid(uid)
        return Agent(uid, entry.pw_gid, entry.pw_dir, exclusive)
    except KeyError:
        return Agent(uid, uid, workdir, exclusive)


def _put(folder: str, name: str, data: bytes) -> None:
    path = os.path.join(folder, *files.parts("/" + name))
    os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
    with open(path, "xb") as file:
        file.write(data)
    os.chmod(path, 0o755 if data.startswith((b"#!", b"\x7fELF")) else 0o644)


def _below(folder: str) -> list[str]:
    return [os.path.join(top, name) for top, dirs, names in os.walk(folder)
            for name in (*dirs, *names)]  # fmt: skip


def _inodes(tests: str | None) -> frozenset[tuple[int, int]]:
    """The tests' own files: a hard link to one of them is no answer."""
    found = [os.lstat(path) for path in _below(tests)] if tests else []
    return frozenset((entry.st_dev, entry.st_ino) for entry in found)
