"""The seven gates: every planted bad draft ends at exactly its gate, and a good one passes all."""

import base64
import bz2
import gzip
import io
import lzma
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from envgen.build import GATES
from envgen.files import File, FileTree
from envgen.leaks import leaks
from envgen.pipeline import proven
from envgen.records import BuiltTask, Environment, InitialState, Limits, Rejection, TaskDraft
from tests.box.conftest import Bench, draft_of
from tests.conftest import opened

pytestmark = pytest.mark.box

SECRET = "kestrel-4471-violet"
NUMBERS = {"home/agent/numbers.txt": "5000\n150\n8\n"}
LIMITS = {"agent_seconds": 60, "verify_seconds": 60, "build_seconds": 60, "disk_mb": 128}


def environment(files: dict[str, Any] | None = None, *setup: str) -> Environment:
    return Environment(base="data_querying", files=FileTree(NUMBERS | (files or {})), setup=setup)


def graded_by(check: str) -> FileTree:
    return FileTree({"check.py": check, "truth.json": '{"answer": "5158"}'})


def rejected(bench: Bench, draft: TaskDraft) -> Rejection:
    outcome = bench.build(draft)
    assert isinstance(outcome, Rejection)
    return outcome


# -- a good draft --------------------------------------------------------------------------------


def test_a_good_draft_passes_and_every_receipt_is_in_the_ledger(bench: Bench) -> None:
    task = bench.build(bench.draft(secrets=(SECRET,)))
    assert isinstance(task, BuiltTask)
    ledger = bench.kit.sandbox.ledger
    assert tuple(evidence.gate for evidence in task.evidence) == GATES
    assert [len(evidence.keys) for evidence in task.evidence] == [0, 1, 1, 1, 2, 2, 1]
    assert all(ledger.knows(key) for evidence in task.evidence for key in evidence.keys)
    assert (task.baseline, task.repeats) == (0.0, 2)
    assert task.image.bytes_added == len("5000\n150\n8\n")
    assert bench.kit.sandbox.engine.has(task.image)


def test_a_second_build_asks_the_engine_for_nothing(bench: Bench) -> None:
    draft = bench.draft(secrets=(SECRET,))
    first = bench.build(draft)
    made = bench.kit.sandbox.ledger.made
    assert bench.build(draft) == first
    assert bench.kit.sandbox.ledger.made == made


def test_a_lost_image_is_built_again_with_the_same_content(
    tmp_path: Path, do: Callable[..., Any]
) -> None:
    # Its context is this test's own: nobody else may miss the image.
    draft = draft_of(environment=environment({"home/agent/own.txt": str(tmp_path)}))
    for kit in opened(tmp_path / "run", do):
        first = do(proven(draft, kit))
        tag = first.image.ref
        kit.sandbox.engine.client.images.remove(tag)
        kit.sandbox.ledger.forget(step="determinism")
        # Something must run in it: the loss shows at once.
        again = do(proven(draft, kit))
        assert again.evidence == first.evidence
        assert (again.image.content, again.image.layers) == (
            first.image.content,
            first.image.layers,
        )
        kit.sandbox.engine.client.images.get(tag)
    for kit in opened(tmp_path / "run", do):  # the images of the first went with it
        again = do(proven(draft, kit))
        assert again.image.content == first.image.content
        assert kit.sandbox.ledger.made == 1  # the image, and nothing that ran in it
        kit.sandbox.engine.client.images.get(tag)


# -- lint ----------------------------------------------------------------------------------------

