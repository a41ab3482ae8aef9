"""Every base looks the same to an agent in a session: who it is, what it sees, what it may."""

import pytest

from envgen import bases
from envgen.records import AGENT_UID, Opening
from envgen.sandbox import parity
from tests.box.conftest import Bench

pytestmark = pytest.mark.box

LOOK = r"""
echo "user $(id -u) $(id -g) $(id -G)"
echo "rights $(grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status | tr -d '\t' | tr '\n' ' ')"
echo "network $(ls /sys/class/net)"
echo "place $(hostname) $(date +%Z) $(locale charmap) $(pwd)"
echo "nproc $(nproc) $(env -u OMP_NUM_THREADS nproc)"
echo "python $(python3 -c 'import os; print(len(os.sched_getaffinity(0)), os.cpu_count())')"
[ -w /usr/bin ] || echo "system not writable"
mkdir /tmp/look; cd /tmp/look
if command -v gcc >/dev/null; then
cat > omp.c <<'END'
#include <omp.h>
#include <stdio.h>
int main(void) { printf("openmp %d %d\n", omp_get_num_procs(), omp_get_max_threads()); }
END
gcc -fopenmp omp.c -o omp && ./omp
fi
if command -v go >/dev/null; then
cat > cpus.go <<'END'
package main
import ("fmt"; "runtime")
func main() { fmt.Println("go", runtime.NumCPU(), runtime.GOMAXPROCS(0)) }
END
GOCACHE=/tmp/look/cache GOFLAGS=-mod=mod go run cpus.go
fi
if command -v node >/dev/null; then node -e 'console.log("node", os.cpus().length)'; fi
if command -v jshell >/dev/null; then
echo 'System.out.println("java " + Runtime.getRuntime().availableProcessors())' | jshell -s -
fi
echo "ready"
"""
HOG = "python3 -c 'b = bytearray()\nfor _ in range(600): b += bytes(1 << 20)'; echo $?"
SEEN = (
    "user 1000 1000 1000",
    f"rights CapEff:{'0' * 16} CapBnd:{'0' * 16} NoNewPrivs:1 ",
    "network lo",
    f"place {parity.HOSTNAME} UTC UTF-8 /home/agent",
    "system not writable",
    "ready",
)
TWO = ("nproc 2 2", "python 2 2", "openmp 2 2", "go 2 2", "node 2", "java 2")


@pytest.mark.parametrize("name", bases.names())
def test_a_session_in_every_base_is_the_same(bench: Bench, name: str) -> None:
    base = bench.do(bench.kit.bases.get(name))
    opening = Opening(image=base.content, image_ref=base.ref, memory_mb=512)

    async def scene() -> None:
        async with bench.kit.sandbox.engine.open(opening) as session:
            env = await session.run("env -0 | sort -z | tr '\\0' '\\n'", 30)
            looked = await session.run(LOOK, 240)
            hogged = await session.run(HOG, 120)
        wanted = parity.environment(AGENT_UID, 2)
        found = dict(line.split("=", 1) for line in env.output.splitlines())
        own = {"_": "/usr/bin/env", "PWD": "/home/agent"}  # of every shell
        assert found == {**wanted, **own}
        lines = looked.output.splitlines()
        assert [line for line in SEEN if line not in lines] == [], looked.output
        cpus = [line for line in lines if line.split()[0] in {two.split()[0] for two in TWO}]
        assert len(cpus) >= 2 and set(cpus) <= set(TWO), looked.output
        assert (hogged.end, hogged.output.splitlines()[-3]) == ("memory", "137"), hogged.output

    bench.do(scene())
