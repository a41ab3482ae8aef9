"""Hostile programs, run for real: each is bounded, and nothing of it is left."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from verifiers import Task, ending, process

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: another uid is the agent")
PYTHON = "/usr/bin/python3"


def python(task: Task, source: str, **options: object) -> process.Outcome:
    return task.run([PYTHON, "-c", source], **options)  # type: ignore[arg-type]


def left(task: Task) -> list[int]:
    """Processes of the agent that still live."""
    time.sleep(0.05)
    return ending.descendants(task.agent)


def test_an_honest_program(task: Task) -> None:
    done = task.run(["sh", "-c", "cat; echo err >&2; exit 3"], stdin=b"in")
    assert done == process.Outcome(b"in", b"err\n", 3)
    assert not done.ok and task.run(["true"]).ok


def test_large_input_and_output_pass_through(task: Task) -> None:
    data = bytes(range(256)) * 4000
    assert task.run(["cat"], stdin=data, output_limit=len(data)).stdout == data


def test_input_that_nobody_reads_is_no_trouble(task: Task) -> None:
    assert task.run(["true"], stdin=b"x" * 5_000_000).ok
    assert task.run(["sh", "-c", "exec <&-; sleep 0.1; echo ok"], stdin=b"x" * 5_000_000).ok


@pytest.mark.parametrize(
    ("argv", "error"),
    [
        (["/no/such/program"], "FileNotFoundError"),
        (["no-such-tool"], "FileNotFoundError"),
        (["./missing"], "FileNotFoundError"),
        (["/etc/passwd"], "PermissionError"),
        (["true", "a\0b"], "ValueError"),
        (["/"], "PermissionError"),
    ],
)
def test_what_cannot_be_started_is_an_outcome(task: Task, argv: list[str], error: str) -> None:
    done = task.run(argv)
    assert done.error.startswith(error) and done.code is None and not done.ok


def test_a_file_that_is_no_program(task: Task, work: Path) -> None:
    (work / "junk").write_bytes(b"\x00\x01junk")
    (work / "junk").chmod(0o755)
    assert task.run(["./junk"]).error.startswith("OSError: Exec format error")


def test_a_folder_it_may_not_enter(task: Task, place: Path) -> None:
    (place / "shut").mkdir(mode=0o700)
    if os.geteuid() == 0:
        done = task.run(["pwd"], cwd=str(place / "shut"))
        assert done.error.startswith("SubprocessError") and done.code is None
    assert task.run(["pwd"], cwd=str(place / "none")).error != ""


def test_output_that_is_not_utf8(task: Task) -> None:
    done = task.run(["printf", r"\377\000\200"])
    assert done.stdout == b"\xff\x00\x80" and done.text == "\ufffd\x00\ufffd"


def test_sleeping_forever_ends_at_the_deadline(task: Task) -> None:
    start = time.monotonic()
    done = task.run(["sh", "-c", "trap '' TERM INT HUP; echo up; sleep 1000"], timeout=0.4)
    assert done.timed_out and done.stdout == b"up\n" and done.code == -signal.SIGKILL
    assert time.monotonic() - start < 8 and left(task) == []


def test_a_gigabyte_on_stdout_is_cut_in_time_and_memory(task: Task) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.monotonic()
    done = task.run(["head", "-c", "1000000000", "/dev/zero"], output_limit=1000)
    assert done.truncated and done.stdout == b"\0" * 1000 and not done.ok
    assert time.monotonic() - start < 8
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # KiB


def test_chatter_on_stderr_is_dropped_not_punished(task: Task) -> None:
    done = task.run(["sh", "-c", "head -c 3000000 /dev/zero >&2; echo ok"])
    assert done.ok and done.stdout == b"ok\n" and len(done.stderr) == process.STDERR_KEPT


DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        {before}
        time.sleep(1000)
    os._exit(0)
print("up", flush=True)
"""


