"""Where each spec stands: domain, skill type and cell, one after the other.

The walk goes down a tree: domain, skill type, verifier, fixture, task complexity, command
complexity, language. At each step every value that can stand here gains its probability, in a few
ledgers (over all specs, inside the domain, beside the skill type or verifier); the value that is
owed most is taken and pays one. So no ledger drifts from its expected count by more than a few
specs, at any length of the list. Seeded noise breaks ties and keeps axes from marching in step.
"""

from collections.abc import Callable, Iterator
from random import Random

from envgen.axes.catalogue import Catalogue
from envgen.axes.cells import CORE
from envgen.axes.fit import ONE, Choice, Node, Plan

NOISE = 0.5 * ONE
"""Below ONE, so that a value that just paid never overtakes one that is still owed."""

Place = tuple[int, int, int]
"""Indices of domain and skill type, and the number of a cell."""


def places(catalogue: Catalogue, plan: Plan, rng: Random) -> Iterator[Place]:
    """Places without end; the first k do not depend on how many are taken."""
    noise = rng.random
    sizes = [len(catalogue.flat[axis]) for axis in CORE]
    domains = range(len(catalogue.flat["domain"]))
    owed_domains = [0] * len(domains)
    owed_types = [[0] * len(catalogue.names("skill_type", d)) for d in catalogue.names("domain")]
    overall = [[0] * size for size in sizes]
    in_domain = [[[0] * size for size in sizes] for _ in domains]
    in_group = {key: [0] * sizes[0] for key in plan.groups}
    beside = [[[0] * size for size in sizes] for _ in range(sizes[0])]
    while True:
        domain = _owed_most_simple(plan.domains, owed_domains, noise)
        skill_type = _owed_most_simple(plan.skill_types[domain], owed_types[domain], noise)
        node = plan.roots[domain, skill_type]
        local = in_domain[domain]
        verifier, _, node = _owed_most(
            node, overall[0], local[0], in_group[domain, skill_type], noise
        )
        cell = verifier
        near = beside[verifier]
        for axis in range(1, len(sizes)):
            value, _, node = _owed_most(node, overall[axis], local[axis], near[axis], noise)
            cell = cell * sizes[axis] + value
        yield domain, skill_type, cell


def _owed_most(
    node: Node, a: list[int], b: list[int], c: list[int], noise: Callable[[], float]
) -> Choice:
    """The choice owed most in three ledgers together, which are brought up to date."""
    best = node[0]
    if len(node) == 1:
        return best
    top = -float("inf")
    for choice in node:
        value, weight, _ = choice
        x = a[value] = a[value] + weight
        y = b[value] = b[value] + weight
        z = c[value] = c[value] + weight
        owed = x + y + z + noise() * NOISE
        if owed > top:
            top, best = owed, choice
    value = best[0]
    a[value] -= ONE
    b[value] -= ONE
    c[value] -= ONE
    return best


def _owed_most_simple(node: Node, ledger: list[int], noise: Callable[[], float]) -> int:
    """As `_owed_most`, with one ledger."""
    best, top = 0, -float("inf")
    for value, weight, _ in node:
        ledger[value] += weight
        owed = ledger[value] + noise() * NOISE
        if owed > top:
            top, best = owed, value
    ledger[best] -= ONE
    return best
