"""Plans of fixtures: what is refused, what a model is shown, what a reader must agree to."""

import io
import json
import re
import shlex
import tarfile
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from envgen import axes
from envgen.authors.fixtures import PLANS, Plan, package, realise, schema, services, words
from envgen.authors.fixtures.parts import MAX_TEXT, seeded
from envgen.authors.fixtures.reading import likeness, lost_numbers
from envgen.authors.fixtures.recipe import Recipe
from envgen.authors.fixtures.stage import Stage
from envgen.authors.fixtures.tables import Table, draw
from envgen.errors import Fault
from envgen.files import FileTree
from envgen.kit import Kit
from envgen.ledger import Use
from envgen.records import Job, JobResult

ANY: TypeAdapter[Any] = TypeAdapter(Plan)
USE = Use("values", "fixture")
Tree = dict[str, Any]
Do = Callable[..., Any]


@cache
def _example(kind: str) -> str:
    found = re.search(r"^```json\n(.*?)^```", words(kind).read_text(), re.M | re.S)
    assert found, f"prompts/fixtures/{kind}.md has no example"
    return found[1]


def example(kind: str) -> Tree:
    """The plan that a model is shown for a kind."""
    tree: Tree = json.loads(_example(kind))
    return tree


def plan_of(tree: Tree) -> Any:
    return ANY.validate_json(json.dumps(tree))


def set_at(tree: Any, path: tuple[str | int, ...], value: Any) -> Any:
    """A copy with another value at a path."""
    copied = json.loads(json.dumps(tree))
    node = copied
    for part in path[:-1]:
        node = node[part]
    node[path[-1]] = value
    return copied


