"""The values of the nine axes, the compatibility table and the presets, as plain frozen data."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property

from envgen.digest import digest

FLAT = (
    "domain",
    "language",
    "task_complexity",
    "command_complexity",
    "verifier",
    "fixture",
)
"""Axes whose values depend on nothing. Rules and presets speak of these."""

AXES = (
    "domain",
    "skill_type",
    "skills",
    "persona",
    "language",
    "task_complexity",
    "command_complexity",
    "verifier",
    "fixture",
)
"""All nine, in the order in which they are shown."""


@dataclass(frozen=True)
class Value:
    """One value of an axis: its name, and what it means in words."""

    name: str
    text: str
    weight: float | None = None
    """Share of specs, on the axes that have weights of their own (language)."""
    min_commands: int | None = None
    max_commands: int | None = None
    """Range of commands, on task complexities."""


@dataclass(frozen=True)
class Rule:
    """Where all of `when` hold, none of `barred` values of `axis` may stand."""

    when: tuple[tuple[str, tuple[str, ...]], ...]
    axis: str
    barred: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Preset:
    """A named mix: axis -> value -> share. Axes not named keep their own weights."""

    name: str
    text: str
    weights: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Catalogue:
    """Everything that the axis files say."""

    flat: Mapping[str, tuple[Value, ...]]
    """The axes of FLAT."""
    skill_type: Mapping[str, tuple[Value, ...]]
    """By domain."""
    skills: Mapping[str, Mapping[str, tuple[Value, ...]]]
    """By domain and skill type."""
    persona: Mapping[str, tuple[Value, ...]]
    """By domain."""
    rules: tuple[Rule, ...]
    presets: Mapping[str, Preset]

    @cached_property
    def digest(self) -> str:
        """Tagged digest of every value, word, rule and preset."""
        return digest(asdict(self))

    def names(self, axis: str, domain: str | None = None) -> tuple[str, ...]:
        """Names of the values of an axis, in the order of `values`."""
        return tuple(value.name for value in self.values(axis, domain))

    def values(self, axis: str, domain: str | None = None) -> tuple[Value, ...]:
        """Values of an axis in file order; skill_type, skills and persona need a domain."""
        if axis in self.flat:
            return self.flat[axis]
        if domain is None:
            raise ValueError(f"values of {axis} depend on the domain: name one")
        if axis == "skills":
            return tuple(skill for group in self.skills[domain].values() for skill in group)
        return {"skill_type": self.skill_type, "persona": self.persona}[axis][domain]

    def text(self, axis: str, name: str, domain: str | None = None) -> str:
        """What a value means, in words meant for an author."""
        return next(value.text for value in self.values(axis, domain) if value.name == name)

    def command_range(self, task_complexity: str) -> tuple[int, int]:
        """Least and most commands of a task complexity."""
        for value in self.flat["task_complexity"]:
            if value.name == task_complexity:
                return value.min_commands or 1, value.max_commands or 1
        raise KeyError(task_complexity)

    def shares(self, axis: str, preset: str) -> list[float]:
        """The share that a preset asks of each value of a flat axis, in file order."""
        values = self.flat[axis]
        chosen = self.presets[preset].weights.get(axis)
        if chosen is not None:
            return [chosen[value.name] for value in values]
        if values[0].weight is not None:
            return [value.weight or 0.0 for value in values]
        return [1 / len(values)] * len(values)
