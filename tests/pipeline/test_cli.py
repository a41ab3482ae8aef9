"""The command line, in processes of its own: what wrong use is told, and the exit codes."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pyarrow.parquet as pq
import pytest

from envgen.export import parquet
from envgen.runs import RunFolder, held
from envgen.share import share

Done = subprocess.CompletedProcess[str]
Envgen = Callable[..., Done]

NOWHERE = "tcp://127.0.0.1:9"
OWN = ["--seed", str(os.getpid())]
"""Specs of this process's own, so that two test runs on one engine share no image."""
FAMILIES = "author.families=[archive_recovery,ledger_reports]"
HEAVY = ("docker", "pyarrow", "pydantic", "yaml", "jinja2", "rich.table", "requests", "sqlalchemy")


def told(done: Done, code: int) -> str:
    """The one sentence on stderr."""
    assert done.returncode == code, done.stderr + done.stdout
    assert "Traceback" not in done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("envgen: ")]
    assert len(lines) == 1, done.stderr
    assert done.stderr.splitlines()[-1] == lines[0]
    return lines[0].removeprefix("envgen: ")


# -- help --------------------------------------------------------------------------------------

COMMANDS = (
    *("sample", "generate", "build", "run", "audit", "export", "report"),
    *("overlap", "duplicates", "compare", "bases", "ledger", "doctor"),
)


def test_help_lists_the_commands(envgen: Envgen) -> None:
    started = time.monotonic()
    done = envgen("--help", COLUMNS="100")
    print(f"envgen --help: {time.monotonic() - started:.2f} s")
    assert done.returncode == 0
    found = re.findall(r"^[│ ]*([a-z]+) {2,}\S", done.stdout, re.MULTILINE)
    assert set(COMMANDS) <= set(found)


@pytest.mark.parametrize("words", [[], *([name] for name in ("bases", "ledger"))])
def test_no_command_shows_help(envgen: Envgen, words: list[str]) -> None:
    done = envgen(*words)
    assert "Usage:" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(envgen: Envgen, name: str) -> None:
    done = envgen(name, "--help")
    assert done.returncode == 0
    assert "--help" in done.stdout