LINT: dict[str, tuple[str, dict[str, Any]]] = {
    "a file where the system's tools are": (
        "lint:path",
        {"environment": environment({"usr/bin/python3": "x"})},
    ),
    "a file that decides who may log in": (
        "lint:path",
        {"environment": environment({"etc/pam.d/su": "x"})},
    ),
    "a file in /tests": ("lint:path", {"environment": environment({"tests/truth.json": "{}"})}),
    "an initial path that is relative": (
        "lint:path",
        {"initial": InitialState(present=("numbers.txt",))},
    ),
    "a set-up of two lines": (
        "lint:setup",
        {"environment": environment(None, "true\nUSER root\nRUN rm -rf /")},
    ),
    "a set-up with a carriage return": (
        "lint:setup",
        {"environment": environment(None, "true\rUSER root")},
    ),
    "too many set-up commands": ("lint:setup", {"environment": environment(None, *["true"] * 41)}),
    "a base that is not there": ("lint:base", {"environment": Environment(base="alpine")}),
    "a package that is an option": (
        "lint:packages",
        {"environment": Environment(base="data_querying", packages=("--allow-unauthenticated",))},
    ),
    "no outputs": ("lint:outputs", {"outputs": ()}),
    "outputs where the tests are": ("lint:outputs", {"outputs": ("/tests",)}),
    "outputs that are everything": ("lint:outputs", {"outputs": ("/",)}),
    "outputs that climb": ("lint:outputs", {"outputs": ("/home/agent/../../etc",)}),
    "outputs in outputs": ("lint:outputs", {"outputs": ("/home/agent", "/home/agent/x")}),
    "a workdir of the system": ("lint:outputs", {"workdir": "/usr/lib"}),
    "no check.py": ("lint:tests", {"tests": FileTree({"truth.json": "{}"})}),
    "a check.py that is no Python": ("lint:tests", {"tests": graded_by("def checks(:")}),
    "a truth.json that is no JSON": (
        "lint:tests",
        {"tests": FileTree({"check.py": "", "truth.json": "{"})},
    ),
    "a test.sh of its own": (
        "lint:tests",
        {"tests": FileTree({"check.py": "", "test.sh": "echo 1 > /logs/verifier/reward.txt"})},
    ),
    "a kit of its own": (
        "lint:tests",
        {"tests": FileTree({"check.py": "", "verifiers/run.py": ""})},
    ),
    "no solve.sh": ("lint:solution", {"solution": FileTree({"solve.py": ""})}),
    "Windows line endings": ("lint:solution", {"solution": FileTree({"solve.sh": "true\r\n"})}),
    "no instruction": ("lint:text", {"instruction": " \n"}),
    "an instruction that moves the cursor": ("lint:text", {"instruction": "Do it\x1b[2J."}),
    "an instruction that turns around": ("lint:text", {"instruction": "Do \u202eti."}),
    "a title of two lines": ("lint:text", {"title": "a\nb"}),
    "a secret that stands anywhere": ("lint:secrets", {"secrets": ("42",)}),
}


@pytest.mark.parametrize(("code", "changes"), LINT.values(), ids=LINT.keys())
def test_lint_refuses(bench: Bench, code: str, changes: dict[str, Any]) -> None:
    made = bench.kit.sandbox.ledger.made
    outcome = rejected(bench, bench.draft(**changes))
    assert (outcome.step, outcome.code) == ("lint", code)
    assert bench.kit.sandbox.ledger.made == made


# -- build ---------------------------------------------------------------------------------------

FILL = "i=0; while :; do i=$((i + 1)); head -c 25000000 /dev/zero > f$i; sleep 0.4; done"
BUILDS: dict[str, tuple[str, str, dict[str, int]]] = {
    "a set-up that fails": ("build:failed", "echo reason-4711 >&2; exit 3", {}),
    "a set-up that wants a network": ("build:failed", "curl -sS http://192.0.2.1/", {}),
    "a set-up that wants to be root": ("build:failed", "touch /usr/bin/python4", {}),
    "a set-up that sleeps for ever": ("build:timeout", "sleep 31415", {"build_seconds": 2}),
    "a set-up that talks for ever": (
        "build:timeout",
        "while :; do echo 31415; sleep 0.2; done",
        {"build_seconds": 3},
    ),
    "a set-up that fills the disk": ("build:size", FILL, {"disk_mb": 64}),
    "a set-up that adds too much": (
        "build:size",
        "head -c 6000000 /dev/zero > a; head -c 6000000 /dev/zero > b",
        {"disk_mb": 8},
    ),
    "a set-up with one file that is too large": (
        "build:failed",
        "head -c 20000000 /dev/zero > a",
        {"disk_mb": 8},
    ),
}


