"""Break an engine in every way while 64 scripted episodes run on it, and say what became of each.

    python scripts/try_faults.py [EPISODES]

Needs root and a Docker whose `dockerd` is installed: a second daemon is started, with data, sockets
and network of its own, on a small loop mount; the running one only lends an image. Every second
episode solves its task and must be graded 1; the others do nothing and must be graded 0; a score
that is neither is a fake. Prints one line for each fault and the figures; exit code 1 when an
episode ended in a fake score or anything is left over.
"""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from envgen.config import EngineConfig, RunConfig
from envgen.errors import Weather
from envgen.grade import build_image, graded
from envgen.kit import open_kit
from envgen.ledger import Use
from envgen.sandbox.daemon import OWNER_LABEL
from envgen.sandbox.pool import Gauge, Pool
from envgen.submission import opening
from scripts.spare_daemon import Daemon, Slow
from tests.box.conftest import SOLVE, draft_of

AT_ONCE = 4
USE = Use("faults", "episode")
ROOT = Path(__file__).resolve().parents[1]


# -- the run that is disturbed, a process of its own ---------------------------------------------


async def play(url: str, folder: Path, numbers: list[int]) -> None:
    """Play the episodes with these numbers; a line of JSON for each that has ended."""
    draft, config = draft_of(), RunConfig(engine=EngineConfig(url=url, containers=AT_ONCE))
    async with open_kit(config, folder) as kit:
        _, image, _ = await build_image(draft, kit, USE)
        print(json.dumps({"ref": image.ref}), flush=True)
        pool = Pool(kit.sandbox.engine, AT_ONCE, gauge=Gauge(least=10_000))
        turns = asyncio.Semaphore(AT_ONCE)

        async def in_turn(number: int) -> None:
            async with turns:
                if "fault" in await episode(number):
                    await asyncio.sleep(3)  # one trouble shall not take all episodes in a second

        async def episode(number: int) -> dict[str, object]:
            began, end = time.monotonic(), dict[str, object](number=number)
            try:
                async with pool.lease(opening(draft, image, 600)) as session:
                    for turn in range(4):
                        await session.run(f"x=$((x + 1)); echo {turn} $x; sleep 0.4", 30)
                    await session.run(f"echo {number} > made", 30)
                    if number % 2:
                        await session.run(SOLVE, 30)
                    left = await session.capture(draft.outputs)
                    _, score = await graded(draft, image, left, kit, USE)
                end |= {"reward": score.reward, "invalid": score.invalid}
            except Weather as weather:
                end |= {"fault": weather.code, "detail": str(weather)[:300]}
            end["seconds"] = round(time.monotonic() - began, 1)
            print(json.dumps(end), flush=True)
            return end

        await asyncio.gather(*(in_turn(number) for number in numbers))


# -- the disturbing ----------------------------------------------------------------------------


class Run:
    """A child that plays, and what has become of its episodes so far."""

    def __init__(self, url: str, folder: Path, n: int) -> None:
        self.url, self.folder, self.n = url, folder, n
        self.ends: dict[int, dict[str, object]] = {}
        self.ref = ""
        self.start()

    def start(self) -> None:
        left = [str(n) for n in range(self.n) if n not in self.ends]
        command = [sys.executable, __file__, "play", self.url, str(self.folder), *left]
        env = os.environ | {"PYTHONPATH": str(ROOT)}
        self.child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
        threading.Thread(target=self._read, args=(self.child.stdout or (),), daemon=True).start()

    def _read(self, lines: Iterable[str]) -> None:
        for line in lines:
            said = json.loads(line)
            self.ref = said.get("ref", self.ref)
            if "number" in said:
                self.ends[said["number"]] = said

    def wait(self, done: int) -> None:
        """Until so many episodes have ended."""
        while len(self.ends) < done and self.child.poll() is None:
            time.sleep(0.1)


