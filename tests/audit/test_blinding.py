"""Work without sight: what a blind run's outputs become, and which programs survive it."""

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest

from envgen.audit.critic import blinding
from envgen.audit.target import Entry, Target
from envgen.records import TaskDraft
from tests.audit.conftest import OUTPUTS, tarred, untarred

HOME = "/home/agent"
PROGRAMS = {
    "a constant": ("tool.sh", "#!/bin/bash\necho accept\n", "accept\n"),
    "a constant without a first line": ("tool", "echo accept\n", "accept\n"),
    "a constant in Python": ("tool.py", "print('accept')\n", "accept\n"),
    "reads its input": ("tool.sh", "#!/bin/bash\ncat\n", ""),
    "reads its input in Python": ("tool.py", "print(open(0).read(), end='')\n", ""),
    "reads its argument": ("tool.sh", '#!/bin/bash\ncat "${1-/dev/null}"\n', ""),
    "reads its folder": ("tool.sh", "#!/bin/bash\ncat data.txt 2> /dev/null\n", ""),
    "reads beside itself": ("tool.sh", '#!/bin/bash\ncat "$(dirname "$0")"/data.txt 2>&-\n', ""),
    "reads its home": ("tool.sh", "#!/bin/bash\ncat ~/data.txt 2> /dev/null\n", ""),
    "reads a path": ("tool.py", "print(open('HOME/data.txt').read())\n", ""),
    "reads its environment": ("tool.sh", '#!/bin/bash\nprintf "%s" "$SECRET"\n', ""),
}


@pytest.mark.parametrize("kind", PROGRAMS)
def test_a_program_sees_nothing(tmp_path: Path, target: Target, kind: str) -> None:
    name, text, wanted = PROGRAMS[kind]
    home = str(tmp_path)
    seen = dataclasses.replace(target, home=home, workdir=home, folders=(home,), entries=())
    left = tarred({f"{home}/{name}": text.replace("HOME", home).encode()})
    assert "program" in kind or blinding.programs(seen, left) or name == "tool"
    if name == "tool":  # nothing but its mode would say so
        seen = dataclasses.replace(seen, instruction=f"Write the program `{home}/tool`.")
    made = blinding.unsighted(seen, left)
    assert made is not None
    for path, data in untarred(made).items():
        Path(path).write_bytes(data)
        Path(path).chmod(0o755)
    (tmp_path / "data.txt").write_text("seen\n")
    start = [sys.executable] if name.endswith(".py") else ["bash"]
    done = subprocess.run(
        [*start, name, f"{home}/data.txt"], cwd=home, input="typed\n", capture_output=True,
        text=True, env={"HOME": home, "SECRET": "told", "PATH": "/usr/bin:/bin"}, check=False,
    )  # fmt: skip
    assert done.stdout == wanted


def test_what_cannot_be_replaced_is_said(target: Target) -> None:
    assert blinding.unsighted(target, tarred({f"{HOME}/fast.c": b"int main() {}\n"})) is None
    assert blinding.unsighted(target, tarred({f"{HOME}/a.txt": b"x"})) is not None


def test_the_task_s_files_come_back_where_no_program_is_left(target: Target) -> None:
    blind = {f"{HOME}/orders.csv": b"", f"{HOME}/count.txt": b"9\n"}
    made = blinding.unsighted(target, tarred(blind))
    assert made is not None
    assert untarred(made) == blind | {f"{HOME}/orders.csv": b"id,value\na,1\nb,2\n"}
    blind |= {f"{HOME}/tool.sh": b"echo\n"}
    made = blinding.unsighted(target, tarred(blind))
    assert made is not None and untarred(made)[f"{HOME}/orders.csv"] == b""


def test_all_that_a_task_adds_is_emptied_where_it_lies(target: Target, draft: TaskDraft) -> None:
    more = Entry("/srv/data/x.csv", b"1", 0o640, own=False)
    gone = Entry("/home/agent/.old", b"1", 0o644, own=True, removed=True)
    seen = dataclasses.replace(target, entries=(*target.entries, more, gone))
    puts = {put.target: put for put in blinding.emptied(seen, draft)}
    assert set(puts) == {"/home/agent", "/srv/data"}
    assert (puts["/home/agent"].uid, puts["/srv/data"].uid) == (1000, 0)
    files = {f"{t}/{n}": (f.data, f.mode) for t, p in puts.items() for n, f in p.tree.items()}
    assert files == {"/home/agent/orders.csv": (b"", 0o644), "/srv/data/x.csv": (b"", 0o640)}
    (only,) = blinding.emptied(seen, draft, frozenset({"/srv/data/x.csv"}))
    assert only.target == "/srv/data"


def test_agreement_is_the_share_of_right_words(target: Target) -> None:
    reference = tarred(OUTPUTS)
    assert blinding.agreement(target, reference, reference) == 1.0
    none = {path: b"?" for path in OUTPUTS}
    assert blinding.agreement(target, tarred(none), reference) == 0.0
    half = OUTPUTS | {f"{HOME}/facts.json": b"", f"{HOME}/count.txt": b""}
    assert blinding.agreement(target, tarred(half), reference) == pytest.approx(10 / 15)


def test_the_same_is_all_that_the_reference_makes(target: Target) -> None:
    reference = tarred(OUTPUTS)
    assert blinding.same(target, tarred(OUTPUTS | {f"{HOME}/more": b"1"}), reference)
    respelled = OUTPUTS | {f"{HOME}/facts.json": b'{"least": 1,\n"most": 4}'}
    assert blinding.same(target, tarred(respelled), reference)
    for path in OUTPUTS:
        without = {p: d for p, d in OUTPUTS.items() if p != path}
        assert not blinding.same(target, tarred(without), reference)
    assert not blinding.same(target, reference, tarred({}))
