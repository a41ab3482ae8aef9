"""Balance scores: exp(H) / N of the observed shares, beside the best that can be reached."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import exp, log
from typing import NamedTuple, TypeVar

from envgen.axes.catalogue import AXES, FLAT, Catalogue
from envgen.axes.cells import Block, Grid, Group, grid_of, groups_of, union
from envgen.axes.fit import fit_pair, rescale
from envgen.axes.row import Row
from envgen.records import TaskSpec

T = TypeVar("T", bound=Row | TaskSpec)

PAIRS = (
    ("domain", "verifier"),
    ("verifier", "fixture"),
    ("task_complexity", "verifier"),
)
"""Pairs of flat axes that are balanced together; (domain, skill type) is the axis skill_type."""


class Balance(NamedTuple):
    """How evenly one axis, or pair of axes, was used."""

    score: float
    """exp(H) / N, 1.0 = every value equally often."""
    reachable: float
    """The most that a sample with the preset's shares can score; see `reachable`."""
    values: int
    """N: how many values, or pairs of values, the catalogue has."""
    seen: int
    """How many of them occurred."""


class Census:
    """Counts specs while they flow past, so that a million need to be walked only once."""

    def __init__(self) -> None:
        self._counts: dict[str, Counter[object]] = {name: Counter() for name in _names()}

    def watch(self, rows: Iterable[T]) -> Iterator[T]:
        """The rows, counted as they are taken."""
        counts = self._counts
        for row in rows:
            for axis in FLAT:
                counts[axis][getattr(row, axis)] += 1
            for a, b in PAIRS:
                counts[f"{a}/{b}"][getattr(row, a), getattr(row, b)] += 1
            counts["skill_type"][row.domain, row.skill_type] += 1
            counts["persona"][row.domain, row.persona] += 1
            counts["skills"].update([(row.domain, skill) for skill in row.skills])
            yield row

    def balance(
        self,
        catalogue: Catalogue,
        preset: str = "balanced",
        support: Sequence[Block] | None = None,
    ) -> dict[str, Balance]:
        """Scores of the nine axes, and of PAIRS under names such as `verifier/fixture`.

        Skill types, skills and personas count as pairs with their domain, since equal names in
        two domains are different things.
        """
        best = reachable(catalogue, preset, support)
        sizes = _sizes(catalogue)
        return {
            name: Balance(_score(tally.values(), sizes[name]), best[name], sizes[name], len(tally))
            for name, tally in self._counts.items()
        }


def balance(
    rows: Iterable[Row | TaskSpec],
    catalogue: Catalogue,
    *,
    preset: str = "balanced",
    support: Sequence[Block] | None = None,
) -> dict[str, Balance]:
    """The balance of rows that are at hand; see `Census`."""
    census = Census()
    for _ in census.watch(rows):
        pass
    return census.balance(catalogue, preset, support)


def _names() -> list[str]:
    return [*AXES, *(f"{a}/{b}" for a, b in PAIRS)]


def _sizes(catalogue: Catalogue) -> dict[str, int]:
    domains = catalogue.names("domain")
    sizes = {axis: len(catalogue.names(axis)) for axis in FLAT}
    for axis in ("skill_type", "skills", "persona"):
        sizes[axis] = sum(len(catalogue.names(axis, domain)) for domain in domains)
    return sizes | {f"{a}/{b}": sizes[a] * sizes[b] for a, b in PAIRS}


def _score(counts: Iterable[float], size: int) -> float:
    """exp(H) / N of unnormalised counts; 0.0 of nothing."""
    tally = [count for count in counts if count > 0]
    total = sum(tally)
    if not total:
        return 0.0
    entropy = -sum(count / total * log(count / total) for count in tally)
    return min(1.0, exp(entropy) / size)


def reachable(
    catalogue: Catalogue, preset: str = "balanced", support: Sequence[Block] | None = None
) -> dict[str, float]:
    """The best scores under the preset's shares.

    A single axis scores best when its shares are met exactly. For a pair it is the distribution of
    largest entropy over the pairs that can occur at all, with both axes at their shares. That
    bounds every sample with these shares, and the fitted distribution attains it (a test compares
    the two). A support too narrow for the shares bounds nothing: what is given then is the nearest
    compromise, and a sample that strays further from the shares may score above it.
    """
    grid = grid_of(catalogue)
    groups = groups_of(catalogue, grid, preset, support)
    sizes = _sizes(catalogue)
    sets = {axis: _sets(catalogue, grid, groups, axis) for axis in FLAT}
    shares = {
        axis: rescale(
            catalogue.shares(axis, preset), {at for at, cells in enumerate(sets[axis]) if cells}
        )
        for axis in FLAT
    }
    best = {axis: _score(shares[axis], sizes[axis]) for axis in FLAT}
    for a, b in PAIRS:
        possible = [(i, j) for i, x in enumerate(sets[a]) for j, y in enumerate(sets[b]) if x & y]
        name = f"{a}/{b}"
        best[name] = _score(fit_pair(possible, shares[a], shares[b]).values(), sizes[name])
    return best | _within_domains(groups, shares["domain"], sizes)


def _sets(catalogue: Catalogue, grid: Grid, groups: Sequence[Group], axis: str) -> list[int]:
    """For each value of a flat axis, the cells in which it can occur."""
    if axis == "domain":
        domains = range(len(catalogue.flat["domain"]))
        return [union(g.cells for g in groups if g.domain == domain) for domain in domains]
    everywhere = union(g.cells for g in groups)
    return [grid.masks[axis][name] & everywhere for name in catalogue.names(axis)]


def _within_domains(
    groups: Sequence[Group], shares: Sequence[float], sizes: Mapping[str, int]
) -> dict[str, float]:
    """Best scores of what is spread evenly inside each domain."""
    open_to: dict[str, dict[int, set[int]]] = {"skill_type": {}, "skills": {}, "persona": {}}
    for group in groups:
        pools = [pool for _, pools in group.parts for pool in pools]
        for axis, members in (
            ("skill_type", {group.skill_type}),
            ("skills", {at for pool in pools for at in pool.own + pool.rest}),
            ("persona", {at for pool in pools for at in pool.persona}),
        ):
            open_to[axis].setdefault(group.domain, set()).update(members)
    return {
        axis: _score(
            (shares[domain] / len(members) for domain, members in of.items() for _ in members),
            sizes[axis],
        )
        for axis, of in open_to.items()
    }