def test_the_command_line_loads_nothing_heavy() -> None:
    script = (
        "import sys, envgen.cli\n"
        f"print([m for m in {HEAVY!r} if m in sys.modules])\n"
        "ours = {m.split('.')[1] for m in sys.modules if m.startswith('envgen.')}\n"
        "print(ours - {'errors', 'cli', 'plural'})"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    heavy, ours = done.stdout.splitlines()
    assert heavy == "[]"
    assert ours == "set()"


def test_version(envgen: Envgen) -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", envgen("--version").stdout)


# -- wrong use: exit code 2 --------------------------------------------------------------------

LLM = ["generate", "--author", "llm", "--n", "1", "--model", "gemini:gemini-2.5-flash"]
WRONG = {
    "unknown key": (
        ["run", "--set", "sample.m=3"],
        "unknown key sample.m; known here: n, seed, preset, axes",
    ),
    "unknown group": (["sample", "--set", "smaple.n=3"], "unknown key smaple; known here: sample"),
    "wrong type": (["run", "--set", "sample.n=many"], "sample.n: Input should be a valid integer"),
    "not a setting": (["run", "--set", "sample.n"], "write it as group.key=value"),
    "no configuration": (["run", "--config", "no.yaml"], "no.yaml does not exist"),
    "no tasks": (["run", "--n", "0"], "sample.n: Input should be greater than or equal to 1"),
    "fewer than no tasks": (["sample", "--n", "-3"], "greater than or equal to 1, got -3"),
    "negative seed": (["sample", "--seed", "-1"], "sample.seed: Input should be greater than"),
    "huge seed": (["sample", "--seed", str(2**63)], "sample.seed: Input should be less than"),
    "huge n": (["sample", "--n", "10000001"], "sample.n: Input should be less than or equal to"),
    "more than there are": (
        ["sample", "--n", "10000000", "--author", "procedural", "--set", FAMILIES],
        "specs were asked for, but there are only",
    ),
    "unknown author": (["run", "--author", "nobody"], "author.name: Input should be 'procedural'"),
    "no model": (["run", "--author", "llm", "--n", "1"], "the llm author needs a model: --model"),
    "no model to generate with": (["generate", "--author", "llm"], "needs a model: --model"),
    "no model to estimate for": (["generate", "--author", "llm", "--dry-run"], "needs a model"),
    "no such provider": (
        ["generate", "--author", "llm", "--model", "nobody:x"], "author.model: String should match",
    ),
    "nothing to estimate": (
        ["generate", "--author", "procedural", "--dry-run"], "the procedural author asks no model",
    ),
    "no budget": (
        LLM,
        "gemini:gemini-2.5-flash costs money: set llm.budget",
    ),
    "no price": (
        ["generate", "--author", "llm", "--n", "1", "--model", "openai:mine", "--budget", "1"],
        "no price is known for openai:mine",
    ),
    "no key": (
        [*LLM, "--budget", "1"],
        "GEMINI_API_KEY",
    ),
    "no dead letters": (["ledger", "dead", "--run", "gone"], "there is no run 'gone'"),
    "unknown family": (
        ["run", "--set", "author.families=[nope]"],
        "no family 'nope': known are archive_recovery, ",
    ),
    "unknown preset": (["sample", "--preset", "odd"], "preset 'odd' is not in presets.yaml"),
    "no axes": (["sample", "--axes", "nowhere"], "axes folder nowhere does not exist"),
    "unknown run": (["report", "--run", "gone"], "there is no run 'gone' in data/runs: start one"),
    "unknown run to build": (["build", "--run", "gone"], "there is no run 'gone'"),
    "unknown run to export": (["export", "out", "--run", "gone"], "there is no run 'gone'"),
    "unknown run in the ledger": (["ledger", "summary", "--run", "gone"], "there is no run 'gone'"),
    "unknown run to merge": (["ledger", "merge", "gone"], "there is no run 'gone'"),
    "unknown run to audit": (["audit", "--run", "gone"], "there is no run 'gone'"),
    "unknown run to show": (["audit", "show", "t", "--run", "gone"], "there is no run 'gone'"),
    "unknown run to replay": (["audit", "replay", "f", "--run", "gone"], "there is no run 'gone'"),
    "import of nothing": (["audit", "--import", "x"], "--import x: write KIND:FOLDER, with"),
    "unknown form": (["audit", "--import", "zip:."], "--import zip:.: write KIND:FOLDER"),
    "no such folder": (["audit", "--import", "tmax:gone"], "gone is not a folder: give the one"),
    "no task in it": (["audit", "--import", "tmax:."], "holds a task.json: is it of the format"),
    "half a base map": (
        ["audit", "--import", "tmax:.", "--base-map", "image"],
        "--base-map image: write IMAGE=BASE or IMAGE=BASE+package",
    ),
    "map to no base": (
        ["audit", "--import", "tmax:.", "--base-map", "a=nope"], "--base-map a=nope: write IMAGE=",
    ),
    "no such grading": (
        ["audit", "--import", "tmax:.", "--grading", "odd"], "--grading odd: write fresh or shared",
    ),
    "no wheels": (
        ["audit", "--import", "tmax:.", "--wheels", "gone"], "gone is not a folder of wheels",
    ),
    "nowhere to fetch to": (
        ["audit", "--import", "tmax:.", "--fetch-wheels"], "--fetch-wheels needs a folder for them",
    ),
    "an option of imports alone": (
        ["audit", "--grading", "fresh"], "--grading says how to import: add --import KIND:FOLDER",
    ),
    "unknown policy": (
        ["audit", "--self-test", "--policy", "kind"],
        "audit.policy: Input should be 'strict', 'proven' or 'report', got 'kind'",
    ),
    "a critic of nowhere": (
        ["audit", "--self-test", "--critic", "toy"], "audit.critic: String should match pattern",
    ),
    "bad name": (["run", "--run", "../x"], "--run '../x': a run's name has letters, digits"),
    "empty name": (["sample", "--run", ""], "--run '': a run's name has letters"),
    "hostile name": (["report", "--run", "a\x1b[2Jb"], "a run's name has letters"),
    "nothing to forget": (["ledger", "forget"], "name what to forget: --step STEP, --task TASK"),
    "no manifest": (["build", "--from", "no.parquet"], "no.parquet is not a readable manifest ("),
    "no manifest to export": (["export", "o", "--from", "no.parquet"], "not a readable manifest"),
    "unknown base": (["bases", "build", "nope"], "there is no base 'nope': known are "),
    "missing engine": (
        ["run", "--n", "1", "--set", f"engine.url={NOWHERE}"],
        f"no container engine answers at {NOWHERE}: start Docker or Podman, set DOCKER_HOST",
    ),
    "missing engine for bases": (
        ["bases", "build", "security", "--set", f"engine.url={NOWHERE}"],
        "no container engine answers",
    ),
    "engine that is no address": (
        ["run", "--n", "1", "--set", "engine.url=nonsense://x"],
        "no container engine answers at nonsense://x",
    ),
}  # fmt: skip


@pytest.mark.parametrize("words", [case[0] for case in WRONG.values()], ids=WRONG)
def test_wrong_use_is_told_in_one_sentence(envgen: Envgen, words: list[str]) -> None:
    expected = next(message for case, message in WRONG.values() if case == words)
    assert expected in told(envgen(*words), 2)


@pytest.mark.parametrize(
    "words", [["nope"], ["run", "--nope"], ["sample", "--n", "x"], ["export", "harbor"]]
)
def test_wrong_words_are_told_by_the_parser(envgen: Envgen, words: list[str]) -> None:
    done = envgen(*words)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "Usage: " in done.stderr


def test_a_missing_engine_named_by_the_environment(envgen: Envgen) -> None:
    """Nothing else is taken in its place: no fallback without a name."""
    done = envgen("bases", "build", "security", DOCKER_HOST=NOWHERE)
    assert f"no container engine answers at {NOWHERE}" in told(done, 2)


def test_a_doctor_without_engine_says_so_and_checks_the_disk(envgen: Envgen) -> None:
    done = envgen("doctor", "--json", "--set", f"engine.url={NOWHERE}")
    assert done.returncode == 3
    engine, disk = json.loads(done.stdout)
    assert (engine["ok"], engine["what"]) == (False, "a container engine answers")
    assert "start Docker or Podman" in engine["detail"]
    assert (disk["what"], disk["ok"]) == ("disk space", True)


@pytest.mark.parametrize(
    ("name", "old", "new", "told_"),
    [
        ("domain.yaml", "axis: domain", "axis: [", "line "),
        ("domain.yaml", "axis: domain", "axis: domane", "line 2, axis: must be domain"),
        ("verifier.yaml", "name: exact_text", "nmae: exact_text", "nmae: is not a known key"),
        ("language.yaml", "weight:", "weight: many #", "must be a number"),
    ],
)
def test_a_bad_axis_file_is_told_with_file_line_and_key(
    envgen: Envgen, tmp_path: Path, name: str, old: str, new: str, told_: str
) -> None:
    shutil.copytree(share("axes"), tmp_path / "axes")
    path = tmp_path / "axes" / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    line = told(envgen("sample", "--axes", "axes"), 2)
    assert re.match(rf"axes/{name}, line \d+, \S.*: .+", line)
    assert told_ in line


@pytest.mark.parametrize("shard", ["0/3", "4/3", "x", "1", "1/0", "-1/2"])
def test_a_bad_shard_is_told(envgen: Envgen, tmp_path: Path, shard: str) -> None:
    parquet.write_manifest(tmp_path / "m.parquet", [])
    done = envgen("build", "--from", "m.parquet", f"--shard={shard}")
    assert f"--shard {shard!r}: write it as i/n" in told(done, 2)


def test_unreadable_manifests_are_told(envgen: Envgen, tmp_path: Path) -> None:
    parquet.write_rejections(tmp_path / "r.parquet", [])
    (tmp_path / "t.parquet").write_text("text")
    for name, expected in (("r", "does not hold what is needed"), ("t", "is not a readable")):
        for words in (["build", "--from"], ["export", "out", "--from"]):
            assert expected in told(envgen(*words, f"{name}.parquet"), 2)


def test_specs_that_were_edited_are_told(envgen: Envgen, tmp_path: Path) -> None:
    assert envgen("sample", "--n", "3").returncode == 0
    path = tmp_path / "data/runs/default/specs.parquet"
    path.write_bytes(b"no parquet")
    assert "is not a readable Parquet file" in told(envgen("build"), 2)
    path.unlink()
    assert "does not exist; draw the specs again" in told(envgen("build"), 2)


def test_a_ledger_that_is_none_is_told(envgen: Envgen, tmp_path: Path) -> None:
    (tmp_path / "data/runs/x").mkdir(parents=True)
    (tmp_path / "data/runs/x/ledger.sqlite").write_bytes(b"no database" * 99)
    line = told(envgen("ledger", "summary", "--run", "x"), 2)
    assert "data/runs/x/ledger.sqlite is not a readable ledger" in line


def test_a_run_that_is_in_use_is_told(envgen: Envgen, tmp_path: Path) -> None:
    with held(RunFolder(tmp_path / "data/runs/default")):
        for words in (["sample"], ["run"], ["ledger", "forget", "--step", "noop"]):
            assert "run 'default' is in use by another process" in told(envgen(*words), 2)


# -- infrastructure: exit code 3 ---------------------------------------------------------------


@pytest.mark.parametrize("place", ["data", "data/runs", "data/runs/default"])
def test_a_data_folder_that_cannot_be_written_is_told(
    envgen: Envgen, tmp_path: Path, place: str
) -> None:
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / place).write_text("a file in the place of a folder")
    for words in (["sample"], ["run"]):
        assert told(envgen(*words), 3).startswith("cannot write at data")


