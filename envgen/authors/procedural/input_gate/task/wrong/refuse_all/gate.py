"""Stops everything."""

import sys
from typing import Any, Dict

SETTINGS: Dict[str, Any] = {}  # filled in from the policy document

for _ in sys.stdin.buffer:
    sys.stdout.write(f"{SETTINGS['answers'][1]}\n")
