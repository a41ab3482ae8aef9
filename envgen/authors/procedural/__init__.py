"""Procedural authors: families of tasks written as code; no model, no key, no network.

Each folder here is a family. `compose` turns a spec into a draft: the family's pure function first,
then the recipes of its fixtures, each run once in the tool stage.
"""

import importlib
from functools import cache
from pathlib import Path

from envgen.authors.fixtures.stage import Stage
from envgen.authors.procedural.family import Composition, Family, rng_of
from envgen.errors import Fault, Misconfigured
from envgen.files import FileTree
from envgen.kit import Kit
from envgen.ledger import Use
from envgen.records import Environment, TaskDraft, TaskSpec


@cache
def names() -> tuple[str, ...]:
    """All families, by name."""
    return tuple(sorted(path.parent.name for path in Path(__file__).parent.glob("*/__init__.py")))


@cache
def _family(name: str) -> Family:
    family: Family = importlib.import_module(f"{__name__}.{name}").FAMILY
    return family


def chosen(wanted: tuple[str, ...] = ()) -> tuple[Family, ...]:
    """The named families, or all of them.

    Raises:
        Misconfigured: a name that no family has.
    """
    if unknown := [name for name in wanted if name not in names()]:
        raise Misconfigured(f"no family {unknown[0]!r}: known are {', '.join(names())}")
    return tuple(_family(name) for name in wanted or names())


def family_of(spec: TaskSpec, wanted: tuple[str, ...] = ()) -> Family:
    """The family that realises a spec; where several do, the spec's digest chooses.

    Raises:
        Fault: none does (the spec was drawn without the families' support).
    """
    able = [f for f in chosen(wanted) if realises(f, spec)]
    if not able:
        raise Fault("author:unsupported", "no procedural family realises these axis values")
    return able[int(spec.digest[7:19], 16) % len(able)]


def realises(family: Family, spec: TaskSpec) -> bool:
    """Whether every axis value of the spec is one that the family honours."""
    for axis, allowed in family.realises.items():
        value = getattr(spec, axis)
        values = value if isinstance(value, tuple) else (value,)
        if not allowed.issuperset(values):
            return False
    return True


def composition(spec: TaskSpec, family: Family) -> Composition:
    """The pure part: everything but the fixtures that tools make."""
    return family.compose(spec, rng_of(spec, family.name))


async def author(spec: TaskSpec, kit: Kit) -> TaskDraft:
    """A complete draft for a spec. Raises Fault when a fixture cannot be made."""
    family = family_of(spec, kit.config.author.families)
    return await realised(spec, family.name, composition(spec, family), kit)


async def realised(spec: TaskSpec, name: str, made: Composition, kit: Kit) -> TaskDraft:
    """The draft of a composition, with its recipes carried out."""
    files, stage = made.files, Stage(Use(spec.slug, "fixture"), kit)
    for recipe in made.recipes:
        files = files.merged(await stage.run(recipe))
    return drafted(spec, name, made, files)


def drafted(spec: TaskSpec, name: str, made: Composition, files: FileTree) -> TaskDraft:
    """The draft of a composition, with the files of its environment."""
    return TaskDraft(
        spec=spec,
        author=f"procedural/{name}",
        title=made.title,
        instruction=made.instruction,
        environment=Environment(base=made.base, files=files, setup=made.setup),
        initial=made.initial,
        tests=made.tests,
        solution=made.solution,
        workdir=made.workdir,
        outputs=made.outputs,
        hide=made.hide,
        secrets=made.secrets,
        limits=made.limits,
    )
