"""Imported tasks on real containers: gates, and the form of grading that can be forged."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from envgen.authors import imports
from envgen.authors.imports.python import House
from envgen.build import NO_REFERENCE, build
from envgen.files import FileTree
from envgen.grade import attempt, build_image
from envgen.kit import Kit
from envgen.ledger import Use
from envgen.records import BuiltTask, Image, Rejection, Score, TaskDraft
from tests.conftest import opened
from tests.corpora import HARBOR, SOLVE, TMAX, separate, tiny_wheel, written

pytestmark = pytest.mark.box

ROOT = Path(__file__).resolve().parents[2]
USE = Use("box", "imports")

# Run in containers of the sandbox only.
FORGERIES = {
    "a folder where the test file goes, and a reward that stays": (
        "mkdir /tmp/test_final_state.py; echo 1 > /logs/verifier/reward.txt"
    ),
    "a python3 that comes first on the path": (
        "printf '#!/bin/sh\\nexit 0\\n' > /usr/local/bin/python3; chmod 755 /usr/local/bin/python3"
    ),
    "a conftest.py beside the test": """\
cat > /tmp/conftest.py <<'END'
import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    report.outcome, report.longrepr = "passed", None
END
""",
}
LOOP = """\
cd /logs/verifier
(while :; do echo 1 > new; mv -f new reward.json; sleep 0.02; done) >/dev/null 2>&1 &
"""
SEARCH = """\
python3 - <<'END'
import os, re

hit = [place for place in ("/tests", "/.import") if os.path.exists(place)]
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
            for row in re.findall(r"(?m)^([0-9a-f]+)-([0-9a-f]+) rw", maps.read()):
                first, last = (int(number, 16) for number in row)
                memory.seek(first)
                if b"the_" + b"count" in memory.read(last - first) and int(pid) != os.getpid():
                    hit.append(pid)
    except (OSError, ValueError, OverflowError):
        continue
with open("/home/visitor/count.txt", "w") as file:
    file.write(f"{hit}" if hit else "2")
