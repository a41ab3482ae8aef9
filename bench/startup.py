"""What a user waits for before anything happens: `envgen --help`, and `envgen sample --n 15000`."""

import resource
import subprocess
import sys
import tempfile
import time

Figure = tuple[str, float, str]
RUNS = 5


def startup() -> list[Figure]:
    """(name, value, unit): best of `RUNS` for the help, one run for the sample."""
    helps = [_used("--help") for _ in range(RUNS)]
    with tempfile.TemporaryDirectory() as data:
        sampled = _used("sample", "--n", "15000", "--data", data)
    return [
        ("envgen --help, wall clock (best of 5)", min(wall for wall, _ in helps), "s"),
        ("envgen --help, CPU (best of 5)", min(cpu for _, cpu in helps), "s"),
        ("envgen sample --n 15000, wall clock", sampled[0], "s"),
        ("envgen sample --n 15000, CPU", sampled[1], "s"),
    ]


def _used(*arguments: str) -> tuple[float, float]:
    """(wall clock, CPU) seconds of one command."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "envgen.cli", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
