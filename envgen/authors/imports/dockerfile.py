"""A stranger's Dockerfile as packages, files and steps, or the reason why it cannot be had."""

import json
import posixpath
import re
import shlex
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase

from envgen.authors.imports.container import Container
from envgen.authors.imports.containerfile import Instruction, instructions
from envgen.authors.imports.folder import without_ignored
from envgen.authors.imports.options import Options
from envgen.authors.imports.shell import expand
from envgen.errors import Fault
from envgen.files import File, FileTree

_IGNORED = ("LABEL", "EXPOSE", "MAINTAINER", "STOPSIGNAL", "HEALTHCHECK", "VOLUME")
_ARCHIVE = re.compile(r"\.(tar|tgz|tbz2|txz|tar\.(gz|bz2|xz))$")
_SHELLS = ("/bin/bash", "/bin/sh", "/usr/bin/bash", "bash", "sh")


def read(text: str, context: FileTree, options: Options) -> Container:
    """The container that a Dockerfile describes.

    Args:
        text: of the Dockerfile.
        context: its build context.
        options: the user's.

    Raises:
        Fault: several stages, downloads, or something that nobody can tell.
    """
    found = instructions(text)
    args: dict[str, str] = {}
    while found and found[0].keyword == "ARG":
        _arg(found.pop(0), args, {})
    if not found or found[0].keyword != "FROM":
        raise Fault("import:dockerfile", "it does not begin with FROM")
    if sum(one.keyword == "FROM" for one in found) > 1:
        raise Fault("import:stages", "it is built in several stages")
    image = expand(found[0].text, args).split()
    if not image or image[0] == "scratch":
        raise Fault("import:base", "it begins with nothing (FROM scratch)")
    reader = _Reader(Container(image[0], options), without_ignored(context), args)
    for instruction in found[1:]:
        reader.read(instruction)
    return reader.container


def _arg(instruction: Instruction, args: dict[str, str], outer: Mapping[str, str]) -> None:
    for word in _words(instruction.text):
        name, equals, value = word.partition("=")
        if equals:
            args[name] = expand(value, args)
        elif name in outer:
            args[name] = outer[name]