def test_a_daemon_that_holds_the_pipe_neither_hangs_nor_stays(task: Task) -> None:
    start = time.monotonic()
    done = python(task, DAEMON.format(before="pass"))
    assert done.code == 0 and done.stdout == b"up\n" and not done.timed_out
    assert time.monotonic() - start < 8 and left(task) == []


def test_a_daemon_that_let_go_of_everything_is_found_too(task: Task) -> None:
    closing = "os.chdir('/'); [os.close(n) for n in range(3)]"
    assert python(task, DAEMON.format(before=closing)).code == 0
    assert left(task) == []


def test_where_others_have_the_same_uid_only_ours_end(work: Path, agent_uid: int) -> None:
    agent = ending.Agent(agent_uid, agent_uid, str(work))
    other = process.spawn(
        ["/bin/sleep", "1000"], agent, process.Limits(), "/", {},
        subprocess.DEVNULL, subprocess.DEVNULL, subprocess.DEVNULL,
    )  # fmt: skip
    with Task(str(work), agent_uid=agent_uid) as shared:
        assert python(shared, DAEMON.format(before="pass")).stdout == b"up\n"
        assert shared.run(["sleep", "9"], timeout=0.1).timed_out
        assert left(shared) == [other.pid] and other.poll() is None
    assert ending.end(other, agent) and left(shared) == []


def test_a_pipeline_that_outlives_its_shell_is_read_to_the_end(task: Task) -> None:
    done = task.run(["bash", "-c", "echo late > >(sleep 0.2; cat)"])
    assert done.stdout == b"late\n" and done.ok


# As a container's process limit would: the machine has other work to do while this is tested.
CROWD = 120
FOREVER = """
import os
while True:
    try:
        {}
    except OSError:
        pass
"""


@root_only
@pytest.mark.parametrize("bomb", ["os.fork()", "os.fork() or os.setsid()"])
def test_a_fork_bomb_is_bounded(task: Task, bomb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "NPROC_BACKSTOP", CROWD)
    start = time.monotonic()
    done = python(task, FOREVER.format(bomb), timeout=10, processes=40)
    assert done.error == "more than 40 processes" or done.code not in (0, None)
    assert time.monotonic() - start < 30 and left(task) == []


@root_only
def test_a_fork_bomb_beside_a_service_dies_alone(
    task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "NPROC_BACKSTOP", CROWD)
    service = process.spawn(
        ["/bin/sleep", "1000"], task.agent, process.Limits(), "/", {},
        subprocess.DEVNULL, subprocess.DEVNULL, subprocess.DEVNULL,
    )  # fmt: skip
    task.services = 1
    try:
        bomb = FOREVER.format("os.fork() or os.setsid()")
        assert not python(task, bomb, timeout=10, processes=40).ok
        assert ending.descendants(task.agent) == [service.pid]
        assert task.run(["sh", "-c", "kill -9 $$"]).code == -signal.SIGKILL
        assert service.poll() is None
    finally:
        task.services = 0
        assert ending.end(service, task.agent)
    assert left(task) == []


@root_only
def test_it_cannot_touch_us_or_see_more_than_it_should(task: Task) -> None:
    ours = os.getpid()
    script = (
        f"kill -9 {ours} 2>/dev/null || echo alive; cat /proc/{ours}/environ >/dev/null 2>&1 "
        f"|| echo dark; ls /proc/{ours}/fd >/dev/null 2>&1 || echo closed; id -u; id -G; umask"
    )
    uid = task.agent.uid
    want = f"alive\ndark\nclosed\n{uid}\n{task.agent.gid}\n0022\n"
    assert task.run(["sh", "-c", script]).text == want


@root_only
def test_no_way_back_to_root(task: Task, place: Path) -> None:
    shell = place / "rootshell"
    shell.write_bytes(Path("/usr/bin/id").read_bytes())
    shell.chmod(0o4755)
    assert task.run([str(shell), "-u"]).text == f"{task.agent.uid}\n"


