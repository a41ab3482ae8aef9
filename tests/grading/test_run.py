"""The grader as a whole, run as it is run in a container but for the paths."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from verifiers import ending, process

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: another uid is the agent")
Grader = Callable[..., Any]  # see conftest
PASS = "from verifiers import Check\ndef checks(task):\n    yield Check('a', 1)\n"
FAIL = PASS.replace("1)", "0)")
READS = """
from verifiers import exact_text
def checks(task):
    yield exact_text.match("answer", task.read("answer"), task.truth["answer"])
"""


def test_a_pass_and_a_fail(grader: Grader, work: Path) -> None:
    (work / "answer").write_text("forty-two\n")
    done = grader(READS, truth={"answer": "forty-two"})
    assert (done.code, done.reward) == (0, "1.0\n")
    assert done.report == {
        "reward": 1.0,
        "passed": True,
        "checks": [
            {
                "name": "answer",
                "score": 1.0,
                "detail": "equal (normalised: newlines, trailing space, final newline)",
                "weight": 1.0,
                "must": False,
            }
        ],
    }
    done = grader(READS, truth={"answer": "forty-three"})
    assert (done.code, done.reward, done.report["passed"]) == (0, "0.0000\n", False)


def test_an_untouched_folder_fails(grader: Grader) -> None:
    assert grader(READS, truth={"answer": ""}).reward == "0.0000\n"


@pytest.mark.parametrize(
    ("check", "error"),
    [
        ("import nothing_like_this\n", "ModuleNotFoundError"),
        ("def checks(task):\n    yield 1\n", "VerifierError"),
        ("def checks(task):\n    return []\n", "VerifierError"),
        ("def checks(task):\n    raise SystemExit(0)\n", "SystemExit"),
        ("def checks(task):\n    return task.truth['missing']\n", "KeyError"),
        ("import sys\nsys.exit(0)\n", "SystemExit"),
        ("def checks(task:\n", "SyntaxError"),
        ("x = 1\n", "AttributeError"),
        ("def checks(task):\n    return None\n", "TypeError"),
        (PASS.replace("1)", "float('nan'))"), "VerifierError"),
        (PASS.replace("1)", "2)"), "VerifierError"),
        (None, "FileNotFoundError"),
    ],
)
def test_a_broken_verifier_leaves_no_reward(grader: Grader, check: str | None, error: str) -> None:
    done = grader(check)
    assert (done.code, done.reward) == (3, None)
    assert str(done.report["error"]).startswith(error) and set(done.report) == {"error"}


@pytest.mark.parametrize(
    "settings", [{"hide": ["/"]}, {"hide": ["relative/x"]}, {"hide": ["/usr"]}]
)
def test_a_broken_task_file_leaves_no_reward(grader: Grader, settings: dict[str, object]) -> None:
    done = grader(PASS, settings=settings)
    assert (done.code, done.reward) == (3, None)


def test_truth_that_is_no_object_leaves_no_reward(grader: Grader) -> None:
    done = grader(PASS, truth=[1])
    assert (done.code, done.reward) == (3, None)


@pytest.mark.parametrize("check", [FAIL, "broken"])
@pytest.mark.parametrize("plant", ["file", "link", "dangling", "folder", "pipe"])
def test_forged_rewards_are_gone(grader: Grader, place: Path, check: str, plant: str) -> None:
    logs = place / "logs" / "verifier"
    logs.mkdir(parents=True)
    logs.chmod(0o777)
    (place / "precious").write_text("1.0\n")
    for name in ("reward.txt", "reward.json", "report.json", ".reward.txt.new", ".report.json.new"):
        if plant == "file":
            (logs / name).write_text("1.0\n")
            (logs / name).chmod(0o444)
        elif plant == "link":
            (logs / name).symlink_to(place / "precious")
        elif plant == "dangling":
            (logs / name).symlink_to(place / "nowhere")
        elif plant == "folder":
            (logs / name / "deep").mkdir(parents=True)
        else:
            os.mkfifo(logs / name)
    done = grader(check)
    assert done.reward == ("0.0000\n" if check is FAIL else None)
    assert not (logs / "reward.json").exists() and not (logs / "reward.json").is_symlink()
    assert (place / "precious").read_text() == "1.0\n" and not (place / "nowhere").exists()
    assert stat.S_IMODE(logs.stat().st_mode) == 0o700
    kept = {entry.name for entry in logs.iterdir()}
    assert kept == ({"report.json", "reward.txt"} if check is FAIL else {"report.json"})


@pytest.mark.parametrize("which", ["logs", "logs/verifier"])
def test_a_log_folder_behind_a_link_is_refused(grader: Grader, place: Path, which: str) -> None:
    (place / "elsewhere" / "verifier").mkdir(parents=True)
    (place / which).parent.mkdir(exist_ok=True)
    (place / which).symlink_to(place / "elsewhere")
    done = grader(PASS)
    assert done.code == 3 and "cannot own" in done.stderr
    assert not list((place / "elsewhere").rglob("*.txt"))


SPIES = """
from verifiers import Check
def checks(task):
    tests = task.truth["tests"]
    script = f'''
      cat {tests}/truth.json {tests}/check.py; ls {tests}; ls {tests}/..; cat /proc/*/environ
      cd {tests} && ls; for p in /proc/[0-9]*; do ls $p/cwd/ $p/fd/ 2>/dev/null; cat $p/fd/*; done
    '''
    seen = task.run(["sh", "-c", script], timeout=5).stdout
    yield Check("blind", float(b"SECRET" not in seen and b"truth.json" not in seen))
    yield Check("not blind to all", float(b"work" in seen))
