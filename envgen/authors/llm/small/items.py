"""What a small task asks about its data: a form in which only answerable items can be said.

`meaning.py` says what an item comes to.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from envgen.authors.fixtures.parts import Part
from envgen.authors.llm.forms import checked, parsed
from envgen.authors.llm.small.data import WORD, Column, Data, closed, plain

Ask = Literal[
    "count", "missing", "outside", "sum", "mean", "median", "smallest", "largest", "distinct",
    "most_common", "count_by", "sum_by", "mean_by", "missing_by",
]  # fmt: skip
NUMERIC = ("outside", "sum", "mean", "median", "smallest", "largest", "sum_by", "mean_by")
GROUPED = ("count_by", "sum_by", "mean_by", "missing_by")
NOTHING = "none"
MONTHS = tuple(f"2024-{month:02d}" for month in range(2, 12))


class Where(Part):
    """Which records an item looks at: all of them when the column is `none`."""

    column: str
    test: Literal["none", "is", "is_not", "at_least", "at_most", "from_month", "before_month"]
    value: str = Field(max_length=20)


NO_CONDITION = Where(column=NOTHING, test="none", value=NOTHING)


class Item(Part):
    """One result."""

    label: str
    ask: Ask
    column: str
    """What is counted, added up, ...; `none` for `count` and `count_by`."""
    by: str
    """The column whose values form groups; `none` unless grouped."""
    where: Where

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if not WORD.fullmatch(self.label):
            raise ValueError(f"label {self.label!r} is not one plain word")
        return self


@dataclass(frozen=True)
class Need:
    """What one item must be: the result that it asks for, and whether it has a condition."""

    ask: Ask
    narrowed: bool = False
    dated: bool = False
    """Its condition is a period."""


def schema(data: Data, gaps: str, needs: Sequence[Need]) -> dict[str, Any]:
    """What the model fills in: `item1`, `item2`, ... which let only sound items be said.

    Args:
        gaps: the column of which values are missing, or empty.
        needs: what each item must be.
    """
    found = {}
    for number, need in enumerate(needs, start=1):
        fields: dict[str, Any] = {"label": {"type": "string"}}
        if columns := columns_of(data, gaps, need.ask):
            fields["column"] = _one_of(columns)
        if need.ask in GROUPED:
            fields["by"] = _one_of(c.name for c in data.columns if c.holds == "choice")
        if need.narrowed:
            variants = [
                closed(
                    {"column": _one_of([column]), "test": _one_of(tests), "value": _one_of(values)}
                )
                for column, tests, values in conditions(data, need)
            ]
            fields["where"] = variants[0] if len(variants) == 1 else {"anyOf": variants}
        found[f"item{number}"] = closed(fields)
    return closed(found)


def _one_of(values: Iterable[str]) -> dict[str, Any]:
    return {"type": "string", "enum": list(values)}


def columns_of(data: Data, gaps: str, ask: Ask) -> list[str]:
    """Columns that a result can be asked of; empty for those that count records."""
    if ask in ("count", "count_by"):
        return []
    if ask in ("missing", "missing_by"):
        return [gaps]
    if ask in NUMERIC:
        return [c.name for c in data.columns if c.number]
    kinds = ("name",) if ask == "distinct" else ("choice", "name")
    return [c.name for c in data.columns if c.holds in kinds]


def conditions(data: Data, need: Need) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """(column, tests, values) of the conditions that an item may have, never on its own column."""
    found: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = []
    for column in data.columns:
        if column.holds == "date":
            found.append((column.name, ("from_month", "before_month"), MONTHS))
        elif need.dated:
            continue
        elif column.holds == "choice" and need.ask not in (*GROUPED, "most_common"):
            found.append((column.name, ("is", "is_not"), column.choices))
        elif column.number and need.ask not in (*NUMERIC, "missing", "missing_by"):
            found.append((column.name, ("at_least", "at_most"), tuple(steps(column))))
    return found


def steps(column: Column) -> list[str]:
    """Borders inside the range of a column, as round as the range allows."""
    span = column.high - column.low
    unit = 10 ** max(0, len(str(span)) - 2)
    inner = (column.low + span * part // 6 for part in (1, 2, 3, 4, 5))
    return sorted({str(max(column.low + 1, at // unit * unit)) for at in inner}, key=int)


def read_items(text: str, data: Data, gaps: str, needs: Sequence[Need]) -> tuple[Item, ...]:
    """The items in an answer. Raises ValueError, in words for the model."""
    answer, found = parsed(text), []
    for number, need in enumerate(needs, start=1):
        given = answer.pop(f"item{number}", None)
        if not isinstance(given, dict):
            raise ValueError(f"item{number} is missing")
        everything = {"column": NOTHING, "by": NOTHING, "where": NO_CONDITION, "ask": need.ask}
        if isinstance(given.get("label"), str):
            given = given | {"label": _label(plain(given["label"]), given, need)}
        item = checked(Item, everything | given, f"item{number}")
        if reason := _trouble(item, data, gaps, need):
            raise ValueError(f"item{number}: {reason}")
        found.append(item)
    if answer:
        raise ValueError(f"{min(answer)} was not asked for")
    if len({item.label for item in found}) < len(found):
        raise ValueError("two items have the same label")
    meanings = {item.model_copy(update={"label": ""}).model_dump_json() for item in found}
    if len(meanings) < len(found):
        raise ValueError("two items ask for the same thing: choose another column or condition")
    return tuple(found)


def _label(label: str, given: dict[str, Any], need: Need) -> str:
    """The label; one that only repeats what is asked for says of which column, too."""
    if label not in (need.ask, need.ask.removesuffix("_by")):
        return label
    group, column = given.get("by"), given.get("column", "records")
    ask = need.ask.removesuffix("_by")
    return f"{ask}_{column}_per_{group}" if group else f"{ask}_{column}"


def _trouble(item: Item, data: Data, gaps: str, need: Need) -> str:
    if item.ask != need.ask:
        return f"it must ask for {need.ask}"
    if item.column not in (columns_of(data, gaps, need.ask) or [NOTHING]):
        return f"{item.ask} cannot be asked of column {item.column!r}"
    groups = [c.name for c in data.columns if c.holds == "choice"]
    if item.by not in (groups if item.ask in GROUPED else [NOTHING]):
        return f"by {item.by!r} does not fit {item.ask}"
    where, allowed = item.where, conditions(data, need)
    if not need.narrowed:
        return "" if where == NO_CONDITION else "it has no condition"
    if not any(
        where.column == column and where.test in tests and where.value in values
        for column, tests, values in allowed
    ):
        return f"the condition {where.column!r} {where.test} {where.value!r} does not fit"
    return ""
