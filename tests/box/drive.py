"""Runs in a container: plays sequences of commands in a carried shell and in a real one."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import shell  # the file that stands beside this one there

MARK = "0123456789abcdef" * 2
HOME = "/home/agent"
ENV = {"PATH": "/usr/bin:/bin", "HOME": HOME, "LC_ALL": "C.UTF-8", "TERM": "dumb"}
DUMP = (
    '(IFS=\' \'; set +xf; echo "at $PWD old ${OLDPWD-none}"; umask; echo "$# $*"; dirs -l; '
    "for v in a b cc D arr M num low RO; do declare -p $v; done; alias; declare -F; trap) 2>&1"
)
"""Directory, mask, arguments, stack, variables, aliases, functions, traps."""


def carried(steps):
    """What each command and each dump prints, with its exit code; a bash for every one of them."""
    state, seen = shell.beginning(HOME, ENV), []
    for step in steps:
        for command in (step, f"__r=$?; {DUMP}; (exit $__r)"):
            done = subprocess.run(
                shell.BASH, input=shell.script(MARK, HOME, state, command), capture_output=True
            )
            told = shell.reported(MARK, done.stderr, state)
            if told is None:
                return [*seen, f"no report: {done}"]
            state = told.state
            seen += [bared(done.stdout.replace(MARK.encode(), b"")), told.exit_code]
    return seen


def real(steps):
    """The same in one bash, which reads it as a script."""
    text = f"cd {HOME}; unset OLDPWD\n"
    for step in steps:
        for command in (step, f"__r=$?; {DUMP}; (exit $__r)"):
            text += f"{command}\n__q=$?; printf '%s' '{MARK}' $__q '{MARK}'; (exit $__q)\n"
    Path("/tmp/script").write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["/bin/bash", "/tmp/script"], env=ENV, stdin=subprocess.DEVNULL, cwd="/",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    parts = done.stdout.split(MARK.encode())[:-1]
    return [int(part) if n % 2 else bared(part) for n, part in enumerate(parts)]


def bared(said):
    """Without what cannot be the same: names and lines in complaints, our own trap, `_`, pids."""
    text = said.decode(errors="replace")
    text = re.sub(
        r"^(/tmp/script|bash|environment|main)(: (line \d+|eval))*:", "sh:", text, flags=re.M
    )
    return re.sub(r"^trap -- 'eval \"\$__envgen_leave\"' EXIT\n", "", text, flags=re.M)


def main():
    batch = json.loads(Path("/drive/batch.json").read_text(encoding="utf-8"))
    results = []
    for steps in batch:
        pair = []
        for play in (carried, real):
            for left in Path(HOME).iterdir():
                shutil.rmtree(left, ignore_errors=True)
            pair.append(play(steps))
        results.append(pair)
    Path(HOME, "seen.json").write_text(json.dumps(results), encoding="utf-8")


main()
