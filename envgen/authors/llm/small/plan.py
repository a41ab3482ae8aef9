"""Which specs the small profile can realise, and what each asks of its task.

A label is only given where the task has what it says: skills decide layout, columns and questions.
"""

from random import Random

from envgen.authors.llm.small.data import Layout, Wanted
from envgen.authors.llm.small.items import GROUPED, Ask, Need
from envgen.authors.llm.small.shapes import Shape
from envgen.records import TaskSpec

Block = dict[str, frozenset[str]]

_RECORDS = {
    ("data_querying", "document_queries"): (
        "json_path_selection", "nested_field_flattening", "log_store_filtering",
        "date_filtering", "report_formatting",
    ),
    ("data_science", "exploratory_analysis"): (
        "distribution_summaries", "group_comparison", "missing_value_handling",
    ),
    ("data_processing", "quality_control"): (
        "range_checks", "completeness_reporting", "field_parsing", "regular_expression_capture",
    ),
}  # fmt: skip
_FILTERS = {
    ("security", "input_validation"): ("pattern_matching", "allow_list_design", "log_triage")
}
_LAYOUTS: dict[str, Layout] = {
    "json_path_selection": "nested",
    "nested_field_flattening": "nested",
    "log_store_filtering": "nested",
    "field_parsing": "log",
    "regular_expression_capture": "log",
}
_ASKS: dict[str, tuple[Ask, ...]] = {
    "distribution_summaries": ("median", "mean", "largest", "smallest"),
    "group_comparison": ("mean_by",),
    "range_checks": ("outside",),
    "completeness_reporting": ("missing", "missing_by"),
}
_GAPPY = {"missing_value_handling", "completeness_reporting"}
_FREE: tuple[Ask, ...] = ("count", "sum", "mean", "largest", "smallest", "most_common")
_GROUPED: tuple[Ask, ...] = ("count_by", "sum_by", "mean_by")


def support() -> list[Block]:
    """The blocks that specs are drawn from."""
    how = [
        ("exact_text", "bash", ("bash",)),
        ("exact_text", "bash_code", ("python",)),
        ("fuzz_equivalence", "bash_code", ("bash", "python")),
    ]
    records = [_block(place, skills, *each) for place, skills in _RECORDS.items() for each in how]
    screen = ("adversarial_corpus", "bash_code", ("bash", "python"))
    return records + [_block(place, skills, *screen) for place, skills in _FILTERS.items()]


def _block(
    place: tuple[str, str],
    skills: tuple[str, ...],
    verifier: str,
    commands: str,
    languages: tuple[str, ...],
) -> Block:
    return {
        "domain": frozenset({place[0]}),
        "skill_type": frozenset({place[1]}),
        "skills": frozenset(skills),
        "language": frozenset(languages),
        "task_complexity": frozenset({"short", "moderate"}),
        "command_complexity": frozenset({commands}),
        "verifier": frozenset({verifier}),
        "fixture": frozenset({"text_only"}),
    }


def realises(spec: TaskSpec) -> bool:
    """Whether a spec lies in one of the blocks."""
    return any(
        all(
            values.issuperset(spec.skills if axis == "skills" else (getattr(spec, axis),))
            for axis, values in block.items()
        )
        for block in support()
    )


def shape_of(spec: TaskSpec) -> Shape:
    """What the spec asks for; the rest is drawn from its digest."""
    rng = Random(f"shape:{spec.digest}")
    short = spec.task_complexity == "short"
    if spec.verifier == "adversarial_corpus":
        wide: tuple[Wanted, ...] = () if short else ("choice", "date")
        screened: tuple[Wanted, ...] = ("choice", "integer", "name", *wide)
        return Shape("filter", spec.language, "log", screened, False, ())
    dated = "date_filtering" in spec.skills
    wanted: list[Wanted] = ["choice", "number"]
    wanted += ["date"] if dated else ["name"]  # at least one column that no result needs
    wanted += [] if short else [rng.choice(("choice", "name" if dated else "date"))]
    chosen: list[Ask] = []  # all different: a table this narrow has one answer to each
    for skill in spec.skills:
        if skill in _ASKS:
            chosen.append(rng.choice([ask for ask in _ASKS[skill] if ask not in chosen]))
    while len(chosen) < (2 if short else 4):
        kinds = _GROUPED if len(chosen) % 2 else _FREE
        chosen.append(rng.choice([ask for ask in kinds if ask not in chosen]))
    needs = [Need(ask, narrowed=_narrowed(ask, at)) for at, ask in enumerate(chosen)]
    if dated:
        needs[0] = Need(chosen[0], narrowed=True, dated=True)
    layouts = sorted({_LAYOUTS[skill] for skill in spec.skills if skill in _LAYOUTS})
    return Shape(
        kind="report" if spec.verifier == "exact_text" else "program",
        language=spec.language,
        layout=layouts[0] if layouts else rng.choice(("csv", "tsv")),
        wanted=tuple(wanted),
        gappy=not _GAPPY.isdisjoint(spec.skills),
        needs=tuple(needs),
    )


def _narrowed(ask: Ask, place: int) -> bool:
    """Whether an item has a condition: plain counts always, groups never, the others in turn."""
    return ask == "count" or (ask not in GROUPED and ask != "most_common" and place % 2 == 0)
