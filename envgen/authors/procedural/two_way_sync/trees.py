"""Two trees that went apart: every kind of change at least once on each side."""

import random
from dataclasses import dataclass, field
from typing import Any

from .rules import Scenario
from .truth import digest

KINDS = (
    ("kept", 9), ("edit left", 3), ("edit right", 3), ("new left", 2), ("new right", 2),
    ("gone left", 2), ("gone right", 2), ("gone both", 1), ("edit both", 5), ("same edit", 2),
    ("same new", 1), ("clash new", 2), ("gone left, edit right", 2), ("edit left, gone right", 2),
)  # fmt: skip


@dataclass
class Trees:
    """Paths with contents on each side, and the digests of the last common state."""

    base: dict[str, str] = field(default_factory=dict)
    left: dict[str, bytes] = field(default_factory=dict)
    right: dict[str, bytes] = field(default_factory=dict)


def draw(rng: random.Random, scenario: Scenario, rules: dict[str, Any]) -> Trees:
    trees = Trees()
    kinds = [kind for kind, count in KINDS for _ in range(count + rng.randrange(2))]
    numbers = rng.sample(range(1, 400), 2 * len(kinds))
    for kind in kinds:
        folder = rng.choice((*scenario.folders, ""))
        name = f"{rng.choice(scenario.names)}{rng.choice(' -_')}{numbers.pop()}.{scenario.ending}"
        _add(rng, scenario, trees, f"{folder}/{name}".lstrip("/"), kind)
    for pattern in rules["ignore"]:
        for side in (trees.left, trees.right):
            inner = pattern.replace("*", f"old {numbers.pop()}")
            leaf = f"{inner}/entry" if pattern in (".cache", "lost+found") else inner
            side[f"{rng.choice(scenario.folders)}/{leaf}"] = _content(rng, scenario)
    return trees


def _add(rng: random.Random, scenario: Scenario, trees: Trees, path: str, kind: str) -> None:
    before = _content(rng, scenario)
    new = "new" in kind
    if not new:
        trees.base[path] = digest(before)
    after = _edited(rng, scenario, before)
    for side, name in ((trees.left, "left"), (trees.right, "right")):
        if f"gone {name}" in kind or kind == "gone both":
            continue
        if new and name not in kind and kind not in ("same new", "clash new"):
            continue
        if kind in ("edit both", "clash new"):
            side[path] = _edited(rng, scenario, before)
        elif kind in ("same edit", "same new") or f"edit {name}" in kind or f"new {name}" in kind:
            side[path] = after
        else:
            side[path] = before


def _head(rng: random.Random) -> str:
    return (
        f"Revised: 20{rng.randrange(18, 25)}-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}"
    )


def _line(rng: random.Random, scenario: Scenario) -> str:
    return f"{rng.choice(scenario.lines)} {rng.randrange(10, 99999)}"


def _content(rng: random.Random, scenario: Scenario) -> bytes:
    lines = [_head(rng), *(_line(rng, scenario) for _ in range(rng.randrange(3, 9)))]
    return ("\n".join(lines) + "\n").encode()


def _edited(rng: random.Random, scenario: Scenario, data: bytes) -> bytes:
    """Another date, and a line changed, added or taken away."""
    lines = data.decode().splitlines()
    lines[0] = _head(rng)
    place = rng.randrange(1, len(lines))
    change = rng.choice(("line", "more", "less"))
    if change == "less":
        del lines[place]
    if change != "less":
        lines.insert(place, _line(rng, scenario))
    if change == "line":
        del lines[place + 1]
    return ("\n".join(lines) + "\n").encode()
