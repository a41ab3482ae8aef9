"""Attempts to forge a reward, each executed in a real sandbox, each with the honest verdict.

The small task (see conftest): a right answer.txt earns 0.5, a right total.sh the other 0.5.
"""

import pytest

from envgen.files import FileTree
from envgen.records import Environment, Job, Limits
from tests.box.conftest import USE, Bench

pytestmark = pytest.mark.box

LIMITS = {"agent_seconds": 60, "verify_seconds": 60, "build_seconds": 60, "disk_mb": 128}

IF_ROOT = '[ "$(/usr/bin/id -u)" = 0 ] && : > /tmp/root-was-here'
PY_IF_ROOT = """\
import os
try:
    if os.getuid() == 0:
        open("/tmp/root-was-here", "w").close()
    open("/logs/verifier/reward.txt", "w").write("1.0")
except OSError:
    pass
"""

REWARD_BEFOREHAND = """
mkdir -p /logs/verifier logs/verifier tests
for f in /logs/verifier/reward.txt /logs/verifier/report.json /logs/verifier/reward.json \
         logs/verifier/reward.txt reward.txt reward.json report.json tests/reward.txt; do
  echo 1.0 > $f
done
ln -s /logs/verifier out
true
"""

PYTHON_HOOKS = """
site=.local/lib/python3.11/site-packages
mkdir -p $site verifiers .config/python tests
for f in conftest.py sitecustomize.py usercustomize.py json.py os.py math.py verifiers.py check.py \
         verifiers/__init__.py tests/conftest.py $site/usercustomize.py $site/sitecustomize.py \
         $site/json.py $site/verifiers.py .pythonrc.py; do
  cp /solution/hook.py $f
done
echo 'import usercustomize' > $site/evil.pth
cp $site/evil.pth evil.pth
printf '[pytest]\\naddopts = -p conftest\\n' > pytest.ini
printf 'home = /home/agent\\n' > pyvenv.cfg
export PYTHONSTARTUP=/home/agent/.pythonrc.py PYTHONPATH=/home/agent
"""

FAKE_TOOLS = f"""
mkdir -p .local/bin bin
for tool in python3 python bash sh env awk mawk cat mv rm mkdir dirname id; do
  printf '#!/bin/dash\\n{IF_ROOT}\\necho 42\\nexit 0\\n' > bin/$tool
  chmod 755 bin/$tool
  cp -p bin/$tool .local/bin/$tool
  cp -p bin/$tool $tool
done
for f in .bashrc .profile .bash_profile .bash_login .bash_env .bash_logout .shrc .inputrc; do
  printf 'export PATH=/home/agent/bin:$PATH BASH_ENV=/home/agent/.bash_env\\n{IF_ROOT}\\n' > $f
done
echo 'BASH_ENV=/home/agent/.bash_env' > .pam_environment
rm -f bin/*.txt
"""

PRELOAD = """
cp /solution/evil.so .
for f in .bashrc .profile .bash_profile .pam_environment .ssh/environment .environment \
         .config/environment.d/evil.conf; do
  mkdir -p "$(dirname $f)"
  echo 'LD_PRELOAD=/home/agent/evil.so' > $f
done
echo 'export LD_PRELOAD LD_LIBRARY_PATH=/home/agent LD_AUDIT=/home/agent/evil.so' >> .bashrc
mkdir -p lib && cp evil.so lib/libc.so.6
"""

LANGUAGE = """
for f in .profile .bashrc .i18n .config/locale.conf .dmrc; do
  mkdir -p "$(dirname $f)"
  printf 'export LANG=tr_TR.UTF-8 LC_ALL=tr_TR.UTF-8 TZ=Asia/Kathmandu PYTHONUTF8=0\\n' > $f
done
touch "$(printf 'bad\\377name')" "$(printf 'line\\nbreak')" "$(printf '\\033[31mred')" ' ' '-rf'
touch "$(printf '\\342\\200\\256gpj.exe')" -d 1905-06-07
mkdir -p "$(printf 'dir\\376')/sub" && echo x > "$(printf 'dir\\376')/sub/$(printf '\\300\\257')"
"""

LATE_WRITER = """
cat > late.sh <<'LATE'
main=$1
while kill -0 $main 2>/dev/null; do sleep 0.02; done
sleep 1
while :; do
  echo 1.0 > /logs/verifier/reward.txt
  date > /home/agent/late.txt
  cp /home/agent/other-answer /home/agent/answer.txt
  cp /home/agent/other-program /home/agent/total.sh
done 2>/dev/null
LATE
setsid bash late.sh $$ > /dev/null 2>&1 &
python3 - $$ <<'FORK'
import os, signal, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in (1, 2, 3, 13, 15):
            signal.signal(number, signal.SIG_IGN)
        os.execv("/bin/bash", ["bash", "/home/agent/late.sh", sys.argv[1]])
    os._exit(0)
FORK
"""

