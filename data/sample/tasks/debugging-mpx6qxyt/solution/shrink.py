"""Leaves lines out of an input for as long as two programs disagree: shrink.py INPUT OLD NEW."""

import shlex
import subprocess
import sys
from pathlib import Path
from typing import List


def disagree(lines: List[str]) -> bool:
    text = "".join(line + "\n" for line in lines)
    outputs = [
        subprocess.run(shlex.split(command), input=text, capture_output=True, text=True).stdout
        for command in sys.argv[2:4]
    ]
    return outputs[0] != outputs[1]


lines = Path(sys.argv[1]).read_text().split("\n")[:-1]
shorter = True
while shorter:
    shorter = False
    for place in range(len(lines) - 1, -1, -1):
        rest = lines[:place] + lines[place + 1 :]
        if rest and disagree(rest):
            lines, shorter = rest, True
sys.stdout.write("".join(line + "\n" for line in lines))