"""


@root_only
def test_a_candidate_cannot_read_the_tests(grader: Grader, place: Path) -> None:
    done = grader(SPIES, truth={"tests": str(place / "tests"), "answer": "SECRET"})
    assert done.reward == "1.0\n", done.report
    assert stat.S_IMODE((place / "tests").stat().st_mode) == 0o700


LEAVES_A_DAEMON = """
from verifiers import Check
def checks(task):
    daemon = "(setsid sh -c 'while :; do echo 1.0 > ../logs/verifier/reward.txt; done' &) ; exit 0"
    yield Check("ran", float(task.run(["sh", "-c", daemon]).code == 0))
    yield Check("wrong", 0)
"""


@root_only
def test_no_process_survives_the_grading(grader: Grader, agent_uid: int, work: Path) -> None:
    agent = ending.Agent(agent_uid, agent_uid, str(work), exclusive=True)
    before = process.spawn(
        ["/bin/sh", "-c", "while :; do echo 1.0 > ../logs/verifier/reward.txt; sleep 0.01; done"],
        agent, process.Limits(), str(work), {},
        subprocess.DEVNULL, subprocess.DEVNULL, subprocess.DEVNULL,
    )  # fmt: skip
    done = grader(LEAVES_A_DAEMON)
    assert before.wait(timeout=1) == -9
    assert done.reward == "0.5000\n" and ending.descendants(agent) == []


@root_only
def test_outputs_that_came_as_root_are_handed_over(grader: Grader, work: Path) -> None:
    (work / "sub").mkdir()
    (work / "sub" / "run.sh").write_text("#!/bin/sh\necho $(id -u) > here && cat here\n")
    for path in (work, work / "sub", work / "sub" / "run.sh"):
        os.chown(path, 0, 0)
        path.chmod(0o700)
    check = """
from verifiers import Check
def checks(task):
    done = task.run(["./sub/run.sh"])
    yield Check("own", float(done.text == f"{task.agent.uid}\\n"), done.stderr.decode())
"""
    assert grader(check).reward == "1.0\n"


def test_hidden_paths_are_gone_before_anything_runs(grader: Grader, place: Path) -> None:
    (place / "reference").write_text("#!/bin/sh\necho right\n")
    (place / "reference").chmod(0o755)
    (place / "refs").mkdir()
    (place / "refs" / "x").touch()
    check = """
from verifiers import Check
def checks(task):
    yield Check("gone", float(task.run([task.truth["path"]]).code is None))
"""
    hide = [str(place / "reference"), str(place / "refs"), str(place / "never")]
    done = grader(check, truth={"path": hide[0]}, settings={"hide": hide})
    assert done.reward == "1.0\n" and not (place / "refs").exists()


def test_planted_python_is_never_imported(grader: Grader, work: Path) -> None:
    for name in ("sitecustomize", "usercustomize", "json", "verifiers", "check", "conftest"):
        (work / f"{name}.py").write_text("raise SystemExit('forged')")
    (work / "python3").write_text("#!/bin/sh\necho forged\n")
    (work / "python3").chmod(0o755)
    check = """
import json, verifiers
from verifiers import Check
def checks(task):
    here = [module.__file__.startswith(task.workdir) for module in (json, verifiers)]
    yield Check("ours", float(not any(here)))
    yield Check("run", float(task.run(["python3", "-c", "print(1)"], cwd="/").text == "1\\n"))
