# ruff: noqa: E501 (SQL reads better whole)
"""Slow queries, each with what makes it fast: another form, an index, or both.

Texts are templates over the words of a scenario: {P} parents, {C} their children, {N} notes on
children. Every result has a definite order.
"""

import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Query:
    """A query in four forms."""

    name: str
    asks: str
    slow: str
    fast: str
    other: str
    """As fast, in another way."""
    wrong: str
    """As fast, and nearly the same rows."""
    indexes: tuple[str, ...]
    """Columns of {C} that an index is on."""
    target: float
    """Share of the slow form's steps that earns everything."""


def month(rng: random.Random) -> Query:
    """A function around the column hides it from the index. Always part of the work."""
    year, number = rng.choice((2022, 2023)), rng.randrange(2, 12)
    part = f"{year}-{number:02d}"
    hidden = rng.choice(("substr(c.day, 1, 7)", "strftime('%Y-%m', c.day)"))
    value, said = rng.choice((
        ("sum(c.{amount})", "sum of `{amount}`"), ("max(c.{amount})", "maximum of `{amount}`"),
        ("avg(c.{amount})", "mean of `{amount}`"),
    ))  # fmt: skip
    head = f"SELECT c.{{kind}}, count(*), {value} FROM {{C}} c WHERE "
    tail = " GROUP BY c.{kind} ORDER BY c.{kind}"
    after = f"{year}-{number + 1:02d}"
    return Query(
        "month", f"number of {{C}} and {said} for each `{{kind}}` in {part}",
        f"{head}{hidden} = '{part}'{tail}",
        f"{head}c.day >= '{part}-01' AND c.day < '{after}-01'{tail}",
        f"{head}c.day BETWEEN '{part}-01' AND '{part}-31'{tail}",
        f"{head}c.day > '{part}-01' AND c.day <= '{after}-01'{tail}",
        ("day",), 0.3,
    )  # fmt: skip


def latest(rng: random.Random) -> Query:
    pick, word = rng.choice((("max", "latest"), ("min", "earliest")))
    order = "DESC" if pick == "max" else ""
    head = "SELECT p.{code}, c.day, c.{amount} FROM {P} p JOIN {C} c ON c.{pid} = p.id "
    tail = " ORDER BY p.{code}, c.id"
    return Query(
        word, f"the {{C}} of the {word} day of each of the {{P}}",
        f"{head}WHERE c.day = (SELECT {pick}(x.day) FROM {{C}} x WHERE x.{{pid}} = c.{{pid}}){tail}",
        f"{head}WHERE c.day = (SELECT {pick}(x.day) FROM {{C}} x WHERE x.{{pid}} = p.id){tail}",
        f"WITH r AS (SELECT *, rank() OVER (PARTITION BY {{pid}} ORDER BY day {order}) AS place FROM {{C}}) "
        f"SELECT p.{{code}}, c.day, c.{{amount}} FROM r c JOIN {{P}} p ON c.{{pid}} = p.id WHERE place = 1{tail}",
        f"WITH r AS (SELECT *, row_number() OVER (PARTITION BY {{pid}} ORDER BY day, id) AS place FROM {{C}}) "
        f"SELECT p.{{code}}, c.day, c.{{amount}} FROM r c JOIN {{P}} p ON c.{{pid}} = p.id WHERE place = 2{tail}",
        ("{pid}, day",), 0.03,
    )  # fmt: skip


def none_of(rng: random.Random) -> Query:
    nth = rng.randrange(3)
    head = "SELECT p.{code}, p.{place} FROM {P} p "
    inner = f"c.{{pid}} = p.id AND c.{{kind}} = '{{k{nth}}}'"
    tail = " ORDER BY p.{code}"
    return Query(
        "without", f"the {{P}} without any of the {{C}} whose `{{kind}}` is {{k{nth}}}",
        f"{head}WHERE (SELECT count(*) FROM {{C}} c WHERE {inner}) = 0{tail}",
        f"{head}WHERE NOT EXISTS (SELECT c.id FROM {{C}} c WHERE {inner}){tail}",
        f"{head}LEFT JOIN {{C}} c ON {inner} WHERE c.id IS NULL{tail}",
        f"{head}WHERE NOT EXISTS (SELECT c.id FROM {{C}} c WHERE c.{{pid}} = p.id){tail}",
        ("{pid}, day",), 0.1,
    )  # fmt: skip


def noted(rng: random.Random) -> Query:
    hide = rng.choice(("upper({0})", "trim({0})", "{0} || ''"))
    left, right = hide.format("n.{ref}"), hide.format("c.{ref}")
    level = rng.randrange(3, 6)
    head = "SELECT n.{who}, count(*), sum(c.{amount}) FROM {N} n JOIN {C} c ON "
    tail = " GROUP BY n.{who} ORDER BY n.{who}"
    return Query(
        "noted", f"for each `{{who}}` the number of {{N}} with `{{level}}` {level} or above that belong to {{C}}, and the sum of `{{amount}}` of those {{C}}",
        f"{head}{left} = {right} WHERE n.{{level}} >= {level}{tail}",
        f"{head}n.{{ref}} = c.{{ref}} WHERE n.{{level}} >= {level}{tail}",
        f"WITH few AS (SELECT {{who}}, {{ref}} FROM {{N}} WHERE {{level}} >= {level}) "
        f"SELECT n.{{who}}, count(*), sum(c.{{amount}}) FROM few n CROSS JOIN {{C}} c ON c.{{ref}} = n.{{ref}}{tail}",
        f"{head}n.{{ref}} = c.{{ref}} WHERE n.{{level}} > {level - 2}{tail}",
        ("{ref}",), 0.03,
    )  # fmt: skip


