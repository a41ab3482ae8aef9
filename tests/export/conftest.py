"""A proven task without an engine: the golden draft, with receipts by hand."""

import pytest

from envgen import bases
from envgen.build import GATES
from envgen.records import BaseImage, BuiltTask, Evidence, Image, TaskDraft


@pytest.fixture(scope="session")
def built(golden: TaskDraft) -> BuiltTask:
    recipe = bases.recipe("data_querying", ("jq",))
    return BuiltTask(
        draft=golden,
        image=Image(
            content="sha256:c0", layers="sha256:1a", ref="envgen/task:4e", engine_id="sha256:e1",
            bytes_added=4321, entries="sha256:e2", config="{}",
        ),
        base=BaseImage(recipe=recipe, content="sha256:ba", ref="r", lock="jq=1\npython3=3\n"),
        evidence=tuple(Evidence(gate=gate, keys=("sha256:01",), summary="ok") for gate in GATES),
        baseline=0.25,
        repeats=2,
    )  # fmt: skip
