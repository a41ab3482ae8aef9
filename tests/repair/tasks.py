"""Small tasks with one defect each, written out: what a repairer is shown."""

import base64
import gzip
import hashlib
import importlib.util
import io
import marshal
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from envgen.authors import imports
from envgen.authors.imports import Options
from envgen.files import File, FileTree
from envgen.records import Environment, InitialState, Limits, TaskDraft
from tests.corpora import HARBOR, separate, written

ORDERS = "id,state,cents\n1,open,250\n2,shut,100\n3,open,50\n4,void,75\n5,shut,310\n6,late,12\n"
TOTALS = "late 12\nopen 300\nshut 410\nvoid 75\n"
OLD = f"# by hand, last week\n{TOTALS}"
"""The answer, and not to the byte what the reference writes."""
INSTRUCTION = """\
`/home/agent/orders.csv` has one order a line. Write `/home/agent/totals.txt`: for each `state` a
line with the state, one space, and the sum of its `cents`, in the byte order of the states. Lines
that begin with `#` are remarks and do not count.
"""
SOLVE = """\
#!/bin/bash
set -euo pipefail
awk -F, 'NR > 1 { s[$2] += $3 } END { for (k in s) print k, s[k] }' orders.csv |
  LC_ALL=C sort > totals.txt
"""
OTHER = """\
#!/bin/bash
python3 - <<'END'
import csv
sums = {}
for row in csv.DictReader(open("orders.csv")):
    sums[row["state"]] = sums.get(row["state"], 0) + int(row["cents"])
with open("totals.txt", "w") as file:
    for state in sorted(sums):
        print(state, sums[state], file=file)
END
"""
RIGHT = """\
from verifiers import exact_text


def checks(task):
    text = task.read_text("totals.txt")
    lines = [line for line in (text or "").split("\\n") if not line.startswith("#")]
    yield exact_text.lines("totals", "\\n".join(lines) if text else None, task.truth["totals"])
"""
EXISTS = """\
from verifiers import Check


def checks(task):
    yield Check("totals are there", float(task.exists("totals.txt")))
"""
UNLIKE = """\
from verifiers import Check, exact_text


def checks(task):
    with open("/opt/old/totals.txt") as file:
        old = file.read()
    text = task.read_text("totals.txt") or ""
    yield Check("its own work", float(text != old), must=True)
    lines = [line for line in text.split("\\n") if line and not line.startswith("#")]
    yield exact_text.lines("totals", "\\n".join(lines), task.truth["totals"])
"""
LIMITS = Limits(agent_seconds=60, verify_seconds=60, build_seconds=60, disk_mb=64)
TRUTH = '{"totals": "late 12\\nopen 300\\nshut 410\\nvoid 75"}\n'
PROGRAM = """\
import sys

sums = {}
for line in sys.stdin:
    state, cents = line.split()
    sums[state] = sums.get(state, 0) + int(cents)
for state in sorted(sums):
    print(state, sums[state])
"""
ASKED = """\
Write `/home/agent/sums.py`, a Python 3 program that is run as `python3 sums.py`. It reads lines of
a state, one space and a number from standard input and prints for each state a line with the state,
one space and the sum of its numbers, in the order of the states. `/home/agent/lines.txt` is an
example of its input; it will be run on other lines.
"""
RUNS = """\
from verifiers import fuzz_equivalence


def oracle(data):
    sums = {}
    for line in data.decode().split("\\n")[:-1]:
        state, cents = line.split()
        sums[state] = sums.get(state, 0) + int(cents)
    return "".join(f"{s} {sums[s]}\\n" for s in sorted(sums)).encode()


def checks(task):
    rng = task.rng("lines")
    names = ("open", "shut", "void", "late")
    lines = [
        "".join(f"{rng.choice(names)} {rng.randrange(900)}\\n" for _ in range(20)).encode()
        for _ in range(6)
    ]

    def run(data):
        return task.run(["/usr/bin/python3", "sums.py"], stdin=data)

    yield fuzz_equivalence.grade("sums", run, oracle, lines)
"""
LINES = "open 250\nshut 100\nopen 50\nvoid 75\nshut 310\nlate 12\nopen 7\n"


def task(
    check: str = RIGHT,
    files: Mapping[str, bytes | File] | None = None,
    setup: tuple[str, ...] = (),
    **more: object,
) -> TaskDraft:
    """The totals of an order book, with more in its image."""
    own = {"home/agent/orders.csv": File(ORDERS.encode())}
    given = {path: _file(data) for path, data in (files or {}).items()}
    draft = TaskDraft(
        spec=None,
        origin="test:totals",
        author="hand/test",
        title="Totals of an order book",
        instruction=INSTRUCTION,
        environment=Environment(
            base="data_processing", files=FileTree({**own, **given}), setup=setup
        ),
        initial=InitialState(absent=("/home/agent/totals.txt",)),
        tests=FileTree({"check.py": check, "truth.json": TRUTH}),
        solution=FileTree({"solve.sh": SOLVE}),
        limits=LIMITS,
    )
    return draft.model_copy(update=more)


