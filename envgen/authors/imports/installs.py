"""Installing commands in shell text: apt, pip and uv, taken out and told apart from other work.

What they would have installed is returned, and a `:` stands where they stood, so that chains of
`&&` hold. Commands that need the network for anything else are a Fault that names them.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from envgen.authors.imports import python
from envgen.authors.imports.shell import Command, commands, expand, replaced
from envgen.errors import Fault

NOTHING = ":"
_APT = frozenset({"apt-get", "apt", "aptitude"})
_APT_IDLE = frozenset({"update", "upgrade", "dist-upgrade", "clean", "autoclean", "autoremove"})
_APT_VALUE = ("-o", "-t", "-c", "--option", "--target-release")
_PIP_VALUE = (
    *("-i", "--index-url", "--extra-index-url", "-f", "--find-links", "--trusted-host", "-c"),
    *("--timeout", "--retries", "--default-timeout", "--root-user-action", "--progress-bar"),
    *("--python", "-p"),
)
_PIP_REFUSED = ("-e", "--editable", "-t", "--target", "--prefix", "--root")
_UV_SCRIPT = re.compile(r"https://astral\.sh/uv(/[\w.]+)?/install\.sh")
_FETCHERS = frozenset({"curl", "wget", "aria2c"})
_NETWORK = {
    "git": {"clone", "fetch", "pull", "submodule"},
    "npm": {"install", "ci", "i", "add"},
    "npx": set(),
    "yarn": {"install", "add"},
    "pnpm": {"install", "add"},
    "go": {"get", "install", "mod"},
    "cargo": {"install", "fetch", "update"},
    "gem": {"install"},
    "conda": {"install", "create"},
    "mamba": {"install", "create"},
    "poetry": {"install"},
    "pipx": {"install"},
    "cpan": set(),
    "cpanm": set(),
    "rustup": set(),
    "add-apt-repository": set(),
    "apk": set(),
    "yum": set(),
    "dnf": set(),
}
"""Programs that fetch: with one of these subcommands, or always where none is named."""


@dataclass
class Found:
    """What text would have installed."""

    packages: list[str] = field(default_factory=list)
    requirements: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    runner: bool = False
    """Whether it fetched or prepared a runner of its own (uv)."""


Lookup = Callable[[str], str]
"""The text of a file that pip reads requirements from, by its path in the command."""


def extract(
    text: str, variables: Mapping[str, str], lookup: Lookup, *, keep_pip: bool = False
) -> tuple[str, Found]:
    """The text without its installing commands, and what they would have installed.

    Args:
        text: shell text.
        variables: what is known of its environment.
        lookup: reads files of requirements.
        keep_pip: leave pip's commands in place, for a build that has wheels.

    Raises:
        Fault: it fetches something else, or the package cannot be told.
    """
    found = Found()
    changes = []
    fetched = False
    for command in commands(text):
        values = tuple(expand(value, variables) for value in command.values)
        drop = bool(values) and (
            _apt(values, found)
            or _pip(values, found, lookup, keep_pip)
            or _uv(values, found)
            or (fetched and values[0] in ("sh", "bash"))
        )
        if drop and command.heredocs:
            raise Fault("import:install", f"{' '.join(values)[:120]} reads a here-document")
        if drop:
            start = _program(command)
            changes.append((start, command.end, NOTHING))
        elif values:
            refuse_network(values)
        fetched = drop and values[0] in _FETCHERS and command.after == "|"
    return replaced(text, changes), found


def refuse_network(values: tuple[str, ...]) -> None:
    """Raise Fault for a command that cannot work without network."""
    program = values[0].rpartition("/")[2]
    said = " ".join(values)
    remote = re.search(r"(https?|ftp|git)://(?!localhost|127\.0\.0\.1)", said)
    if program in _FETCHERS and remote:
        raise Fault("import:download", f"it fetches from the network: {said[:200]}")
    if program in _NETWORK:
        needed = _NETWORK[program]
        rest = [value for value in values[1:] if not value.startswith("-")]
        if not needed or (rest and rest[0] in needed and (program != "git" or remote)):
            raise Fault("import:download", f"it fetches from the network: {said[:200]}")


def _program(command: Command) -> int:
    """Where the program's name stands: assignments before it may be needed by nothing else."""
    return command.words[0].start


