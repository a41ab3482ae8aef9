"""The small profile's pure part: what a report means, what its sentences say, what is drawn."""

import json
import re
import shutil
import statistics
import subprocess
import sys
from collections import Counter
from decimal import Decimal
from itertools import product
from pathlib import Path
from random import Random

import pytest

from envgen import axes
from envgen.authors.llm.small import items as asks
from envgen.authors.llm.small import plan, rules
from envgen.authors.llm.small.data import Column, Data, Table, draw, read_data, schema
from envgen.authors.llm.small.items import GROUPED, NO_CONDITION, Item, Need, Where
from envgen.authors.llm.small.meaning import Ambiguous, lines, words
from envgen.authors.llm.small.shapes import ENDINGS, Shape, compose, gaps_of
from envgen.authors.llm.small.worked import example_items, ships, worked
from envgen.files import FileTree
from envgen.lint import lint
from envgen.records import Environment, TaskDraft, TaskSpec

WANTED = ("choice", "integer", "date", "name", "number")


def column(name: str, holds: str, *choices: str, low: int = 0, high: int = 0) -> Column:
    return Column(name=name, holds=holds, choices=choices, low=low, high=high)


DATA = Data(
    title="Weekly bread sales",
    story="I run three bakeries. The till wrote down every sale of the year.",
    file="sales",
    record="sale",
    columns=(
        column("bread", "choice", "rye", "wheat", "spelt"),
        column("loaves", "integer", low=1, high=40),
        column("sold_on", "date"),
        column("clerk", "name"),
        column("paid", "amount", low=2, high=90),
    ),
)
ROWS = (
    ("rye", "4", "2024-01-31", "demir", "10.00"),
    ("rye", "10", "2024-02-01", "garza", "2.50"),
    ("wheat", "", "2024-03-09", "demir", "7.25"),
    ("spelt", "7", "2024-03-10", "kovacs", "90.00"),
)
TABLE = Table(DATA.columns, ROWS, "csv")


def item(ask: str, of: str = "none", by: str = "none", where: tuple[str, str, str] = ()) -> Item:
    condition = Where(column=where[0], test=where[1], value=where[2]) if where else NO_CONDITION
    return Item(label="x", ask=ask, column=of, by=by, where=condition)