@pytest.mark.parametrize(("code", "setup", "limits"), BUILDS.values(), ids=BUILDS.keys())
def test_build_refuses(bench: Bench, code: str, setup: str, limits: dict[str, int]) -> None:
    draft = bench.draft(environment=environment(None, setup), limits=Limits(**LIMITS | limits))
    outcome = rejected(bench, draft)
    assert (outcome.step, outcome.code) == ("build", code)
    if "4711" in setup:
        assert "reason-4711" in outcome.detail
    assert not lingering(bench, setup)


def test_build_survives_a_fork_bomb(bench: Bench) -> None:
    bomb = "b() { b | b & }; b; b; sleep 27182"
    limits = Limits(**LIMITS | {"build_seconds": 5})
    outcome = rejected(bench, bench.draft(environment=environment(None, bomb), limits=limits))
    assert outcome.step == "build"
    assert outcome.code in ("build:timeout", "build:failed")
    assert not lingering(bench, bomb)
    assert bench.attempt(bench.SOLVE).score.reward == 1.0


def lingering(bench: Bench, setup: str) -> list[str]:
    """Containers that still hold the set-up; the daemon gets a moment to end them."""
    api = bench.kit.sandbox.engine.client.api
    for _ in range(50):
        left = [c["Id"] for c in api.containers(all=True) if setup[:30] in c["Command"]]
        if not left:
            return []
        time.sleep(0.2)
    return left


def test_a_build_that_is_too_large_leaves_no_image(bench: Bench) -> None:
    before = {tag for i in bench.kit.sandbox.engine.client.images.list() for tag in i.tags}
    setup = "head -c 7000000 /dev/zero > a; head -c 7000000 /dev/zero > b"
    limits = Limits(**LIMITS | {"disk_mb": 8})
    rejected(bench, bench.draft(environment=environment(None, setup), limits=limits))
    for image in bench.kit.sandbox.engine.client.images.list():
        if set(image.tags) - before:
            assert not any("head -c 7000000" in h["CreatedBy"] for h in image.history())


# -- initial state, no-op, reference -------------------------------------------------------------

INITIAL = {
    "a file that is promised and missing": InitialState(present=("/home/agent/absent.csv",)),
    "a file that the agent must make is there": InitialState(absent=("/home/agent/numbers.txt",)),
    "a tool that is promised and missing": InitialState(tools=("rustc",)),
    "a command that must work and does not": InitialState(commands=(("grep", "9", "numbers.txt"),)),
}


@pytest.mark.parametrize("initial", INITIAL.values(), ids=INITIAL.keys())
def test_initial_refuses(bench: Bench, initial: InitialState) -> None:
    outcome = rejected(bench, bench.draft(initial=initial))
    assert (outcome.step, outcome.code) == ("initial", "initial:fails")
    assert len(outcome.proof) == 1 and bench.kit.sandbox.ledger.knows(outcome.proof[0])


HEAD = "import os, random, time\nfrom verifiers import Check\ndef checks(task):\n"
ANSWER = "    yield Check('answer', float(task.exists('answer.txt')))\n"

VERDICTS: dict[str, tuple[str, str]] = {
    "untouched, it passes": ("noop:passes", "    yield Check('any', 1.0)\n"),
    "it raises": ("noop:invalid", "    raise RuntimeError('broken')\n"),
    "it asks for nothing": ("noop:invalid", "    return []\n"),
    "it ends the grader": ("noop:invalid", "    os._exit(0)\n"),
    "it leaves politely": ("noop:invalid", "    raise SystemExit(0)\n"),
    "its score is no number": ("noop:invalid", "    yield Check('nan', float('nan'))\n"),
    "it needs longer than it may": ("noop:invalid", "    time.sleep(60)\n"),
    "it raises on an answer": (
        "reference:invalid",
        ANSWER + "    if task.exists('answer.txt'): raise KeyError('x')\n",
    ),
    "nothing can satisfy it": ("reference:fails", ANSWER + "    yield Check('no', 0.0)\n"),
    "almost is not a pass": ("reference:fails", ANSWER + "    yield Check('b', 0.99999)\n"),
}


