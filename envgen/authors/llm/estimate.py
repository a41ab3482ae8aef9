"""What a run will ask for, before it asks: calls and tokens by step.

Questions are measured: their templates are rendered, and four characters count as one token (a rule
of thumb for English and code; other languages need more). What the model will say is assumed, in
the table below, and so is how often a part is asked again. Thinking tokens are not in it: a model
that thinks bills several times as much output.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from envgen import axes
from envgen.authors.llm.example import example_of
from envgen.authors.llm.full import kit_words
from envgen.authors.llm.full.open import asked_of
from envgen.config import RunConfig
from envgen.prompts import render
from envgen.records import TaskSpec
from envgen.share import share

CHARS_PER_TOKEN = 4
ANSWERS = {
    "full": {"brief": 1000, "fixture": 800, "files": 2500, "solution": 1200, "verifier": 2500},
    "small": {"data": 150, "items": 100, "solution": 240},
}
"""Tokens that each question is assumed to bring."""
SHOWN = {"brief": 3500, "open": 9000}
"""Characters of what was written before (the form; instruction and files) in later questions."""
AGAIN = 0.5
"""Further answers to each question, on the average: unreadable ones, and what gates sent back. Each
costs its question, the answer before, and another answer."""


@dataclass(frozen=True)
class Call:
    """One step of all specs."""

    step: str
    calls: int
    input: int
    output: int


def estimate(
    specs: Iterable[TaskSpec], settings: RunConfig, catalogue: axes.Catalogue
) -> tuple[Call, ...]:
    """Calls and tokens by step, in the order of asking.

    Args:
        specs: those of the run.
        settings: whose profile counts.
        catalogue: the axis files of the run.
    """
    profile = settings.author.profile
    ask = _full if profile == "full" else _small
    calls, chars = Counter[str](), Counter[str]()
    for spec in specs:
        for step, length in ask(spec, catalogue).items():
            calls[step] += 1
            chars[step] += length
    return tuple(
        _call(step, calls[step], chars[step] // CHARS_PER_TOKEN, tokens)
        for step, tokens in ANSWERS[profile].items()
        if calls[step]
    )


def _call(step: str, count: int, asked: int, answer: int) -> Call:
    """With what is asked again."""
    output = round(count * answer * (1 + AGAIN))
    return Call(
        step, round(count * (1 + AGAIN)), round(asked * (1 + AGAIN) + output * AGAIN), output
    )


def _full(spec: TaskSpec, catalogue: axes.Catalogue) -> dict[str, int]:
    """Characters of each question."""
    prompts = share("prompts")
    system = len(render(prompts / "system.md.j2"))
    found = {"brief": len(render(prompts / "task.md.j2", **asked_of(spec, catalogue)))}
    if spec.fixture != "text_only":
        found["fixture"] = _length(f"fixtures/{spec.fixture}.md") + SHOWN["brief"]
    found["files"] = _length("files.md.j2") + SHOWN["brief"]
    found["solution"] = _length("solution.md.j2") + SHOWN["open"]
    example = example_of(spec)
    shown = len(example.instruction) + len(example.check) if example else 0
    found["verifier"] = _length("verifier.md.j2") + len(kit_words()) + shown + sum(SHOWN.values())
    return {step: length + system for step, length in found.items()}


def _small(spec: TaskSpec, catalogue: axes.Catalogue) -> dict[str, int]:
    """Characters of each question; a filter has no items."""
    found = {"data": _length("small/data.md.j2") + _length("small/example.json") + 300}
    if spec.verifier != "adversarial_corpus":
        found["items"] = _length("small/items.md.j2") + 500
    return found | {"solution": _length("small/solution.md.j2") + 2000}


def _length(name: str) -> int:
    return len((share("prompts") / name).read_text())
