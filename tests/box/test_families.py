"""Every procedural family on real containers: gates, known-wrong and known-valid solutions, and
whether the reference gives as many commands as its task complexity says.

ENVGEN_FAMILY_TASKS says how many tasks of each family are tried (1, unless it says otherwise).
"""

import asyncio
import os

import pytest

from envgen import axes
from envgen.authors.procedural import chosen, composition, names, realised
from envgen.build import build, explain
from envgen.commands import commands
from envgen.files import FileTree
from envgen.grade import attempt, grade, other_conditions
from envgen.kit import Kit
from envgen.ledger import Use
from envgen.records import BuiltTask, TaskSpec
from tests.box.conftest import Bench

pytestmark = pytest.mark.box

TASKS = int(os.environ.get("ENVGEN_FAMILY_TASKS", "1"))
SEED = int(os.environ.get("ENVGEN_FAMILY_SEED", "0"))
REPEATS = 3
CATALOGUE = axes.load()


@pytest.fixture(scope="module")
def outcomes(bench: Bench, request: pytest.FixtureRequest) -> dict[str, list[str] | BaseException]:
    """What is wrong with each family that was asked for; all of them are tried at once."""
    asked = [item for item in request.session.items if item.path == request.path]
    wanted = [item.callspec.params["name"] for item in asked if isinstance(item, pytest.Function)]

    async def all_of_them() -> list[list[str] | BaseException]:
        return await asyncio.gather(*(tried(n, bench.kit) for n in wanted), return_exceptions=True)

    return dict(zip(wanted, bench.do(all_of_them()), strict=True))


@pytest.mark.parametrize("name", names())
def test_family_keeps_its_promises(
    outcomes: dict[str, list[str] | BaseException], name: str
) -> None:
    outcome = outcomes[name]
    if isinstance(outcome, BaseException):
        raise outcome
    assert outcome == []


async def tried(name: str, kit: Kit) -> list[str]:
    support = [chosen((name,))[0].realises]
    specs = [axes.spec_of(row) for row in axes.sample(CATALOGUE, SEED, TASKS, support=support)]
    said = await asyncio.gather(*(troubles(spec, name, kit) for spec in specs))
    return [line for one in said for line in one]


async def troubles(spec: TaskSpec, name: str, kit: Kit) -> list[str]:
    """What is not as it must be with one task of a family."""
    made = composition(spec, chosen((name,))[0])
    draft = await realised(spec, name, made, kit)
    task = await build(draft, kit)
    if not isinstance(task, BuiltTask):
        return [f"{spec.slug} {task.code}: {task.detail}"]
    found = [] if task.baseline < 1 else [f"{spec.slug} the untouched container earns all"]
    least, most = CATALOGUE.command_range(spec.task_complexity)
    given = await commands(draft, task.image, kit, Use(spec.slug, "commands"))
    if not least <= len(given) <= most:
        found.append(f"{spec.slug} {spec.task_complexity}, and {len(given)} commands")

    async def judged(kind: str, label: str, tree: FileTree) -> str:
        use = Use(spec.slug, f"{kind}:{label}")
        _, solved, score = await attempt(draft, task.image, tree, kit, use)
        good = score.passed if kind == "valid" else score.reward is not None and not score.passed
        seen = f"{explain(score)} | {solved.status} {solved.exit_code} {solved.output[-500:]}"
        return "" if good else f"{spec.slug} {kind}/{label}: {seen}"

    async def repeated(outputs: str) -> list[str]:
        use = Use(spec.slug, "repeat")
        scores = [
            await grade(draft, task.image, outputs, kit, use, other_conditions(n))
            for n in range(1, REPEATS + 1)
        ]
        different = {score.model_dump_json() for _, score in scores}
        passed = all(score.passed for _, score in scores)
        return [] if len(different) == 1 and passed else [f"{spec.slug} differs: {different}"]

    solutions = [("wrong", *item) for item in made.wrong.items()]
    solutions += [("valid", *item) for item in made.valid.items()]
    _, solved, _ = await attempt(draft, task.image, draft.solution, kit, Use(spec.slug, "again"))
    said = await asyncio.gather(*(judged(*one) for one in solutions))
    return [*found, *(line for line in said if line), *await repeated(solved.captured or "")]