def test_a_rebuild_where_nothing_can_be_written_is_told(envgen: Envgen, tmp_path: Path) -> None:
    parquet.write_manifest(tmp_path / "m.parquet", [])
    (tmp_path / "data").write_text("a file")
    assert told(envgen("build", "--from", "m.parquet"), 3).startswith("cannot write at data")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte at `tmp_path/data`."""
    folder = tmp_path / "data"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"no disk can be mounted here: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path, leave: int) -> None:
    """Use the disk up, but for so many bytes."""
    free = shutil.disk_usage(folder).free
    (folder / "ballast").write_bytes(b"x" * (free - leave))


def test_a_full_disk_is_told(envgen: Envgen, small_disk: Path) -> None:
    (small_disk / "runs/default").mkdir(parents=True)
    (small_disk / "runs/default/.lock").touch()
    fill(small_disk, 0)
    for words in (["sample"], ["run"]):
        line = told(envgen(*words), 3)
        assert "No space left on device" in line


@pytest.mark.box
def test_a_disk_that_fills_up_while_running_is_told_and_the_same_command_continues(
    envgen: Envgen, small_disk: Path, engine_passed: Callable[[Path], None]
) -> None:
    engine_passed(small_disk / "runs/default")
    fill(small_disk, 150_000)
    words = ["run", *OWN, "--n", "2", "--set", FAMILIES, "--set", "gates.repeats=1"]
    done = envgen(*words)
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    assert "no space left" in done.stderr.splitlines()[-1].lower()
    (small_disk / "ballast").unlink()
    subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
    done = envgen(*words)
    assert done.returncode == 0, done.stderr
    assert pq.read_table(small_disk / "runs/default/manifest.parquet").num_rows == 2
    assert list(small_disk.rglob(".torn-*")) == []


# -- engines that answer oddly -----------------------------------------------------------------


class Daemon(BaseHTTPRequestHandler):
    """As much of a container engine as it takes to be connected to."""

    protocol_version = "HTTP/1.1"
    images: tuple[int, object] = (500, {"message": "driver failed"})

    def answer(self) -> None:
        path = re.sub(r"^/v\d+\.\d+", "", self.path).partition("?")[0]
        code, body = {
            "/_ping": (200, "OK"),
            "/version": (200, {"ApiVersion": "1.41", "Version": "20.10.0", "Components": []}),
            "/info": (200, {"NCPU": 2, "ID": "fake", "OperatingSystem": "none"}),
            "/containers/json": (200, []),
            "/images/json": (200, []),
        }.get(path, type(self).images)
        data = json.dumps(body).encode()
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_DELETE = do_HEAD = answer

    def log_message(self, format: str, *args: object) -> None:
        pass


DESCRIPTION = "Engine 20.10.0 on none, id fake"


@pytest.fixture
def daemon() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Daemon)
    thread = Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield f"tcp://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()
    Daemon.images = (500, {"message": "driver failed"})


def accepted(tmp_path: Path) -> None:
    """As if the engine had passed its self-test."""
    folder = tmp_path / "data/runs/default"
    folder.mkdir(parents=True)
    (folder / "engine.txt").write_text(DESCRIPTION)


def test_an_engine_that_fails_before_the_run_is_infrastructure(envgen: Envgen, daemon: str) -> None:
    done = envgen("run", "--n", "2", "--set", f"engine.url={daemon}", "--set", FAMILIES)
    assert told(done, 3) == "the engine refused: driver failed"


def test_tasks_that_the_engine_fails_are_unfinished_and_the_exit_code_is_3(
    envgen: Envgen, daemon: str, tmp_path: Path
) -> None:
    accepted(tmp_path)
    words = ["--set", f"engine.url={daemon}", "--set", FAMILIES]
    done = envgen("run", "--n", "12", *words)
    assert done.returncode == 3, done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith("12 tasks are unfinished (engine_refused: the engine refused: driver")
    assert last.endswith("the same command continues")
    assert "Traceback" not in done.stderr
    assert pq.read_table(tmp_path / "data/runs/default/manifest.parquet").num_rows == 0


@pytest.mark.parametrize("command", ["run", "audit"])
def test_a_bug_is_kept_with_its_traceback_and_the_exit_code_is_1(
    envgen: Envgen, daemon: str, tmp_path: Path, command: str
) -> None:
    """An engine whose answers nobody expects: what follows is nobody's fault but ours."""
    accepted(tmp_path)
    Daemon.images = (200, {"unexpected": True})
    sets = ["--set", f"engine.url={daemon}", "--set", FAMILIES]
    done = envgen("run", "--n", "2", *sets)
    if command == "audit":
        shutil.rmtree(tmp_path / "data/runs/default/crashes")
        done = envgen("audit", *sets)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert "2 tasks met a bug in envgen: see data/runs/default/crashes, please report it" in (
        done.stderr.splitlines()
    )
    crashes = list((tmp_path / "data/runs/default/crashes").iterdir())
    assert len(crashes) == 2
    assert all(path.read_text().startswith("Traceback ") for path in crashes)


