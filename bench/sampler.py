"""Time and memory of the sampler: 15,000 specs in memory, and 1,000,000 streamed to Parquet.

Each runs in an interpreter of its own, so that peak memory is its own. `python bench/sampler.py`
prints the table; `sampler()` returns it.
"""

import json
import subprocess
import sys

MEASURE = """
import json, resource, sys, tempfile, time
from pathlib import Path
from envgen import axes

n, to_file = int(sys.argv[1]), sys.argv[2] == "file"
wall, cpu = time.perf_counter(), time.process_time()
rows = axes.sample(axes.load(), 0, n)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "specs.parquet"
    done = axes.write_specs(path, rows) if to_file else len(list(rows))
    size = path.stat().st_size if to_file else 0
assert done == n
used = time.process_time() - cpu, time.perf_counter() - wall
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([*used, peak, size / 2**20]))
"""

Figure = tuple[str, float, str]


def sampler() -> list[Figure]:
    """(name, value, unit) for both sizes; CPU and wall clock after import, load included."""
    figures: list[Figure] = []
    for name, n, target in (("15k", 15_000, "memory"), ("1M to Parquet", 1_000_000, "file")):
        command = [sys.executable, "-c", MEASURE, str(n), target]
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        cpu, wall, peak, size = json.loads(out)
        figures.append((f"sample {name}, CPU", cpu, "s"))
        figures.append((f"sample {name}, wall clock", wall, "s"))
        figures.append((f"sample {name}, peak RSS", peak, "MB"))
        if target == "file":
            figures.append((f"sample {name}, file", size, "MB"))
    return figures


if __name__ == "__main__":
    for label, value, unit in sampler():
        sys.stdout.write(f"{label:32} {value:10.2f} {unit}\n")