class _Reader:
    def __init__(self, container: Container, context: FileTree, outer: Mapping[str, str]) -> None:
        self.container = container
        self.context = context
        self.outer = outer
        self.folders = {""}
        self.known: dict[str, Callable[[Instruction], None]] = {
            "ADD": self._copy,
            "ARG": lambda one: _arg(one, container.args, outer),
            "CMD": self._command,
            "COPY": self._copy,
            "ENTRYPOINT": self._command,
            "ENV": self._env,
            "RUN": self._run,
            "SHELL": self._shell,
            "USER": self._user,
            "WORKDIR": self._workdir,
        }

    def read(self, instruction: Instruction) -> None:
        if instruction.keyword in _IGNORED:
            return
        if instruction.keyword not in self.known:
            raise Fault("import:dockerfile", f"line {instruction.line}: {instruction.keyword}")
        self.known[instruction.keyword](instruction)

    def _expand(self, text: str) -> str:
        return expand(text, self.container.variables)

    def _workdir(self, instruction: Instruction) -> None:
        self.container.enter(self._expand(_unquoted(instruction.text)))
        self.folders.add(self.container.cwd.strip("/"))

    def _user(self, instruction: Instruction) -> None:
        user = self._expand(instruction.text)
        if not re.fullmatch(r"[\w.-]+(:[\w.-]+)?", user, re.ASCII):
            raise Fault("import:user", f"line {instruction.line}: {user[:60]!r} is no user")
        self.container.user = "root" if user.partition(":")[0] == "0" else user

    def _env(self, instruction: Instruction) -> None:
        if re.match(r"\w+\s*=", instruction.text) is None:
            name, _, value = instruction.text.partition(" ")
            self.container.env[name] = self._expand(value.strip())
            return
        before = dict(self.container.variables)  # one instruction sees what stood before it
        for word in _words(instruction.text):
            name, _, value = word.partition("=")
            self.container.env[name] = expand(value, before)

    def _command(self, instruction: Instruction) -> None:
        first = " ".join(_json_words(instruction.text) or _words(instruction.text))
        if instruction.keyword == "ENTRYPOINT" or not first.startswith((*_SHELLS, "sleep", "tail")):
            self.container.notes.append(
                f"start: {instruction.keyword} {first[:80]!r} is not run, as in any terminal task"
            )

    def _shell(self, instruction: Instruction) -> None:
        words = _json_words(instruction.text)
        if not words or words[0] not in _SHELLS or words[-1] != "-c":
            raise Fault("import:dockerfile", f"line {instruction.line}: another shell")
        name = words[0].rpartition("/")[2]
        self.container.shell = (f"/bin/{name}", *words[1:-1])

    def _run(self, instruction: Instruction) -> None:
        for name, value in instruction.flags:
            if name != "mount" or "type=cache" not in value.split(","):
                raise Fault("import:dockerfile", f"line {instruction.line}: RUN --{name}={value}")
        words = _json_words(instruction.text)
        text = shlex.join(words) if words else instruction.text
        if instruction.heredocs:
            text = _with_heredocs(text, instruction)
        self.container.run(text)

    def _copy(self, instruction: Instruction) -> None:
        flags = dict(instruction.flags)
        if unknown := flags.keys() - {"chown", "chmod", "link"}:
            raise Fault("import:dockerfile", f"line {instruction.line}: --{min(unknown)}")
        words = [self._expand(w) for w in _json_words(instruction.text) or _words(instruction.text)]
        if len(words) < 2:
            raise Fault("import:dockerfile", f"line {instruction.line}: nothing to copy")
        *sources, target = words
        owner = self._expand(flags.get("chown", "0:0"))
        if not re.fullmatch(r"[\w.-]+(:[\w.-]+)?", owner, re.ASCII):
            raise Fault("import:dockerfile", f"line {instruction.line}: owner {owner[:60]!r}")
        placed: dict[str, File] = {}
        for source in sources:
            placed |= self._placed(instruction, source, target, len(sources) > 1)
        if mode := flags.get("chmod"):
            if not re.fullmatch(r"0?[0-7]{3}", mode):
                raise Fault("import:dockerfile", f"line {instruction.line}: mode {mode[:20]}")
            placed = {path: File(f.data, int(mode, 8)) for path, f in placed.items()}
        self.container.lay(placed, owner)
        self.folders |= {p[:i] for p in placed for i, c in enumerate(p) if c == "/"}
        if instruction.keyword == "ADD":
            self._unpack(placed)

    def _placed(
        self, instruction: Instruction, source: str, target: str, several: bool
    ) -> dict[str, File]:
        """The files of one source, by where they go."""
        here = self.container.path(target)
        into = several or target.endswith("/") or here in self.folders
        if match := re.match(r"<<-?['\"]?(\w+)", source):
            body = dict(instruction.heredocs)[match[1]]
            text = body.text if body.quoted else self._expand(body.text)
            return {_joined(here, match[1]) if into else here: File(text.encode())}
        if re.match(r"(https?|ftp|git)://|git@", source):
            raise Fault("import:download", f"line {instruction.line}: ADD {source[:200]}")
        name = posixpath.normpath(f"/{source}").strip("/")
        if name in ("", "."):
            return {_joined(here, path): file for path, file in self.context.items()}
        found: dict[str, File] = {}
        for path, file in self.context.items():
            if fnmatchcase(path, name) and path.count("/") == name.count("/"):
                found[_joined(here, path.rpartition("/")[2]) if into else here] = file
                continue
            for top in (path[:i] for i, c in enumerate(path) if c == "/"):
                if fnmatchcase(top, name) and top.count("/") == name.count("/"):
                    found[_joined(here, path[len(top) + 1 :])] = file
        if not found:
            raise Fault("import:missing", f"line {instruction.line}: {source} is not in its folder")
        return found

    def _unpack(self, placed: Mapping[str, File]) -> None:
        """ADD unpacks archives of its folder."""
        for path in placed:
            if _ARCHIVE.search(path):
                whole, folder = shlex.quote(f"/{path}"), shlex.quote(f"/{posixpath.dirname(path)}")
                self.container.run(f"tar -xf {whole} -C {folder} && rm {whole}")


def _with_heredocs(text: str, instruction: Instruction) -> str:
    """RUN with here-documents as one script: bodies below the command, or the body alone."""
    _, body = instruction.heredocs[0]
    if re.fullmatch(r"<<-?['\"]?\w+['\"]?", text.strip()) and len(instruction.heredocs) == 1:
        return body.text
    # Tabs were stripped already, and stripping again what has none changes nothing.
    bodies = "".join(f"{here.text}{name}\n" for name, here in instruction.heredocs)
    return f"{text}\n{bodies}"


def _joined(folder: str, path: str) -> str:
    return f"{folder}/{path}" if folder else path


def _words(text: str) -> list[str]:
    """Words as Dockerfiles have them: quotes group, a backslash keeps a space."""
    try:
        return shlex.split(text, comments=False)
    except ValueError as error:
        raise Fault("import:dockerfile", f"{text[:80]!r}: {error}") from None


def _json_words(text: str) -> list[str]:
    """The words of the exec form, or none when it is the shell form."""
    if not text.startswith("["):
        return []
    try:
        words = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return words if isinstance(words, list) and all(isinstance(w, str) for w in words) else []


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text
