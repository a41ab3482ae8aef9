"""Every known form of a leak as a task: repaired so that taking it earns nothing, or refused.

ENVGEN_LEAKS=all tries all forms; without it two of them.
"""

import os
from collections.abc import Iterator
from typing import Any

import pytest

from envgen.audit import audit
from envgen.audit.target import target_of
from envgen.audit.verdict import label
from envgen.audit.workbench import Workbench
from envgen.files import FileTree
from envgen.kit import Kit
from envgen.pipeline import proven
from envgen.records import BuiltTask, Mended, Trial
from envgen.repair import repair
from tests.conftest import opened
from tests.repair.tasks import VALID, Leak, leaks

pytestmark = pytest.mark.box

FORMS = (
    "appended", "re-encoded", "linked", "wrapped", "layer", "compiled", "history", "variable",
    "cache",
)  # fmt: skip
CHOSEN = FORMS if os.environ.get("ENVGEN_LEAKS") == "all" else ("appended", "layer")


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory, do: Any) -> Iterator[Kit]:
    yield from opened(tmp_path_factory.mktemp("leaks") / "run", do)


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Leak]:
    found = leaks(tmp_path_factory.mktemp("forms"))
    assert tuple(found) == FORMS
    return found


async def attacked(task: BuiltTask, leak: Leak, kit: Kit) -> Trial:
    """The attack of this form, as the agent, on a task."""
    bench = Workbench(task, target_of(task, kit.sandbox.blobs, kit.config.audit.noise), kit)
    return await bench.tried("test", "attack", "takes it", FileTree({"solve.sh": leak.attack}))


async def mended(leak: Leak, kit: Kit) -> tuple[Trial, Mended, Trial]:
    """What the attack earns before, the repair, and what the attack earns then."""
    task = await proven(leak.draft, kit)
    assert isinstance(task, BuiltTask), task
    before = await attacked(task, leak, kit)
    own = leak.draft.foreign is None and "sums.py" not in leak.draft.solution
    valid = VALID if own else {}
    report = await audit(task, kit, valid)
    assert label(report, "proven") == "ANSWER-LEAK", [f.code for f in report.findings]
    found = await repair(task, report, kit, valid)
    return before, found, await attacked(found.task, leak, kit)


@pytest.mark.parametrize("form", CHOSEN)
def test_a_leak_is_repaired_so_that_taking_it_earns_nothing_or_refused(
    form: str, forms: dict[str, Leak], kit: Kit, do: Any
) -> None:
    before, found, after = do(mended(forms[form], kit))
    said = [(r.ways, r.refused or "accepted") for r in found.trail]
    print(form, before.reward, found.after, after.reward, said)
    assert before.reward == 1.0, before.note
    assert found.after == "CLEAN", found.reason  # all of these can be: none has to be refused
    if form != "layer":  # its bytes are right wherever they are brought to; they are nowhere now
        assert (after.reward or 0.0) <= found.task.baseline + kit.config.audit.noise, after.note
    gone = next(line for line in found.trail[-1].matrix if line.name == "leaked bytes")
    assert gone.holds is True, gone.told
    assert found.task.draft.instruction == forms[form].draft.instruction
    assert found.task.draft.solution == forms[form].draft.solution
    assert found.task.draft.parent == forms[form].draft.digest