END
"""
"""Solves the task only when there is no sign of the tests, in files or in memory."""


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory, do: Any) -> Iterator[Kit]:
    """One kit for all of them: they share one set of packages."""
    yield from opened(tmp_path_factory.mktemp("imports") / "run", do)


def drafted(
    kind: str, folder: Path, grading: Literal["fresh", "shared"] | None = None
) -> TaskDraft:
    (found,) = imports.read(kind, folder, imports.Options(grading=grading))
    assert isinstance(found, TaskDraft), found
    return found


def tried(draft: TaskDraft, image: Image, script: str, kit: Kit, do: Any) -> Score:
    solution = FileTree({"solve.sh": f"{script}\n"})
    score: Score = do(attempt(draft, image, solution, kit, USE))[2]
    return score


# -- the form of TMax --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tmax(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TaskDraft]:
    """A task of the TMax form, as its maker grades it and as we do."""
    folder = written(tmp_path_factory.mktemp("tmax") / "task_000001_aa", TMAX)
    return {"shared": drafted("tmax", folder), "fresh": drafted("tmax", folder, "fresh")}


@pytest.fixture(scope="module")
def image(tmax: dict[str, TaskDraft], kit: Kit, do: Any) -> Image:
    """The image of both."""
    made: Image = do(build_image(tmax["shared"], kit, USE))[1]
    return made


@pytest.mark.parametrize("form", ["shared", "fresh"])
def test_a_tmax_task_passes_the_gates_without_a_reference(
    tmax: dict[str, TaskDraft], kit: Kit, do: Any, form: str
) -> None:
    built = do(build(tmax[form], kit))
    assert isinstance(built, BuiltTask), built
    told = {one.gate: one.summary for one in built.evidence}
    assert built.baseline == 0
    assert told["reference"] == NO_REFERENCE
    assert told["determinism"] == "2 repetitions, all equal, of the untouched container only"


@pytest.mark.parametrize("form", ["shared", "fresh"])
def test_an_honest_solution_passes_in_both_forms(
    tmax: dict[str, TaskDraft], image: Image, kit: Kit, do: Any, form: str
) -> None:
    assert tried(tmax[form], image, SOLVE, kit, do).reward == 1
    assert tried(tmax[form], image, SOLVE.replace("failed", "well"), kit, do).reward == 0


@pytest.mark.parametrize("script", FORGERIES.values(), ids=FORGERIES)
def test_a_forgery_pays_where_the_agent_worked_and_nowhere_else(
    tmax: dict[str, TaskDraft], image: Image, kit: Kit, do: Any, script: str
) -> None:
    assert tried(tmax["shared"], image, script, kit, do).reward == 1
    assert tried(tmax["fresh"], image, script, kit, do).reward == 0


def test_a_root_agent_finds_no_tests_before_it_is_done(
    tmax: dict[str, TaskDraft], image: Image, kit: Kit, do: Any
) -> None:
    assert tried(tmax["shared"], image, SEARCH, kit, do).reward == 1


def test_the_verdict_of_endless_terminals_is_an_exit_status(
    tmp_path: Path, kit: Kit, do: Any
) -> None:
    draft = drafted("endless", written(tmp_path / "task_000001_aa", TMAX))
    made: Image = do(build_image(draft, kit, USE))[1]
    assert tried(draft, made, SOLVE, kit, do).reward == 1
    assert tried(draft, made, "true", kit, do).reward == 0
    broken = "cat > /usr/local/bin/python3 <<'END'\n#!/bin/sh\nexit 3\nEND\nchmod 755 $_"
    broken = broken.replace("$_", "/usr/local/bin/python3")
    assert tried(draft, made, broken, kit, do).invalid.startswith("verifier_status: exit 3")


# -- the forms of Harbor -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def harbor(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TaskDraft]:
    """One Harbor task with an agent that is not root, shared and separate."""
    toml = str(HARBOR["task.toml"]).replace("[agent]\n", '[agent]\nuser = "visitor"\n')
    files = {**HARBOR, "task.toml": toml}
    place = tmp_path_factory.mktemp("harbor")
    return {
        "shared": drafted("harbor", written(place / "shared", files)),
        "separate": drafted("harbor", written(place / "own", separate(files, "/home/visitor"))),
    }


@pytest.mark.parametrize("form", ["shared", "separate"])
def test_a_harbor_task_passes_all_gates(
    harbor: dict[str, TaskDraft], kit: Kit, do: Any, form: str
) -> None:
    built = do(build(harbor[form], kit))
    assert isinstance(built, BuiltTask), built
    told = {one.gate: one.summary for one in built.evidence}
    assert (built.baseline, told["reference"]) == (0, "passed")
    assert told["determinism"] == "2 repetitions, all equal"


@pytest.mark.parametrize(("form", "reward"), [("shared", 1), ("separate", 0)])
def test_a_loop_left_behind_pays_only_in_the_shared_form(
    harbor: dict[str, TaskDraft], kit: Kit, do: Any, form: str, reward: int
) -> None:
    made: Image = do(build_image(harbor[form], kit, USE))[1]
    assert tried(harbor[form], made, LOOP, kit, do).reward == reward


SAMPLE = sorted(p.name for p in (ROOT / "data/sample/tasks").iterdir() if p.is_dir())


@pytest.mark.parametrize("name", SAMPLE[2::8])
def test_a_task_of_ours_passes_the_gates_as_a_strangers(name: str, kit: Kit, do: Any) -> None:
    draft = drafted("harbor", ROOT / "data/sample/tasks" / name)
    assert draft.foreign is not None and draft.foreign.grading == "fresh"
    built = do(build(draft, kit))
    assert isinstance(built, BuiltTask), built
    assert {one.gate: one.summary for one in built.evidence}["reference"] == "passed"


# -- images ------------------------------------------------------------------------------------

STEPS = """\
FROM ubuntu:22.04
ARG WHERE=/app
ENV GREETING="hello there" AT=$WHERE
WORKDIR $WHERE/sub
RUN useradd -m builder && groupadd crew
COPY --chown=builder:crew notes/ notes/
RUN ls -l > /root/listing && echo "$GREETING" > greeting && id -un > who
USER builder
RUN cd ~ && id -un > who && echo "$AT" > where && umask > mask
WORKDIR /home/builder
RUN cat > told <<END
$AT and $GREETING
END
"""
PROBE = """\
cat /app/sub/greeting /app/sub/who /home/builder/who /home/builder/where /app/sub/notes/a.txt
stat -c '%U:%G %a %n' /app/sub /app/sub/notes /app/sub/notes/a.txt /home/builder
echo "$GREETING as $(id -un) in $PWD with $HOME"; ls -d /.import /home/agent
"""


def test_steps_run_in_their_order_as_whom_and_where_they_say(
    tmp_path: Path, kit: Kit, do: Any
) -> None:
    files = {**HARBOR, "environment/notes/a.txt": "a note\n"}
    dockerfile = STEPS.replace("RUN cat > told", "WORKDIR /home/builder\nRUN cat > told")
    draft = drafted(
        "harbor", written(tmp_path / "x", {**files, "environment/Dockerfile": dockerfile})
    )
    made: Image = do(build_image(draft, kit, USE))[1]
    solution = FileTree({"solve.sh": f"{PROBE}cat /home/builder/told\n"})
    _, result, _ = do(attempt(draft, made, solution, kit, USE))
    assert result.output.splitlines()[:13] == [
        "hello there",
        "root",
        "builder",
        "/app",
        "a note",
        "root:root 755 /app/sub",
        "builder:crew 755 /app/sub/notes",
        "builder:crew 644 /app/sub/notes/a.txt",
        "builder:builder 755 /home/builder",
        "hello there as builder in /home/builder with /home/builder",
        "ls: cannot access '/.import': No such file or directory",
        "ls: cannot access '/home/agent': No such file or directory",
        "/app and hello there",
    ]


def test_pip_installs_from_wheels_that_were_there_before(tmp_path: Path, kit: Kit, do: Any) -> None:
    """The maker's own command, unchanged, in a build without network; and nothing is left over."""
    tiny_wheel(tmp_path)
    line = "RUN pip install --no-cache-dir tinything==1.2"
    files = {**HARBOR, "environment/Dockerfile": f"FROM ubuntu:22.04\nWORKDIR /app\n{line}\n"}
    options = imports.Options(wheels=House(tmp_path))
    (draft,) = imports.read("harbor", written(tmp_path / "x", files), options)
    assert isinstance(draft, TaskDraft) and draft.foreign is not None
    assert draft.foreign.steps[-1].run == line.removeprefix("RUN ")
    made: Image = do(build_image(draft, kit, USE))[1]
    script = "python3 -c 'import tinything; print(tinything.ANSWER)'; ls /.import"
    solution = FileTree({"solve.sh": script})
    output = do(attempt(draft, made, solution, kit, USE))[1].output
    assert output.startswith("42\nls: cannot access '/.import'")


