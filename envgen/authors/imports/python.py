"""What pip would install, without the network: Debian's packages, or wheels fetched before.

A requirement is met by Debian only where Debian's version satisfies it, or where it is a tool that
only runs tests, whose version is free. Everything else needs a folder of wheels, or is a reason not
to import the task.
"""

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from envgen.authors.imports.folder import tree
from envgen.authors.imports.images import names
from envgen.digest import digest, short
from envgen.errors import Fault, Misconfigured
from envgen.files import FileTree

TARGET = ("--python-version=3.11", "--implementation=cp", "--only-binary=:all:")
PLATFORMS = ("manylinux2014_x86_64", "manylinux_2_17_x86_64", "manylinux_2_28_x86_64")
SECONDS = 600
_REQUIREMENT = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[\w,\s.-]*\])?\s*((?:[<>=!~].*)?)")
_CLAUSE = re.compile(r"(===?|~=|!=|<=|>=|<|>)\s*([0-9][\w.*+!-]*)")

Wheels = Callable[[tuple[str, ...]], FileTree]
"""Wheels that meet some requirements, with everything that they depend on."""


def parsed(requirement: str) -> tuple[str, str]:
    """Name in its settled form, and specifier.

    Raises:
        Fault: an address, a folder, or something else that is no plain requirement.
    """
    plain = requirement.partition(";")[0].partition(" #")[0].strip()
    match = _REQUIREMENT.fullmatch(plain)
    if match is None:
        raise Fault("import:pip", f"{requirement[:200]!r} is not a named project of the index")
    return re.sub(r"[-_.]+", "-", match[1]).lower(), match[2].strip()


def debian(requirement: str) -> tuple[str | None, str]:
    """The Debian package that meets a requirement (None: no need of any), and a note.

    Raises:
        Fault: none does; the reason says how wheels would.
    """
    name, specifier = parsed(requirement)
    runner = name in names()["runners"]
    if name not in names()["python"]:
        if runner:
            return None, f"pip: {name} is left out"
        raise _unmet(requirement, "Debian has no package of it that we know")
    package, version = names()["python"][name]
    if not runner and not satisfies(str(version), specifier):
        raise _unmet(requirement, f"Debian's {package} is {version}")
    return package, f"pip: Debian's {package} {version} stands for {requirement}"


def satisfies(version: str, specifier: str) -> bool:
    """Whether a release satisfies a specifier such as `>=1.2,<2` (numbers only)."""
    for clause in filter(None, (part.strip() for part in specifier.split(","))):
        match = _CLAUSE.fullmatch(clause)
        if match is None or not _clause(_numbers(version), match[1], match[2]):
            return False
    return True


def _clause(have: tuple[int, ...], operator: str, wanted: str) -> bool:
    want = _numbers(wanted.removesuffix(".*"))
    if operator in ("==", "===", "!="):
        width = len(want) if wanted.endswith(".*") else max(len(want), len(have))
        same = _padded(have, width)[:width] == _padded(want, width)
        return same != (operator == "!=")
    if operator == "~=":
        return have >= want and have[: len(want) - 1] == want[:-1]
    width = max(len(want), len(have))
    left, right = _padded(have, width), _padded(want, width)
    return {"<": left < right, ">": left > right, "<=": left <= right, ">=": left >= right}[
        operator
    ]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))


def _padded(numbers: tuple[int, ...], width: int) -> tuple[int, ...]:
    return numbers + (0,) * (width - len(numbers))


def _unmet(requirement: str, reason: str) -> Fault:
    return Fault(
        "import:pip",
        f"{requirement}: {reason}, and images build without network; import with a folder of "
        "wheels (--wheels DIR, and --fetch-wheels to fill it)",
    )


@dataclass(frozen=True)
class House:
    """A folder of wheels, asked through pip on this machine.

    Attributes:
        folder: holds wheels in any number; answers are kept in `sets/` below it.
        fetch: whether pip may ask its index for what the folder lacks.
    """

    folder: Path
    fetch: bool = False

    def __call__(self, requirements: tuple[str, ...]) -> FileTree:
        """Wheels for Python 3.11 on x86-64 Linux.

        Raises:
            Fault: there are none.
            Misconfigured: this Python has no pip.
        """
        wanted = tuple(sorted(set(requirements)))
        answer = self.folder / "sets" / short(digest(wanted), 24)
        if not answer.is_dir():
            aside = answer.with_name(f".{answer.name}.part")
            aside.mkdir(parents=True, exist_ok=True)
            self._download(wanted, aside)
            aside.rename(answer)
        return tree(answer)

    def _download(self, wanted: tuple[str, ...], target: Path) -> None:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input", *TARGET]
        command += [f"--platform={platform}" for platform in PLATFORMS]
        command += [f"--dest={target}", f"--find-links={self.folder}"]
        command += [] if self.fetch else ["--no-index"]
        try:
            done = subprocess.run(
                [*command, "--", *wanted], capture_output=True, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            raise Fault("import:pip", f"pip took over {SECONDS} s for {wanted}") from None
        said = done.stderr.decode(errors="replace").strip()
        if "No module named pip" in said:
            raise Misconfigured(
                "wheels need pip, which this Python lacks: run `python -m ensurepip`"
            )
        if done.returncode != 0:
            raise Fault("import:pip", f"no wheels for {', '.join(wanted)}: {said[-600:]}")
