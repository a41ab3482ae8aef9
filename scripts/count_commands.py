"""How many commands the references of procedural families give, against their task complexity.

    python scripts/count_commands.py N SEED [FAMILY ...]

For each family (all, unless some are named) N tasks are built and their references run; one line
for each complexity. `envgen/commands.py` says what a command is.
"""

import asyncio
import sys
from collections import defaultdict
from pathlib import Path

from envgen import axes
from envgen.authors.procedural import chosen, composition, realised
from envgen.build import build
from envgen.commands import commands
from envgen.config import RunConfig
from envgen.kit import Kit, open_kit
from envgen.ledger import Use
from envgen.records import BuiltTask, TaskSpec

CATALOGUE = axes.load()


async def count(spec: TaskSpec, name: str, kit: Kit) -> int | None:
    """Commands of one task's reference; None, and a line that says why, where it is not kept."""
    draft = await realised(spec, name, composition(spec, chosen((name,))[0]), kit)
    task = await build(draft, kit)
    if not isinstance(task, BuiltTask):
        print(f"{name} {spec.slug} {task.code}: {task.detail[-300:]}", flush=True)
        return None
    return len(await commands(draft, task.image, kit, Use(spec.slug, "commands")))


async def main(n: int, seed: int, families: tuple[str, ...]) -> int:
    inside = total = lost = 0
    async with open_kit(RunConfig(), Path("data/runs/count-commands"), say=print) as kit:
        for family in chosen(families):
            rows = axes.sample(CATALOGUE, seed, n, support=[family.realises])
            specs = [axes.spec_of(row) for row in rows]
            counts = await asyncio.gather(*(count(spec, family.name, kit) for spec in specs))
            found: dict[str, list[int]] = defaultdict(list)
            for spec, number in zip(specs, counts, strict=True):
                lost += number is None
                if number is not None:
                    found[spec.task_complexity].append(number)
            for complexity, numbers in sorted(found.items()):
                good = within(family.name, complexity, sorted(numbers))
                inside, total = inside + good, total + len(numbers)
    print(f"{inside} of {total} inside, {lost} not kept")
    return int(inside < 0.95 * total or lost > 0)


def within(name: str, complexity: str, numbers: list[int]) -> int:
    """How many lie in the range of their complexity; says so."""
    least, most = CATALOGUE.command_range(complexity)
    good = sum(least <= number <= most for number in numbers)
    told = f"{good} of {len(numbers)} inside: {' '.join(map(str, numbers))}"
    print(f"{name} {complexity} ({least} to {most}): {told}", flush=True)
    return good


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(asyncio.run(main(int(sys.argv[1]), int(sys.argv[2]), tuple(sys.argv[3:]))))
