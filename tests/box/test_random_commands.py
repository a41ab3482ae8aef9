"""Random command sequences: the carried shell state against one real bash that lives through all.

Both run in one container, where `drive.py` plays the host. `ENVGEN_SEQUENCES=1000` runs as many;
fewer in the ordinary suite.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from envgen.files import FileTree
from envgen.records import HOME, Job, Put
from envgen.sandbox import shell
from tests.box.conftest import Bench

pytestmark = pytest.mark.box

SEQUENCES = int(os.environ.get("ENVGEN_SEQUENCES", "20"))
BATCH = 20
"""Sequences in one container."""

names = st.sampled_from(["a", "b", "cc", "D"])
words = st.text(st.sampled_from("xyz 019*?$'\"\\|&;<>(){}[]~#!-=%\té\n"), max_size=8)
folders = st.sampled_from(["/tmp", "/usr/share", "..", "-", "~", "/no/such", "sub dir", "/", "."])


def quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def made(template: str, **parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds(lambda **drawn: template.format(**drawn), **parts)


plain = st.sampled_from(
    r"""
true
false
(exit 9)
mkdir -p 'sub dir'
pushd /usr >/dev/null
popd >/dev/null
set -f
set +f
set -o pipefail
set +o pipefail
set -C
set +C
shopt -s nullglob
shopt -u nullglob
shopt -s extglob
shopt -s nocasematch
shopt -u nocasematch
shopt -s expand_aliases
umask 077
umask 022
set --
shift
unset -f f
unalias -a
IFS=:
IFS=', '
unset IFS
set -a
set +a
trap 'echo usr1' USR1
trap 'echo usr1' USR1; kill -USR1 $$
declare -A M=([k]=v ['a b']=c)
M[new]=1
arr=(1 '2 3' [7]=x)
arr+=(y)
echo ${arr[@]} ${#arr[@]} ${!arr[@]}
declare -i num=3+4
num+=2
declare -l low=ABC
echo *
echo one | cat | wc -c
false | true; echo ${PIPESTATUS[@]} $?
for i in 1 2; do echo $i; done
echo $?
cat <<END\nhere $a $((1+2))\nEND
x() { local a=7; b=$a; return 4; }; x; echo $?
(cd /; pwd; a=sub)
[[ ABC == abc ]] && echo same
readonly RO=1
fg 2>&1
printf '%q ' "$@"; echo
env | grep ^[abcD]
exit_code() { return 3; }; exit_code
unset nothing
wait
hash -r
type f
read -r a b <<< 'p q r'; echo $a-$b
let a=5
: ${D:=def}
mapfile -t arr < <(seq 3)
case $a in x*) echo x;; *) echo other;; esac
alias ll='echo ll'
ll
eval 'a=evald'
source /dev/stdin <<< 'b=sourced'
echo $RO ${a-unset} ${b:-empty}
""".strip().splitlines()
).map(lambda text: text.replace("\\n", "\n"))
commands = st.one_of(
    plain,
    made("cd {f}", f=folders.map(lambda f: f if f in ("~", "-") else quoted(f))),
    made("{n}={v}", n=names, v=words.map(quoted)),
    made("export {n}={v}", n=names, v=words.map(quoted)),
    made("unset {n}", n=names),
    made('echo "${n}" ${n}', n=names),
    made("f() {{ echo f:$1:${n}; {n}={v}; }}; export -f f", n=names, v=words.map(quoted)),
    made("f {v}", v=words.map(quoted)),
    made("set -- {v} {w}", v=words.map(quoted), w=words.map(quoted)),
    made("echo {v} >&2", v=words.map(quoted)),
    made("bash -c 'echo inner ${n}; f 1' 2>/dev/null", n=names),
)
sequences = st.lists(st.lists(commands, min_size=1, max_size=3).map("\n".join), max_size=8)
DRIVER = (Path(__file__).parent / "drive.py").read_text()
SHELL = Path(shell.__file__).read_text()


def both(bench: Bench, batch: list[list[str]]) -> Iterator[tuple[list[str], list[str]]]:
    """What the steps of each sequence print: carried over, and in one bash."""
    base = bench.do(bench.kit.bases.get("data_querying"))
    files = {"drive.py": DRIVER, "shell.py": SHELL, "batch.json": json.dumps(batch)}
    job = Job(
        image=base.content,
        image_ref=base.ref,
        command=("/usr/bin/python3", "-B", "/drive/drive.py"),
        cwd=HOME,
        puts=(Put(target="/drive", tree=FileTree(files)),),
        capture=(HOME,),
        seconds=240,
    )
    result = bench.do(bench.kit.sandbox.engine.run(job))
    assert result.ok, result.output
    yield from json.loads(bench.captured(result)["seen.json"])


def test_a_carried_state_is_like_one_shell(bench: Bench) -> None:
    @settings(
        max_examples=max(1, SEQUENCES // BATCH),
        database=None,
        derandomize=SEQUENCES < 100,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(sequences, min_size=BATCH, max_size=BATCH))
    def same(batch: list[list[str]]) -> None:
        for steps, (ours, real) in zip(batch, both(bench, batch), strict=True):
            assert ours == real, steps

    same()