# -- what works without an engine --------------------------------------------------------------


def test_sample_prints_the_balance_and_repeats_itself(envgen: Envgen, tmp_path: Path) -> None:
    done = envgen("sample", "--n", "50", "--json")
    found = json.loads(done.stdout)
    assert found["specs"] == "data/runs/default/specs.parquet"
    assert found["balance"]["domain"]["score"] > 0.99
    path = tmp_path / found["specs"]
    before = path.read_bytes()
    assert pq.read_table(path).num_rows == 50
    assert "50 specs in" in envgen("sample", "--n", "50").stderr
    assert path.read_bytes() == before


def test_a_dry_run_says_calls_tokens_and_dollars_and_writes_nothing(
    envgen: Envgen, tmp_path: Path
) -> None:
    words = ["generate", "--author", "llm", "--model", "gemini:gemini-2.5-flash", "--n", "20"]
    done = envgen(*words, "--dry-run", "--json")
    found = json.loads(done.stdout)
    assert (found["model"], found["priced"]) == ("gemini:gemini-2.5-flash", True)
    steps = {row["step"]: row for row in found["steps"]}
    assert list(steps) == ["brief", "fixture", "files", "solution", "verifier"]
    for row in steps.values():
        dollars = (0.3 * row["input"] + 2.5 * row["output"]) / 1e6
        assert row["dollars"] == pytest.approx(dollars)
    assert steps["brief"]["calls"] == 30  # once and a half for each spec
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "data").exists()
    table = envgen(*words, "--dry-run").stdout
    assert f"{sum(row['dollars'] for row in found['steps']):.4f}" in table