def program(files: Mapping[str, bytes | File]) -> TaskDraft:
    """A program is asked for, and one lies in the image."""
    given = {path: _file(data) for path, data in files.items()}
    own = {"home/agent/lines.txt": File(LINES.encode())}
    return task(
        instruction=ASKED,
        title="A program that sums",
        environment=Environment(base="data_processing", files=FileTree({**own, **given})),
        initial=InitialState(absent=("/home/agent/sums.py",)),
        tests=FileTree({"check.py": RUNS}),
        solution=FileTree({"solve.sh": "cp /solution/sums.py .\n", "sums.py": PROGRAM}),
    )


def _file(data: bytes | File) -> File:
    return data if isinstance(data, File) else File(data)


VALID = {"python": FileTree({"solve.sh": OTHER})}


# -- leaks -------------------------------------------------------------------------------------


class Leak(NamedTuple):
    """A task whose answer can be had, and somebody who has it."""

    draft: TaskDraft
    attack: str
    """As `solve.sh`: earns everything on the task as it is."""


def leaks(place: Path) -> dict[str, Leak]:
    """Each form of a leak that is known to have beaten repairs or to have gone unseen."""
    out, own = "/home/agent/totals.txt", TOTALS.encode()
    packed = "/var/lib/refresh/totals.txt.gz"
    wheel = "home/agent/.cache/pip/wheels/9f/totals-1.0-py3-none-any.whl"
    history = f"ls -l\nprintf '{TOTALS.encode('unicode_escape').decode()}' > totals.txt\n"
    old, compiled = "/opt/deploy/sums.py", "/opt/deploy/__pycache__/sums.cpython-311.pyc"
    run = "import marshal; exec(marshal.loads(open('{}', 'rb').read()[16:]))"
    starts = "#!/bin/bash\ncat > ~/sums.py <<'END'\n"
    return {
        "appended": Leak(
            task(UNLIKE, {"opt/old/totals.txt": OLD.encode()}),
            f"(cat /opt/old/totals.txt; echo '# mine') > {out}\n",
        ),
        "re-encoded": Leak(
            task(files={packed[1:]: gzip.compress(own, mtime=0)}), f"zcat {packed} > {out}\n"
        ),
        "linked": linked(place),
        "wrapped": Leak(
            program({old[1:]: b"# as released\n" + PROGRAM.encode()}),
            f"{starts}import runpy\nrunpy.run_path('{old}')\nEND\n",
        ),
        "layer": Leak(
            task(files={"home/agent/.work/totals.txt": own}, setup=("rm -rf .work",)),
            f"base64 -d > {out} <<< {base64.b64encode(own).decode()}\n",
        ),
        "compiled": Leak(
            program({compiled[1:]: _compiled()}), f"{starts}{run.format(compiled)}\nEND\n"
        ),
        "history": Leak(
            task(files={"home/agent/.bash_history": history.encode()}),
            "cd ~ && bash .bash_history\n",
        ),
        "variable": variable(place),
        "cache": Leak(
            task(files={wheel: _wheel()}),
            f"python3 -c \"import zipfile; open('{out}', 'wb').write(zipfile.ZipFile('/{wheel}')"
            ".read('totals/totals.txt'))\"\n",
        ),
    }


def _compiled() -> bytes:
    code = compile(PROGRAM, "sums.py", "exec")
    return importlib.util.MAGIC_NUMBER + b"\0" * 12 + marshal.dumps(code)


def _wheel() -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as wheel:
        wheel.writestr(zipfile.ZipInfo("totals/totals.txt"), TOTALS)
    return held.getvalue()


LOG = "north failed\nsouth went well\neast failed\n"
DIGEST = hashlib.sha256(LOG.encode()).hexdigest()
_TEST = """\
import os


def test_the_digest():
    with open("/home/visitor/digest.txt") as file:
        assert file.read().strip() == {wanted}
"""
_TEXT = "Write the SHA-256 of `/home/visitor/visits.log`, in hex, to `/home/visitor/digest.txt`.\n"
_SOLVE = "sha256sum /home/visitor/visits.log | cut -d' ' -f1 > /home/visitor/digest.txt\n"


def imported(place: Path, name: str, lines: str, wanted: str, **files: str) -> TaskDraft:
    """A stranger's task in the separate form, whose agent is no root."""
    docker = str(HARBOR["environment/Dockerfile"]) + lines
    toml = str(HARBOR["task.toml"]).replace("[agent]\n", '[agent]\nuser = "visitor"\n')
    made = {
        **HARBOR,
        "task.toml": toml,
        "instruction.md": _TEXT,
        "environment/Dockerfile": docker,
        "tests/test_outputs.py": _TEST.format(wanted=wanted),
        "solution/solve.sh": _SOLVE,
        **files,
    }
    written(place / name / "one", separate(made, "/home/visitor"))
    (draft,) = imports.read("harbor", place / name, Options())
    assert isinstance(draft, TaskDraft), draft
    return draft


def linked(place: Path) -> Leak:
    lines = "COPY digest.txt /opt/old/digest.txt\n"
    files = {"environment/digest.txt": f"{DIGEST}\n"}
    draft = imported(place, "linked", lines, repr(DIGEST), **files)
    return Leak(draft, "ln -s /opt/old/digest.txt /home/visitor/digest.txt\n")


def variable(place: Path) -> Leak:
    wanted = 'os.environ["EXPECTED_DIGEST"]'
    draft = imported(place, "variable", f"ENV EXPECTED_DIGEST={DIGEST}\n", wanted)
    return Leak(draft, 'echo "$EXPECTED_DIGEST" > /home/visitor/digest.txt\n')
