# mypy: ignore-errors
"""mend.py FILE: the changes that it needs, each in a place that is there once."""

import json
import sys
from pathlib import Path

path = Path(sys.argv[1])
text = path.read_text()
for old, new in json.loads(Path("/solution/fixes.json").read_text()):
    if text.count(old) != 1:
        sys.exit(f"not once: {old}")
    text = text.replace(old, new)
path.write_text(text)
