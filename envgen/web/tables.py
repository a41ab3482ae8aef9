"""Tables as values: what a cell says, what it sorts by, and which tasks it counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from markupsafe import Markup

from envgen.web.visible import count, figure, size, visible

Only = Mapping[str, str | Sequence[str]]
"""A choice of tasks: values of columns of the task list; several of one column are alternatives."""


@dataclass(frozen=True)
class Column:
    """A heading; figures stand to the right."""

    title: str
    number: bool = False


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes:
        text: as it is shown, not yet escaped.
        sort: what it is sorted by, where that is not the text.
        only: the tasks that it counts, as the query of the task list.
        task: the task whose page it leads to, where there are pages.
        drawing: SVG of our own in place of a text.
        code: shown in the letters of a terminal.
    """

    text: str = ""
    sort: float | None = None
    only: str = ""
    task: str = ""
    drawing: Markup | None = None
    code: bool = False


@dataclass(frozen=True)
class Table:
    """Rows under headings; the first cell of a row is its name."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    note: str = ""


def only(choice: Only) -> str:
    """A choice of tasks as the query of a link."""
    each = ((n, [v] if isinstance(v, str) else v) for n, v in choice.items())
    return urlencode([(name, visible(one)) for name, values in each for one in values])


def number(value: int, choice: Only | None = None) -> Cell:
    """A count, and the tasks that it counts."""
    return Cell(count(value), value, only(choice) if choice and value else "")


def decimal(value: float | None, digits: int = 2) -> Cell:
    """A figure; an empty cell where there is none."""
    return Cell(figure(value, digits), value)


def share(part: int, whole: int) -> Cell:
    """A share in per cent; an empty cell of nothing."""
    return Cell(f"{part / whole:.1%}", part / whole) if whole else Cell()


def in_bytes(value: float | None) -> Cell:
    """A size in words, sorted by its bytes."""
    return Cell(size(value), value)


def heads(*titles: str) -> tuple[Column, ...]:
    """Columns by title; those that begin with `#` hold figures."""
    return tuple(Column(t.removeprefix("#"), number=t.startswith("#")) for t in titles)
