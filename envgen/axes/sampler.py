"""`sample`: specs one by one, deterministic, distinct, each prefix as balanced as the whole.

The randomness is seeded by seed and preset alone, so that rewording a value changes the digests of
specs (and their slugs) but not what is drawn.
"""

import hashlib
from collections.abc import Iterator, Sequence
from itertools import count, islice, product
from random import Random

from envgen.axes.catalogue import Catalogue
from envgen.axes.cells import CORE, Block, capacity
from envgen.axes.deal import Dealer
from envgen.axes.fit import Plan, plan_of
from envgen.axes.row import Row, slug_of
from envgen.axes.walk import places
from envgen.digest import canonical
from envgen.errors import Misconfigured
from envgen.plural import many


def sample(
    catalogue: Catalogue,
    seed: int,
    n: int,
    *,
    preset: str = "balanced",
    support: Sequence[Block] | None = None,
    start: int = 0,
) -> Iterator[Row]:
    """Specs number `start` to `start + n - 1`; the same ones whatever n is.

    Args:
        catalogue: from `load`.
        seed: any integer from 0 to 2**63 - 1.
        n: how many.
        preset: a name in `presets.yaml`.
        support: only specs inside at least one of these blocks; None = everything.
        start: specs to skip; they are walked through, since each depends on those before.

    Raises:
        Misconfigured: at once, for a wrong argument or more specs than there are signatures.
    """
    if not 0 <= seed < 2**63:
        raise Misconfigured(f"seed {seed} is out of range; use 0 to 2**63 - 1")
    if n < 0 or start < 0:
        raise Misconfigured(f"{many(n, 'spec')} from number {start} on: neither may be negative")
    if preset not in catalogue.presets:
        known = ", ".join(catalogue.presets)
        raise Misconfigured(f"preset {preset!r} is not in presets.yaml; known: {known}")
    plan = plan_of(catalogue, preset, support)
    most = capacity(list(plan.groups.values()))
    if start + n > most:
        raise Misconfigured(
            f"{many(start + n, 'spec was', 'specs were')} asked for, but there are only {most:,} "
            "distinct here; ask for fewer, or widen the support"
        )
    return islice(_rows(catalogue, plan, seed, preset), start, start + n)


def _rows(catalogue: Catalogue, plan: Plan, seed: int, preset: str) -> Iterator[Row]:
    """Specs until every signature is used."""
    key = hashlib.sha256(canonical(["envgen.axes", seed, preset])).digest()
    dealer = Dealer(plan, Random(key))
    walk = places(catalogue, plan, Random(key))
    domains = catalogue.names("domain")
    skill_types, skills, personas = (
        [catalogue.names(axis, domain) for domain in domains]
        for axis in ("skill_type", "skills", "persona")
    )
    cells = list(product(*(catalogue.names(axis) for axis in CORE)))
    catalogue_digest = catalogue.digest
    slugs: set[str] = set()
    for index in count():
        for (d, s, cell), (chosen, who) in dealer.deal(next(walk)):
            verifier, fixture, task_complexity, command_complexity, language = cells[cell]
            row = Row(
                seed,
                index,
                "",
                domains[d],
                skill_types[d][s],
                tuple([skills[d][at] for at in chosen]),
                personas[d][who],
                language,
                task_complexity,
                command_complexity,
                verifier,
                fixture,
                catalogue_digest,
            )
            slug = slug_of(row)
            if slug not in slugs:
                slugs.add(slug)
                yield row._replace(slug=slug)
                break
        else:
            return
