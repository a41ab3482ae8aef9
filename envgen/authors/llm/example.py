"""A procedural task of the same verifier kind, as an example of style for the verifier call."""

from dataclasses import dataclass
from functools import cache

from envgen import axes
from envgen.authors.procedural import chosen, composition
from envgen.authors.procedural.family import Family
from envgen.records import TaskSpec

INSTRUCTION_CHARS, CHECK_CHARS = 2000, 6500
VARIANTS = 2
"""Examples of a kind in use; few, so that what precedes the question is cached by providers."""


@dataclass(frozen=True)
class Example:
    """Trimmed texts of one task."""

    family: str
    instruction: str
    check: str


def example_of(spec: TaskSpec, families: tuple[str, ...] = ()) -> Example | None:
    """An example for a spec, of one of these families (none = all); None where no family has its
    kind of verifier."""
    able = [f for f in chosen(families) if spec.verifier in f.realises["verifier"]]
    if not able:
        return None
    nearest = max(able, key=lambda family: (_shared(spec, family), family.name))
    return _example(nearest.name, spec.verifier, int(spec.digest[7:15], 16) % VARIANTS)


def _shared(spec: TaskSpec, family: Family) -> int:
    """How many axis values of the spec the family honours."""
    axes_in_common = ("domain", "language", "fixture", "command_complexity", "task_complexity")
    return sum(getattr(spec, axis) in family.realises[axis] for axis in axes_in_common)


@cache
def _example(name: str, verifier: str, variant: int) -> Example:
    (family,) = chosen((name,))
    support = [dict(family.realises) | {"verifier": frozenset({verifier})}]
    row = next(axes.sample(axes.load(None), variant, 1, support=support))
    made = composition(axes.spec_of(row), family)
    check = made.tests["check.py"].data.decode()
    return Example(
        family=family.name,
        instruction=trimmed(made.instruction, INSTRUCTION_CHARS),
        check=trimmed(check, CHECK_CHARS),
    )


def trimmed(text: str, most: int) -> str:
    """The beginning of a text, up to a whole line; says that it was cut."""
    if len(text) <= most:
        return text
    return text[: text.rfind("\n", 0, most) + 1] + "[cut here]\n"
