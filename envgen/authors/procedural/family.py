"""What a family of procedural tasks is: axis values that it realises, and a pure function.

A family is a folder: `__init__.py` holds `FAMILY`, and `task/` the files that it is made of
(instruction template, `check.py`, `solve.sh`, wrong and valid solutions).
"""

import hashlib
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from envgen.authors.fixtures.recipe import Recipe
from envgen.files import FileTree
from envgen.prompts import render
from envgen.records import HOME, InitialState, Limits, TaskSpec

Block = Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class Composition:
    """All that one task of a family is made of; fields as in `TaskDraft` and `Environment`.

    `wrong` and `valid` are whole solutions (each with a `solve.sh`) by name: known to be wrong, and
    known to be right though different from the reference. They never leave the tests.
    """

    title: str
    instruction: str
    files: FileTree
    """As `Environment.files`."""
    tests: FileTree
    solution: FileTree
    wrong: Mapping[str, FileTree]
    valid: Mapping[str, FileTree]
    base: str
    setup: tuple[str, ...] = ()
    recipes: tuple[Recipe, ...] = ()
    initial: InitialState = field(default_factory=InitialState)
    workdir: str = HOME
    outputs: tuple[str, ...] = (HOME,)
    hide: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class Family:
    """A family.

    Attributes:
        name: the folder's name.
        realises: axis -> values that its tasks honour; the sampler draws only from these. Keys:
            domain, skill_type, skills, language, task_complexity, command_complexity, verifier,
            fixture.
        compose: (spec, rng) -> Composition; pure, everything drawn from rng.
    """

    name: str
    realises: Block
    compose: Callable[[TaskSpec, random.Random], Composition]


def rng_of(spec: TaskSpec, family: str) -> random.Random:
    """The only randomness of a task: seeded by its content and the family's name."""
    seed = hashlib.sha256(f"{family}:{spec.digest}".encode()).digest()
    return random.Random(seed)


def introduced(persona: str) -> str:
    """A persona as the object of "I am"."""
    if re.match(r"(a|an|the) |\S+ support (at|for|of) ", persona):  # has an article, or takes none
        return persona
    if re.match(r"only |(build keeper|head|leader|manager) of ", persona):
        return f"the {persona}"
    return f"{article(persona)} {persona}"


def article(phrase: str) -> str:
    """`a` or `an`, as the first word sounds."""
    vowel = r"(?!eu|onc?e\b|u[bnt]i|us[eu])[aeiou]|h(eir|onest|our)"
    return "an" if re.match(vowel, phrase, re.IGNORECASE) else "a"


class Material:
    """The files in a family's `task/` folder."""

    def __init__(self, module_file: str) -> None:
        self.folder = Path(module_file).parent / "task"

    def text(self, name: str) -> str:
        return (self.folder / name).read_text()

    def render(self, name: str, **values: object) -> str:
        return render(self.folder / name, article=article, **values)