@pytest.mark.parametrize(("code", "check"), VERDICTS.values(), ids=VERDICTS.keys())
def test_a_verifier_that_does_not_work_is_refused(bench: Bench, code: str, check: str) -> None:
    limits = Limits(**LIMITS | {"verify_seconds": 4 if "sleep" in check else 60})
    outcome = rejected(bench, bench.draft(tests=graded_by(HEAD + check), limits=limits))
    assert (outcome.step, outcome.code) == (code.partition(":")[0], code)
    assert all(bench.kit.sandbox.ledger.knows(key) for key in outcome.proof)


REFERENCES = {
    "it is wrong": ("echo 7 > answer.txt", {}),
    "it is too slow": ("sleep 60", {"agent_seconds": 2}),
    "its outputs are too large": ("head -c 2000000 /dev/zero > big", {"outputs_mb": 1}),
    "it needs a folder that is root's": ("set -e; mkdir /srv/app; true", {}),
}


@pytest.mark.parametrize(("solve", "limits"), REFERENCES.values(), ids=REFERENCES.keys())
def test_a_reference_that_does_not_solve_is_refused(
    bench: Bench, solve: str, limits: dict[str, int]
) -> None:
    solution = FileTree({"solve.sh": solve})
    outcome = rejected(bench, bench.draft(solution=solution, limits=Limits(**LIMITS | limits)))
    assert (outcome.step, outcome.code) == ("reference", "reference:fails")


# -- determinism ---------------------------------------------------------------------------------

UNSTABLE = {
    "the time zone": "    yield Check('c', float(time.tzname[0] == 'UTC'))\n",
    "the locale": "    yield Check('c', float(os.environ['LC_ALL'] == 'C.UTF-8'))\n",
    "the hash seed": "    yield Check('c', 1.0, str(hash('a string')))\n",
    "the CPUs": "    yield Check('c', 1.0, str(len(os.sched_getaffinity(0))))\n",
    "chance": "    yield Check('c', 1.0, str(random.random()))\n",
    "the clock": "    yield Check('c', 1.0, str(time.time()))\n",
    "the zone of what it runs": (
        "    yield Check('c', float(task.run(['date', '+%Z']).text.strip() == 'UTC'))\n"
    ),
    "the hash seed of what it runs": (
        "    run = task.run(['python3', '-c', 'print(hash(\"a string\"))'])\n"
        "    yield Check('c', 1.0, run.text)\n"
    ),
}


@pytest.mark.parametrize("check", UNSTABLE.values(), ids=UNSTABLE.keys())
def test_a_grade_that_depends_on_circumstances_is_refused(bench: Bench, check: str) -> None:
    outcome = rejected(bench, bench.draft(tests=graded_by(HEAD + ANSWER + check)))
    assert (outcome.step, outcome.code) == ("determinism", "determinism:differs")


# -- leaks ---------------------------------------------------------------------------------------