def test_bases_are_listed(envgen: Envgen) -> None:
    found = json.loads(envgen("bases", "list", "--json").stdout)
    assert "python3" in found["data_querying"]
    assert envgen("bases", "list").stdout.count("\n") == len(found)


def test_an_empty_run_has_a_report_and_a_ledger(envgen: Envgen) -> None:
    envgen("sample", "--n", "3")
    found = json.loads(envgen("report", "--json").stdout)
    assert found["funnel"][0] == {"step": "specs", "lost": 0, "left": 3}
    assert envgen("report").returncode == 0
    assert json.loads(envgen("ledger", "summary", "--json").stdout) == []
    assert "no single receipt in run 'default' begins with 'ab'" in told(
        envgen("ledger", "show", "ab"), 2
    )
    assert "0 effects forgotten" in envgen("ledger", "forget", "--step", "noop").stderr


def test_export_writes_the_folders_of_a_manifest(envgen: Envgen, tmp_path: Path) -> None:
    parquet.write_manifest(tmp_path / "m.parquet", [])
    done = envgen("export", "out", "--from", "m.parquet")
    assert (done.returncode, done.stderr) == (0, "0 task folders in out\n")


def test_one_is_said_in_the_singular(envgen: Envgen, tmp_path: Path) -> None:
    drawn = envgen("sample", "--n", "1", "--author", "procedural", "--set", FAMILIES)
    assert drawn.stderr.splitlines()[0] == "1 spec in data/runs/default/specs.parquet"
    made = envgen("generate", "--set", FAMILIES)
    assert made.stderr.splitlines()[-1] == "1 draft in data/runs/default/drafts"
    sample = Path(__file__).parents[2] / "data/sample/manifest.parquet"
    one = next(iter(parquet.read(sample)))
    parquet.write_manifest(tmp_path / "m.parquet", [one])
    done = envgen("export", "out", "--from", "m.parquet")
    assert done.stderr.splitlines() == [
        "1 task folder in out", "1 of them was never audited: `envgen audit` does that"
    ]  # fmt: skip
    done = envgen("export", "dataset", "set", "--from", "m.parquet")
    assert done.stderr.splitlines()[0] == "1 task in 1 file below set"
    assert "\n1 terminal task for agents: each an" in (tmp_path / "set/README.md").read_text()
    (tmp_path / "set" / "README.md").write_text("changed")
    done = envgen("export", "verify", "set")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "1 fault: this is not what was published"


