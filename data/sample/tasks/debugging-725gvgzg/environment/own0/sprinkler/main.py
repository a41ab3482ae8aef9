"""sprinkler waters a botanical garden: one request a line in, one answer a line out."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "vendor"))

from cronline import serve  # noqa: E402

for line in sys.stdin:
    print(serve(line.rstrip("\n")))
