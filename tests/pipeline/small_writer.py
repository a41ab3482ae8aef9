"""A scripted small model: fills in the forms, and gives whatever code it is told to."""

import json
from collections.abc import Callable
from typing import Any

from envgen import axes
from envgen.authors.llm.small import plan
from envgen.records import Completion, Request, TaskSpec

WORDS = {
    "choice": {
        "name": "shelf",
        "choice1": "oak",
        "choice2": "pine",
        "choice3": "ash",
        "choice4": "",
    },
    "integer": {"name": "boards", "low": 1, "high": 90},
}


def step_of(request: Request) -> str:
    """`data`, `items` or `solution`."""
    form = json.loads(request.answer_schema or "{}").get("properties", {})
    return "data" if "column1" in form else "items" if "item1" in form else "solution"


def filled(request: Request) -> str:
    """The form of a request, with sound values."""
    form = json.loads(request.answer_schema or "{}")["properties"]
    if "column1" in form:
        said = {"title": "Boards in stock", "story": "I saw boards. I count them at night.",
                "file": "stock", "record": "board"}  # fmt: skip
        for name in (key for key in form if key.startswith("column")):
            fields = form[name]["properties"]
            kind = "choice" if "choice1" in fields else "integer" if "low" in fields else ""
            words = WORDS[kind] | {"name": f"{WORDS[kind]['name']}{name[-1]}"} if kind else {}
            said[name] = first(form[name], "") | words
        return json.dumps(said)
    return json.dumps({name: first(item, name) for name, item in form.items()})


def first(form: dict, label: str) -> Any:  # type: ignore[type-arg]
    """The first value that a schema allows."""
    if "anyOf" in form:
        return first(form["anyOf"][0], label)
    if "enum" in form:
        return form["enum"][0]
    if form["type"] == "object":
        return {name: first(inner, label) for name, inner in form["properties"].items()}
    return label if form["type"] == "string" else 0


def small_writer(
    code: Callable[[int], str], **answers: Callable[[int], str]
) -> Callable[[Request], Completion | str]:
    """A script; each function gets how often its step was asked before."""
    asked: dict[str, int] = {}

    def script(request: Request) -> Completion | str:
        step = step_of(request)
        times = asked.get(step, 0)
        asked[step] = times + 1
        if step in answers:
            return answers[step](times)
        return code(times) if step == "solution" else filled(request)

    return script


def small_specs(count: int = 40) -> list[TaskSpec]:
    """Specs of the small profile."""
    rows = axes.sample(axes.load(None), 6, count, support=plan.support())
    return [axes.spec_of(row) for row in rows]


def small_spec(**wanted: str) -> TaskSpec:
    """The first spec with the given values."""
    return next(
        spec
        for spec in small_specs()
        if all(getattr(spec, axis) == value for axis, value in wanted.items())
    )
