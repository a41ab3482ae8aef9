# ruff: noqa: E501 (a scenario is one block)
"""Networks of things and links: words for both, and rows of any size."""

import random
from typing import Any

SCENARIOS: tuple[dict[str, Any], ...] = (
    {"of": "a regional bus company", "things": "stops", "links": "rides", "name": "stop", "kind": "zone",
     "start": "from_stop", "end": "to_stop", "cost": "minutes", "states": ["daily", "cancelled", "planned"],
     "words": ["Mill", "Oak's Corner", "Harbour", "St. Ann", "Upper_Town", "Brück", "100% Park", "Quay"]},
    {"of": "a software distribution", "things": "packages", "links": "needs", "name": "package", "kind": "section",
     "start": "needing", "end": "wanted", "cost": "kilobytes", "states": ["hard", "dropped", "optional"],
     "words": ["lib_core", "lib-net", "o'caml", "zip%", "render", "fönt", "shell", "audio"]},
    {"of": "a river authority", "things": "gauges", "links": "reaches", "name": "gauge", "kind": "basin",
     "start": "upstream", "end": "downstream", "cost": "hours", "states": ["open", "dry", "dammed"],
     "words": ["Elm Ford", "King's Weir", "Lock_9", "Sölde", "Bend", "Pool 5%", "Mouth", "Spring"]},
    {"of": "a payments team", "things": "accounts", "links": "transfers", "name": "account", "kind": "branch",
     "start": "payer", "end": "payee", "cost": "fee", "states": ["settled", "refused", "pending"],
     "words": ["acme_1", "d'Arco", "Nord 7%", "Vång", "Petrol", "Bakery", "Union", "Quartz"]},
    {"of": "a power grid operator", "things": "buses", "links": "lines", "name": "bus", "kind": "area",
     "start": "source", "end": "sink", "cost": "losses", "states": ["live", "open", "service"],
     "words": ["Hill_110", "Queen's Gate", "Wind 40%", "Åker", "Dam", "Ring", "Tower", "South"]},
    {"of": "a museum's loan office", "things": "houses", "links": "routes", "name": "house", "kind": "country",
     "start": "lender", "end": "borrower", "cost": "days", "states": ["agreed", "expired", "asked"],
     "words": ["Old_Hall", "L'Atelier", "Kunst 20%", "Møller", "Gallery", "Vault", "Annex", "Rotunda"]},
)  # fmt: skip
KINDS = ("A", "B", "C", "D")


def rows(
    rng: random.Random, scenario: dict[str, Any], size: int
) -> tuple[dict[str, tuple[str, str]], list[tuple[str, str, int, str]]]:
    """Things, and links in loose layers, so that ways are long and cycles few; some of no effect."""
    names: list[str] = []
    while len(names) < size:
        name = f"{rng.choice(scenario['words'])} {rng.randrange(1, 300)}"
        if name not in names:
            names.append(name)
    things = {name: (rng.choice(KINDS), "") for name in names}
    links: dict[tuple[str, str], tuple[int, str]] = {}
    state = scenario["states"]
    for place, name in enumerate(names):
        ahead = names[place + 1 : place + 7]
        for other in rng.sample(ahead, min(len(ahead), rng.choice((0, 1, 2, 2, 3)))):
            links[name, other] = (
                rng.randrange(3, 60),
                rng.choice((state[0],) * 4 + tuple(state[1:])),
            )
    for _ in range(size // 9):
        place = rng.randrange(2, size)
        back = names[max(0, place - rng.randrange(1, 6))]
        links[names[place], back] = rng.randrange(3, 60), rng.choice((state[0], state[0], state[1]))
    own = rng.choice(names)
    links[own, own] = 5, state[0]
    return things, [(a, b, cost, kind) for (a, b), (cost, kind) in links.items()]


def schema(s: dict[str, Any]) -> str:
    return (
        f"CREATE TABLE {s['things']} (id INTEGER PRIMARY KEY, {s['name']} TEXT NOT NULL UNIQUE, "
        f"{s['kind']} TEXT NOT NULL);\n"
        f"CREATE TABLE {s['links']} ({s['start']} INTEGER NOT NULL REFERENCES {s['things']}(id), "
        f"{s['end']} INTEGER NOT NULL REFERENCES {s['things']}(id), {s['cost']} INTEGER NOT NULL, "
        f"state TEXT NOT NULL, UNIQUE ({s['start']}, {s['end']}));\n"
    )


def dump(s: dict[str, Any], things: dict[str, Any], links: list[Any]) -> str:
    """The whole database as SQL."""
    ids = {name: n for n, name in enumerate(things, 1)}
    lines = [
        f"INSERT INTO {s['things']} VALUES ({ids[n]}, {_quoted(n)}, '{kind}');"
        for n, (kind, _) in things.items()
    ]
    lines += [
        f"INSERT INTO {s['links']} VALUES ({ids[a]}, {ids[b]}, {cost}, '{state}');"
        for a, b, cost, state in links
    ]
    return schema(s) + "BEGIN;\n" + "\n".join(lines) + "\nCOMMIT;\n"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
