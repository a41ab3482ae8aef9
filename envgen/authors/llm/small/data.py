"""The data of a small task: a model names the columns, and the rows are drawn here.

A model of this size writes a handful of placeholder rows at best. It is good at naming things, so
that is what it is asked for.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from envgen.authors.fixtures.parts import Part, schema_of
from envgen.authors.llm.forms import checked, parsed

Holds = Literal["choice", "integer", "amount", "date", "name"]
Wanted = Literal["choice", "integer", "number", "date", "name"]
"""What a column is asked for as; whether a `number` has decimals is for the model to say."""
Layout = Literal["csv", "tsv", "log", "nested"]
Row = tuple[str, ...]

NAMES = (
    "abara", "bellini", "chowdhury", "demir", "eriksen", "fontaine", "garza", "horvat",
    "ibrahim", "jansson", "kovacs", "lindqvist", "moreau", "nakata", "okafor", "petrov",
)  # fmt: skip
MOST = 10_000_000
_FIRST_DAY = date(2024, 1, 1)
WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,59}")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,19}")
_FILE = re.compile(r"[a-z][a-z0-9_-]{1,19}")


class Column(Part):
    """One column."""

    name: str
    holds: Holds
    choices: tuple[str, ...] = Field(max_length=4)
    low: int = Field(ge=0, le=MOST)
    high: int = Field(ge=0, le=MOST)

    @property
    def number(self) -> bool:
        return self.holds in ("integer", "amount")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"column name {self.name!r}: small letters, digits and _ only")
        if self.holds == "choice":
            if len({c.lower() for c in self.choices}) < max(2, len(self.choices)):
                raise ValueError(f"column {self.name}: at least two different choices are needed")
            if odd := [c for c in self.choices if not WORD.fullmatch(c)]:
                raise ValueError(f"column {self.name}: the choice {odd[0]!r} is not one plain word")
        if self.number and self.high - self.low < 9:
            raise ValueError(f"column {self.name}: high must be well above low")
        return self


class Data(Part):
    """What a task is about: a story, and the columns of its data."""

    title: str = Field(min_length=5, max_length=70)
    story: str = Field(min_length=20, max_length=400)
    file: str
    record: str = Field(min_length=2, max_length=30)
    columns: tuple[Column, ...] = Field(min_length=3, max_length=6)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if not _FILE.fullmatch(self.file):
            raise ValueError(f"file {self.file!r}: one small word without an ending")
        if len({c.name for c in self.columns}) < len(self.columns):
            raise ValueError("two columns have the same name")
        if not any(c.holds == "choice" for c in self.columns):
            raise ValueError("at least one column must hold choices")
        if not any(c.number for c in self.columns):
            raise ValueError("at least one column must hold numbers")
        if any(not line.isprintable() for line in (self.title, self.story, self.record)):
            raise ValueError("title, story and record are each one plain line")
        return self


class _Chosen(Part):
    """Four fields, for a list has no end where a server does not enforce its length."""

    name: str
    choice1: str
    choice2: str
    choice3: str
    choice4: str


class _Counted(Part):
    name: str
    low: int = Field(ge=0, le=MOST)
    high: int = Field(ge=0, le=MOST)


class _Number(_Counted):
    decimals: Literal["none", "two"]


class _Day(Part):
    name: Literal["day", "date", "created_on", "reported_on", "sent_on", "closed_on", "seen_on"]


class _Person(Part):
    name: Literal[
        "person", "owner", "analyst", "operator", "customer", "reporter", "author", "reviewer"
    ]


_COLUMNS: dict[Wanted, type[Part]] = {
    "choice": _Chosen,
    "integer": _Counted,
    "number": _Number,
    "date": _Day,
    "name": _Person,
}


def schema(wanted: Sequence[Wanted]) -> dict[str, Any]:
    """What the model fills in: the head, then `column1`, `column2`, ... each with its fields."""
    texts = {name: {"type": "string"} for name in ("title", "story", "file", "record")}
    columns = {f"column{n}": schema_of(_COLUMNS[kind]) for n, kind in enumerate(wanted, start=1)}
    return closed(texts | columns)


def closed(fields: dict[str, Any]) -> dict[str, Any]:
    """An object that has these fields, all of them, and no others."""
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def read_data(text: str, wanted: Sequence[Wanted]) -> Data:
    """The data in an answer. Names and choices are made plain words: that is how they are used.

    Raises:
        ValueError: in words for the model.
    """
    answer = parsed(text)
    columns = []
    for number, kind in enumerate(wanted, start=1):
        place = f"column{number}"
        given = checked(_COLUMNS[kind], answer.pop(place, None), place).model_dump()
        holds = {"none": "integer", "two": "amount"}.get(given.pop("decimals", ""), kind)
        fields: dict[str, Any] = {"holds": holds, "choices": (), "low": 0, "high": 0} | given
        fields["name"] = plain(fields["name"]).lower()
        said = [plain(fields.pop(f"choice{n}", "")) for n in (1, 2, 3, 4)]
        fields["choices"] = [choice for choice in dict.fromkeys(said) if choice]
        columns.append(checked(Column, fields, place))
    if isinstance(answer.get("file"), str):
        answer["file"] = plain(answer["file"].partition(".")[0]).lower()
    return checked(Data, answer | {"columns": columns}, "it")


def plain(words: str) -> str:
    """One plain word: what is neither letter, digit nor `-` becomes `_`."""
    return re.sub(r"[^A-Za-z0-9-]+", "_", words).strip("_-")


# -- drawing -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    """Columns, rows, and how they are written down. An empty value is missing."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    layout: Layout

    def place(self, name: str) -> int:
        return next(i for i, column in enumerate(self.columns) if column.name == name)

    def text(self) -> str:
        """The file."""
        names = [column.name for column in self.columns]
        if self.layout in ("csv", "tsv"):
            mark = "," if self.layout == "csv" else "\t"
            return "".join(f"{mark.join(line)}\n" for line in (names, *self.rows))
        if self.layout == "log":
            return "".join(self._log(number, row) for number, row in enumerate(self.rows))
        return "".join(f"{self._nested(number, row)}\n" for number, row in enumerate(self.rows))

    def _log(self, number: int, row: Row) -> str:
        pairs = [f"{c.name}={v}" for c, v in zip(self.columns, row, strict=True)]
        return f"{' '.join([f'[{number + 1:04d}]', *pairs])}\n"

    def _nested(self, number: int, row: Row) -> str:
        inner: dict[str, Any] = {}
        for column, value in zip(self.columns, row, strict=True):
            if not value:
                inner[column.name] = None
            elif column.number:
                inner[column.name] = json.loads(value)
            else:
                inner[column.name] = value
        first = self.columns[0].name
        outer = {"id": number + 1, first: inner.pop(first), "detail": inner}
        return json.dumps(outer)


def draw(data: Data, layout: Layout, rows: int, gaps: str, rng: Random) -> Table:
    """A table of that many rows.

    Args:
        gaps: name of a column of which some values are missing; empty for none.
    """
    drawn = []
    usual = {c.name: rng.sample(c.choices, len(c.choices)) for c in data.columns}
    for _ in range(rows):
        row = tuple(_value(column, usual[column.name], rng) for column in data.columns)
        drawn.append(
            tuple(
                "" if column.name == gaps and rng.random() < 0.15 else value
                for column, value in zip(data.columns, row, strict=True)
            )
        )
    return Table(data.columns, tuple(drawn), layout)


def _value(column: Column, usual: Sequence[str], rng: Random) -> str:
    if column.holds == "choice":
        return rng.choices(usual, range(len(usual) + 2, 2, -1))[0]
    if column.holds == "integer":
        return str(rng.randint(column.low, column.high))
    if column.holds == "amount":
        return f"{rng.randint(column.low * 100, column.high * 100) / 100:.2f}"
    if column.holds == "date":
        return (_FIRST_DAY + timedelta(days=rng.randrange(366))).isoformat()
    return rng.choice(NAMES)
