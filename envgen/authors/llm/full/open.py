"""The task call: what a task is (a form), its material (a plan), and the files of its open side."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from envgen import axes, bases
from envgen.authors import fixtures
from envgen.authors.fixtures.parts import schema_of
from envgen.authors.llm.ask import Manner, Talk, quoted
from envgen.authors.llm.blocks import nonce_of
from envgen.authors.llm.contents import Rules
from envgen.authors.llm.forms import filled, text_of
from envgen.authors.llm.full.brief import MOST_FILES, Brief
from envgen.errors import Fault
from envgen.files import FileTree
from envgen.kit import Kit
from envgen.ledger import Use
from envgen.prompts import render
from envgen.records import HOME, InitialState, TaskSpec
from envgen.share import share

IDEAS = Manner(temperature=1.0, max_tokens=12_000, rounds=2)
FILES = Manner(temperature=1.0, max_tokens=24_000, rounds=2)
MOST_LINES, MOST_WORDS = 600, 900
MATERIAL = f"{HOME}/material"
"""Where the material of a task is put."""


@dataclass(frozen=True)
class Open:
    """The open side of a task, and the truth about it.

    Attributes:
        material: what the fixtures say, as JSON text; empty without fixtures.
        hide: what is taken away before a candidate runs: a binary that it could call in place of
            doing the work.
    """

    brief: Brief
    instruction: str
    files: FileTree
    material: str
    secrets: tuple[str, ...]
    hide: tuple[str, ...] = ()

    @property
    def initial(self) -> InitialState:
        """Checked by execution: every file is there, and what the agent makes is not."""
        return InitialState(
            present=tuple(f"/{path}" for path in self.files)[:200],
            absent=self.brief.absent,
            tools=self.brief.tools,
        )


def tools_of(spec: TaskSpec, brief: Brief | None = None) -> tuple[str, ...]:
    """Packages that the container names, so that a model knows what it can call."""
    return tuple(dict.fromkeys((*bases.contents(spec.domain), *(brief.packages if brief else ()))))


def briefing(spec: TaskSpec, kit: Kit, catalogue: axes.Catalogue) -> Talk:
    """The talk about what the task is, with its question asked."""
    talk = Talk(spec.slug, kit, "task", IDEAS, text_of(schema_of(Brief)))
    talk.say("system.md.j2")
    talk.say("task.md.j2", **asked_of(spec, catalogue))
    return talk


def asked_of(spec: TaskSpec, catalogue: axes.Catalogue) -> dict[str, object]:
    """Everything that the first question says about a spec."""
    low, high = catalogue.command_range(spec.task_complexity)
    return {
        "spec": spec,
        "text": meanings(spec, catalogue),
        "low": low,
        "high": high,
        "tools": tools_of(spec),
        "kind": render(share("prompts") / "verifiers" / f"{spec.verifier}.md"),
        "most_files": MOST_FILES,
        "most_lines": MOST_LINES,
    }


def meanings(spec: TaskSpec, catalogue: axes.Catalogue) -> dict[str, object]:
    """What each axis value of the spec means, in the catalogue's words."""
    flat = ("domain", "language", "task_complexity", "command_complexity", "verifier", "fixture")
    found: dict[str, object] = {
        axis: catalogue.text(axis, str(getattr(spec, axis))) for axis in flat
    }
    found["skill_type"] = catalogue.text("skill_type", spec.skill_type, spec.domain)
    found["skills"] = [(s, catalogue.text("skills", s, spec.domain)) for s in spec.skills]
    return found


async def opened(spec: TaskSpec, kit: Kit, brief: Brief, evidence: str = "") -> Open:
    """The open side of a brief.

    Args:
        evidence: what a gate saw of an earlier version; empty for the first.
    """
    made = await _material(spec, kit, brief)
    names = {f"environment{file.path}": file.path for file in brief.files}
    nonce = nonce_of("files", brief.model_dump_json(), evidence)
    talk = Talk(spec.slug, kit, "task", FILES)
    talk.say("system.md.j2")
    asked = talk.say(
        "files.md.j2",
        brief=brief,
        spec=spec,
        names={path: name for name, path in names.items()},
        fixture=list(made.files) if made else [],
        fixture_truth=json.dumps(dict(made.truth)) if made else "",
        hidden=hides(spec),
        evidence=quoted(evidence),
        most_words=MOST_WORDS,
        nonce=nonce,
    )
    rules = Rules(
        paths="|".join(["instruction\\.md", *map(re.escape, names)]),
        needed=("instruction.md", *names),
        finished=False,
        asked=asked,
    )
    answer = await talk.files(nonce, rules)
    files = FileTree({names[path][1:]: answer[path] for path in names})
    return Open(
        brief=brief,
        instruction=answer["instruction.md"].data.decode(),
        files=files.merged(made.files) if made else files,
        material=json.dumps(dict(made.truth)) if made else "",
        secrets=(*brief.secrets, *(made.secrets if made else ())),
        hide=tuple(f"/{path}" for path in made.files) if made and hides(spec) else (),
    )


def hides(spec: TaskSpec) -> bool:
    """Whether the material is gone when the task is judged."""
    return spec.fixture == "stripped_binary" and spec.verifier == "fuzz_equivalence"


async def _material(spec: TaskSpec, kit: Kit, brief: Brief) -> fixtures.Made | None:
    """The task's material, made from a plan of the model's; what cannot be made goes back."""
    if spec.fixture == "text_only" and not brief.tables:
        return None
    schema = text_of(fixtures.schema(spec.fixture))
    talk = Talk(spec.slug, kit, "task", IDEAS, schema)
    talk.say("system.md.j2")
    words = fixtures.words(spec.fixture).read_text()
    talk.say("fixture.md.j2", brief=brief, where=MATERIAL, words=words)
    keys: Sequence[str] = ()
    reason = ""
    for _ in range(1 + IDEAS.rounds):
        plan = await talk.answer(lambda text: _plan(spec, text))
        try:
            return await fixtures.realise(plan, MATERIAL, Use(spec.slug, "fixture"), kit)
        except Fault as fault:
            reason, keys = fault.detail, fault.proof
            talk.object(reason)
    raise Fault("author:fixture", reason, (*talk.keys, *keys))


def _plan(spec: TaskSpec, text: str) -> fixtures.Plan:
    return cast(fixtures.Plan, filled(fixtures.PLANS[spec.fixture], text))
