"""Try a procedural family on real containers: gates, known-wrong and known-valid solutions.

    python scripts/try_family.py FAMILY [N] [SEED]

For each of N specs: all gates; every wrong solution must not pass; every valid one must pass; the
reference gives as many commands as its task complexity says (`envgen/commands.py` says how they are
counted).
Containers are real, and what was executed is kept in data/runs/try-FAMILY, so a second call is fast
where nothing changed. Ends with exit code 1 when anything is not as it must be.
"""

import asyncio
import sys
import time
from pathlib import Path

from envgen import axes
from envgen.authors.procedural import chosen, composition, realised
from envgen.build import explain
from envgen.commands import commands
from envgen.config import RunConfig
from envgen.grade import attempt
from envgen.kit import Kit, open_kit
from envgen.ledger import Use
from envgen.pipeline import proven
from envgen.records import BuiltTask, TaskSpec

CATALOGUE = axes.load()


async def trial(spec: TaskSpec, name: str, kit: Kit) -> list[str]:
    """What is wrong with one task of a family; empty when nothing is."""
    made = composition(spec, chosen((name,))[0])
    draft = await realised(spec, name, made, kit)
    task = await proven(draft, kit)
    if not isinstance(task, BuiltTask):
        return [f"{task.code}: {task.detail}"]
    trouble = []
    for kind, solutions in (("wrong", made.wrong), ("valid", made.valid)):
        for label, tree in solutions.items():
            use = Use(spec.slug, f"{kind}:{label}")
            _, solved, score = await attempt(draft, task.image, tree, kit, use)
            failed = score.reward is not None and not score.passed
            good = score.passed if kind == "valid" else failed
            said = explain(score)[:500]
            print(f"  {spec.slug} {kind}/{label}: {said}", flush=True)
            if not good:
                trouble.append(f"{kind}/{label}: {said} | {solved.status} {solved.output[-500:]}")
    given = await commands(draft, task.image, kit, Use(spec.slug, "commands"))
    added, count = task.image.bytes_added, len(given)
    least, most = CATALOGUE.command_range(spec.task_complexity)
    if not least <= count <= most:
        trouble.append(f"{count} commands, {spec.task_complexity} is {least} to {most}")
    told = f"{spec.task_complexity}, {count} commands, baseline {task.baseline}, adds {added} bytes"
    print(f"  {spec.slug} {told}", flush=True)
    return trouble


async def main(name: str, n: int, seed: int) -> int:
    family = chosen((name,))[0]
    rows = axes.sample(CATALOGUE, seed, n, support=[family.realises])
    specs = [axes.spec_of(row) for row in rows]
    started = time.monotonic()
    bad = 0
    async with open_kit(RunConfig(), Path("data/runs") / f"try-{name}", say=print) as kit:
        for spec, trouble in zip(
            specs, await asyncio.gather(*(trial(s, name, kit) for s in specs)), strict=True
        ):
            print(f"{'ok  ' if not trouble else 'FAIL'} {spec.slug}")
            for line in trouble:
                print(f"     {line}")
            bad += bool(trouble)
    print(f"{n - bad} of {n} as they must be, {time.monotonic() - started:.0f} s")
    return int(bool(bad))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    numbers = [int(a) for a in sys.argv[2:]]
    sys.exit(asyncio.run(main(sys.argv[1], *[*numbers, *[3, 0][len(numbers) :]])))