# -- Ctrl-C ------------------------------------------------------------------------------------


@pytest.mark.box
def test_ctrl_c_finishes_what_is_in_work_and_the_same_command_continues(
    envgen: Envgen, tmp_path: Path, engine_passed: Callable[[Path], None]
) -> None:
    engine_passed(tmp_path / "data/runs/default")
    words = ["run", *OWN, "--n", "2", "--set", FAMILIES, "--set", "engine.in_flight=1"]
    words += ["--set", "gates.repeats=1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "envgen.cli", *words],
        cwd=tmp_path, env=dict(os.environ), stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    ledger = tmp_path / "data/runs/default/ledger.sqlite"
    deadline = time.monotonic() + 120
    while not ledger.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=240)
    assert process.returncode == 3, stderr
    assert "finishing what is in work; press Ctrl-C again to cancel it" in stderr
    assert re.fullmatch(
        r"(1 task is|2 tasks are) unfinished: the same command continues", stderr.splitlines()[-1]
    )
    assert "Traceback" not in stderr
    manifest = tmp_path / "data/runs/default/manifest.parquet"
    assert pq.read_table(manifest).num_rows in (0, 1)  # the one that was in work
    done = envgen(*words)
    assert done.returncode == 0, done.stderr
    assert pq.read_table(manifest).num_rows == 2


@pytest.mark.box
def test_ctrl_c_twice_cancels(tmp_path: Path, engine_passed: Callable[[Path], None]) -> None:
    engine_passed(tmp_path / "data/runs/default")
    words = ["run", *OWN, "--n", "4", "--set", FAMILIES]
    process = subprocess.Popen(
        [sys.executable, "-m", "envgen.cli", *words],
        cwd=tmp_path, env=dict(os.environ), stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    ledger = tmp_path / "data/runs/default/ledger.sqlite"
    deadline = time.monotonic() + 120
    while not ledger.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=240)
    assert process.returncode == 130, stderr
    assert stderr.splitlines()[-1] == "envgen: cancelled; the same command continues"
    assert "Traceback" not in stderr
