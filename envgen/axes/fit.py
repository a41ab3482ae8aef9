"""How often each combination should occur.

The aim is a distribution over the allowed cells that meets the shares of every axis and is, beyond
that, as even as possible, also on the pairs (domain, verifier), (verifier, fixture) and (task
complexity, verifier). Iterative proportional fitting finds it: scale the cells so that one set of
sums is right, then the next, and around again; what it converges to has the largest entropy of all
that meet the sums. A narrow support (few procedural families) may make the sums contradict each
other; then the exponent RATE below 1 gives the nearest compromise (each sum pulled towards its
share, as in unbalanced optimal transport) in place of a walk in circles, while the shares of
domains and skill types stay exact. Domains with the same possibilities, and languages that no rule
tells apart, are fitted as one and split afterwards, which is exact and a hundred times faster.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from envgen.axes.catalogue import Catalogue
from envgen.axes.cells import CORE, Block, Grid, Group, grid_of, groups_of

ONE = 1 << 20
"""Probability 1 as an integer. The walk counts in integers, so that the last bits of a platform's
floating point cannot change which spec comes out."""
RATE = 0.98
SWEEPS = 400
STALL = 25
"""Sweeps after which there must have been progress; there is none where shares contradict."""
LIMIT = 1e40
"""Bound of a scale: contradicting shares push some towards nothing, and must not get to zero."""
TOLERANCE = 1e-5
ROUGHLY = 1e-3
"""Enough for a compromise, which meets no share to the last digit anyway."""

Choice = tuple[int, int, "Node"]
"""Index of a value, its probability in units of 1 / ONE, and what follows."""
Node = tuple[Choice, ...]


@dataclass
class Sum:
    """One set of sums to be met: the sum that each cell counts in, and the shares wanted."""

    index: list[int]
    share: list[float]
    exact: bool = False


@dataclass(frozen=True)
class Plan:
    """All that the walk needs, apart from the seed."""

    groups: dict[tuple[int, int], Group]
    domains: Node
    skill_types: dict[int, Node]
    roots: dict[tuple[int, int], Node]
    """Group -> the tree of conditional probabilities over the axes of CORE."""
    grid: Grid


def fit(cells: int, sums: Sequence[Sum]) -> list[float]:
    """Probabilities of `cells` cells, as even as the sums allow.

    Sums that contradict each other are met as nearly as they can be, the exact ones exactly; those
    must come last.
    """
    p, settled = _sweep(cells, sums, 1.0)
    return p if settled else _sweep(cells, sums, RATE)[0]


def _sweep(cells: int, sums: Sequence[Sum], rate: float) -> tuple[list[float], bool]:
    p = [1.0 / cells] * cells
    scales = [[1.0] * len(one.share) for one in sums]
    before = float("inf")
    for turn in range(1, SWEEPS + 1):
        worst = 0.0
        for one, scale in zip(sums, scales, strict=True):
            have = [0.0] * len(one.share)
            for at, x in zip(one.index, p, strict=True):
                have[at] += x
            ratios = _ratios(one, have, scale, rate)
            worst = max(worst, *(abs(ratio - 1) for ratio in ratios))
            p = [x * ratios[at] for at, x in zip(one.index, p, strict=True)]
        if worst < (TOLERANCE if rate == 1.0 else ROUGHLY):
            return p, True
        if turn % STALL == 0:
            if worst > 0.9 * before:
                break
            before = worst
    return p, False


def _ratios(one: Sum, have: list[float], scale: list[float], rate: float) -> list[float]:
    """By what to multiply each part of a sum; brings `scale`, the product so far, up to date."""
    if one.exact:
        return [w / got if got > 0 else 1.0 for w, got in zip(one.share, have, strict=True)]
    old = scale.copy()
    for at, (want, got) in enumerate(zip(one.share, have, strict=True)):
        if got > 0:
            scale[at] = min(max((want * old[at] / got) ** rate, 1 / LIMIT), LIMIT)
    return [new / was for new, was in zip(scale, old, strict=True)]


def fit_pair(
    pairs: Sequence[tuple[int, int]], rows: Sequence[float], columns: Sequence[float]
) -> dict[tuple[int, int], float]:
    """The evenest distribution over the possible pairs of two axes with these shares.

    Where the shares contradict each other, rows keep theirs and columns come as near as they can.
    """
    sums = [
        Sum([b for _, b in pairs], rescale(columns, {b for _, b in pairs})),
        Sum([a for a, _ in pairs], rescale(rows, {a for a, _ in pairs}), exact=True),
    ]
    return dict(zip(pairs, fit(len(pairs), sums), strict=True))


def rescale(shares: Sequence[float], present: set[int]) -> list[float]:
    """Shares of the values that can occur, adding up to one; zero for the others."""
    total = sum(shares[at] for at in present)
    return [share / total if at in present else 0.0 for at, share in enumerate(shares)]


def integers(shares: Sequence[float]) -> list[int]:
    """The shares as integers that add up to ONE exactly (largest remainders)."""
    total = sum(shares)
    exact = [share / total * ONE for share in shares]
    whole = [int(x) for x in exact]
    # Rounded, so that equal shares tie whatever their last bit, and position decides.
    order = sorted(range(len(exact)), key=lambda at: (-round(exact[at] - whole[at], 3), at))
    for at in order[: ONE - sum(whole)]:
        whole[at] += 1
    return whole


def plan_of(catalogue: Catalogue, preset: str, support: Sequence[Block] | None) -> Plan:
    """Fit the whole distribution and lay it out as trees for the walk."""
    grid = grid_of(catalogue)
    groups = groups_of(catalogue, grid, preset, support)
    types: dict[int, list[Group]] = {}
    for group in groups:
        types.setdefault(group.domain, []).append(group)
    share = rescale(catalogue.shares("domain", preset), set(types))
    kinds = _kinds(types)
    trees = _trees(catalogue, preset, grid, kinds, share)
    return Plan(
        groups={(g.domain, g.skill_type): g for g in groups},
        domains=_node(sorted(types), [share[d] for d in sorted(types)]),
        skill_types={
            d: _node([g.skill_type for g in members], [1.0] * len(members))
            for d, members in types.items()
        },
        roots={
            (g.domain, g.skill_type): trees[kinds[d], g.cells]
            for d, members in types.items()
            for g in members
        },
        grid=grid,
    )


Kind = tuple[tuple[int, float], ...]
"""What a domain can do: each set of cells of its skill types, with its share of them."""


def _kinds(types: dict[int, list[Group]]) -> dict[int, Kind]:
    return {
        d: tuple(
            (cells, count / len(members))
            for cells, count in sorted(Counter(g.cells for g in members).items())
        )
        for d, members in types.items()
    }


def _node(values: Sequence[int], shares: Sequence[float]) -> Node:
    weights = integers(shares)
    return tuple((v, w, ()) for v, w in zip(values, weights, strict=True) if w)


def _trees(
    catalogue: Catalogue,
    preset: str,
    grid: Grid,
    kinds: dict[int, Kind],
    share: Sequence[float],
) -> dict[tuple[Kind, int], Node]:
    """One tree for each (kind of domain, set of cells)."""
    of_kind: dict[Kind, float] = {}
    for d, kind in kinds.items():
        of_kind[kind] = of_kind.get(kind, 0.0) + share[d]
    distinct = list(of_kind)
    places = [(k, cells, part) for k, kind in enumerate(distinct) for cells, part in kind]
    alike = _alike([cells for _, cells, _ in places], len(catalogue.flat["language"]))
    heads = sorted(set(alike))
    table = [
        (place, *grid.coords[cell])
        for place, (_, cells, _) in enumerate(places)
        for cell in bits(cells)
        if grid.coords[cell][-1] in heads
    ]
    shares = {axis: catalogue.shares(axis, preset) for axis in CORE}
    merged = [0.0] * len(alike)
    for language, head in enumerate(alike):
        merged[head] += shares["language"][language]
    shares["language"], separate = merged, shares["language"]
    p = fit(len(table), _sums(table, places, list(of_kind.values()), shares))
    followers = {
        head: [(at, separate[at] / (merged[head] or 1)) for at, h in enumerate(alike) if h == head]
        for head in heads
    }
    rows = list(zip(table, p, strict=True))
    return {
        (distinct[places[at][0]], places[at][1]): _tree(list(inside), 1, followers)
        for at, inside in groupby(rows, key=lambda row: row[0][0])
    }


def _alike(sets: Sequence[int], languages: int) -> list[int]:
    """For each language the first one that can stand exactly where it can."""
    some = max(cells.bit_length() for cells in sets)
    comb = sum(1 << at for at in range(0, some + languages, languages))
    seen: dict[tuple[int, ...], int] = {}
    return [
        seen.setdefault(tuple((cells >> language) & comb for cells in sets), language)
        for language in range(languages)
    ]


def bits(mask: int) -> Iterator[int]:
    """Numbers of the cells in a set, ascending."""
    return (at for at, bit in enumerate(reversed(bin(mask))) if bit == "1")


def _sums(
    table: Sequence[tuple[int, ...]],
    places: Sequence[tuple[int, int, float]],
    of_kind: Sequence[float],
    shares: dict[str, list[float]],
) -> list[Sum]:
    """The sums to meet, the exact ones last. Axes inside a pair are met with the pair."""
    kind_of = [places[row[0]][0] for row in table]
    column = {axis: [row[at] for row in table] for at, axis in enumerate(CORE, 1)}

    def pair(rows: list[int], columns: list[int], a: Sequence[float], b: Sequence[float]) -> Sum:
        keys = list(zip(rows, columns, strict=True))
        best = fit_pair(sorted(set(keys)), a, b)
        number = {key: at for at, key in enumerate(best)}
        return Sum([number[key] for key in keys], list(best.values()))

    def single(axis: str) -> Sum:
        return Sum(column[axis], rescale(shares[axis], set(column[axis])))

    v = column["verifier"]
    return [
        single("language"),
        single("command_complexity"),
        pair(column["task_complexity"], v, shares["task_complexity"], shares["verifier"]),
        pair(column["fixture"], v, shares["fixture"], shares["verifier"]),
        pair(kind_of, v, of_kind, shares["verifier"]),
        Sum([row[0] for row in table], [of_kind[k] * part for k, _, part in places], exact=True),
    ]


def _tree(
    rows: list[tuple[tuple[int, ...], float]],
    depth: int,
    followers: dict[int, list[tuple[int, float]]],
) -> Node:
    """Conditional probabilities of the axis at `depth` and, below each value, of the next one."""
    if depth == len(CORE):
        leaves = [(at, x * weight) for row, x in rows for at, weight in followers[row[depth]]]
        leaves.sort()
        return _node([at for at, _ in leaves], [x for _, x in leaves])
    parts = [
        (value, list(inside)) for value, inside in groupby(rows, key=lambda row: row[0][depth])
    ]
    weights = integers([sum(x for _, x in inside) for _, inside in parts])
    return tuple(
        (value, weight, _tree(inside, depth + 1, followers))
        for (value, inside), weight in zip(parts, weights, strict=True)
        if weight
    )