def leaves(
    tree: Any, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Every value of a plan that is no list and no object, with its path."""
    if isinstance(tree, dict | list):
        for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from leaves(value, (*path, key))
    else:
        yield path, tree


# -- what a model is shown ---------------------------------------------------------------------


def test_there_is_a_plan_for_every_value_of_the_axis() -> None:
    assert set(PLANS) == set(axes.load().names("fixture"))


@pytest.mark.parametrize("kind", PLANS)
def test_the_example_in_the_prompt_is_a_plan(kind: str) -> None:
    plan = plan_of(example(kind))
    assert type(plan) is PLANS[kind]
    assert plan.model_dump(mode="json") == example(kind)
    assert len(words(kind).read_text()) < 6000


@pytest.mark.parametrize("kind", PLANS)
def test_a_schema_stays_in_what_every_provider_takes(kind: str) -> None:
    allowed = {"type", "properties", "required", "additionalProperties", "items", "enum",
               "description", "minItems", "maxItems", "minLength", "maxLength", "minimum",
               "maximum"}  # fmt: skip

    def look(node: Tree) -> None:
        assert set(node) <= allowed
        assert node.get("maxLength", 0) <= 1000
        if node["type"] == "object":
            assert node["additionalProperties"] is False
            assert node["required"] == list(node["properties"])
            for value in node["properties"].values():
                assert value.get("description") or value.get("enum")
                look(value)
        elif node["type"] == "array":
            look(node["items"])
        elif "enum" in node:
            assert all(isinstance(value, str) for value in node["enum"])

    look(schema(kind))
    assert schema(kind)["properties"]["kind"]["enum"] == [kind]
    assert len(json.dumps(schema(kind))) < 4500


# -- what is refused ---------------------------------------------------------------------------

LONG = {"sound": "tone", "text": "", "hertz": 440, "milliseconds": 10_000}
AGAIN = {"shows": "green", "text": "", "start": 36, "length": 5}
REFUSED: dict[str, tuple[str, tuple[str | int, ...], Any, str]] = {
    "another kind": ("image", ("kind",), "sculpture", "does not match any"),
    "an unknown field": ("image", ("colour",), "red", "Extra inputs"),
    "a number as text": ("image", ("noise",), "4", "valid integer"),
    "too much noise": ("image", ("noise",), 11, "less than or equal to 10"),
    "a picture of another name": ("image", ("file",), "a.jpg", "end in .png"),
    "a name with a folder": ("image", ("file",), "../a.png", "letters, digits"),
    "a name like an option": ("image", ("file",), "-rf.png", "letters, digits"),
    "a scan without text": ("image", ("lines",), [], "needs text lines"),
    "a scan with points": ("image", ("points",), [{"label": "a", "value": 1}], "no chart"),
    "a chart with lines": ("image", ("style",), "chart", "no text lines"),
    "text that no reader knows": ("image", ("lines", 0), "Grüße", "ASCII"),
    "doubled spaces": ("image", ("lines", 0), "a  b", "spaces"),
    "a recording of another name": ("audio", ("file",), "a.mp3", "end in .wav"),
    "keys that no telephone has": ("audio", ("sounds", 1, "text"), "12E", "telephone keys"),
    "a tone with words": ("audio", ("sounds", 2, "text"), "hi there", "a tone has no text"),
    "a tone too low": ("audio", ("sounds", 2, "hertz"), 50, "at least 200 Hz"),
    "speech with a pitch": ("audio", ("sounds", 0, "hertz"), 300, "needs a text"),
    "speech of one word": ("audio", ("sounds", 0, "text"), "door", "two words"),
    "speech with figures": ("audio", ("sounds", 0, "text"), "room 12", "write out numbers"),
    "commands to the speaker": ("audio", ("sounds", 0, "text"), "say [[h@'loU]] now", "letters"),
    "no sound": ("audio", ("sounds",), [], "at least 1"),
    "too long a recording": ("audio", ("sounds",), [LONG] * 13, "longer than 120 s"),
    "an event after the end": ("video", ("length",), 90, "ends after the film"),
    "one lamp twice at once": ("video", ("events", 1), AGAIN, "told apart"),
    "something during a flash": ("video", ("events", 0, "length"), 90, "told apart"),
    "a lamp with words": ("video", ("events", 0, "text"), "ON", "a caption has a text"),
    "a long flash": ("video", ("events", 3, "length"), 11, "one second"),
    "the same call twice": ("stripped_binary", ("calls", 1, "arguments", 0), "4711", "the same"),
    "an empty source": ("stripped_binary", ("source",), "", "at least 1"),
    "another language": ("stripped_binary", ("language",), "rust", "'c' or 'go'"),
    "a defect in no file": ("vendored_package", ("defect", "path"), "other.py", "not among"),
    "a defect that is not there": ("vendored_package", ("defect", "before"), "minimum", "0 times"),
    "a defect in two places": ("vendored_package", ("defect", "before"), "out", "times in"),
    "a defect that is none": (
        "vendored_package", ("defect", "after"), "max(out[-1][1], end)", "changes nothing",
    ),
    "a package without a front": ("vendored_package", ("files", 0, "path"), "main.py", "__init__"),
    "a path that leaves": ("vendored_package", ("files", 1, "path"), "../merge.py", "unsafe path"),
    "a path too deep": ("vendored_package", ("files", 1, "path"), "a/" * 8 + "a.py", "8 levels"),
    "an absolute path": ("vendored_package", ("files", 1, "path"), "/etc/passwd", "unsafe path"),
    "one path twice": ("vendored_package", ("files", 1, "path"), "__init__.py", "same path"),
    "paths that differ in case": ("vendored_package", ("files", 1, "path"), "__INIT__.py", "case"),
    "a file as a folder": ("vendored_package", ("files", 1, "path"), "__init__.py/a", "at once"),
    "our own note": ("vendored_package", ("files", 1, "path"), "VENDORED.txt", "not|for you"),
    "a name that is no name": ("vendored_package", ("name",), "os; rm", "small letters"),
    "one port twice": ("multi_service", ("services", 1, "port"), 7101, "same name or port"),
    "a low port": ("multi_service", ("services", 0, "port"), 80, "greater than or equal"),
    "http without a path": ("multi_service", ("services", 1, "ready"), "", "begins with /"),
    "tcp with a path": ("multi_service", ("services", 0, "ready"), "/x", "no path"),
    "a start script": ("multi_service", ("files", 0, "path"), "start.sh", "written for you"),
    "a single service": ("multi_service", ("services",), [], "at least 2"),
    "one column": ("text_only", ("tables", 0, "columns"), [], "at least 2"),
    "no choices": ("text_only", ("tables", 0, "columns", 2, "choices"), [], "two different"),
    "a table over a file": ("text_only", ("tables", 0, "path"), "README.txt", "same path"),
    "no serial": ("text_only", ("tables", 0, "columns", 0, "holds"), "code", "need a serial"),
    "bounds upside down": ("text_only", ("tables", 0, "columns", 3, "high"), 1, "low is above"),
    "endless rows": ("text_only", ("tables", 0, "rows"), 10**9, "less than or equal"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    kind, path, value, reason = REFUSED[name]
    with pytest.raises(ValidationError, match=reason):
        plan_of(set_at(example(kind), path, value))


@pytest.mark.parametrize("kind", PLANS)
def test_nothing_may_be_left_out(kind: str) -> None:
    for field in example(kind):
        without = {key: value for key, value in example(kind).items() if key != field}
        with pytest.raises(ValidationError):
            PLANS[kind].model_validate_json(json.dumps(without))


HOSTILE = {
    "NUL": "a\0b",
    "escape": "a\x1b[2Jb",
    "other direction": "a\u202eb",
    "carriage return": "a\rb",
    "private use": "a\ue000b",
    "very long": "a" * (MAX_TEXT + 1),
}


@pytest.mark.parametrize("kind", PLANS)
@pytest.mark.parametrize("name", HOSTILE)
def test_no_text_of_a_plan_takes(name: str, kind: str) -> None:
    tree = example(kind)
    texts = [path for path, value in leaves(tree) if isinstance(value, str)]
    assert len(texts) >= 3
    for path in texts:
        with pytest.raises(ValidationError):
            plan_of(set_at(tree, path, HOSTILE[name]))


@pytest.mark.parametrize("kind", PLANS)
def test_lone_surrogates_are_no_text(kind: str) -> None:
    for path, value in leaves(example(kind)):
        if isinstance(value, str):
            with pytest.raises(ValidationError):
                plan_of(set_at(example(kind), path, "a\ud800b"))


TRICKS = ("$(id)", "`id`", "a; rm -rf /", "'", '"', "\\", "--help", "*", "{{ config }}", "%s", "\n")


@settings(max_examples=60)
@given(st.lists(st.sampled_from(TRICKS), min_size=1, max_size=4))
def test_what_starts_a_service_is_quoted(tricks: list[str]) -> None:
    run = ["python3", "-c", *("x".join(tricks).replace("\n", " ").split("x"))]
    run = [word for word in run if word]
    plan = plan_of(set_at(example("multi_service"), ("services", 0, "run"), run))
    lines = [line for line in services._start(plan).splitlines() if line.startswith("up ")]
    assert shlex.split(lines[0]) == ["up", "store", "7101", "", *run]
    assert len(lines) == 2


# -- seeds, tables, patches --------------------------------------------------------------------


def table(form: str) -> Table:
    tree = set_at(example("text_only"), ("tables", 0, "form"), form)
    drawn: Table = plan_of(tree).tables[0]
    return drawn


def test_what_is_random_comes_from_the_plan() -> None:
    one, other = plan_of(example("image")), plan_of(set_at(example("image"), ("noise",), 5))
    assert seeded(one).random() == seeded(plan_of(example("image"))).random()
    assert seeded(one).random() != seeded(other).random()


def test_a_table_is_what_its_truth_says() -> None:
    drawn = draw(table("csv"), seeded(plan_of(example("text_only"))))
    lines = drawn.text.splitlines()
    assert lines[0] == "order_id,ordered_on,region,amount"
    assert lines[1] == "10001,2023-08-22,north,1653.63"
    assert drawn.truth["lines"] == len(lines) == 834
    columns = drawn.truth["columns"]
    assert isinstance(columns, dict)
    assert columns["region"] == {
        "missing": 10,
        "counts": {"east": 84, "north": 436, "south": 270},
    }
    assert columns["order_id"] == {
        "missing": 0,
        "sum": sum(range(10001, 10801)),
        "smallest": 10001,
        "largest": 10800,
    }
    rows = {line for line in lines[1:] if line.count(",") == 3}
    assert len(rows) == drawn.truth["rows"] == 800


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "log"])
def test_repeated_rows_stand_below_each_other(form: str) -> None:
    drawn = draw(table(form), seeded(plan_of(example("text_only"))))
    lines = drawn.text.splitlines()
    twins = sum(one == other for one, other in pairwise(lines))
    assert twins == drawn.truth["repeated"] != 0
    damaged = drawn.truth["damaged"]
    assert isinstance(damaged, int) and damaged > 0
    assert len(set(lines)) >= 800


def test_a_patch_mends_a_file_without_a_last_newline() -> None:
    assert package._ended("a") == package._ended("a\n") == "a\n"
    assert package._ended("") == ""
    patch = package._patch("x\u2028y\nb\n", "x\u2028y\nc\n", "f.py")
    assert patch == "--- a/f.py\n+++ b/f.py\n@@ -1,2 +1,2 @@\n x\u2028y\n-b\n+c\n"


# -- readers -----------------------------------------------------------------------------------


def test_likeness_passes_over_spaces_and_case_only() -> None:
    assert likeness("Total 42", "TOTAL  4 2\n") == 1
    assert likeness("Total 42", "Total 43") == pytest.approx(6 / 7)
    assert likeness("abc", "") == 0


def test_every_number_has_to_be_read() -> None:
    assert lost_numbers("12 bolts, 3.50", "| 12 Dolts, 3. 50") == []
    assert lost_numbers("12 bolts, 3.50", "12 bolts, 3.5 0, 50") == []
    assert lost_numbers("7 and 75 of 750", "7 and 76 of 750") == ["75"]
    assert lost_numbers("12 bolts, 3.50", "l2 bolts, 3.50") == ["12"]


def answer(kit: Kit, *results: Tree | bytes | str) -> list[Job]:
    """Lets the scripted engine answer jobs, one after the other, by what they leave in `/out`."""
    jobs: list[Job] = []

    def script(job: Job) -> JobResult:
        left = results[len(jobs)]
        jobs.append(job)
        if isinstance(left, str):
            return JobResult(status="done", exit_code=1, output=left)
        files = left if isinstance(left, dict) else {"said.json": left}
        blob = kit.sandbox.blobs.put(packed(files))
        return JobResult(status="done", exit_code=0, output="", captured=blob)

    kit.sandbox.engine.script = script  # type: ignore[attr-defined]
    return jobs


def packed(files: Tree) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, value in files.items():
            data = value if isinstance(value, bytes) else json.dumps(value).encode()
            entry = tarfile.TarInfo(f".outputs/out/{name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()


HEARD = {
    "rate": 22050, "channels": 1, "milliseconds": 6900,
    "silences": [[0, 601], [2073, 2675], [4182, 4784], [6282, 6900]],
    "heard": ["please enter your number", "5550142#", 880.1],
}  # fmt: skip
TIMES = [[600, 2073], [2673, 4183], [4783, 6283]]
SEEN = {
    "codec": "h264", "size": [320, 240], "rate": "10/1", "frames": 120, "tags": [],
    "events": [
        {"shows": "red", "text": "", "start": 42, "end": 50},
        {"shows": "green", "text": "", "start": 10, "end": 35},
        {"shows": "flash", "text": "", "start": 90, "end": 94},
        {"shows": "caption", "text": "PUMP 3 FAILED", "start": 45, "end": 65},
    ],
}  # fmt: skip
PRINT = "Delivery note 48213\nDate 2023-05-17\nBolt M8 | 250 | 13.75\nWasher M8 | 500 | 6.50\n"
READ = {"size": [1, 1], "texts": ["", f"{PRINT}Total | 750 | 20.25\n"]}
RAN = {"symbols": "nm: x: no symbols", "sections": [], **{
    name: [["6\n", 0], ["4\n", 0], ["bad\n", 1], ["", 2]] for name in ("calls", "again", "other")
}}  # fmt: skip
RIGHT, WRONG = ["[(1, 9)]\n", 0, ""], ["[(1, 3)]\n", 0, ""]
PROBED = {"mended": True, "patch": "", "fixed": [RIGHT, RIGHT], "broken": [WRONG, WRONG]}
COLD = {"status": 0, "errors": "", "up": {"store": True, "front": True}, "logs": {}}
MADE: dict[str, list[Any]] = {
    "audio": [{"call.wav": b"RIFF", "sounds.json": TIMES}, {"said.json": HEARD}],
    "video": [{"panel.mp4": b"film"}, {"said.json": SEEN}],
    "image": [{"delivery.png": b"PNG"}, {"said.json": READ}],
    "stripped_binary": [{"program": b"ELF"}, {"said.json": RAN}],
    "vendored_package": [{"said.json": PROBED}],
    "multi_service": [{"said.json": [COLD, COLD]}],
}
"""What the stage leaves when all is well; the last one is the reader's."""


@pytest.mark.parametrize("kind", MADE)
def test_what_a_reader_confirms_is_made(kind: str, scripted: Kit, do: Do) -> None:
    jobs = answer(scripted, *MADE[kind])
    made = do(realise(plan_of(example(kind)), "/home/agent/given/", USE, scripted))
    assert len(made.keys) == len(jobs) == len(MADE[kind])
    assert all(path.startswith("home/agent/given/") for path in made.files)
    assert json.loads(json.dumps(made.truth)) == made.truth
    assert not any("said.json" in path or "sounds.json" in path for path in made.files)
    reader = jobs[-1].puts[0].tree
    assert not any(path.startswith("plan") for path in reader)


MISREAD: dict[str, tuple[str, tuple[str | int, ...], Any]] = {
    "another key": ("audio", ("heard", 1), "5550143#"),
    "another pitch": ("audio", ("heard", 2), 885.0),
    "no words": ("audio", ("heard", 0), ""),
    "no silence between": ("audio", ("silences", 1), [2073, 2300]),
    "another rate": ("audio", ("rate",), 44100),
    "a lamp a frame late": ("video", ("events", 0, "start"), 43),
    "a lamp of another colour": ("video", ("events", 0, "shows"), "blue"),
    "another caption": ("video", ("events", 3, "text"), "PUMP 8 FAILED"),
    "a frame too many": ("video", ("frames",), 121),
    "one digit wrong": ("image", ("texts", 1), f"{PRINT}Total | 750 | 20.26\n"),
    "half the text": ("image", ("texts", 1), PRINT),
    "symbols": ("stripped_binary", ("symbols",), "0000 T main"),
    "a symbol table": ("stripped_binary", ("sections",), [".symtab"]),
    "another output next time": ("stripped_binary", ("again", 1), ["5\n", 0]),
    "another output unoptimised": ("stripped_binary", ("other", 2), ["bad\n", 0]),
    "a crash": ("stripped_binary", ("calls", 0), "signal 11 ends it"),
    "one output for all": ("stripped_binary", ("calls",), [["", 0]] * 4),
    "a patch that does not mend": ("vendored_package", ("mended",), False),
    "a probe that fails": ("vendored_package", ("fixed",), [["", 1, "oops"]] * 2),
    "a defect without effect": ("vendored_package", ("broken",), [RIGHT, RIGHT]),
    "a probe that varies": ("vendored_package", ("fixed", 1), WRONG),
    "a broken copy that does not build": ("vendored_package", ("broken",), ["no", "no"]),
    "a stack that does not start": ("multi_service", (0, "status"), 1),
    "a stack that starts once": ("multi_service", (1, "up", "front"), False),
}


@pytest.mark.parametrize("name", MISREAD)
def test_what_reads_otherwise_is_a_fault(name: str, scripted: Kit, do: Do) -> None:
    kind, path, value = MISREAD[name]
    said = set_at(MADE[kind][-1]["said.json"], path, value)
    answer(scripted, *MADE[kind][:-1], {"said.json": said})
    with pytest.raises(Fault) as caught:
        do(realise(plan_of(example(kind)), "home/agent", USE, scripted))
    assert caught.value.code == "author:fixture"
    assert len(caught.value.proof) == len(MADE[kind])


BROKEN: dict[str, Tree | bytes | str] = {
    "the command fails": "no such tool",
    "it leaves nothing": {},
    "the reader says nothing": {"other": b""},
    "the reader is no JSON": b"{",
    "the reader is too deep": b"[" * 100_000,
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_stage_without_a_result_is_a_fault(name: str, scripted: Kit, do: Do) -> None:
    answer(scripted, BROKEN[name])
    stage = Stage(USE, scripted)
    with pytest.raises(Fault) as caught:
        do(stage.read(Recipe("tools", FileTree({"a": "a"}), ("true",), "")))
    assert caught.value.code == "author:fixture"
    assert caught.value.proof == tuple(stage.keys) != ()


def test_text_without_tables_needs_no_container(scripted: Kit, do: Do) -> None:
    plan = plan_of(set_at(example("text_only"), ("tables",), []))
    made = do(realise(plan, "/home/agent", USE, scripted))
    assert (list(made.files), made.truth, made.keys) == (
        ["home/agent/README.txt"],
        {"tables": []},
        (),
    )
