"""An Apptainer definition (`container.def`) as packages, files and steps."""

import re
import shlex
from collections.abc import Iterator

from envgen.authors.imports.container import Container
from envgen.authors.imports.options import Options
from envgen.authors.imports.shell import expand
from envgen.errors import Fault
from envgen.files import File, FileTree

_SECTION = re.compile(r"%([a-zA-Z]+)\b[^\n]*")
_KNOWN = frozenset(
    {"post", "environment", "files", "labels", "help", "runscript", "startscript", "test"}
)
_READ_ONLY = re.compile(r"\s*(?:export\s+)?([A-Za-z_]\w*)=(.*)")


def read(text: str, fixtures: FileTree, options: Options, image: str | None = None) -> Container:
    """The container that a definition describes.

    `%post` runs as root through bash, as one script, and its exit status counts. Builders of this
    format differ in whether a failing line ends it; here it does not, unless the script says so.

    Args:
        text: of the definition.
        fixtures: the task's own files, by their path from its folder.
        options: the user's.
        image: what it stands on, when the task knows better than the definition.

    Raises:
        Fault: sections that work on the host, or files that are not there.
    """
    if re.search(r"\{\{\s*\w+\s*\}\}", text):
        raise Fault("import:definition", "it has build variables")
    header, sections = _sections(text)
    container = Container(image or _image(header), options)
    for name in sections:
        if name not in _KNOWN:
            raise Fault("import:definition", f"%{name} is not something that can be followed")
    for source, target in _files(sections.get("files", "")):
        container.lay(_placed(source, target, fixtures))
    container.shell = ("/bin/bash",)
    if post := sections.get("post", "").strip("\n"):
        container.run(f"{post}\n")
    for line in sections.get("environment", "").splitlines():
        match = _READ_ONLY.fullmatch(line)
        if match:
            value = " ".join(shlex.split(match[2].split(" #")[0])) if _closed(match[2]) else ""
            container.env[match[1]] = expand(value, {"PATH": _PATH} | container.env)
        elif line.strip() and not line.lstrip().startswith("#"):
            container.notes.append(f"environment: {line.strip()[:120]!r} is not carried out")
    return container


_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def _closed(value: str) -> bool:
    try:
        shlex.split(value)
    except ValueError:
        return False
    return True


def _sections(text: str) -> tuple[str, dict[str, str]]:
    header: list[str] = []
    sections: dict[str, list[str]] = {}
    into = header
    for line in text.splitlines():
        match = _SECTION.fullmatch(line)
        if match:
            into = sections.setdefault(match[1].lower(), [])
        else:
            into.append(line)
    return "\n".join(header), {name: "\n".join(lines) for name, lines in sections.items()}


def _image(header: str) -> str:
    """The image's name; a local image file is named after the image that it was made from."""
    fields = dict(re.findall(r"(?m)^\s*([A-Za-z]+)\s*:\s*(\S+)", header))
    told = {name.lower(): value for name, value in fields.items()}
    image = told.get("from", "")
    if not image:
        raise Fault("import:definition", "it does not say what it begins with (From:)")
    if image.endswith(".sif"):
        name = image.rpartition("/")[2].removesuffix(".sif")
        image = re.sub(r"[_-]([0-9][\w.]*)$", r":\1", name)
    return str(image)


def _files(section: str) -> Iterator[tuple[str, str]]:
    for line in section.splitlines():
        words = line.split()
        if words and not words[0].startswith("#"):
            yield words[0], words[1] if len(words) > 1 else words[0]


def _placed(source: str, target: str, fixtures: FileTree) -> dict[str, File]:
    """The files of one line, by where they go. A path of the maker's machine is looked for among
    the task's own fixtures."""
    name = source.removeprefix("./").strip("/")
    if "/fixtures/" in f"/{source}":
        name = f"fixtures/{f'/{source}'.split('/fixtures/', 1)[1]}".rstrip("/")
    place = target.strip("/")
    if name in fixtures:
        inside = f"{place}/{name.rpartition('/')[2]}" if target.endswith("/") else place
        return {inside: fixtures[name]}
    below = fixtures.below(name)
    if not below:
        raise Fault("import:missing", f"%files names {source}, which is not in the task's folder")
    return {f"{place}/{path}": file for path, file in below.items()}
