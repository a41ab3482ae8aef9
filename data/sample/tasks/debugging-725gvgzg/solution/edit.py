# mypy: ignore-errors
"""Replaces a text that stands there once: edit.py FOLDER EDIT.json"""

import json
import sys
from pathlib import Path

edit = json.loads(Path(sys.argv[2]).read_text())
path = Path(sys.argv[1], f"{edit['module']}.py")
text = path.read_text()
assert text.count(edit["old"]) == 1, edit
path.write_text(text.replace(edit["old"], edit["new"]))
