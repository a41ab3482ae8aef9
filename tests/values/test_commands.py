"""What counts as a command of a reference, and what does not."""

import subprocess
from pathlib import Path

from envgen.commands import _HISTORY, NOTES, told

SCRIPT = """#!/bin/bash
set -eu
# a remark
cd /tmp
export LC_ALL=C
a=1 b='two words'
words=(one two)
found=$(ls | wc -l)
for i in 1 2 3; do
  echo "$i" | cat
done
cat <<'EOF' > /dev/null
cd nowhere
EOF
if [ "$a" = 1 ]; then
  true
fi
cd / && ls
(cd /usr && ls)
LC_ALL=C sort /dev/null
awk 'BEGIN {
  x = 1
}'
echo one; echo two
exit 0
"""
COUNTED = ("found=", "for i", "cat <<", "if [", "cd / &&", "(cd", "LC_ALL=C", "awk", "echo one;")


def test_a_command_is_what_bash_reads_as_one(tmp_path: Path) -> None:
    (tmp_path / "solve.sh").write_text(SCRIPT)
    (tmp_path / "history").write_text(_HISTORY.replace(NOTES, str(tmp_path)))
    subprocess.run(
        ["bash", str(tmp_path / "solve.sh")],
        env={"BASH_ENV": str(tmp_path / "history"), "PATH": "/usr/bin:/bin"},
        check=True,
        capture_output=True,
    )
    found = told((tmp_path / "commands").read_text())
    assert len(found) == len(COUNTED)
    assert all(a.startswith(b) for a, b in zip(found, COUNTED, strict=True)), found


def test_nothing_was_given() -> None:
    assert told("") == ()
    assert told("    1  \x01set -eu\n    2  \x01# only a remark\n") == ()


def test_a_command_is_told_whole() -> None:
    history = (
        "    1  \x01head -n 5\n   10* \x01for i in 1; do\n  echo 2\ndone\n   11  \x01sleep 5\n"
    )
    assert told(history) == ("head -n 5", "for i in 1; do\n  echo 2\ndone", "sleep 5")
