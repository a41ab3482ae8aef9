"""Make N fixtures of each kind in two processes: same bytes, and how many are read back.

    python scripts/try_fixtures.py [N] [KIND...]

Each process has a ledger of its own and another hash seed, so everything is made, and read back,
twice. Ends with exit code 1 when bytes differ, or fewer than 19 in 20 of a kind are read back.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from fixture_plans import DRAWN, plans

HASH_SEEDS = ("1", "4242")


async def child(count: int, kinds: list[str], folder: str) -> None:
    """Prints, as JSON: kind -> for each plan [digest of files and truth, seconds, fault]."""
    from envgen.authors.fixtures import PLANS, realise
    from envgen.config import RunConfig
    from envgen.digest import digest
    from envgen.errors import Fault
    from envgen.kit import Kit, open_kit
    from envgen.ledger import Use

    at_once = asyncio.Semaphore(2)

    async def one(kind: str, told: dict[str, object], kit: Kit) -> list[object]:
        plan = PLANS[kind].model_validate_json(json.dumps(told))
        async with at_once:
            started = time.monotonic()
            try:
                made = await realise(plan, "/home/agent/given", Use("try", "fixture"), kit)
            except Fault as fault:
                return ["", time.monotonic() - started, fault.detail[-600:]]
            seconds = time.monotonic() - started
            return [digest([made.files.digest, made.truth]), seconds, ""]

    async with open_kit(RunConfig(), Path(folder)) as kit:
        for base in ("tools", "media", "golang"):
            await kit.bases.get(base)
        found = {
            kind: await asyncio.gather(*(one(kind, told, kit) for told in plans(kind, count)))
            for kind in kinds
        }
    print(json.dumps(found))


def process(count: int, kinds: list[str], hash_seed: str) -> dict[str, list[list[object]]]:
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, __file__, "--child", folder, str(count), *kinds],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            stdout=subprocess.PIPE,
            check=True,
        )
    found: dict[str, list[list[object]]] = json.loads(done.stdout)
    return found


def main(count: int, kinds: list[str]) -> int:
    first, second = (process(count, kinds, seed) for seed in HASH_SEEDS)
    bad = 0
    print(f"{'kind':<17} same bytes  read back  seconds each")
    for kind in kinds:
        pairs = list(zip(first[kind], second[kind], strict=True))
        same = sum(one[0] == other[0] for one, other in pairs)
        read = sum(not one[2] for one, _ in pairs)
        seconds = sum(float(str(one[1])) for one, _ in pairs) / count
        print(f"{kind:<17} {same:>4} of {count:<3} {read:>4} of {count:<3} {seconds:8.1f}")
        for fault, times in Counter(str(one[2]) for one, _ in pairs if one[2]).items():
            print(f"    {times} x {fault}")
        bad += same < count or read * 20 < count * 19
    return int(bool(bad))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        asyncio.run(child(int(sys.argv[3]), sys.argv[4:], sys.argv[2]))
    else:
        numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
        named = [word for word in sys.argv[1:] if not word.isdigit()]
        sys.exit(main(*(numbers or [20]), named or list(DRAWN)))
