"""The engine's self-test: every parity rule, executed. An engine that fails one is refused.

Each rule is a job and a judgement of its result. The same rules are the conformance suite that an
engine has to pass before it may hold a task.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from envgen.errors import ImageMissing
from envgen.files import File, FileTree
from envgen.records import AGENT_UID, HOME, BaseImage, Job, JobResult, Opening, Put
from envgen.sandbox import Engine, parity

BASE = "data_querying"
"""The leanest base; the rules need nothing more."""

Judge = Callable[[JobResult], str]
"""What is wrong with a result; empty when nothing is."""


@dataclass(frozen=True)
class Rule:
    """A promise about sandboxes, the job that tries it, and the judgement."""

    name: str
    job: dict[str, Any]
    judge: Judge


def _says(*expected: str) -> Judge:
    """The command ended well and printed exactly these lines."""

    def judge(result: JobResult) -> str:
        lines = tuple(result.output.strip().splitlines())
        if result.ok and lines == expected:
            return ""
        return f"expected {expected}, got {result.status} {result.exit_code}: {lines[:5]}"

    return judge


def _ends(status: str) -> Judge:
    return lambda r: "" if r.status == status else f"expected {status}, got {r.status}"


def _sh(script: str, **fields: Any) -> dict[str, Any]:
    return {"command": ("/bin/bash", "-c", script), "cwd": HOME} | fields


def _py(script: str, **fields: Any) -> dict[str, Any]:
    return {"command": ("/usr/bin/python3", "-I", "-c", script), "cwd": HOME} | fields


def _bounded(result: JobResult) -> str:
    if result.status == "done" and len(result.output) < 200_000:
        return ""
    return f"{result.status} with {len(result.output)} characters of output kept"


def _killed(result: JobResult) -> str:
    return "" if not result.ok else "more memory than the cap was there for the taking"


def _clean(result: JobResult) -> str:
    wanted = parity.environment(AGENT_UID, 2)
    found = dict(line.split("=", 1) for line in result.output.split("\0") if "=" in line)
    extra = {name: v for name, v in found.items() if wanted.get(name) != v}
    lacking = wanted.keys() - found.keys()
    return f"differs: {sorted(extra)}, lacking {sorted(lacking)}" if extra or lacking else ""


def _kept(result: JobResult) -> str:
    return "" if result.captured else "the outputs of a stopped container were not captured"


_TESTS = Put(target="/tests", tree=FileTree({"truth": File(b"x", 0o644)}), mode=0o700)
_HOG = "b = bytearray()\nfor _ in range(300): b += b'x' * (1 << 20)"
_FORKS = (
    "import os, time\nn = 0\ntry:\n  while n < 500:\n    if os.fork() == 0:\n"
    "      time.sleep(5); os._exit(0)\n    n += 1\nexcept OSError: pass\n"
    "print(n < 64, flush=True)\nos.kill(-1, 9)"
)
_DROP = "import os; os.setgroups([]); os.setgid(1000); os.setuid(1000); print(os.getuid())"


def rules(host_cpus: int) -> tuple[Rule, ...]:
    """All rules, for an engine whose host has so many CPUs."""
    cpus = str(min(2, host_cpus))
    return (
        Rule("the agent is uid 1000", _sh("id -u; id -g; id -G"), _says("1000", "1000", "1000")),
        Rule(
            "no capability, no new privileges",
            _sh("grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status | tr -d '\\t'"),
            _says("CapEff:" + "0" * 16, "CapBnd:" + "0" * 16, "NoNewPrivs:1"),
        ),
        Rule("only the declared environment", {"command": ("/usr/bin/env", "-0")}, _clean),
        Rule("no network", _sh("ls /sys/class/net"), _says("lo")),
        Rule(
            "loopback works",
            _py("import socket; s = socket.create_server(('sandbox', 0)); print('ok')"),
            _says("ok"),
        ),
        Rule("a fixed host name", _sh("hostname"), _says(parity.HOSTNAME)),
        Rule("two CPUs", _sh("nproc; env -u OMP_NUM_THREADS nproc"), _says("2", cpus)),
        Rule("UTC and UTF-8", _sh("date +%Z; locale charmap"), _says("UTC", "UTF-8")),
        Rule("memory is capped", _py(_HOG, memory_mb=128), _killed),
        Rule(
            "processes are capped",
            _py(_FORKS, pids=64),
            lambda r: "" if "True" in r.output else r.output,
        ),
        Rule("output is capped", _sh("head -c 50000000 /dev/zero | tr '\\0' x"), _bounded),
        Rule(
            "files are capped",
            _sh(
                "bash -c 'head -c 20000000 /dev/zero > big; true' 2>/dev/null; stat -c %s big",
                disk_mb=8,
            ),
            lambda r: "" if r.output.strip() == str(8 << 20) else r.output,
        ),
        Rule(
            "the disk is watched",
            _sh("for i in 1 2 3 4; do head -c 6000000 /dev/zero > f$i; done; sleep 30", disk_mb=8),
            lambda r: "" if r.status == "disk" or not r.ok else "24 MB fit into a cap of 8",
        ),
        Rule("time is capped", _sh("sleep 30", seconds=1), _ends("timeout")),
        Rule(
            "the agent cannot read the tests",
            _sh("cat /tests/truth 2>/dev/null || echo refused", puts=(_TESTS,)),
            _says("refused"),
        ),
        Rule("outputs are captured", _sh("echo made > made", capture=(HOME,)), _kept),
        Rule("the grader can drop privileges", _py(_DROP, uid=0), _says("1000")),
        Rule(
            "nothing of the host is inside",
            _sh("ls /var/run/docker.sock /host 2>/dev/null; echo end"),
            _says("end"),
        ),
    )


MISSING = "a missing image is never pulled"
SESSION = "a session keeps its state, and a time limit ends a command"
MORE = (MISSING, SESSION)
"""Rules that are no jobs."""


async def failures(engine: Engine, base: BaseImage, tests: Sequence[Rule]) -> dict[str, str]:
    """Rules that the engine breaks, each with what was seen."""
    broken: dict[str, str] = {}
    for rule in tests:
        job = Job(**({"image": base.content, "image_ref": base.ref} | rule.job))
        if trouble := rule.judge(await engine.run(job)):
            broken[rule.name] = trouble
    missing = Job(image="none", image_ref="envgen/no-such-image:0", command=("/bin/true",))
    try:
        await engine.run(missing)
        broken[MISSING] = "something ran"
    except ImageMissing:
        pass
    opening = Opening(image=base.content, image_ref=base.ref)
    async with engine.open(opening) as session:
        await session.run("cd /tmp; x=5", 30)
        seen = await session.run("echo $x $PWD; sleep 60", 2)
    if seen.end != "timeout" or not seen.output.startswith("5 /tmp\n"):
        broken[SESSION] = f"{seen.end}: {seen.output[:200]}"
    return broken
