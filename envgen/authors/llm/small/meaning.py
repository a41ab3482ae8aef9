"""What an item means: the expected lines, and the sentence of the instruction.

Both come from the same item, so they cannot disagree. A result that another honest reading could
change (a tie, a half to round) does not occur: the data are drawn again.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from statistics import median

from envgen.authors.llm.small.data import Column, Data, Row, Table
from envgen.authors.llm.small.items import GROUPED, NOTHING, Item, Where
from envgen.plural import many


class Ambiguous(ValueError):
    """The data do not decide the result for every honest reading."""


def lines(item: Item, table: Table) -> list[str]:
    """The item's lines of the report. Raises Ambiguous when the table does not decide them."""
    rows = [row for row in table.rows if _holds(item.where, table, row)]
    if item.where.column != NOTHING and not 2 <= len(rows) < len(table.rows):
        raise Ambiguous(f"{item.label}: the condition keeps {many(len(rows), 'record')}")
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
    "count": "their number",
    "missing": "the number of those in which `{column}` is missing",
    "outside": "the number of those in which `{column}` is below {low} or above {high}",
    "sum": "the sum of their `{column}`, {form}",
    "mean": "the mean of their `{column}`, rounded to two decimals",
    "median": "the median of their `{column}`, rounded to two decimals",
    "smallest": "their smallest `{column}`, {form}",
    "largest": "their largest `{column}`, {form}",
    "distinct": "how many different values their `{column}` has",
    "most_common": "the value of `{column}` that occurs most often among them",
}


def words(item: Item, data: Data) -> str:
    """The item as a sentence of the instruction."""
    column = next((c for c in data.columns if c.name == item.column), None)
    low, high = bounds(column) if column and column.number else (0, 0)
    form = "with two decimals" if column and column.holds == "amount" else "a whole number"
    asked = _ASKS[item.ask.removesuffix("_by")].format(
        column=item.column, low=low, high=high, form=form
    )
    which = "all records"
    if item.where.column != NOTHING:
        told = _TESTS[item.where.test].format(column=item.where.column, value=item.where.value)
        which = f"the records {told}"
    if item.ask in GROUPED:
        return (
            f"`{item.label} GROUP: VALUE`: {which} are grouped by `{item.by}`, with one line for "
            f"each value GROUP of it, sorted as by `LC_ALL=C sort`; VALUE is, for the records of "
            f"that group, {asked}."
        )
    return f"`{item.label}: VALUE`: of {which}, VALUE is {asked}."