RESULTS = {
    "count": (item("count", where=("bread", "is", "rye")), ["x: 2"]),
    "count of others": (item("count", where=("bread", "is_not", "rye")), ["x: 2"]),
    "count from a border": (item("count", where=("loaves", "at_least", "7")), ["x: 2"]),
    "count to a border": (item("count", where=("loaves", "at_most", "7")), ["x: 2"]),
    "count from a month": (item("count", where=("sold_on", "from_month", "2024-02")), ["x: 3"]),
    "count before a month": (item("count", where=("sold_on", "before_month", "2024-03")), ["x: 2"]),
    "missing": (item("missing", "loaves"), ["x: 1"]),
    "outside": (item("outside", "loaves"), ["x: 1"]),
    "sum": (item("sum", "loaves"), ["x: 21"]),
    "sum of amounts": (item("sum", "paid"), ["x: 109.75"]),
    "mean": (item("mean", "loaves"), ["x: 7.00"]),
    "median": (item("median", "paid"), None),
    "smallest": (item("smallest", "paid"), ["x: 2.50"]),
    "largest": (item("largest", "loaves"), ["x: 10"]),
    "distinct": (item("distinct", "clerk"), ["x: 3"]),
    "most common": (item("most_common", "clerk"), ["x: demir"]),
    "count by": (item("count_by", by="bread"), ["x rye: 2", "x spelt: 1", "x wheat: 1"]),
    "sum by": (
        item("sum_by", "paid", "bread"), ["x rye: 12.50", "x spelt: 90.00", "x wheat: 7.25"],
    ),
    "mean by": (
        item("mean_by", "paid", "bread"), ["x rye: 6.25", "x spelt: 90.00", "x wheat: 7.25"],
    ),
    "missing by": (
        item("missing_by", "loaves", "bread"), ["x rye: 0", "x spelt: 0", "x wheat: 1"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RESULTS)
def test_results(name: str) -> None:
    asked, expected = RESULTS[name]
    if expected is None:  # 8.625: a half to round
        with pytest.raises(Ambiguous, match="half"):
            lines(asked, TABLE)
    else:
        assert lines(asked, TABLE) == expected


UNDECIDED = {
    "a tie": item("most_common", "bread"),
    "a condition that all meet": item("count", where=("bread", "is_not", "barley")),
    "a condition that one meets": item("count", where=("loaves", "at_least", "10")),
    "a group without values": item("sum_by", "loaves", "bread"),
}


@pytest.mark.parametrize("name", UNDECIDED)
def test_what_the_data_do_not_decide_is_no_result(name: str) -> None:
    rows = (*ROWS, ("wheat", "", "2024-03-09", "demir", "7.25"))
    with pytest.raises(Ambiguous):
        lines(UNDECIDED[name], Table(DATA.columns, rows, "csv"))


def test_results_agree_with_a_second_reading_of_the_file() -> None:
    """Against the standard library, on the text that an agent gets."""
    table = draw(DATA, "nested", 80, "loaves", Random(5))
    objects = [json.loads(line) for line in table.text().splitlines()]
    loaves = [o["detail"]["loaves"] for o in objects if o["detail"]["loaves"] is not None]
    assert 0 < len(objects) - len(loaves) < 40
    paid: dict[str, list[Decimal]] = {}
    for o in objects:
        paid.setdefault(o["bread"], []).append(Decimal(str(o["detail"]["paid"])))
    assert lines(item("sum", "loaves"), table) == [f"x: {sum(loaves)}"]
    assert lines(item("largest", "loaves"), table) == [f"x: {max(loaves)}"]
    mean = statistics.fmean(loaves)
    assert lines(item("mean", "loaves"), table) == [f"x: {mean:.2f}"]
    assert lines(item("sum_by", "paid", "bread"), table) == [
        f"x {bread}: {sum(paid[bread]):.2f}" for bread in sorted(paid)
    ]


# -- what can be said ----------------------------------------------------------------------------


def test_every_item_that_the_schema_allows_is_understood() -> None:
    rng = Random(3)
    for _ in range(300):
        ask = rng.choice([*RESULTS.values()])[0].ask
        need = Need(ask, narrowed=ask not in (*GROUPED, "most_common"))
        form = asks.schema(DATA, "loaves", [need])
        answer = json.dumps(drawn(form, rng))
        found = asks.read_items(answer, DATA, "loaves", [need])
        assert found[0].ask == ask
        assert words(found[0], DATA).startswith(f"`{found[0].label}")


def drawn(form: dict, rng: Random) -> object:  # type: ignore[type-arg]
    """A value that a schema allows."""
    if "anyOf" in form:
        return drawn(rng.choice(form["anyOf"]), rng)
    if "enum" in form:
        return rng.choice(form["enum"])
    if form["type"] == "object":
        return {name: drawn(inner, rng) for name, inner in form["properties"].items()}
    if form["type"] == "array":
        return [f"word{n}" for n in range(3)]
    return "label" if form["type"] == "string" else rng.randrange(100)


REFUSED = {
    "no object": ("[]", "not one JSON object"),
    "broken": ("{", "not one JSON object"),
    "an item is missing": ('{"item1": {"label": "a", "where": {}}}', "where.column"),
    "a column of words": ('{"item1": {"label": "a", "column": "bread"}}', "cannot be asked"),
    "no word": ('{"item1": {"label": "7", "column": "loaves"}}', "not one plain word"),
    "a field too many": ('{"item1": {"label": "a", "column": "loaves", "z": 1}}', "z: Extra"),
    "an item too many": (
        '{"item1": {"label": "a", "column": "loaves"}, "item9": {}}', "item9 was not asked for",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused_items(name: str) -> None:
    text, reason = REFUSED[name]
    with pytest.raises(ValueError, match=re.escape(reason)):
        asks.read_items(text, DATA, "", [Need("sum")])


def test_a_label_that_says_nothing_says_of_which_column() -> None:
    asked = [Need("sum"), Need("mean_by")]
    answer = {
        "item1": {"label": "sum", "column": "loaves"},
        "item2": {"label": "mean_by", "column": "paid", "by": "bread"},
    }
    found = asks.read_items(json.dumps(answer), DATA, "", asked)
    assert [item.label for item in found] == ["sum_loaves", "mean_paid_per_bread"]


def test_data_are_read_by_position() -> None:
    answer = {
        "title": DATA.title, "story": DATA.story, "file": "sales", "record": "sale",
        "column1": {"name": "bread", "choice1": "rye", "choice2": "wheat", "choice3": "spelt",
                    "choice4": ""},
        "column2": {"name": "loaves", "low": 1, "high": 40},
        "column3": {"name": "date"}, "column4": {"name": "owner"},
        "column5": {"name": "paid", "low": 2, "high": 90, "decimals": "two"},
    }  # fmt: skip
    assert read_data(json.dumps(answer), WANTED).columns[1] == DATA.columns[1]
    assert list(schema(WANTED)["properties"]) == list(answer)
    spaced = answer | {"column2": {"name": "Loaves sold", "low": 1, "high": 40}}
    spaced |= {"file": "Sales.csv"}
    spaced["column1"] = {
        "name": "bread",
        "choice1": "rye bread",
        "choice2": "spelt",
        "choice3": "a,b",
        "choice4": "",
    }
    found = read_data(json.dumps(spaced), WANTED)
    assert (found.file, found.columns[1].name) == ("sales", "loaves_sold")
    assert found.columns[0].choices == ("rye_bread", "spelt", "a_b")
    for name, value, reason in (
        ("column2", {"name": "loaves", "low": 40, "high": 1}, "high must be well above low"),
        (
            "column1",
            {"name": "bread", "choice1": "rye", "choice2": "Rye", "choice3": "", "choice4": ""},
            "different choices",
        ),
        (
            "column1",
            {"name": "bread", "choice1": "rye", "choice2": "7", "choice3": "", "choice4": ""},
            "not one plain word",
        ),
        ("column3", {"name": "bread"}, "column3|name"),
        ("column2", {"name": "bread", "low": 1, "high": 40}, "same name"),
        ("column2", {"name": "7 days", "low": 1, "high": 40}, "small letters"),
        ("column3", None, "column3"),
        ("file", "../x", "one small word"),
        ("file", 7, "file"),
        ("story", "I run\u001b[2J three bakeries. Well.", "plain line"),
        ("extra", 1, "extra"),
    ):
        with pytest.raises(ValueError, match=reason):
            read_data(json.dumps(answer | {name: value}), WANTED)


# -- filters -------------------------------------------------------------------------------------


def test_corpora_are_decided_by_the_rules() -> None:
    for seed in range(20):
        clean, bad = rules.corpora(DATA, 40, Random(seed))
        assert all(rules.accepts(DATA, line) for line in clean)
        assert not any(rules.accepts(DATA, line) for line in bad)
        assert (len(clean), len(bad)) == (40, 40)


# -- whole tasks ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def specs() -> list[TaskSpec]:
    rows = axes.sample(axes.load(None), 4, 60, support=plan.support())
    return [axes.spec_of(row) for row in rows]


def data_for(spec: TaskSpec) -> Data:
    kinds = {"choice": DATA.columns[0], "integer": DATA.columns[1], "date": DATA.columns[2],
             "name": DATA.columns[3], "number": DATA.columns[4]}  # fmt: skip
    shape = plan.shape_of(spec)
    columns = [
        kinds[kind].model_copy(update={"name": f"c{n}"}) for n, kind in enumerate(shape.wanted)
    ]
    return DATA.model_copy(update={"columns": tuple(columns)})


def items_for(spec: TaskSpec, data: Data) -> tuple[Item, ...]:
    shape = plan.shape_of(spec)
    for seed in range(100):
        rng = Random(seed)
        answer = drawn(asks.schema(data, gaps_of(shape, data), shape.needs), rng)
        for number, one in enumerate(answer.values()):  # type: ignore[attr-defined]
            one["label"] = f"label{number}"
        try:
            found = asks.read_items(json.dumps(answer), data, gaps_of(shape, data), shape.needs)
            compose(spec, shape, data, found)
        except ValueError:
            continue
        return found
    raise AssertionError(f"nothing fits {shape}")


def test_every_spec_of_the_profile_makes_a_sound_task(specs: list[TaskSpec]) -> None:
    for spec in specs:
        assert plan.realises(spec)
        shape, data = plan.shape_of(spec), data_for(spec)
        items = items_for(spec, data) if shape.needs else ()
        task = compose(spec, shape, data, items)
        assert compose(spec, shape, data, items) == task
        draft = TaskDraft(
            spec=spec, author="llm/x", title=task.title, instruction=task.instruction,
            environment=Environment(base=spec.domain, files=task.files), initial=task.initial,
            tests=task.tests, solution=FileTree({"solve.sh": "true\n"}),
        )  # fmt: skip
        lint(draft)
        assert "\n\n\n" not in task.instruction
        assert shape.program in task.instruction
        for one in items:
            assert one.label in task.instruction


def test_labels_are_true(specs: list[TaskSpec]) -> None:
    """Each skill of a spec is one that its task asks for."""
    seen: Counter[str] = Counter()
    for spec in specs:
        shape = plan.shape_of(spec)
        seen.update([shape.kind, shape.layout, *spec.skills])
        given = {need.ask for need in shape.needs}
        for skill, kinds in plan._ASKS.items():
            assert skill not in spec.skills or given & set(kinds)
        if "date_filtering" in spec.skills:
            assert shape.needs[0].dated
        if {"json_path_selection", "nested_field_flattening"} & set(spec.skills):
            assert shape.layout == "nested"
        if "missing_value_handling" in spec.skills:
            assert shape.gappy
        assert (spec.verifier == "adversarial_corpus") == (shape.kind == "filter")
        assert shape.program.endswith("py") == (spec.language == "python")
    assert {"report", "program", "filter", "nested", "log", "csv", "tsv"} <= set(seen)


def test_an_honest_program_passes_and_a_constant_one_does_not(
    tmp_path: Path, specs: list[TaskSpec]
) -> None:
    """The rendered check, run here as the grader runs it, on what the expected lines say."""
    spec = next(s for s in specs if plan.shape_of(s).report and s.language == "bash")
    shape, data = plan.shape_of(spec), data_for(spec)
    task = compose(spec, shape, data, items_for(spec, data))
    truth = json.loads(task.tests["truth.json"].data)
    lines = [line for one in truth["items"] for line in one["lines"]]
    assert graded(tmp_path / "right", task.tests, "".join(f"{line}\n" for line in lines)) == 1.0
    assert graded(tmp_path / "empty", task.tests, "") == 0.0
    part = graded(tmp_path / "part", task.tests, f"{lines[0]}\n")
    assert 0 <= part < 1


def graded(folder: Path, tests: FileTree, report: str) -> float:
    from envgen.grade import verifier_kit

    (folder / "work").mkdir(parents=True)
    (folder / "work" / "report.txt").write_text(report)
    facts = {"workdir": str(folder / "work"), "outputs": [str(folder / "work")], "hide": []}
    kit = FileTree({**verifier_kit(), **tests, "task.json": json.dumps(facts)})
    kit.write(folder / "tests")
    script = (
        "import sys, json; sys.path.insert(0, sys.argv[1]); import check\n"
        "from verifiers import Task\nfrom verifiers.checks import combine\n"
        "truth = json.load(open(sys.argv[1] + '/truth.json'))\n"
        "with Task(sys.argv[2], truth) as task: print(combine(check.checks(task)).reward)\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", script, folder / "tests", folder / "work"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return float(done.stdout)


# -- the worked example --------------------------------------------------------------------------


def shapes() -> list[tuple[Shape, str]]:
    """Every result in every layout and language, with and without gaps."""
    found = []
    for language, layout in product(("bash", "python"), ("csv", "tsv", "log", "nested")):
        for kind, number, gappy in (
            ("report", "integer", True), ("report", "amount", False), ("program", "amount", True),
        ):  # fmt: skip
            found += [
                (Shape(kind, language, layout, ("choice", "number"), gappy, needs), number)
                for needs in (needs_of(ALL[:7], False), needs_of(ALL[7:], True))
            ]
    return found


ALL = tuple(dict.fromkeys(asked.ask for asked, _ in RESULTS.values()))


def needs_of(kinds: tuple[str, ...], dated: bool) -> tuple[Need, ...]:
    return tuple(
        Need(ask, narrowed=ask not in (*GROUPED, "most_common"), dated=dated) for ask in kinds
    )


@pytest.mark.parametrize(("shape", "number"), shapes())
def test_the_worked_example_is_right(shape: Shape, number: str, tmp_path: Path) -> None:
    if shape.language == "bash" and shape.layout == "nested" and not shutil.which("jq"):
        pytest.skip("jq is not installed here")
    decimals = number == "amount"
    data, items = ships(shape, decimals), example_items(shape)
    for seed in range(100):
        gaps = "length_m" if shape.gappy else ""
        table = draw(data, shape.layout, 80, gaps, Random(seed))
        try:
            expected = [line for one in items for line in lines(one, table)]
            break
        except Ambiguous:
            continue
    (tmp_path / f"passages.{ENDINGS[shape.layout]}").write_text(table.text())
    (tmp_path / "code").write_text(worked(shape, decimals).code)
    start = "bash" if shape.language == "bash" else sys.executable
    done = subprocess.run(
        [start, "code"], cwd=tmp_path, input=None if shape.report else table.text(),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    bash_report = shape.report and shape.language == "bash"
    said = (tmp_path / "report.txt").read_text() if bash_report else done.stdout
    assert said.splitlines() == expected


@pytest.mark.parametrize("language", ["bash", "python"])
@pytest.mark.parametrize("wide", [False, True])
def test_the_worked_filter_is_right(language: str, wide: bool, tmp_path: Path) -> None:
    holds = ("choice", "integer", "name", *(("choice", "date") if wide else ()))
    shape = Shape("filter", language, "log", holds, False, ())
    clean, bad = rules.corpora(ships(shape, False), 40, Random(1))
    (tmp_path / "code").write_text(worked(shape, False).code)
    start = "bash" if language == "bash" else sys.executable
    done = subprocess.run(
        [start, "code"], cwd=tmp_path, input="".join(f"{line}\n" for line in (*clean, *bad)),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines() == ["accept"] * 40 + ["reject"] * 40
