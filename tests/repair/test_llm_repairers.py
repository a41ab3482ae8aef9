"""Models behind the loopback server that repair well, lazily, falsely or destructively.

ENVGEN_REPAIRERS=all lets all of them at a leak and a mismatch as well; without it a few of them at
a weak verifier.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from envgen import config
from envgen.audit import audit
from envgen.audit.verdict import label
from envgen.authors.llm.blocks import wrapped
from envgen.files import FileTree
from envgen.kit import Kit, open_kit
from envgen.pipeline import proven
from envgen.records import BuiltTask, Mended, TaskDraft
from envgen.repair import modelled, repair
from tests.loopback import Ask, Loopback, Reply, openai
from tests.repair.tasks import EXISTS, OLD, RIGHT, SOLVE, TOTALS, UNLIKE, VALID, task

pytestmark = pytest.mark.box

ALL = os.environ.get("ENVGEN_REPAIRERS") == "all"
_BODY = RIGHT.partition("checks(task):\n")[2]
GOOD = EXISTS.replace("import Check", "import Check, exact_text") + _BODY.replace(
    'task.truth["totals"])', 'task.truth["totals"], weight=20)'
)
LYING = f'{EXISTS}    yield Check("totals are right", 1.0)\n'
WEAKER = RIGHT.replace('"totals", ', '"some totals", ')
BROKEN = f'{GOOD}    yield Check("head", float((text or "").startswith("state")))\n'
CRASHING = f"{GOOD}    task.truth['nothing']\n"
MARKED = f'{RIGHT}    yield Check("made with awk", float(task.exists(".awk")))\n'.replace(
    "import exact_text", "import Check, exact_text"
)
NOT_THE_SAME = f"""{UNLIKE}    with open("/tests/data/totals.txt") as file:
        yield Check("other work", float(text != file.read()))
"""
SENTENCE = "Leave an empty file `/home/agent/.awk` beside it.\n"


class Case(NamedTuple):
    """What a repairer answers to which task, and why it is refused; empty where it is accepted."""

    of: str
    files: Mapping[str, str]
    refused: str = ""


def weak() -> TaskDraft:
    return task(EXISTS)


def leaking() -> TaskDraft:
    return task(UNLIKE, {"opt/old/totals.txt": OLD.encode()})


def unequal() -> TaskDraft:
    solution = FileTree({"solve.sh": f"{SOLVE}touch .awk\n"})
    return task(MARKED, solution=solution, secrets=("open 300\nshut 410",))


TASKS = {"weak": weak, "leaking": leaking, "unequal": unequal}
TEXT = task().instruction
CASES = {
    "good": Case("weak", {"tests/check.py": GOOD}),
    "good, beside": Case("weak", {"tests/more.py": RIGHT}),
    "lazy": Case("weak", {"tests/check.py": EXISTS}, "nothing was changed"),
    "lying": Case("weak", {"tests/check.py": LYING}, "what worked: "),
    "deletes assertions": Case("weak", {"tests/check.py": WEAKER}, "a check was dropped"),
    "changes the instruction": Case(
        "weak", {"instruction.md": "Do as you like.\n"}, "this file was not asked for"
    ),
    "changes the reference": Case(
        "weak", {"solution/solve.sh": "true\n"}, "this file was not asked for"
    ),
    "breaks the reference": Case("weak", {"tests/check.py": BROKEN}, "gates: reference:fails"),
    "breaks the verifier": Case("weak", {"tests/check.py": CRASHING}, "gates: noop:invalid"),
    "takes it out": Case(
        "leaking",
        {
            "remove.txt": "/opt/old/totals.txt\n",
            "tests/data/old.txt": "none\n",
            "tests/check.py": UNLIKE.replace("/opt/old/totals.txt", "/tests/data/old.txt"),
        },
    ),
    "hides the leak": Case(
        "leaking", {"environment/srv/x/totals.txt": TOTALS}, "this file was not asked for"
    ),
    "adds a not-identical check": Case(
        "leaking",
        {"tests/check.py": NOT_THE_SAME, "tests/data/totals.txt": TOTALS},
        "differs from what leaked",
    ),
    "leaves the leak": Case(
        "leaking", {"tests/check.py": f"{UNLIKE}    yield Check('all', 1.0)\n"}, "leaked bytes: "
    ),
    "accepts what is right": Case("unequal", {"tests/check.py": RIGHT}),
    "another instruction": Case(
        "unequal", {"instruction.md": f"Write the totals.\n{SENTENCE}"}, "no longer says"
    ),
    "tells the answer": Case(
        "unequal",
        {"instruction.md": f"{TEXT}{SENTENCE}The lines are:\n{TOTALS * 2}Secret-{'x' * 9}\n"},
        "gives the answer away",
    ),
    "drops all checks": Case(
        "unequal",
        {"tests/check.py": "from verifiers import Check\n\n\ndef checks(task):\n"
         "    yield Check('done', float(task.exists('totals.txt')))\n"},
        "a check was dropped",
    ),
}  # fmt: skip
FEW = ("good", "lazy", "lying", "deletes assertions", "changes the instruction",
       "breaks the reference")  # fmt: skip
CHOSEN = tuple(CASES) if ALL else FEW


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("repairers") / "run"


def model_of(name: str) -> str:
    """A model for each case: a model's name is all that tells its answers apart in a ledger."""
    return re.sub(r"\W+", "-", name)


async def mended(name: str, folder: Path) -> tuple[Mended, list[str]]:
    """The repair of a task by a model that always answers the same, and all that it was asked."""
    case, questions = CASES[name], list[str]()

    def answer(ask: Ask) -> Reply:
        said = [m["content"] for m in ask.body["messages"]]
        questions.append(said[-1])
        return openai.answer(_blocks(case.files, said[1]))

    async with Loopback(answer) as server:
        sets = [
            f"repair.model=openai:{model_of(name)}",
            f"llm.base_url={server.url}/v1",
            "repair.rounds=2",
        ]
        settings = config.load(None, [*sets, "llm.no_budget=true"])
        async with open_kit(settings, folder) as kit:
            found = await _through(TASKS[case.of](), kit)
    return found, questions


async def _through(draft: TaskDraft, kit: Kit) -> Mended:
    found = await proven(draft, kit)
    assert isinstance(found, BuiltTask), found
    report = await audit(found, kit, VALID)
    assert label(report, "proven") != "CLEAN"
    return await repair(found, report, kit, VALID, means=(modelled,))


def _blocks(files: Mapping[str, str], question: str) -> str:
    nonce = re.search(r"^=== FILES ([0-9a-f]{8}) NUMBER ===$", question, re.M)
    assert nonce
    text = wrapped(FileTree(dict(files)), nonce[1])
    return f"I have mended it.\n{text}=== FILES {nonce[1]} {len(files)} ===\n"


@pytest.mark.parametrize("name", CHOSEN)
def test_good_repairs_are_accepted_and_bad_ones_refused_by_name(
    name: str, folder: Path, do: Any
) -> None:
    case = CASES[name]
    found, questions = do(mended(name, folder))
    refused = [attempt.refused for attempt in found.trail]
    print(name, found.after, refused)
    assert found.trail[0].ways == (f"llm/{model_of(name)}",) and found.trail[0].answers
    if not case.refused:
        assert (found.after, len(found.trail)) == ("CLEAN", 1), refused
        return
    assert found.after is None and found.task.draft.revision == 0
    assert len(refused) == 2 and all(case.refused in reason for reason in refused), refused
    assert "| " in questions[1] and case.refused.strip(": ") in questions[1]