def _apt(values: tuple[str, ...], found: Found) -> bool:
    if values[0].rpartition("/")[2] not in _APT:
        return False
    rest = _operands(values[1:], _APT_VALUE)
    if not rest or rest[0] in _APT_IDLE:
        return True
    if rest[0] not in ("install", "build-dep"):
        return rest[0] in ("remove", "purge")
    for name in rest[1:]:
        plain, _, version = name.partition("=")
        plain = plain.partition("/")[0].partition(":")[0]
        if rest[0] == "build-dep" or not re.fullmatch(r"[a-z0-9][a-z0-9+.-]+", plain):
            raise Fault("import:apt", f"it cannot be told what {name!r} of apt is")
        if version:
            found.notes.append(f"apt: {plain} in Debian's version, not {version}")
        found.packages.append(plain)
    return True


def _pip(values: tuple[str, ...], found: Found, lookup: Lookup, keep: bool) -> bool:
    rest = _after_pip(values)
    if rest is None or not rest or rest[0] not in ("install", "download", "wheel", "add"):
        return False
    if refused := [v for v in rest if v.partition("=")[0] in _PIP_REFUSED]:
        raise Fault("import:pip", f"{' '.join(values)[:200]}: {refused[0]} cannot be followed")
    if not keep and values[0].startswith("/") and not values[0].startswith(("/usr/", "/bin/")):
        raise Fault("import:pip", f"{values[0]} installs beside the system: it needs --wheels")
    wanted = _wanted(rest[1:], lookup)
    basic = [python.parsed(w)[0] in ("pip", "setuptools", "wheel") for w in wanted]
    found.requirements += [w for w, own in zip(wanted, basic, strict=True) if not (own and keep)]
    return not keep or all(basic)


def _wanted(values: tuple[str, ...], lookup: Lookup) -> list[str]:
    """The requirements that words of pip name, in files or themselves."""
    wanted: list[str] = []
    words = list(values)
    while words:
        word = words.pop(0)
        if word in ("-r", "--requirement") and words:
            wanted += _lines(lookup(words.pop(0)))
        elif word.startswith("--requirement="):
            wanted += _lines(lookup(word.partition("=")[2]))
        elif word in _PIP_VALUE and words:
            words.pop(0)
        elif not word.startswith("-"):
            wanted.append(word)
    return wanted


def _after_pip(values: tuple[str, ...]) -> tuple[str, ...] | None:
    """The words after `pip`, however it is called; None for another program."""
    program = values[0].rpartition("/")[2]
    if re.fullmatch(r"pip[0-9.]*", program):
        return _trimmed(values[1:])
    if re.fullmatch(r"python[0-9.]*", program) and values[1:3] == ("-m", "pip"):
        return _trimmed(values[3:])
    if program == "uv" and values[1:2] == ("pip",):
        return _trimmed(values[2:])
    if program == "uv" and values[1:2] == ("add",):
        return values[1:]
    return None


def _trimmed(values: tuple[str, ...]) -> tuple[str, ...]:
    while values and values[0].startswith("-"):
        values = values[1:]
    return values


def _uv(values: tuple[str, ...], found: Found) -> bool:
    """The fetching of uv itself, its folders, and what puts it on the path."""
    program = values[0].rpartition("/")[2]
    fetches = program in _FETCHERS and any(_UV_SCRIPT.fullmatch(value) for value in values)
    prepares = program == "uv" and values[1:2] in (("venv",), ("init",), ("sync",), ("python",))
    sources = program in ("source", ".") and bool(
        re.search(r"(/\.local/bin/env|/bin/activate|\.cargo/env)$", values[-1])
    )
    found.runner = found.runner or fetches or prepares
    return fetches or prepares or (sources and found.runner)


def _operands(values: tuple[str, ...], with_value: tuple[str, ...]) -> list[str]:
    rest, words = [], list(values)
    while words:
        word = words.pop(0)
        if word in with_value and words:
            words.pop(0)
        elif not word.startswith("-"):
            rest.append(word)
    return rest


def _lines(text: str) -> list[str]:
    """The requirements in a file of them."""
    found = []
    for line in text.splitlines():
        plain = re.sub(r"(^|\s)#.*", "", line).strip().rstrip("\\").strip()
        plain = re.sub(r"\s--hash=\S+", "", plain)
        if plain.startswith("-"):
            raise Fault("import:pip", f"a file of requirements holds {plain[:80]!r}")
        if plain:
            found.append(plain)
    return found