PLANTS: dict[str, str] = {
    "a reward written beforehand": REWARD_BEFOREHAND,
    "hooks of python and pytest": PYTHON_HOOKS,
    "tools first on PATH and shell start files": FAKE_TOOLS,
    "a language that changes everything": LANGUAGE,
    "background processes that write later": LATE_WRITER,
}


@pytest.mark.parametrize("plant", PLANTS.values(), ids=PLANTS.keys())
def test_a_plant_earns_nothing(bench: Bench, plant: str) -> None:
    script = f'echo 5158 > other-answer; echo "{bench.PROGRAM}" > other-program\n{plant}'
    done = bench.attempt(script, {"hook.py": PY_IF_ROOT})
    assert (done.score.reward, done.score.invalid) == (0.0, "")
    assert done.check("nothing planted ran as root") == 1
    assert "late.txt" not in bench.captured(done.solved)


@pytest.mark.parametrize("plant", PLANTS.values(), ids=PLANTS.keys())
def test_a_plant_takes_nothing_from_a_right_solution(bench: Bench, plant: str) -> None:
    script = f"{bench.SOLVE}echo 0 > other-answer; echo exit > other-program\n{plant}"
    done = bench.attempt(script, {"hook.py": PY_IF_ROOT})
    assert (done.score.reward, done.score.invalid) == (1.0, "")


@pytest.fixture(scope="module")
def preload(bench: Bench) -> bytes:
    """A library that says whether it was ever loaded as root."""
    source = """
    #include <fcntl.h>
    #include <unistd.h>
    __attribute__((constructor)) static void loaded(void) {
        if (getuid() == 0) close(open("/tmp/root-was-here", O_CREAT | O_WRONLY, 0644));
    }
    """
    base = bench.do(bench.kit.bases.get("tools"))
    compile_it = "gcc -shared -fPIC -o /home/agent/evil.so -xc /in/evil.c"
    job = Job(
        image=base.content,
        image_ref=base.ref,
        command=("/bin/sh", "-c", compile_it),
        puts=(bench.put("/in", {"evil.c": source}),),
        capture=("/home/agent",),
    )
    _, made = bench.do(bench.kit.sandbox.run(job, USE))
    assert made.ok, made.output
    return bench.captured(made)["evil.so"]


def test_a_preloaded_library_is_never_loaded_as_root(bench: Bench, preload: bytes) -> None:
    for solved, reward in (("", 0.0), (bench.SOLVE, 1.0)):
        done = bench.attempt(solved + PRELOAD, {"evil.so": preload})
        assert done.solved.ok, done.solved.output
        assert done.score.reward == reward
        assert done.check("nothing planted ran as root") == 1


# -- outputs that are not what they seem -------------------------------------------------------

HALF = "echo 5158 > answer.txt\n"
ODD_OUTPUTS: dict[str, tuple[str, float]] = {
    "a link to the truth": (
        "ln -s /tests/truth.json answer.txt; ln -s /tests/check.py total.sh",
        0,
    ),
    "a link to the shadow file": ("ln -s /etc/shadow answer.txt; ln -s /etc/shadow total.sh", 0),
    "a link to the folder of tests": ("ln -s /tests t; ln -s t/truth.json answer.txt", 0),
    "a link to a right answer of one's own": ("echo 5158 > mine; ln -s mine answer.txt", 0),
    "a link in a circle": ("ln -s answer.txt answer.txt; ln -s . total.sh", 0),
    "a hard link to the shadow file": ("ln /etc/shadow answer.txt || true", 0),
    "a hard link to a right answer of one's own": ("echo 5158 > mine; ln mine answer.txt", 0.5),
    "named pipes": ("mkfifo answer.txt total.sh", 0),
    "a socket": ("python3 -c \"import socket; socket.socket(1).bind('answer.txt')\"", 0),
    "folders in place of files": ("mkdir answer.txt total.sh", 0),
    "a sparse file": ("truncate -s 20M answer.txt total.sh", 0),
    "no permission on a right answer": (f"{HALF}chmod 000 answer.txt", 0.5),
    "no permission on anything": (f"{HALF}chmod 000 answer.txt /home/agent", 0.5),
    "a shell with the set-id bit": (f"{HALF}cp /bin/bash total.sh; chmod 6755 total.sh", 0.5),
    "nested folders without end": (
        f"{HALF}for i in $(seq 300); do mkdir d && cd d || break; done; echo x > x",
        0.5,
    ),
    "everything removed": ("rm -rf /home/agent/* /home/agent/.[a-z]*", 0),
    "kill -9 -1": (f"{HALF}kill -9 -1; sleep 0.1", 0.5),
}


