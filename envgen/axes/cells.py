"""Which combinations exist: the compatibility table and a caller's blocks, as sets of cells.

A cell is one value each of verifier, fixture, task complexity, command complexity and language.
A set of cells is the bits of one integer, so that ten rules over thousands of cells cost a few
operations. A group is a domain with one of its skill types; each group has its set of cells.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import comb, prod

from envgen.axes.catalogue import AXES, FLAT, Catalogue
from envgen.errors import Misconfigured

CORE = ("verifier", "fixture", "task_complexity", "command_complexity", "language")
MOST_CELLS = 50_000
SIZES = (3, 4, 5)
"""A task names three to five skills."""

Block = Mapping[str, Iterable[str]]
"""Axis -> values that a procedural family realises; an axis not named is free."""


@dataclass(frozen=True)
class Grid:
    """Every cell, by number, and sets of them."""

    coords: list[tuple[int, ...]]
    """Cell number -> index of its value on each axis of CORE."""
    masks: Mapping[str, Mapping[str, int]]
    """Axis -> value -> the cells that have it."""
    allowed: Mapping[str, int]
    """Domain -> the cells that the compatibility table leaves."""


@dataclass(frozen=True)
class Pool:
    """What a task of a group may draw: indices of skills and personas of its domain."""

    own: tuple[int, ...]
    """Skills of the group's skill type."""
    rest: tuple[int, ...]
    """Other skills of the domain."""
    persona: tuple[int, ...]

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Pairs (own skills, other skills) that a task can have; always two own or more."""
        return [
            (own, size - own)
            for size in SIZES
            for own in range(2, size + 1)
            if own <= len(self.own) and size - own <= len(self.rest)
        ]


@dataclass(frozen=True)
class Group:
    """A domain with a skill type, and where it can stand."""

    domain: int
    skill_type: int
    cells: int
    parts: tuple[tuple[int, tuple[Pool, ...]], ...]
    """Disjoint sets of cells, each with the pools that may be drawn from there."""


def grid_size(catalogue: Catalogue) -> int:
    """Number of cells, allowed or not."""
    return prod(len(catalogue.flat[axis]) for axis in CORE)


def grid_of(catalogue: Catalogue) -> Grid:
    """All cells of a catalogue, and those that its table allows in each domain."""
    names = [catalogue.names(axis) for axis in CORE]
    total = grid_size(catalogue)
    masks: dict[str, dict[str, int]] = {}
    stride = total
    for axis, values in zip(CORE, names, strict=True):
        period, stride = stride, stride // len(values)
        every = sum(1 << (period * turn) for turn in range(total // period))
        run = every * ((1 << stride) - 1)
        masks[axis] = {value: run << (stride * at) for at, value in enumerate(values)}
    full = (1 << total) - 1
    allowed = {d: full & ~_barred(catalogue, masks, d, full) for d in catalogue.names("domain")}
    return Grid(list(product(*(range(len(values)) for values in names))), masks, allowed)


def _barred(
    catalogue: Catalogue, masks: Mapping[str, Mapping[str, int]], domain: str, full: int
) -> int:
    def cells(axis: str, names: Iterable[str]) -> int:
        if axis == "domain":
            return full if domain in names else 0
        return union(masks[axis][name] for name in names)

    barred = 0
    for rule in catalogue.rules:
        hit = cells(rule.axis, rule.barred)
        for axis, names in rule.when:
            hit &= cells(axis, names)
        barred |= hit
    return barred


def union(masks: Iterable[int]) -> int:
    """The cells in any of the sets."""
    result = 0
    for mask in masks:
        result |= mask
    return result


def live(grid: Grid, catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """The (axis, value) pairs that no allowed combination has; none in a sound catalogue."""
    everywhere = union(grid.allowed.values())
    for axis in FLAT:
        for name in catalogue.names(axis):
            cells = grid.allowed[name] if axis == "domain" else grid.masks[axis][name] & everywhere
            if not cells:
                yield axis, name


def groups_of(
    catalogue: Catalogue, grid: Grid, preset: str, support: Sequence[Block] | None
) -> list[Group]:
    """The groups that can occur, in catalogue order.

    Raises:
        Misconfigured: a block names something unknown, or allows nothing; or nothing is left.
    """
    wanted = _wanted(catalogue, grid, preset)
    blocks = [{axis: frozenset(names) for axis, names in block.items()} for block in support or []]
    if support is None:
        blocks = [{}]
    used = [False] * len(blocks)
    for number, block in enumerate(blocks):
        _check_block(catalogue, number, block)
    groups = []
    for d, domain in enumerate(catalogue.names("domain")):
        for s, skill_type in enumerate(catalogue.names("skill_type", domain)):
            offers = []
            for number, block in enumerate(blocks):
                pool = _pool(catalogue, block, domain, skill_type)
                cells = _block_cells(grid, block) & wanted[domain]
                if pool is not None and cells:
                    used[number] = True
                    offers.append((cells, pool))
            if offers:
                groups.append(Group(d, s, union(c for c, _ in offers), _parts(offers)))
    if not groups or not all(used):
        which = f"block {used.index(False) + 1} of the support" if used else "the support"
        raise Misconfigured(
            f"{which} allows no spec under the compatibility table and preset {preset!r}; widen it "
            "(a skill type needs two of its own skills, and three skills in all)"
        )
    return groups


def _wanted(catalogue: Catalogue, grid: Grid, preset: str) -> dict[str, int]:
    """Allowed cells by domain without what the preset gives no share."""
    dropped = 0
    for axis in CORE:
        for name, share in zip(catalogue.names(axis), catalogue.shares(axis, preset), strict=True):
            if not share:
                dropped |= grid.masks[axis][name]
    shares = dict(zip(catalogue.names("domain"), catalogue.shares("domain", preset), strict=True))
    return {d: cells & ~dropped if shares[d] else 0 for d, cells in grid.allowed.items()}


def _check_block(catalogue: Catalogue, number: int, block: Mapping[str, frozenset[str]]) -> None:
    domains = sorted(block.get("domain", catalogue.names("domain")))
    for axis, names in block.items():
        if axis not in AXES:
            raise Misconfigured(
                f"block {number + 1} of the support names the unknown axis {axis!r}; "
                f"known: {', '.join(AXES)}"
            )
        if axis in FLAT:
            known = set(catalogue.names(axis))
        else:
            homes = [d for d in domains if d in catalogue.skill_type]
            known = {name for d in homes for name in catalogue.names(axis, d)}
        for name in sorted(names - known):
            raise Misconfigured(
                f"block {number + 1} of the support names {axis} {name!r}, which the axis files do "
                "not have; add it there or correct the name"
            )


def _block_cells(grid: Grid, block: Mapping[str, frozenset[str]]) -> int:
    cells = (1 << len(grid.coords)) - 1
    for axis in CORE:
        if axis in block:
            cells &= union(grid.masks[axis][name] for name in block[axis])
    return cells


def _pool(
    catalogue: Catalogue, block: Mapping[str, frozenset[str]], domain: str, skill_type: str
) -> Pool | None:
    """What the block lets the group draw, or None when that is too little for a task."""

    def admits(axis: str, name: str) -> bool:
        return axis not in block or name in block[axis]

    if not (admits("domain", domain) and admits("skill_type", skill_type)):
        return None
    home = {value.name for value in catalogue.skills[domain][skill_type]}
    skills = [
        (at, name)
        for at, name in enumerate(catalogue.names("skills", domain))
        if admits("skills", name)
    ]
    personas = enumerate(catalogue.names("persona", domain))
    pool = Pool(
        own=tuple(at for at, name in skills if name in home),
        rest=tuple(at for at, name in skills if name not in home),
        persona=tuple(at for at, name in personas if admits("persona", name)),
    )
    return pool if pool.shapes and pool.persona else None


def _parts(offers: list[tuple[int, Pool]]) -> tuple[tuple[int, tuple[Pool, ...]], ...]:
    """Split overlapping offers into disjoint sets of cells with the pools of each."""
    parts: list[tuple[int, tuple[Pool, ...]]] = []
    for cells, pool in offers:
        split: list[tuple[int, tuple[Pool, ...]]] = []
        for known, pools in parts:
            both = known & cells
            if both:
                split.append((both, pools if pool in pools else (*pools, pool)))
            if known & ~cells:
                split.append((known & ~cells, pools))
            cells &= ~known
        if cells:
            split.append((cells, (pool,)))
        parts = split
    return tuple(parts)


def capacity(groups: Sequence[Group]) -> int:
    """Number of distinct signatures: cells times skill sets times personas, none counted twice."""
    return sum(
        cells.bit_count() * _distinct(pools) for group in groups for cells, pools in group.parts
    )


def _distinct(pools: tuple[Pool, ...]) -> int:
    """Skill sets with personas in the union of pools, by inclusion and exclusion."""

    def count(pool: Pool) -> int:
        own, rest = len(pool.own), len(pool.rest)
        sets = sum(comb(own, a) * comb(rest, b) for a, b in pool.shapes)
        return sets * len(pool.persona)

    def meet(a: Pool, b: Pool) -> Pool:
        def common(x: tuple[int, ...], y: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(sorted(set(x) & set(y)))

        return Pool(common(a.own, b.own), common(a.rest, b.rest), common(a.persona, b.persona))

    def added(start: int, so_far: Pool) -> int:
        """Inclusion-exclusion over pools from `start` on, inside `so_far`."""
        total = 0
        for at in range(start, len(pools)):
            inner = meet(so_far, pools[at])
            size = count(inner)
            if size:
                total += size - added(at + 1, inner)
        return total

    if len(pools) == 1:
        return count(pools[0])
    everything = Pool(
        tuple(sorted({x for p in pools for x in p.own})),
        tuple(sorted({x for p in pools for x in p.rest})),
        tuple(sorted({x for p in pools for x in p.persona})),
    )
    return added(0, everything)