BAD_BUILDS = {
    "a package that Debian lacks": (
        "RUN apt-get install -y no-such-package-anywhere",
        ("build:packages", "no-such-package-anywhere"),
    ),
    "a step that fails": ("RUN echo so far; exit 7", ("build:failed", "it ended with status 7")),
    "no such user": ("USER nobody-here\nRUN true && id", ("build:failed", "there is no user")),
    "a Python that is broken": (
        "RUN rm /usr/bin/python3 && printf '#!/bin/sh\\nexit 9\\n' > /usr/bin/python3 "
        "&& chmod 755 /usr/bin/python3",
        ("build:scan", "ended with done 9"),
    ),
    "a Python that lies": (
        "RUN rm /usr/bin/python3 && printf '#!/bin/sh\\necho {}\\n' > /usr/bin/python3 "
        "&& chmod 755 /usr/bin/python3",
        ("build:scan", "in a form of its own"),
    ),
    "forks without end": (
        "RUN f() { f | f & }; f; sleep 20",
        ("build:failed", ""),
    ),
}


@pytest.mark.parametrize(("line", "told"), BAD_BUILDS.values(), ids=BAD_BUILDS)
def test_a_definition_that_does_not_build_is_the_tasks_fault(
    tmp_path: Path, kit: Kit, do: Any, line: str, told: tuple[str, str]
) -> None:
    files = {
        **HARBOR,
        "environment/Dockerfile": f"FROM ubuntu:22.04\nWORKDIR /app\n{line}\nUSER root\n",
    }
    outcome = do(build(drafted("harbor", written(tmp_path / "x", files)), kit))
    assert isinstance(outcome, Rejection), outcome
    assert (outcome.step, outcome.code) == ("build", told[0])
    assert told[1] in outcome.detail
