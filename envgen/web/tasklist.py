"""The list of all tasks, where every number of a report can be found again.

The whole list is in the page once, as columns of JSON from which the script shows, sorts and
filters a page of rows at a time: 15,000 rows of a table would be slow. Without scripts there is a
plain table of the first rows.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from envgen.report.attrition import AXES
from envgen.report.facts import Task
from envgen.web.visible import figure, size, visible

PLAIN = 200
"""Rows of the table without scripts, and of the page before they run."""
DETAIL = 160
"""Characters of a rejection's detail."""


@dataclass(frozen=True)
class Field:
    """A column of the list.

    Attributes:
        name: in links and in the JSON.
        kind: `text` (as it is), `word` (one of few), `words` (some of few), or `number`.
        value: of a task.
        title: of the column; empty where it is only searched and filtered.
        shown: a number in words.
        digits: after which a number is rounded.
    """

    name: str
    kind: str
    value: Callable[[Task], Any]
    title: str = ""
    shown: Callable[[float | None], str] = figure
    digits: int = 2


def _own(name: str) -> Callable[[Task], Any]:
    return lambda task: getattr(task, name)


def _axis(axis: str) -> Callable[[Task], str]:
    return lambda task: dict(task.axes).get(axis, "")


def _short(text: str) -> str:
    return text if len(text) <= DETAIL else f"{text[:DETAIL]} …"


_TITLES = {"domain": "domain", "verifier": "verifier", "task_complexity": "complexity"}

FIELDS = (
    Field("task", "text", _own("task"), "task"),
    Field("title", "text", _own("title")),
    Field("detail", "text", lambda task: _short(task.detail)),
    Field("step", "word", _own("step"), "outcome"),
    Field("code", "word", _own("code")),
    *(Field(axis, "word", _axis(axis), _TITLES.get(axis, "")) for axis in AXES),
    *(Field(name, "word", _own(name)) for name in ("author", "base", "base_content")),
    *(Field(name, "word", _own(name)) for name in ("label_before", "label_after", "refusal")),
    Field("label", "word", _own("label"), "audit"),
    *(
        Field(name, "words", _own(name))
        for name in ("proven", "suspected", "attacked", "paid", "ways", "played", "flags")
    ),
    Field("repair", "word", _own("repair"), "repair"),
    *(Field(name, "number", _own(name)) for name in ("mutants", "survivors")),
    Field("kill_rate", "number", _own("kill_rate"), "kill rate", digits=4),
    Field("baseline", "number", _own("baseline"), "no-op"),
    Field("pass_at_1", "number", _own("pass_at_1"), "pass@1", digits=4),
    Field("seconds", "number", _own("seconds"), "seconds", lambda v: figure(v, 1), 1),
    Field("dollars", "number", _own("dollars"), "dollars", lambda v: figure(v, 4), 4),
    Field("image_bytes", "number", _own("image_bytes"), "bytes", size, 0),
)
"""In the order in which they are shown."""
NOTES = ("title", "code", "detail")
"""Fields that stand in small letters below the one before them."""


@dataclass(frozen=True)
class Entry:
    """A cell of the plain table: what it says, and what stands below it in small letters."""

    text: str
    below: tuple[str, ...] = ()
    number: bool = False


@dataclass(frozen=True)
class TaskList:
    """The list, ready for its template."""

    fields: Sequence[Field]
    rows: Sequence[Sequence[Entry]]
    total: int
    data: Markup
    """JSON that is safe inside a script element."""


def task_list(tasks: Sequence[Task], pages: str = "") -> TaskList:
    """The list of a report's tasks.

    Args:
        tasks: all of them.
        pages: what leads to a task's page, before its name; empty where there are none.
    """
    columns = {field.name: [field.value(task) for task in tasks] for field in FIELDS}
    used = [f for f in FIELDS if any(v not in ("", (), None) for v in columns[f.name])]
    used = [f for f in used if f.name != "dollars" or any(columns["dollars"])]
    data = {
        "total": len(tasks),
        "pages": pages,
        "notes": NOTES,
        "fields": [
            {"name": f.name, "kind": f.kind, "title": f.title} | _column(f, columns[f.name])
            for f in used
        ],
    }
    rows = [tuple(_entries(used, columns, n)) for n in range(min(PLAIN, len(tasks)))]
    shown = [field for field in used if field.title]
    return TaskList(shown, rows, len(tasks), _json(data))


def _column(field: Field, values: Sequence[Any]) -> dict[str, Any]:
    """Numbers rounded; words by their place in a list of them."""
    if field.kind == "number":
        digits = field.digits
        return {
            "style": "bytes" if field.shown is size else str(digits),
            "values": [v if v is None else round(v, digits) if digits else int(v) for v in values],
        }
    if field.kind == "text":
        return {"values": [visible(value) for value in values]}
    each = values if field.kind == "words" else [(v,) if v else () for v in values]
    places: dict[str, int] = {}
    at = [[places.setdefault(word, len(places)) for word in words] for words in each]
    packed = at if field.kind == "words" else [one[0] if one else -1 for one in at]
    return {"words": [visible(word) for word in places], "values": packed}


def _entries(
    fields: Iterable[Field], columns: Mapping[str, Sequence[Any]], row: int
) -> Iterable[Entry]:
    values = {field.name: columns[field.name][row] for field in fields}
    below = {
        "task": tuple(filter(None, (values.get("title"), values.get("detail")))),
        "step": tuple(filter(None, (values.get("code"),))),
    }
    for field in fields:
        if field.title:
            numeric = field.kind == "number"
            text = field.shown(values[field.name]) if numeric else values[field.name]
            yield Entry(text, below.get(field.name, ()), numeric)


def _json(data: object) -> Markup:
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
