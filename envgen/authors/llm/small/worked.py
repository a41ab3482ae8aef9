"""A worked example for the solution call: the same kind of report or filter, about other data.

It is rendered from templates for exactly what the task needs, and a test runs each of its programs,
so that what a small model imitates is right.
"""

from dataclasses import dataclass

from envgen.authors.llm.small import rules
from envgen.authors.llm.small.data import Column, Data, Holds
from envgen.authors.llm.small.items import (
    GROUPED,
    NO_CONDITION,
    NOTHING,
    NUMERIC,
    Item,
    Need,
    Where,
)
from envgen.authors.llm.small.meaning import bounds, words
from envgen.authors.llm.small.shapes import Shape
from envgen.prompts import render
from envgen.share import share


@dataclass(frozen=True)
class Worked:
    """What was asked, line by line, and the program."""

    asked: tuple[str, ...]
    code: str


def ships(shape: Shape, decimals: bool) -> Data:
    """The example's data: for a filter, with the columns of the task, in its order."""
    wanted = shape.wanted if shape.kind == "filter" else ("choice", "number", "date", "name")
    columns = [
        _column(("amount" if decimals else "integer") if kind == "number" else kind, number)
        for number, kind in enumerate(wanted)
    ]
    return Data(
        title="Ships passing",
        story="I keep the light on a small island.",
        file="passages",
        record="ship",
        columns=tuple(columns),
    )


def _column(holds: Holds, number: int) -> Column:
    name = {"choice": "vessel", "integer": "length_m", "amount": "length_m", "date": "passed_on"}
    named = name.get(holds, "master")
    choices: tuple[str, ...] = ("ferry", "tanker", "trawler") if holds == "choice" else ()
    if holds == "choice" and number:
        named, choices = "heading", ("north", "south", "east")
    low, high = (12, 340) if holds in ("integer", "amount") else (0, 0)
    return Column(name=named, holds=holds, choices=choices, low=low, high=high)


def example_items(shape: Shape) -> tuple[Item, ...]:
    """An item for each need, about ships."""
    return tuple(_item(need, number) for number, need in enumerate(shape.needs))


def _item(need: Need, number: int) -> Item:
    where = NO_CONDITION
    if need.dated:
        where = Where(column="passed_on", test="from_month", value="2024-06")
    elif need.narrowed:
        where = Where(column="vessel", test="is", value="tanker")
    column = NOTHING
    if need.ask in (*NUMERIC, "missing", "missing_by"):
        column = "length_m"
    elif need.ask not in ("count", "count_by"):
        column = "master" if need.ask == "distinct" else "vessel"
    by = "vessel" if need.ask in GROUPED else NOTHING
    return Item(label=f"{need.ask}_{number + 1}", ask=need.ask, column=column, by=by, where=where)


def worked(shape: Shape, decimals: bool) -> Worked:
    """The example for a shape, with decimals in its numbers or without, as the task has them."""
    data, items = ships(shape, decimals), example_items(shape)
    asked = [words(item, data) for item in items]
    asked += [f"`{c.name}`: {rules.words(c)}" for c in data.columns if shape.kind == "filter"]
    low, high = bounds(data.columns[1])
    code = render(
        share("prompts") / "small" / "code" / f"{shape.language}.md.j2",
        kind=shape.kind,
        layout=shape.layout,
        columns=data.columns,
        items=items,
        gaps=shape.gappy,
        report=bool(shape.report),
        low=low,
        high=high,
        decimals=2 if decimals else 0,
    )
    return Worked(tuple(asked), code)
