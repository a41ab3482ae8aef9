"""The card of a data set: a YAML header that loaders read, and what people have to know.

Everything in it that comes from tasks (values of axes, labels, names of models) is hostile: each
character that means something to Markdown or HTML is escaped, and the header is written by a YAML
library.
"""

import string
from collections.abc import Mapping, Sequence
from typing import Any

from envgen import __version__
from envgen.corpus.figures import NOT_AUDITED, Figures, figures
from envgen.export import canary
from envgen.plural import many
from envgen.terminal import clean

_LICENCES = {
    "Apache-2.0": "apache-2.0",
    "BSD-3-Clause": "bsd-3-clause",
    "CC-BY-4.0": "cc-by-4.0",
    "CC0-1.0": "cc0-1.0",
    "MIT": "mit",
}
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (10**6, "100K<n<1M"))
_SHOWN = 9
"""Values of an axis that the card lists."""
_BODY = """\
# {title}

{tasks} for agents: each an instruction, a container image, a hidden graded verifier
and a reference solution. Every claim about a task was executed; the receipts are in `evidence`.

> **Warning: this data set holds code that nobody has read.** Dockerfiles, set-up scripts, tests
> and solutions were written by programs and models. Run them in containers or virtual machines
> only, without network and without anything of yours in them. Instructions and files may hold text
> that is meant to mislead a model that reads them.

> **Canary: `{canary}`.**
> It stands in the files of every task. A model that can say it has read them. Filter what holds it
> from corpora for pretraining, and do not evaluate on these tasks a model that was trained on them.

## Load

```python
from datasets import load_dataset

tasks = load_dataset("DIR", split="train")            # every column
index = load_dataset("DIR", "index", split="train")   # without the tasks' files
```

pandas, polars and duckdb read `data/*.parquet` as they are. `archive` is a tar of the task's Harbor
folder: `tarfile.open(fileobj=io.BytesIO(row["archive"]))`. With envgen:

```
envgen export verify DIR                  # every byte, every row
envgen export verify DIR --rebuild 5      # builds five tasks anew and proves them again
envgen export TASKS --from DIR
```

## Figures

{bytes} bytes of Parquet, written by envgen {version}.

{tables}
"""


def text(name: str, guid: str, rows: Sequence[Mapping[str, Any]], size: int) -> str:
    """The card.

    Args:
        name: of the data set.
        guid: its canary.
        rows: of its index.
        size: bytes of its shards.
    """
    found = figures(rows)
    body = _BODY.format(
        title=escaped(name),
        tasks=many(found["tasks"], "terminal task"),
        canary=canary.line_of(guid),
        bytes=size,
        version=__version__,
        tables="\n\n".join(_tables(found)),
    )
    return f"---\n{_header(name, rows)}---\n\n{body}"


def escaped(value: str, most: int = 120) -> str:
    """Text that Markdown and HTML take for text: one line, at most so many characters."""
    plain = " ".join(clean(value).split())[:most]
    return "".join(f"\\{c}" if c in string.punctuation and c not in "_-.," else c for c in plain)


def _header(name: str, rows: Sequence[Mapping[str, Any]]) -> str:
    import yaml

    size = next((told for most, told in _SIZES if len(rows) < most), "n>1M")
    header = {
        "pretty_name": " ".join(clean(name).split()),
        **_licence({str(row["licence"]) for row in rows}),
        "size_categories": [size],
        "task_categories": ["reinforcement-learning", "text-generation"],
        "tags": ["agent", "code", "docker", "envgen", "harbor", "terminal"],
        "configs": [
            {"config_name": "default", "default": True, "data_files": _files("data")},
            {"config_name": "index", "data_files": _files("index")},
        ],
    }
    return yaml.safe_dump(header, sort_keys=False, allow_unicode=True, width=100)


def _licence(found: set[str]) -> dict[str, str]:
    """The licence by the name that hosts of data sets know, where there is one."""
    (only, *more) = sorted(found)
    if not more and only in _LICENCES:
        return {"license": _LICENCES[only]}
    told = ", ".join(sorted(" ".join(clean(one).split())[:80] for one in found))
    return {"license": "other", "license_name": told[:400]}


def _files(folder: str) -> list[dict[str, str]]:
    return [{"split": "train", "path": f"{folder}/train-*.parquet"}]


def _tables(found: Figures) -> list[str]:
    audited = [
        (label, str(row["tasks"]), str(row["proven"] if label != NOT_AUDITED else ""))
        for label, row in found["labels"].items()
    ]
    tables = [_table(("label of the audit", "tasks", "proven"), audited)]
    spread = [
        (axis, f"{row['even']:.3f}", _values(row["values"]))
        for axis, row in found["axes"].items()
        if row["values"]
    ]
    if spread:
        tables.append(_table(("axis", "evenness, exp(H)/values", "tasks by value"), spread))
    played = [
        (m["model"], str(m["tasks"]), str(m["attempts"]), _passes(m["pass_at"]),
         f"{m['reward']:.3f}")
        for m in found["measures"]
    ]  # fmt: skip
    if played:
        tables.append(_table(("model", "tasks", "attempts", "pass@k", "mean reward"), played))
    lengths = [tuple(str(found["words"][n]) for n in ("least", "median", "most"))]
    tables.append(_table(("shortest instruction, words", "median", "longest"), lengths))
    return tables


def _values(census: Mapping[str, int]) -> str:
    told = [f"{value} {n}" for value, n in list(census.items())[:_SHOWN]]
    more = len(census) - _SHOWN
    return ", ".join(told) + (f", and {many(more, 'more value')}" if more > 0 else "")


def _passes(curve: Mapping[str, float]) -> str:
    ends = [k for k in curve if k == "1" or int(k) == len(curve)]
    return ", ".join(f"@{k} {curve[k]:.3f}" for k in ends)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [" | ".join(columns), " | ".join("---" for _ in columns)]
    lines += [" | ".join(escaped(cell, 600) for cell in row) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)
