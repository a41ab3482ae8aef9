"""Corpora side by side: runs, manifests, data sets, task folders of others."""

import json
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from envgen.axes import AXES
from envgen.corpus.duplicates import THRESHOLD, duplicates
from envgen.corpus.figures import COLUMNS, PERHAPS, Axis, Figures, Label, figures
from envgen.corpus.sources import ABOUT, Source, Texts, table
from envgen.export import parquet

_TOLD = ("task.toml", "envgen.json")
"""Files of a task's folder that say what it is."""
_TABLED = ("domain", "verifier", "task_complexity", "fixture", "language")
"""Axes whose values are shown one by one."""
MOST_VALUES = 20
"""Values that a table has."""


class Compared(NamedTuple):
    """One of the corpora that are compared."""

    name: str
    figures: Figures
    near_duplicates: float
    """Share of tasks whose instruction nearly repeats an earlier one's."""
    left_out: tuple[str, ...]
    """What could not be read."""


def compared(name: str, place: Path) -> Compared:
    """A corpus in figures. Misconfigured when nothing in it can be read."""
    source = Source(place)
    rows = list(_rows(source))
    texts = (Texts(row["task"], {"instruction": [("", row["instruction"] or "")]}) for row in rows)
    rate = duplicates(texts, THRESHOLD).rate
    return Compared(name, figures(rows), rate, tuple(source.left_out))


def _rows(source: Source) -> Iterator[parquet.Row]:
    path = table(source.place)
    if path:
        yield from parquet.read(path, list(COLUMNS), PERHAPS)
        return
    for texts in source.texts(about=_TOLD):
        instruction = "\n".join(text for _, text in texts.parts.get("instruction", ()))
        told = dict(texts.parts.get(ABOUT, ()))
        yield {
            "task": texts.name,
            "instruction": instruction,
            **(_ours(told) or _theirs(told, texts)),
        }


def _ours(told: dict[str, str]) -> parquet.Row:
    """Axes and author of a folder of ours; nothing where it is none."""
    draft = _table(_json(told.get("envgen.json", "")).get("draft"))
    spec = _table(draft.get("spec"))
    axes = {axis: _plain(spec.get(axis)) for axis in AXES if axis in spec}
    return axes | {"author": _plain(draft["author"])} if "author" in draft else {}


def _theirs(told: dict[str, str], texts: Texts) -> parquet.Row:
    """What a stranger's task.toml says, as far as it is said by an axis; and how it verifies."""
    try:
        facts = tomllib.loads(told.get("task.toml", ""))
    except (tomllib.TOMLDecodeError, RecursionError):
        facts = {}
    about = _table(facts.get("metadata"))
    tests = [name for name, _ in texts.parts.get("tests", ())]
    python = any(Path(name).name.startswith("test_") for name in tests)
    return {
        "domain": _plain(about.get("category")),
        "task_complexity": _plain(about.get("difficulty")),
        "verifier": "pytest" if python else "script" if tests else None,
        "author": "others",
    }


def _json(text: str) -> dict[str, Any]:
    try:
        return _table(json.loads(text))
    except (ValueError, RecursionError):
        return {}


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _plain(value: object) -> str | list[str] | None:
    """A value as one or more short texts that can be printed."""
    if isinstance(value, list):
        return [_short(one) for one in value[:100]]
    return None if value in (None, "") else _short(value)


def _short(value: object) -> str:
    return str(value)[:200].encode(errors="replace").decode()


Rows = list[tuple[str, ...]]


def side_by_side(found: Sequence[Compared]) -> Iterator[tuple[str, Rows]]:
    """Tables for people: a title, and rows of a name and a cell for each corpus."""
    told = [one.figures for one in found]
    yield (
        "corpora",
        [
            ("tasks", *(str(f["tasks"]) for f in told)),
            *(
                (f"instruction, words, {name}", *(str(f["words"].get(name, "")) for f in told))
                for name in ("least", "median", "most")
            ),
            ("near-duplicates", *(f"{one.near_duplicates:.4f}" for one in found)),
            ("kill rate, mean", *(_figure(f["kill_rate"]) for f in told)),
        ],
    )
    yield (
        "evenness of axes, exp(H)/values",
        [(axis, *(_even(f["axes"][axis]) for f in told)) for axis in AXES],
    )
    for axis in _TABLED:
        census = [f["axes"][axis]["values"] for f in told]
        if rows := [(name, *(_of(one, name) for one in census)) for name in _names(census)]:
            yield axis.replace("_", " "), rows
    labels = _names([{name: row["tasks"] for name, row in f["labels"].items()} for f in told])
    yield (
        "labels: tasks, of these proven",
        [(name, *(_label(f["labels"].get(name)) for f in told)) for name in labels],
    )
    played = sorted({(m["model"], m["settings"]) for f in told for m in f["measures"]})
    if played:
        yield (
            "pass@1, pass@k, tasks",
            [(" ".join(way), *(_passes(f, way) for f in told)) for way in played],
        )


def _names(counts: Iterable[Mapping[str, int]]) -> Sequence[str]:
    """Names that any corpus counts, the most frequent first."""
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return sorted(total, key=lambda name: (-total[name], name))[:MOST_VALUES]


def _even(axis: Axis) -> str:
    return f"{axis['even']:.4f} of {len(axis['values'])}" if axis["values"] else ""


def _of(census: Mapping[str, int], name: str) -> str:
    total = sum(census.values())
    return f"{census[name]} ({census[name] / total:.0%})" if name in census else ""


def _label(row: Label | None) -> str:
    return f"{row['tasks']}, {row['proven']}" if row else ""


def _passes(found: Figures, key: tuple[str, str]) -> str:
    for m in found["measures"]:
        if (m["model"], m["settings"]) == key and m["pass_at"]:
            last = str(len(m["pass_at"]))
            return f"{m['pass_at']['1']:.4f}, @{last} {m['pass_at'][last]:.4f}, {m['tasks']}"
    return ""


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"
