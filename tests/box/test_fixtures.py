"""Fixtures on real containers: made, read back, made again; and images that hold nothing else."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from envgen.authors.fixtures import PLANS, Made, realise
from envgen.errors import Fault
from envgen.files import FileTree
from envgen.kit import Kit
from envgen.ledger import Use
from envgen.records import BuiltTask, Environment, Rejection
from tests.box.conftest import TRUTH, Bench
from tests.conftest import opened
from tests.values.test_fixtures import Tree, example, plan_of, set_at

pytestmark = pytest.mark.box

USE = Use("box", "fixture")
GO = """\
package main

import (
	"fmt"
	"os"
	"strings"
)

func main() {
	fmt.Println(strings.ToUpper(strings.Join(os.Args[1:], "+")))
}
"""
CHART: Tree = {
    "kind": "image", "file": "level.png", "style": "chart", "title": "Level of the basin",
    "lines": [], "chart": "line", "noise": 0, "skew": 0,
    "points": [{"label": m, "value": v} for m, v in (("Jan", 40), ("Feb", 0), ("Mar", 125))],
}  # fmt: skip
LOG = set_at(example("text_only"), ("tables", 0, "form"), "log")
C_PACKAGE: Tree = {
    "kind": "vendored_package", "name": "ring", "version": "2.0", "language": "c",
    "about": "A ring of numbers.",
    "files": [
        {"path": "ring.h", "text": "int ring_next(int place, int size);\n"},
        {"path": "ring.c", "text": "#include \"ring.h\"\n\nint ring_next(int place, int size) {\n"
         "  return place + 1 == size ? 0 : place + 1;\n}\n"},
    ],
    "defect": {"path": "ring.c", "before": "place + 1 == size", "after": "place == size",
               "summary": "The ring is one too long."},
    "probe": "#include <stdio.h>\n#include \"ring.h\"\n\n"
             "int main(void) { printf(\"%d\\n\", ring_next(4, 5)); }\n",
}  # fmt: skip
MORE: dict[str, Tree] = {
    "a chart": CHART,
    "a log": LOG,
    "a Go program": set_at(
        set_at(example("stripped_binary"), ("language",), "go"), ("source",), GO
    ),
    "a C package": C_PACKAGE,
}
CASES = {kind: example(kind) for kind in PLANS} | MORE
"""The examples of the prompts, and forms that they leave out."""


@pytest.fixture(scope="module")
def made(bench: Bench) -> Callable[[str], Made]:
    """A case, made once."""
    found: dict[str, Made] = {}

    def get(name: str) -> Made:
        if name not in found:
            found[name] = made_of(CASES[name], bench)
        return found[name]

    return get


def made_of(tree: Tree, bench: Bench, where: str = "/home/agent/given") -> Made:
    fixture: Made = bench.do(realise(plan_of(tree), where, USE, bench.kit))
    return fixture


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory, do: Any) -> Any:
    """Another ledger, in which nothing was made yet."""
    yield from opened(tmp_path_factory.mktemp("fresh") / "run", do)


@pytest.mark.parametrize("name", CASES)
def test_a_fixture_is_read_back_and_made_again(
    name: str, made: Callable[[str], Made], fresh: Kit, do: Any
) -> None:
    again = do(realise(plan_of(CASES[name]), "/home/agent/given", USE, fresh))
    assert again.files == made(name).files
    assert again.truth == made(name).truth
    assert again.keys == made(name).keys != ()
    assert fresh.sandbox.ledger.knows(again.keys[-1])


def test_what_is_measured_is_what_was_drawn(made: Callable[[str], Made]) -> None:
    assert made("a chart").truth == {"style": "chart", "top": 200.0, "points": CHART["points"]}
    calls = made("a Go program").truth["calls"]
    assert isinstance(calls, list)
    assert calls[0] == {"arguments": ["4711"], "stdin": "", "stdout": "4711\n", "status": 0}
    assert made("a C package").truth["broken"] == {"stdout": "5\n", "status": 0}
    assert made("a C package").truth["correct"] == {"stdout": "0\n", "status": 0}


def test_a_program_says_nothing_about_its_source(made: Callable[[str], Made]) -> None:
    for name in ("stripped_binary", "a Go program"):
        (program,) = made(name).files.values()
        assert program.mode == 0o755
        assert program.data[:4] == b"\x7fELF"
        assert b"main.c" not in program.data and b"/recipe" not in program.data


def test_a_film_and_a_recording_have_no_tags(made: Callable[[str], Made]) -> None:
    (film,) = made("video").files.values()
    assert film.data[4:8] == b"ftyp"
    for tag in (b"x264", b"Lavf", b"Lavc", b"encoder"):
        assert tag not in film.data
    (sound,) = made("audio").files.values()
    assert sound.data[:4] == b"RIFF" and sound.data[36:40] == b"data"


def program(source: str) -> Tree:
    return set_at(example("stripped_binary"), ("source",), source)


def stack(*path: str | int, value: Any) -> Tree:
    return set_at(example("multi_service"), path, value)


UNSOUND: dict[str, tuple[Tree, str]] = {
    "a program that does not compile": (program("int main({"), "error: expected"),
    "a program that tells the time": (
        program("#include <stdio.h>\n#include <time.h>\nint main(void) { struct timespec t;"
                "clock_gettime(CLOCK_REALTIME, &t); printf(\"%ld\", t.tv_nsec); }\n"),
        "gives .* then",
    ),
    "a program that reads what was not set": (
        program("#include <stdio.h>\nint main(int c, char **v) { int a[4];"
                "printf(\"%d\", a[c + 9]); }\n"),
        "unoptimised|then",
    ),
    "a program without an end": (program("int main(void) { for (;;); }\n"), "longer than"),
    "a program that writes where its reader does": (
        program("#include <stdlib.h>\nint main(void) {"
                "return system(\"echo {} > /out/said.json; kill -9 -1\"); }\n"),
        "",
    ),
    "a probe with a mistake": (
        set_at(example("vendored_package"), ("probe",), "import nothing\n"), "ModuleNotFound",
    ),
    "a package that the probe cannot tell apart": (
        set_at(example("vendored_package"), ("probe",), "print(1)\n"), "does not tell",
    ),
    "a service that ends": (
        stack("files", 2, "text", value="raise SystemExit('no store today')\n"), "no store today",
    ),
    "a service on another port": (
        stack("files", 0, "text", value='{"port": 7999}\n'), "does not answer on port 7101",
    ),
    "a command in place of a name": (
        stack("services", 0, "run", value=["python3", "$(touch store.py)"]), "can't open file",
    ),
    "print that nobody can read": (
        set_at(example("image"), ("lines", 0), "lIl|Il1 O0o0O 8B8B S5S5 .,.,;:;: l1Il0O"), "reader",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNSOUND)
def test_what_cannot_be_read_back_is_a_fault(name: str, bench: Bench) -> None:
    tree, reason = UNSOUND[name]
    with pytest.raises(Fault, match=f"(?s){reason}") as caught:
        made_of(tree, bench)
    assert caught.value.code == "author:fixture"
    assert caught.value.proof


# -- the image of a task -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def all_kinds(bench: Bench) -> dict[str, Made]:
    return {kind: made_of(example(kind), bench, f"/home/agent/{kind}") for kind in PLANS}


def draft(bench: Bench, found: dict[str, Made], extra: dict[str, Any] | None = None) -> Any:
    """The small task with fixtures of all kinds, and their truth in its tests."""
    files = FileTree({"home/agent/numbers.txt": "5000\n150\n8\n", **(extra or {})})
    for fixture in found.values():
        files = files.merged(fixture.files)
    truth = json.loads(TRUTH) | {kind: fixture.truth for kind, fixture in found.items()}
    tests = FileTree({"check.py": bench.CHECK, "truth.json": json.dumps(truth)})
    source = found["stripped_binary"].truth["source"]
    assert isinstance(source, str)
    return bench.draft(
        environment=Environment(base="data_querying", files=files),
        tests=tests.merged(FileTree({"oracle.c": source})),
        secrets=tuple(secret for fixture in found.values() for secret in fixture.secrets),
    )


def test_the_image_holds_neither_generator_nor_truth(
    bench: Bench, all_kinds: dict[str, Made]
) -> None:
    task = bench.build(draft(bench, all_kinds))
    assert isinstance(task, BuiltTask), task
    blobs = bench.kit.sandbox.blobs
    entries = [e for e in json.loads(blobs.get(task.image.entries)) if e["kind"] == "f"]
    fixtures = {path for fixture in all_kinds.values() for path in fixture.files}
    assert {e["path"].lstrip("/") for e in entries} == {*fixtures, "home/agent/numbers.txt"}
    tools = Path(__file__).parents[2] / "envgen" / "authors" / "fixtures" / "tools"
    hidden = {hashlib.sha256(path.read_bytes()).hexdigest() for path in tools.iterdir()}
    assert len(hidden) > 8 and hidden.isdisjoint(e["sha256"] for e in entries)
    assert len(task.draft.secrets) >= 6


LEFT_BEHIND: dict[str, Callable[[dict[str, Made]], str]] = {
    "the oracle's source": lambda found: str(found["stripped_binary"].truth["source"]),
    "what the scan shows": lambda found: "\n".join(found["image"].secrets),
    "the telephone keys": lambda found: "keys: 5550142#\n",
    "the caption": lambda found: "PUMP 3 FAILED\n",
}


@pytest.mark.parametrize("name", LEFT_BEHIND)
def test_truth_left_in_the_image_is_found(
    name: str, bench: Bench, all_kinds: dict[str, Made]
) -> None:
    left = {"home/agent/notes.txt": LEFT_BEHIND[name](all_kinds)}
    task = bench.build(draft(bench, all_kinds, left))
    assert isinstance(task, Rejection)
    assert task.code == "leak:found"
    assert "notes.txt" in task.detail
