"""The findings that the next person needs, from the settings that the probes found."""

import json
import sys
from pathlib import Path

found = json.loads(Path(sys.argv[1]).read_text())
counter = "none"
if found["counter"]:
    first, modulus = found["counter"]
    counter = f"{first},{modulus - 1}"
lines = [f"counter={counter}", f"check_bytes={found['check']['width'] // 8}"]
if "fields" in found:
    last_first = found["order"] == "big"
    fields = sorted(found["fields"], key=lambda field: field["shift"], reverse=last_first)
    lines.append("order=" + ",".join(field["name"] for field in fields))
else:
    lines += [f"longest_repeat={found['run_max']}", f"largest_step={found['step_max']}"]
sys.stdout.write("\n".join(lines) + "\n")
