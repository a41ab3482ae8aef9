"""Compares the table of the samples, and what the extractor says of dumps that nobody has seen."""

from collections.abc import Iterable

import blocks  # type: ignore[import-not-found]

from verifiers import Check, Task, exact_text


def checks(task: Task) -> Iterable[Check]:
    truth = task.truth
    table = "\n".join([truth["header"], *truth["rows"]])
    yield from _judged("{} of the samples", task.read(truth["table"]), table)
    if not truth["dumps"]:
        return
    campaign, rng = truth["campaign"], task.rng("dumps")
    for number in range(truth["dumps"]):
        dump, config = blocks.draw_sample(rng, campaign)
        name = f"dump{number}.bin"
        wanted = "\n".join([truth["header"], *blocks.rows(name, config, campaign)])
        folder = task.scratch({name: dump})
        outcome = task.run(["python3", "extract.py", f"{folder}/{name}"], cwd=task.workdir)
        yield exact_text.match(name, outcome.stdout if outcome.ok else None, wanted, weight=0.5)


def _judged(name: str, actual: "bytes | None", wanted: str) -> Iterable[Check]:
    """The whole weighs as much as its lines; the header alone is worth nothing."""
    given = exact_text.normalised((actual or b"").decode("utf-8", "replace")).split("\n")
    rows = wanted.split("\n")[1:]
    right = sum(row in given for row in rows) / max(len(rows), len(given) - 1)
    yield Check(name.format("rows"), right, f"{right:.0%} of the rows")
    yield exact_text.match(name.format("table"), actual, wanted)
