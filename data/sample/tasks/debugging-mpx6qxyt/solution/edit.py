"""Replaces one text in a file: edit.py FILE CHANGE.json; the text must stand there once."""

import json
import sys
from pathlib import Path

path = Path(sys.argv[1])
change = json.loads(Path(sys.argv[2]).read_text())
text = path.read_text()
if text.count(change["old"]) != 1:
    sys.exit("the text to be replaced does not stand there once")
path.write_text(text.replace(change["old"], change["new"]))