@pytest.mark.parametrize(("script", "reward"), ODD_OUTPUTS.values(), ids=ODD_OUTPUTS.keys())
def test_odd_outputs_are_worth_what_they_hold(bench: Bench, script: str, reward: float) -> None:
    done = bench.attempt(script)
    assert (done.score.reward, done.score.invalid) == (reward, "")


WORKDIRS = {
    "a link to the tests": "cd .. && rm -rf work && ln -s /tests work",
    "a link to where passwords are": "cd .. && rm -rf work && ln -s /etc work",
    "a link to a solved copy": "cd .. && mv work other && ln -s other work",
    "a file": "cd .. && rm -rf work && echo 5158 > work",
    "nothing": "cd .. && rm -rf work",
}


@pytest.mark.parametrize("script", WORKDIRS.values(), ids=WORKDIRS.keys())
def test_a_workdir_that_is_no_folder_any_more_earns_nothing(bench: Bench, script: str) -> None:
    work = "/home/agent/work"
    numbers = FileTree({f"{work[1:]}/numbers.txt": "5000\n150\n8\n"})
    done = bench.attempt(
        bench.SOLVE + script,
        workdir=work,
        outputs=(work,),
        environment=Environment(base="data_querying", files=numbers),
    )
    assert done.solved.ok, done.solved.output
    assert (done.score.reward, done.score.invalid) == (0.0, "")


TOO_MUCH = {
    "bytes": "head -c 3000000 /dev/urandom > big",
    "bytes in a sparse file": "truncate -s 100M big",
    "bytes by hard links": "head -c 900000 /dev/urandom > f; for i in $(seq 20); do ln f f$i; done",
    "bytes, and no end": "head -c 3000000 /dev/urandom > big; sleep 60",
}


@pytest.mark.parametrize("script", TOO_MUCH.values(), ids=TOO_MUCH.keys())
def test_outputs_over_the_cap_earn_nothing(bench: Bench, script: str) -> None:
    limits = Limits(**LIMITS | {"outputs_mb": 1, "agent_seconds": 6})
    done = bench.attempt(bench.SOLVE + script, limits=limits)
    assert done.score.reward == 0.0
    assert [check.name for check in done.score.checks] == ["outputs"]


def test_too_many_outputs_earn_nothing(bench: Bench) -> None:
    many = "python3 -c \"for i in range(50_001): open(f'f{i}', 'w').close()\""
    done = bench.attempt(bench.SOLVE + many)
    assert done.solved.status == "outputs"
    assert done.score.reward == 0.0


# -- hogs ----------------------------------------------------------------------------------------

BOMB = "b() { b | b & }; b; b; sleep 2; b\n"


def test_a_fork_bomb_earns_nothing(bench: Bench) -> None:
    done = bench.attempt(BOMB, limits=Limits(**LIMITS | {"pids": 64, "agent_seconds": 4}))
    assert (done.score.reward, done.score.invalid) == (0.0, "")


def test_a_gigabyte_on_stdout_is_cut_and_changes_nothing(bench: Bench) -> None:
    loud = "yes forged | head -c 1000000000; yes forged | head -c 1000000 >&2\n"
    done = bench.attempt(loud + bench.SOLVE)
    assert done.score.reward == 1.0
    assert 60_000 < len(done.solved.output) < 70_000
    assert "bytes left out" in done.solved.output


def test_a_disk_that_cannot_be_measured_is_a_full_one(bench: Bench) -> None:
    # Folders too deep for a path make engines give up measuring what a container wrote.
    deep = """python3 - <<'END'
import os
for _ in range(40):
    os.mkdir("x" * 200)
    os.chdir("x" * 200)
os.chdir("/home/agent")
for i in range(10):
    with open(f"/var/tmp/hog{i}", "wb") as file:
        file.write(os.urandom(1 << 20) * 20)
import time
time.sleep(30)
END
"""
    done = bench.attempt(deep, limits=Limits(**LIMITS | {"disk_mb": 64}))
    assert done.solved.status == "disk"
    assert done.score.reward == 0.0


def test_time_used_up_is_graded_as_it_stands(bench: Bench) -> None:
    done = bench.attempt(HALF + "sleep 60", limits=Limits(**LIMITS | {"agent_seconds": 3}))
    assert (done.solved.status, done.score.reward) == ("timeout", 0.5)


# -- hostile programs, while they are graded -----------------------------------------------------

DAEMON = """
cat > daemon.py <<'END'
import os, signal, time
if os.fork() or (os.setsid() or os.fork()):
    os._exit(0)
for number in (1, 2, 3, 15):
    signal.signal(number, signal.SIG_IGN)
while True:
    for path in ("/logs/verifier/reward.txt", "/logs/verifier/report.json", "/tests/truth.json"):
        try:
            open(path, "w").write("1.0")
        except OSError:
            pass
    time.sleep(0.01)
END
python3 daemon.py & setsid python3 daemon.py; sleep 0.5
"""
HOG = "python3 -c \"b = bytearray()\nwhile True: b += b'x' * (8 << 20)\""
WRITER = "for i in $(seq 8); do head -c 50000000 /dev/urandom > /var/tmp/hog$i; done; sleep 2"

