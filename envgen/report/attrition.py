"""How many tasks were left after each step, why the others were lost, and what that did to the
balance of the axes."""

from collections import Counter
from collections.abc import Iterable, Sequence

from envgen import axes
from envgen.axes.catalogue import FLAT
from envgen.build import GATES
from envgen.records import TaskSpec
from envgen.report.facts import KEPT, UNFINISHED, Balance, Short, Step, Task, Value

AXES = tuple(axis for axis in axes.AXES if axis != "skills")
"""Axes of which a task has one value."""


def funnel(tasks: Sequence[Task]) -> tuple[Step, ...]:
    """How many were left of the specs, or of the tasks that an import found, after each step."""
    lost = Counter(task.step for task in tasks)
    first = "import" if lost["import"] else "author"
    left, rows = len(tasks), [Step("specs", 0, len(tasks))]
    for step in (first, *GATES, *(["repair"] if lost["repair"] else [])):
        left -= lost[step]
        rows.append(Step(step, lost[step], left))
    return (*rows, Step(KEPT, lost[UNFINISHED], lost[KEPT]))


def reasons(tasks: Sequence[Task]) -> dict[str, int]:
    """How many tasks were rejected with each code, the most frequent first."""
    return dict(Counter(task.code for task in tasks if task.code).most_common())


def rejections(tasks: Sequence[Task]) -> tuple[Short, ...]:
    """Each rejected task with its reason."""
    return tuple(Short(t.task, t.code, t.detail) for t in tasks if t.code)


def balance(
    before: Sequence[TaskSpec],
    after: Sequence[TaskSpec],
    catalogue: axes.Catalogue,
    preset: str,
    support: Sequence[axes.Block] | None,
) -> Balance:
    """Scores and counts of the specs that were drawn, and of those of the kept tasks."""
    drawn, left = (
        axes.balance(specs, catalogue, preset=preset, support=support) if specs else {}
        for specs in (before, after)
    )
    return Balance(
        before={name: round(b.score, 4) for name, b in drawn.items()},
        after={name: round(b.score, 4) for name, b in left.items()},
        reachable={name: round(b.reachable, 4) for name, b in (drawn or left).items()},
        values=_values(before or after, after, catalogue),
    )


def _values(
    before: Sequence[TaskSpec], after: Sequence[TaskSpec], catalogue: axes.Catalogue
) -> tuple[Value, ...]:
    """Values of the flat axes, also those that never occur; pairs and what depends on the domain
    only where they do."""
    groups: list[tuple[str, ...]] = [(axis,) for axis in AXES if axis != "persona"]
    groups += [*axes.PAIRS, ("domain", "skill_type")]
    found: list[Value] = []
    for group in groups:
        drawn, left = _counts(before, group), _counts(after, group)
        possible = catalogue.names(group[0]) if len(group) == 1 and group[0] in FLAT else ()
        names = dict.fromkeys([*possible, *sorted(drawn), *sorted(left)]) if before else {}
        axis = "/".join(group)
        found += [Value(axis, name, drawn[name], left[name]) for name in names]
    return tuple(found)


def _counts(specs: Iterable[TaskSpec], group: Sequence[str]) -> Counter[str]:
    return Counter("/".join(getattr(spec, axis) for axis in group) for spec in specs)