def running(rng: random.Random) -> Query:
    call, said = rng.choice(
        (("sum", "running sum"), ("max", "largest so far"), ("count", "running count"))
    )
    below = rng.choice((1000, 1500, 2500))
    head = "SELECT c.{pid}, c.day, c.id, "
    tail = "ORDER BY c.{pid}, c.day, c.id"
    inner = f"SELECT {call}(x.{{amount}}) FROM {{C}} x WHERE x.{{pid}} = c.{{pid}} AND (x.day < c.day OR (x.day = c.day AND x.id <= c.id))"
    over = "OVER (PARTITION BY {pid} ORDER BY day, id)"
    return Query(
        "running", f"{said} of `{{amount}}` along the days of each `{{pid}}`, shown where `{{amount}}` is below {below}",
        f"{head}({inner}) FROM {{C}} c WHERE c.{{amount}} < {below} {tail}",
        f"{head}c.run FROM (SELECT *, {call}({{amount}}) {over} AS run FROM {{C}}) c WHERE c.{{amount}} < {below} {tail}",
        f"WITH w AS (SELECT {{pid}}, day, id, {{amount}}, {call}({{amount}}) OVER (PARTITION BY {{pid}} ORDER BY day, id "
        f"ROWS UNBOUNDED PRECEDING) AS run FROM {{C}}) {head}c.run FROM w c WHERE c.{{amount}} < {below} {tail}",
        f"{head}{call}(c.{{amount}}) {over} FROM {{C}} c WHERE c.{{amount}} < {below} {tail}",
        (), 0.15,
    )  # fmt: skip


def pairs(rng: random.Random) -> Query:
    least = rng.choice((1, 2))
    tail = f"GROUP BY a.{{pid}}, a.day HAVING count(*) >= {least} ORDER BY a.{{pid}}, a.day"
    return Query(
        "pairs", f"number of pairs of {{C}} of one `{{pid}}` on the same day, where it is {least} or more",
        f"SELECT a.{{pid}}, a.day, count(*) FROM {{C}} a, {{C}} b WHERE a.{{pid}} + 0 = b.{{pid}} + 0 AND a.day = b.day AND a.id < b.id {tail}",
        f"SELECT a.{{pid}}, a.day, count(*) FROM {{C}} a JOIN {{C}} b ON a.{{pid}} = b.{{pid}} AND a.day = b.day AND a.id < b.id {tail}",
        f"WITH g AS (SELECT {{pid}}, day, count(*) AS n FROM {{C}} GROUP BY {{pid}}, day) "
        f"SELECT {{pid}}, day, n * (n - 1) / 2 FROM g WHERE n > 1 AND n * (n - 1) / 2 >= {least} ORDER BY {{pid}}, day",
        f"WITH g AS (SELECT {{pid}}, day, count(*) AS n FROM {{C}} GROUP BY {{pid}}, day) "
        f"SELECT {{pid}}, day, n - 1 FROM g WHERE n >= {least} ORDER BY {{pid}}, day",
        ("{pid}, day",), 0.03,
    )  # fmt: skip


def overview(rng: random.Random) -> Query:
    nth, day = rng.randrange(3), f"2023-{rng.randrange(1, 10):02d}-15"
    head = "SELECT p.{code}, "
    inner = f"FROM {{C}} c WHERE c.{{pid}} = p.id AND c.day >= '{day}'"
    three = f"(SELECT count(*) {inner}), (SELECT coalesce(sum(c.{{amount}}), 0) {inner}), (SELECT max(c.{{amount}}) {inner})"
    joined = "count(c.id), coalesce(sum(c.{amount}), 0), max(c.{amount}) FROM {P} p LEFT JOIN {C} c ON c.{pid} = p.id"
    tail = " GROUP BY p.id ORDER BY p.{code}"
    return Query(
        "overview", f"number of {{C}} since {day}, and sum and maximum of their `{{amount}}`, for each of the {{P}} in {{pl{nth}}}",
        f"{head}{three} FROM {{P}} p WHERE p.{{place}} = '{{pl{nth}}}' ORDER BY p.{{code}}",
        f"{head}{joined} AND c.day >= '{day}' WHERE p.{{place}} = '{{pl{nth}}}'{tail}",
        f"WITH t AS (SELECT {{pid}}, count(*) AS n, sum({{amount}}) AS s, max({{amount}}) AS m FROM {{C}} WHERE day >= '{day}' AND {{pid}} IN "
        f"(SELECT id FROM {{P}} WHERE {{place}} = '{{pl{nth}}}') GROUP BY {{pid}}) {head}coalesce(t.n, 0), coalesce(t.s, 0), t.m FROM {{P}} p "
        f"LEFT JOIN t ON t.{{pid}} = p.id WHERE p.{{place}} = '{{pl{nth}}}' ORDER BY p.{{code}}",
        f"{head}{joined} WHERE c.day >= '{day}' AND p.{{place}} = '{{pl{nth}}}'{tail}",
        ("{pid}, day",), 0.12,
    )  # fmt: skip


OTHERS = (latest, none_of, noted, running, pairs, overview)


def draw(rng: random.Random, large: bool) -> list[Query]:
    """Three queries, or five; the one about a month is among them."""
    found = [month(rng), *(make(rng) for make in rng.sample(OTHERS, 4 if large else 2))]
    rng.shuffle(found)
    return found