def zipped(data: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as folder:
        folder.writestr("inner.txt", data)
    return out.getvalue()


TEXT = f"the code is {SECRET}, keep it\n".encode()
DATA = "2024-03-05;Riga;harbour gate 7;19.25;closed at night"
PROGRAM = "".join(f"    # line {n} of what only the tests may know\n" for n in range(5))
LEAKS: dict[str, dict[str, Any]] = {
    "a secret in a file": {"environment": environment({"home/agent/notes.txt": TEXT})},
    "a secret in a gzip": {
        "environment": environment({"home/agent/notes.gz": gzip.compress(TEXT, mtime=0)})
    },
    "a secret in a layer below": {
        "environment": environment({"home/agent/notes.txt": TEXT}, "rm notes.txt")
    },
    "a whole file of the tests": {
        "environment": environment({"srv/app/old.json": '{"answer": "5158"}'}),
        "tests": graded_by(HEAD + ANSWER),
    },
    "a line of the tests' data": {
        "environment": environment({"home/agent/old.csv": f"#\n{DATA}\n"}),
        "tests": FileTree({**graded_by(HEAD + ANSWER), "expected.csv": f"a,b\n{DATA}\n"}),
    },
    "lines of the tests' program": {
        "environment": environment({"home/agent/old.py": f"# old\n{PROGRAM}"}),
        "tests": graded_by(HEAD + ANSWER + PROGRAM),
    },
}


@pytest.mark.parametrize("changes", LEAKS.values(), ids=LEAKS.keys())
def test_a_leak_is_refused(bench: Bench, changes: dict[str, Any]) -> None:
    outcome = rejected(bench, bench.draft(secrets=(SECRET,), **changes))
    assert (outcome.step, outcome.code) == ("leak", "leak:found")
    assert SECRET not in outcome.detail


B64 = base64.b64encode
HIDDEN: dict[str, bytes] = {
    "plain": TEXT,
    "bzip2": bz2.compress(TEXT),
    "xz": lzma.compress(TEXT),
    "zip": zipped(TEXT),
    "base64-0": B64(TEXT),
    "base64-1": B64(b"x" + TEXT),
    "base64-2": B64(b"xy" + TEXT),
    "base64-lines": base64.encodebytes(b"z" * 45 + TEXT),
    "base64-gzip": gzip.compress(B64(TEXT), mtime=0),
    "hex": TEXT.hex().encode(),
    "hex-lines": "\n".join(TEXT.hex()[i : i + 30] for i in range(0, 200, 30)).encode(),
    "reversed": TEXT[::-1],
    "binary": b"\0\xff" * 99 + SECRET.encode() + b"\0" * 99,
}
SETUPS = {
    "made by set-up": f"printf '%s%s' {SECRET[:7]} {SECRET[7:]} > made.txt",
    "target of a link": f"ln -s \"$(printf '%s%s' {SECRET[:7]} {SECRET[7:]})\" link",
    "name of a file": f": > \"$(printf 'at-%s%s' {SECRET[:7]} {SECRET[7:]})\"",
    "of the set-up's own": f": {SECRET}",
}


@pytest.fixture(scope="module")
def found(bench: Bench) -> list[str]:
    """What the scan finds in one image that holds everything of HIDDEN and SETUPS."""
    files = {f"home/agent/{name}": File(data) for name, data in HIDDEN.items()}
    draft = bench.draft(secrets=(SECRET,), environment=environment(files, *SETUPS.values()))
    return leaks(draft, bench.image(draft), bench.kit.sandbox.blobs)


@pytest.mark.parametrize("name", HIDDEN)
def test_the_scan_sees_through(found: list[str], name: str) -> None:
    assert any(f"/{name} holds a secret" in line for line in found)


PLACES = ("made.txt", "a name or a link", "configuration")


@pytest.mark.parametrize("place", PLACES)
def test_the_scan_looks_at(found: list[str], place: str) -> None:
    assert any(place in line and "holds a secret" in line for line in found)


def test_the_scan_is_silent_on_what_only_looks_like_a_secret(bench: Bench) -> None:
    files = {
        "home/agent/near.txt": SECRET[:-1].encode(),
        "home/agent/near.b64": B64(SECRET[:-2].encode()),
        "home/agent/digits.txt": b"\n".join(b"%d" % n for n in range(4000)),
    }
    draft = bench.draft(secrets=(SECRET, "48151623"), environment=environment(files))
    assert leaks(draft, bench.image(draft), bench.kit.sandbox.blobs) == []
