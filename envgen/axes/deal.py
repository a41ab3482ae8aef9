"""Skills and a persona for each place, no signature twice."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from random import Random

from envgen.axes.cells import Pool
from envgen.axes.fit import Plan, bits
from envgen.axes.walk import Place

TRIES = 32
"""Draws for one place before the unused signatures are looked for one by one."""
USUAL_OWN = 3
"""Most skills from the skill type itself, where there are enough others."""

Draw = tuple[tuple[int, ...], int]
"""Skills, ascending, and a persona, by index in the domain."""


class Deck:
    """Deals its cards in shuffled rounds, so that all are dealt equally often."""

    def __init__(self, cards: Sequence[int], rng: Random) -> None:
        self.cards = cards
        self.rng = rng
        self.left: list[int] = []

    def deal(self, count: int = 1) -> list[int]:
        """Distinct cards, off the end; what is left of a round goes before the next round."""
        if len(self.left) < count:
            fresh = [card for card in self.cards if card not in self.left]
            again = self.left.copy()
            self.rng.shuffle(fresh)
            self.rng.shuffle(again)
            self.left = again + fresh + self.left
        cut = len(self.left) - count
        dealt = self.left[cut:]
        del self.left[cut:]
        return dealt


class Table:
    """The decks of one pool."""

    def __init__(self, pool: Pool, people: Deck, rng: Random) -> None:
        most = len(pool.rest)
        self.shapes = [(a, b) for a, b in pool.shapes if a <= max(USUAL_OWN, a + b - most)]
        self.order = Deck(range(len(self.shapes)), rng)
        self.own = Deck(pool.own, rng)
        self.rest = Deck(pool.rest, rng)
        self.people = people

    def draw(self) -> Draw:
        own, rest = self.shapes[self.order.deal()[0]]
        skills = self.own.deal(own) + self.rest.deal(rest)
        skills.sort()
        return tuple(skills), self.people.deal()[0]


class Dealer:
    """Deals for every place, and remembers which signatures are gone."""

    def __init__(self, plan: Plan, rng: Random) -> None:
        self.plan, self.rng = plan, rng
        self.people: dict[tuple[int, tuple[int, ...]], Deck] = {}
        self.tables: dict[tuple[int, int, Pool], Table] = {}
        self.at: dict[Place, list[Table]] = {}
        self.gone: set[int] = set()
        self.unused = {key: self._unused(*key) for key in plan.groups}

    def deal(self, place: Place) -> Iterator[tuple[Place, Draw]]:
        """New signatures: at this place while there are any, then as near to it as possible."""
        tables = self.at.get(place) or self._tables(place)
        for _ in range(TRIES):
            draw = (tables[0] if len(tables) == 1 else self.rng.choice(tables)).draw()
            if self._take(place, draw):
                yield place, draw
        domain, skill_type, _ = place
        near = sorted(self.unused, key=lambda at: (at != (domain, skill_type), at[0] != domain, at))
        for key in near:
            # Not `yield from`: the caller drops this generator, and the list has to survive it.
            while (found := next(self.unused[key], None)) is not None:
                yield found

    def _take(self, place: Place, draw: Draw) -> bool:
        """Whether the signature was still there; it is gone now."""
        domain, skill_type, cell = place
        skills, persona = draw
        mark = 1
        for skill in skills:
            mark |= 2 << skill
        # Fixed widths, so that no two signatures give the same number.
        mark = ((((mark << 20 | cell) << 12 | persona) << 12 | skill_type) << 12) | domain
        if mark in self.gone:
            return False
        self.gone.add(mark)
        return True

    def _tables(self, place: Place) -> list[Table]:
        domain, skill_type, cell = place
        parts = self.plan.groups[domain, skill_type].parts
        pools = next(pools for cells, pools in parts if cells >> cell & 1)
        self.at[place] = [self._table(domain, skill_type, pool) for pool in pools]
        return self.at[place]

    def _table(self, domain: int, skill_type: int, pool: Pool) -> Table:
        key = domain, skill_type, pool
        if key not in self.tables:
            people = self.people.setdefault((domain, pool.persona), Deck(pool.persona, self.rng))
            self.tables[key] = Table(pool, people, self.rng)
        return self.tables[key]

    def _unused(self, domain: int, skill_type: int) -> Iterator[tuple[Place, Draw]]:
        """Every signature of a group that is not gone when its turn comes; goes round once."""
        for cells, pools in self.plan.groups[domain, skill_type].parts:
            for cell in bits(cells):
                place = domain, skill_type, cell
                for pool in pools:
                    for draw in _draws(pool):
                        if self._take(place, draw):
                            yield place, draw


def _draws(pool: Pool) -> Iterator[Draw]:
    """Everything that a pool can give."""
    for a, b in pool.shapes:
        for own in combinations(pool.own, a):
            for rest in combinations(pool.rest, b):
                skills = tuple(sorted(own + rest))
                for persona in pool.persona:
                    yield skills, persona
