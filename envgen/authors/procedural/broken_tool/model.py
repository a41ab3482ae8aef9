"""What a kind of tool is: sources in `task/tools`, a README, faults that can be planted, inputs."""

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Params = Mapping[str, int | str | tuple[str, ...]]


@dataclass(frozen=True)
class Spot:
    """A place in a source: as it should be, with the fault, and right in other words."""

    good: str
    bad: str
    other: str


@dataclass(frozen=True)
class Fault:
    """One fault that can be planted, in each language of its kind.

    `symptom` is what somebody who only sees the output would report.
    """

    name: str
    symptom: str
    spots: Mapping[str, Spot]


@dataclass(frozen=True)
class Kind:
    """A tool. `params` are constants of the sources, which the README states."""

    name: str
    languages: tuple[str, ...]
    about: str
    names: tuple[str, ...]
    """What the tool may be called."""
    owners: tuple[str, ...]
    """Who runs it."""
    draw_params: Callable[[random.Random], Params]
    draw_input: Callable[[random.Random, Params], str]
    faults: tuple[Fault, ...]


def with_params(source: str, language: str, params: Params) -> str:
    """The source with drawn constants. KeyError when it does not define one of them."""
    for name, value in params.items():
        if language == "python":
            pattern, line = rf"^{name} = .*$", f"{name} = {_python(value)}"
        else:
            shown = f'"{value}"' if isinstance(value, str) else str(value)
            pattern, line = rf"^#define {name} .*$", f"#define {name} {shown}"
        plain = line.replace("\\", "\\\\")
        source, count = re.subn(pattern, plain, source, flags=re.MULTILINE)
        if count != 1:
            raise KeyError(name)
    return source


def _python(value: int | str | tuple[str, ...]) -> str:
    if isinstance(value, tuple):
        return "(" + ", ".join(f'"{item}"' for item in value) + ")"
    return f'"{value}"' if isinstance(value, str) else str(value)


def swap(source: str, old: str, new: str) -> str:
    """Replace a text that stands there once; ValueError otherwise."""
    if source.count(old) != 1:
        raise ValueError(f"not there once: {old!r}")
    return source.replace(old, new)


def runner(source: str) -> Callable[[str], str]:
    """The `run` function of a Python tool, made from its text."""
    space: dict[str, object] = {"__name__": "tool"}
    exec(compile(source, "tool", "exec"), space)
    run = space["run"]
    assert callable(run)
    return lambda text: _run(run, text)


def _run(run: Callable[[str], object], text: str) -> str:
    try:
        return str(run(text))
    except Exception as error:  # noqa: BLE001  a planted fault may well crash; that shows, too
        return f"crash {type(error).__name__}\n"