def test_limits_hold(task: Task, work: Path) -> None:
    assert not python(task, "x = bytearray(300 << 20); print('had it')", memory_mb=200).ok
    assert python(task, "x = bytearray(300 << 20)", memory_mb=400).ok
    assert python(task, "import mmap; mmap.mmap(-1, 1 << 36, flags=mmap.MAP_PRIVATE |"
                  " mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ)", memory_mb=200).ok  # fmt: skip
    big = task.run(["sh", "-c", "head -c 30000000 /dev/zero > big"], file_mb=1)
    assert not big.ok and (work / "big").stat().st_size == 1 << 20
    assert task.run(["sh", "-c", "ulimit -c"]).text == "0\n"


def test_the_environment_is_ours(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"LD_PRELOAD": "", "SECRET": "x", "TZ": "Asia/Tokyo"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("LC_ALL", raising=False)
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    names = {line.split("=")[0] for line in task.run(["env"], env={"MORE": "1"}).text.split()}
    expected = {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "TZ", "MORE"}
    assert names == expected | set(process.THREADS)


def test_programs_come_from_the_fixed_path_only(task: Task, work: Path) -> None:
    (work / "true").write_text("#!/bin/sh\necho forged\n")
    (work / "true").chmod(0o755)
    assert task.run(["true"], env={"PATH": str(work)}).stdout == b""
    assert task.run(["./true"]).stdout == b"forged\n"


def test_descriptors_do_not_leak(task: Task, place: Path) -> None:
    with (place / "open").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        assert task.run(["ls", "/proc/self/fd"]).text == "0\n1\n2\n3\n"  # 3 is the folder


def test_files_and_scratch_folders(task: Task) -> None:
    script = b"#!/bin/sh\ncat sub/data\npwd\necho made > out\n"
    folder = task.scratch({"go": script, "sub/data": b"d\n"})
    assert task.run([f"{folder}/go"], cwd=folder).text == f"d\n{folder}\n"
    assert task.read(f"{folder}/out") == b"made\n"
    done = task.run(["cat", "one", "two"], files={"one": b"1", "two": b"2"})
    assert done.stdout == b"12"
    assert task.run(["ls"], files={}).stdout == b""
    task.close()
    assert not Path(folder).exists()


def test_the_budget_ends_all_running(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    budget = process.Budget()
    monkeypatch.setattr(process, "BUDGET", budget)
    budget.start(0.3)
    start = time.monotonic()
    outcomes = [task.run(["sleep", "5"]) for _ in range(50)]
    assert time.monotonic() - start < 8 and all(one.timed_out for one in outcomes)


def test_same_outcome_each_time(task: Task) -> None:
    runs = {task.run(["sh", "-c", "echo a; echo b >&2; pwd"]) for _ in range(5)}
    assert len(runs) == 1


def test_many_short_runs_are_fast(task: Task) -> None:
    start = time.monotonic()
    assert all(task.run(["true"]).ok for _ in range(40))
    assert time.monotonic() - start < 12
    assert sys.getrefcount(task) < 50  # and keep nothing of themselves


def test_a_program_cannot_have_all_of_the_sandbox(
    task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone, cap = str(tmp_path / "gone"), tmp_path / "cap"
    for text, room in (("max", float("inf")), (str(256 << 20), 192), (str(64 << 20), 32)):
        cap.write_text(text + "\n")
        assert process.room_mb([gone, str(cap)]) == room
    assert process.room_mb([gone]) == float("inf")
    monkeypatch.setattr(process, "room_mb", lambda: process.RESERVED_MB)
    assert not python(task, "x = bytearray(100 << 20)", memory_mb=400).ok
    assert python(task, "x = bytearray(20 << 20)", memory_mb=400).ok
    assert python(task, "x = bytearray(100 << 20)", memory_mb=0).ok
