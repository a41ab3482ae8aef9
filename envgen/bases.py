"""Domain bases and package sets: what stands below a task's own lines, as data and Dockerfile text.

Every base begins with the same lines, so builders share them across bases and tasks. `data/bases/`
holds what each base contains.
"""

import re
from functools import cache
from typing import Any

import yaml

from envgen.dockerfile import install_line
from envgen.errors import Misconfigured
from envgen.records import AGENT_UID, HOME, BaseRecipe
from envgen.share import share

PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]{1,80}")
_NOT_BASES = ("layers", "root")


@cache
def root() -> dict[str, str]:
    """`image`, `digest` and `suite` of the root image."""
    return dict(_read("root"))


@cache
def names() -> tuple[str, ...]:
    """All bases, by name."""
    found = sorted(path.stem for path in share("data/bases").glob("*.yaml"))
    return tuple(name for name in found if name not in _NOT_BASES)


def contents(base: str) -> tuple[str, ...]:
    """The packages that a base names, layers first (what they depend on comes with them)."""
    described = _described(base)
    layers = _read("layers")
    packages = [p for layer in described["layers"] for p in layers[layer]]
    return (*packages, *described["packages"])


@cache
def recipe(base: str, packages: tuple[str, ...] = ()) -> BaseRecipe:
    """The lines of a base, and of a package set on it when packages are named.

    Raises:
        Misconfigured: no such base, or something that is not the name of a package.
    """
    described = _described(base)
    layers = _read("layers")
    lines = [_user_line()]
    lines += [install_line(tuple(layers[layer])) for layer in described["layers"]]
    if described["packages"]:
        lines.append(install_line(tuple(described["packages"])))
    lines.append(f"LABEL io.envgen=image io.envgen.base={base}\nWORKDIR {HOME}\n")
    for package in packages:
        if not PACKAGE.fullmatch(package):
            raise Misconfigured(f"{package!r} is not the name of a Debian package")
    if packages:
        lines.append(install_line(packages))
    name = "+".join([base, *sorted(packages)])
    return BaseRecipe(name=name, lines="".join(lines))


def _user_line() -> str:
    return f"RUN useradd -u {AGENT_UID} -m -k /dev/null -d {HOME} -s /bin/bash agent\n"


def _described(base: str) -> dict[str, Any]:
    if base not in names():
        raise Misconfigured(f"there is no base {base!r}: known are {', '.join(names())}")
    return _read(base)


@cache
def _read(name: str) -> dict[str, Any]:
    tree: dict[str, Any] = yaml.safe_load((share("data/bases") / f"{name}.yaml").read_text())
    return tree
