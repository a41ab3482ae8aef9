"""What a small task asks about its data: a table that a model fills, with one exact meaning.

From one item come the sentence of the instruction and the expected lines, so the two cannot
disagree. A result that another reading could change (a tie, a half to round) does not occur: the
data are drawn again.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from statistics import median
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from envgen.authors.fixtures.parts import Part
from envgen.authors.llm.forms import checked, parsed
from envgen.authors.llm.small.data import WORD, Column, Data, Row, Table, closed, plain

Ask = Literal[
    "count", "missing", "outside", "sum", "mean", "median", "smallest", "largest", "distinct",
    "most_common", "count_by", "sum_by", "mean_by", "missing_by",
]  # fmt: skip
NUMERIC = ("outside", "sum", "mean", "median", "smallest", "largest", "sum_by", "mean_by")
GROUPED = ("count_by", "sum_by", "mean_by", "missing_by")
NOTHING = "none"
MONTHS = tuple(f"2024-{month:02d}" for month in range(2, 12))


class Ambiguous(ValueError):
    """The data do not decide the result for every honest reading."""


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
            given = given | {"label": plain(given["label"])}
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


# -- meaning -----------------------------------------------------------------------------------


def lines(item: Item, table: Table) -> list[str]:
    """The item's lines of the report. Raises Ambiguous when the table does not decide them."""
    rows = [row for row in table.rows if _holds(item.where, table, row)]
    if item.where.column != NOTHING and not 2 <= len(rows) < len(table.rows):
        raise Ambiguous(f"{item.label}: the condition keeps {len(rows)} records")
    if item.ask not in GROUPED:
        return [f"{item.label}: {_one(item, table, rows)}"]
    place, found = table.place(item.by), []
    for group in sorted({row[place] for row in rows} - {""}):
        value = _one(item, table, [row for row in rows if row[place] == group])
        found.append(f"{item.label} {group}: {value}")
    if len(found) < 2:
        raise Ambiguous(f"{item.label}: fewer than two groups")
    return found


def _holds(where: Where, table: Table, row: Row) -> bool:
    if where.column == NOTHING:
        return True
    value = row[table.place(where.column)]
    if not value:
        return False
    tests: dict[str, Callable[[], bool]] = {
        "is": lambda: value == where.value,
        "is_not": lambda: value != where.value,
        "at_least": lambda: Decimal(value) >= Decimal(where.value),
        "at_most": lambda: Decimal(value) <= Decimal(where.value),
        "from_month": lambda: value[:7] >= where.value,
        "before_month": lambda: value[:7] < where.value,
    }
    return tests[where.test]()


def _one(item: Item, table: Table, rows: Sequence[Row]) -> str:
    ask = item.ask.removesuffix("_by")
    if ask == "count":
        return str(len(rows))
    place = table.place(item.column)
    values = [row[place] for row in rows]
    if ask == "missing":
        return str(values.count(""))
    given = [value for value in values if value]
    if not given:
        raise Ambiguous(f"{item.label}: no values")
    if ask == "distinct":
        return str(len(set(given)))
    if ask == "most_common":
        counts = Counter(given).most_common(2)
        if len(counts) < 2 or counts[0][1] == counts[1][1]:
            raise Ambiguous(f"{item.label}: a tie")
        return counts[0][0]
    return _number(item, ask, table.columns[place], [Decimal(value) for value in given])


def _number(item: Item, ask: str, column: Column, values: list[Decimal]) -> str:
    if ask == "outside":
        low, high = bounds(column)
        return str(sum(not low <= value <= high for value in values))
    whole = column.holds == "integer"
    if ask in ("mean", "median"):
        exact = sum(values, Decimal(0)) / len(values) if ask == "mean" else median(values)
        if abs(exact * 100 % 1 - Decimal("0.5")) < Decimal("0.001"):
            raise Ambiguous(f"{item.label}: a half to round")
        return str(exact.quantize(Decimal("0.01"), ROUND_HALF_UP))
    result = {"sum": sum(values, Decimal(0)), "smallest": min(values), "largest": max(values)}[ask]
    return str(result) if whole else f"{result:.2f}"


def bounds(column: Column) -> tuple[int, int]:
    """What counts as plausible: the middle part of the column's range."""
    span = column.high - column.low
    return column.low + span // 8, column.high - span // 8


# -- words -------------------------------------------------------------------------------------

_TESTS = {
    "is": "whose `{column}` is `{value}`",
    "is_not": "whose `{column}` is not `{value}`",
    "at_least": "whose `{column}` is {value} or more",
    "at_most": "whose `{column}` is {value} or less",
    "from_month": "whose `{column}` is on or after {value}-01",
    "before_month": "whose `{column}` is before {value}-01",
}
_ASKS = {
    "count": "the number of records",
    "missing": "the number of records in which `{column}` is missing",
    "outside": "the number of records in which `{column}` is below {low} or above {high}",
    "sum": "the sum of `{column}`",
    "mean": "the mean of `{column}`, rounded to two decimals",
    "median": "the median of `{column}`, rounded to two decimals",
    "smallest": "the smallest `{column}`",
    "largest": "the largest `{column}`",
    "distinct": "how many different values `{column}` has",
    "most_common": "the value of `{column}` that occurs most often",
}


def words(item: Item, data: Data) -> str:
    """The item as a sentence of the instruction."""
    column = next((c for c in data.columns if c.name == item.column), None)
    low, high = bounds(column) if column and column.number else (0, 0)
    asked = _ASKS[item.ask.removesuffix("_by")].format(column=item.column, low=low, high=high)
    if column and column.holds == "amount" and item.ask in ("sum", "sum_by", "smallest", "largest"):
        asked += " with two decimals"
    told = "all records"
    if item.where.column != NOTHING:
        told = "the records " + _TESTS[item.where.test].format(
            column=item.where.column, value=item.where.value
        )
    if item.ask in GROUPED:
        return (
            f"`{item.label} GROUP: VALUE`, one line for each value GROUP of `{item.by}` found in "
            f"{told}, sorted by GROUP as `LC_ALL=C sort` does; VALUE is, in that group, {asked}."
        )
    return f"`{item.label}: VALUE`, where VALUE is {asked}, over {told}."