"""
    env = {"PYTHONPATH": str(work), "PATH": str(work), "HOME": str(work), "PYTHONSTARTUP": "x"}
    assert grader(check, env=env).reward == "1.0\n"


def test_helpers_beside_check_py_are_importable(grader: Grader, place: Path) -> None:
    (place / "tests" / "oracle.py").write_text("def answer():\n    return 1\n")
    (place / "tests" / "random.py").write_text("raise ImportError('shadowed')\n")
    assert grader("import random\nfrom oracle import answer\n" + PASS).reward == "1.0\n"


def test_the_budget_turns_sleepers_into_zeros(grader: Grader) -> None:
    check = """
from verifiers import Check
def checks(task):
    for n in range(100):
        yield Check(f"c{n}", float(task.run(["sleep", "9"], timeout=9).ok))
"""
    done = grader(check, settings={"candidate_seconds": 0.4})
    assert (done.code, done.reward) == (0, "0.0000\n")


def test_gradings_repeat_to_the_byte(grader: Grader, place: Path, work: Path) -> None:
    (work / "prog").write_text("#!/bin/sh\ntr a-m n-z\n")
    (work / "prog").chmod(0o755)
    check = """
from verifiers import adversarial_corpus, fuzz_equivalence, Check
def checks(task):
    rng = fuzz_equivalence.rng(task, "inputs")
    inputs = [bytes(rng.choices(b"abcxyz", k=4)) for _ in range(10)]
    shift = bytes.maketrans(b"abcdefghijklm", b"nopqrstuvwxyz")
    run = lambda data: task.run(["./prog"], stdin=data)
    yield fuzz_equivalence.grade("fuzz", run, lambda data: data.translate(shift), inputs)
    yield from adversarial_corpus.grade(
        "corpus", lambda data: run(data).stdout == data, [b"x", b"y", b"z"], [b"a", b"b", b"c"]
    )
    yield Check("seen", 0.5, run(b"abc").text + ",".join(sorted({"b", "a"})))
"""
    reports = set()
    for seed, zone in ((0, "UTC"), (1, "Asia/Kathmandu"), (2, "America/St_Johns")):
        env = {"PYTHONHASHSEED": str(seed), "TZ": zone, "LC_ALL": "C"}
        assert grader(check, env=env).reward == "0.8333\n"
        reports.add((place / "logs" / "verifier" / "report.json").read_bytes())
    assert len(reports) == 1


@root_only
def test_test_sh_in_any_environment(grader: Grader, place: Path, work: Path) -> None:
    """The fixed text, with its one absolute folder put elsewhere for the test."""
    script = (Path(__file__).parents[2] / "verifiers" / "test.sh").read_text()
    assert script.count("/tests/") == 1 and "\r" not in script
    show = "import os, sys\nprint(sorted(os.environ.items()), os.getcwd(), sys.flags)\n"
    (place / "tests" / "verifiers" / "run.py").write_text(show)
    (place / "tests" / "test.sh").write_text(script.replace("/tests/", f"{place}/tests/"))

    def output(**env: str) -> str:
        command = ["/bin/bash", str(place / "tests" / "test.sh")]
        done = subprocess.run(command, env=env, cwd=work, capture_output=True, text=True)
        assert done.returncode == 0
        return done.stdout

    plain = output()
    for name in ("env", "exec", "python3", "set", "case"):
        (work / name).write_text("#!/bin/sh\necho forged\n")
        (work / name).chmod(0o755)
    hostile = {"PATH": str(work), "PYTHONPATH": str(work), "IFS": "/"}
    functions = {
        f"BASH_FUNC_{name}%%": "() { echo forged; }" for name in ("exec", "set", "[", "env")
    }
    assert output(**hostile, **functions, TZ="$(id)", LC_ALL="a b", PYTHONHASHSEED="x") == plain
    assert "'PYTHONHASHSEED', '0'" in plain and "'TZ', 'UTC'" in plain and "isolated=1" in plain
    varied = output(TZ="Asia/Kathmandu", LC_ALL="de_DE.UTF-8", PYTHONHASHSEED="7")
    for pair in ("'TZ', 'Asia/Kathmandu'", "'LC_ALL', 'de_DE.UTF-8'", "'PYTHONHASHSEED', '7'"):
        assert pair in varied


def test_the_kit_imports_nothing_but_the_standard_library() -> None:
    kit = Path(__file__).parents[2] / "verifiers"
    code = (
        f"import sys, json; sys.path.insert(0, {str(kit.parent)!r}); before = set(sys.modules);"
        "import verifiers, verifiers.run, verifiers.initial;"
        "print(json.dumps(sorted({name.split('.')[0] for name in set(sys.modules) - before})))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, check=True)
    names = set(json.loads(done.stdout))
    allowed = getattr(sys, "stdlib_module_names", names)  # 3.9 has no such list
    assert names - allowed == {"verifiers"} or names == allowed