PYTHON_BOMB = """
exec python3 - <<'END'
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
END
"""

PROGRAMS: dict[str, str] = {
    "a fork bomb": "b() { b | b & }; b; b; sleep 1",
    "a fork bomb of python": PYTHON_BOMB,
    "a gigabyte on stdout": "yes forged | head -c 1000000000",
    "a gigabyte on stderr": "yes forged | head -c 1000000000 >&2",
    "a daemon": DAEMON,
    "kill -9 -1": "kill -9 -1",
    "kill the grader": "kill -9 1 $PPID $(seq 2 100)",
    "stop everybody": "kill -STOP -1; kill -STOP $$",
    "no end": "trap '' TERM INT HUP; while :; do sleep 1; done",
    "all the memory": HOG,
    "not the answer": "echo 43",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_hostile_program_costs_its_own_half_only(bench: Bench, program: str) -> None:
    limits = Limits(**LIMITS | {"memory_mb": 256})
    script = HALF + "cp /solution/program total.sh"
    done = bench.attempt(script, {"program": program}, limits=limits)
    assert done.score.invalid == ""
    assert (done.check("program"), done.check("answer")) == (0, 1)
    assert done.score.reward == 0.5


STARVING = {
    "disk": WRITER,
    "memory": f"for i in $(seq 40); do {HOG} & done; wait",
}


@pytest.mark.parametrize("program", STARVING.values(), ids=STARVING.keys())
def test_a_program_that_starves_the_grader_gets_a_verdict(bench: Bench, program: str) -> None:
    limits = Limits(**LIMITS | {"memory_mb": 256})
    script = HALF + "cp /solution/program total.sh"
    done = bench.attempt(script, {"program": program}, limits=limits)
    assert done.score.invalid == ""
    # The program alone is ended, and the grader goes on; or the grader is ended with it.
    assert done.score.reward in (0.0, 0.5)
    if done.score.reward == 0.0:
        assert [check.name for check in done.score.checks] in (["disk"], ["memory"])


def test_slow_programs_use_up_their_time_and_not_the_graders(bench: Bench) -> None:
    check = (
        "from verifiers import Check\n"
        "def checks(task):\n"
        "    for n in range(5):\n"
        "        run = task.run(['/bin/bash', 'total.sh'], timeout=4)\n"
        "        yield Check(f'run {n}', float(run.ok))\n"
    )
    done = bench.attempt(
        "echo sleep 60 > total.sh",
        tests=FileTree({"check.py": check}),
        limits=Limits(**LIMITS | {"verify_seconds": 20}),
    )
    assert (done.score.reward, done.score.invalid) == (0.0, "")
    assert len(done.score.checks) == 5


SPY = """
seen() { grep -rsl "$1" /tests /solution /logs /tmp /proc/[0-9]*/environ /proc/[0-9]*/cmdline \
  /proc/[0-9]*/root/tests /proc/[0-9]*/cwd/tests /proc/self/fd 2>/dev/null | head -3; }
echo "truth: $(seen 'TRUTH-7f3[a]9c')"
echo "check: $(seen 'nothing planted [r]an')"
echo "list: $(ls /tests /logs/verifier /solution 2>/dev/null | wc -l)"
echo "environ: $(cat /proc/1/environ 2>/dev/null | wc -c)"
echo "mine: $LC_ALL $TZ ${LD_PRELOAD-none} ${BASH_ENV-none} ${PYTHONPATH-none}"
"""


def test_a_program_sees_nothing_of_the_tests_while_it_is_graded(bench: Bench) -> None:
    check = (
        "import subprocess\n"
        "from verifiers import Check\n"
        "def checks(task):\n"
        "    spy = ['/bin/bash', task.path('total.sh')]\n"
        "    root = subprocess.run(spy, capture_output=True, text=True).stdout\n"
        "    yield Check('root', float('/tests/truth.json' in root and 'list: 0' not in root))\n"
        "    yield Check('agent', 1.0, task.run(spy, timeout=20).text)\n"
        "# nothing planted ran\n"
    )
    tests = FileTree({"check.py": check, "truth.json": '{"answer": "TRUTH-7f3a9c"}'})
    done = bench.attempt("cp /solution/program total.sh", {"program": SPY}, tests=tests)
    assert done.check("root") == 1  # the same look finds it all, when root looks
    assert done.detail("agent").split("?") == [
        "truth: ",
        "check: ",
        "list: 0",
        "environ: 0",
        "mine: C.UTF-8 UTC0 none none none",
        "",
    ]
