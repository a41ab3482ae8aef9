"""One table of figures: `python -m bench`, or `python -m bench NAME ...` for some of them."""

import sys

from bench.corpora import corpora
from bench.episodes import episodes
from bench.gates import gates
from bench.pages import pages
from bench.pipeline import pipeline
from bench.sampler import sampler
from bench.startup import startup
from bench.throughput import throughput

PARTS = {
    "startup": startup,
    "sampler": sampler,
    "throughput": throughput,
    "pipeline": pipeline,
    "gates": gates,
    "episodes": episodes,
    "pages": pages,
    "corpora": corpora,
}


def main(names: list[str]) -> int:
    """Measure and print; 2 for a name that is none of ours."""
    if unknown := [name for name in names if name not in PARTS]:
        print(f"no figures {unknown[0]!r}: there are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    for name in names or PARTS:
        for label, value, unit in PARTS[name]():
            print(f"{label:48} {value:10.2f} {unit}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