def disturb(run: Run, daemon: Daemon, slow: Slow) -> None:
    """One trouble after the other, at eighths of the run."""
    filler, step = daemon.data / "filler", run.n // 8

    def kill() -> None:
        first, second, *_ = daemon.live(2)
        daemon.do("kill", first)
        daemon.do("rm", "-f", second)

    def image_gone() -> None:
        daemon.do("tag", run.ref, "spare:1")
        daemon.do("rmi", "-f", run.ref)
        time.sleep(4)
        daemon.do("tag", "spare:1", run.ref)

    def slowness() -> None:
        slow.delay = 0.3
        time.sleep(10)
        slow.delay = 0.0

    def disk_full() -> None:
        subprocess.run(["dd", "if=/dev/zero", f"of={filler}", "bs=1M"], capture_output=True)
        time.sleep(4)
        filler.unlink()

    def restart() -> None:
        daemon.stop()
        time.sleep(3)
        daemon.start()

    def crash() -> None:
        run.child.send_signal(signal.SIGKILL)
        run.child.wait()
        run.start()

    troubles: list[tuple[str, Callable[[], None]]] = [
        ("one sandbox killed, another removed", kill),
        ("image removed for 4 s", image_gone),
        ("daemon slow for 10 s (0.3 s a message)", slowness),
        ("disk full for 4 s", disk_full),
        ("daemon stopped and started", restart),
        ("our process killed and started again", crash),
    ]
    for number, (name, trouble) in enumerate(troubles, 1):
        run.wait(max(number * step, len(run.ends) + 3))  # those before have shown what they did
        live, before = len(daemon.live(2)), len(run.ends)
        trouble()
        print(
            f"{name}: after {before} episodes, with {live} sandboxes in use; "
            f"{len(run.ends) - before} ended meanwhile",
            flush=True,
        )
    run.wait(run.n)
    run.child.wait()


def main(n: int) -> int:
    """Play, disturb, count; the exit code."""
    folder = Path(tempfile.mkdtemp(prefix="envgen-faults-"))
    daemon = Daemon(folder)
    try:
        names = subprocess.run(
            ["docker", "images", "--format", "{{.Repository}}:{{.Tag}}"],
            capture_output=True,
            text=True,
        ).stdout.split()
        lent = [i for i in names if i.startswith(("envgen/base:data_querying-", "envgen/root:"))]
        save = subprocess.Popen(["docker", "save", *lent], stdout=subprocess.PIPE)
        subprocess.run(daemon.command("load", "-q"), stdin=save.stdout, check=True)
        slow = Slow(folder / "slow.sock", daemon.socket)
        run = Run(slow.url, folder / "run", n)
        started = time.monotonic()
        disturb(run, daemon, slow)
        seconds = time.monotonic() - started
        left = daemon.do("ps", "-aq", "--filter", f"label={OWNER_LABEL}").split()
    finally:
        daemon.remove()
    shutil.rmtree(folder, ignore_errors=True)
    return report(run, n, seconds, left)


def report(run: Run, n: int, seconds: float, left: list[str]) -> int:
    """Print the figures; 1 when something is wrong."""
    ends = run.ends.values()
    scored = [e for e in ends if e.get("reward") is not None]
    fakes = [e for e in scored if e["reward"] != (1.0 if int(str(e["number"])) % 2 else 0.0)]
    faults = Counter(str(e["fault"]) for e in ends if "fault" in e)
    invalid = [e for e in ends if e.get("invalid")]
    print(f"{n} episodes in {seconds:.0f} s: {len(scored)} scored, {sum(faults.values())} faults")
    print(f"faults: {dict(faults)}")
    for end in ends:
        if "fault" in end:
            print(f"  {end['number']}: {end['fault']}: {end['detail']}")
    print(f"fake scores: {fakes}; invalid: {invalid}; without an end: {n - len(run.ends)}")
    print(f"containers left: {left}")
    return int(bool(fakes or left or len(run.ends) < n))


if __name__ == "__main__":
    if sys.argv[1:2] == ["play"]:
        numbers = [int(number) for number in sys.argv[4:]]
        asyncio.run(play(sys.argv[2], Path(sys.argv[3]), numbers))
    else:
        sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 64))
