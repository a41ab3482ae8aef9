"""The full profile: three calls, for models that can write a whole task.

The task call (a form, the plan of the material where there is any, then the files) sees the spec.
The solution call sees what an agent would see and nothing else, so a reference that passes shows
that the instruction suffices. The verifier call sees the truth, and never the solution.
"""

import json
from collections.abc import Sequence
from functools import cache

from envgen import axes
from envgen.authors.llm.ask import Manner, Talk, author_of
from envgen.authors.llm.blocks import nonce_of
from envgen.authors.llm.contents import Rules
from envgen.authors.llm.example import example_of
from envgen.authors.llm.forms import filled
from envgen.authors.llm.full.brief import Brief
from envgen.authors.llm.full.mending import Part, evidence_for, part_of
from envgen.authors.llm.full.open import Open, briefing, opened, tools_of
from envgen.authors.llm.full.sight import listing, texts
from envgen.files import FileTree
from envgen.kit import Kit
from envgen.records import Environment, Limits, Rejection, TaskDraft, TaskSpec
from envgen.share import share

CODE = Manner(temperature=1.0, max_tokens=24_000, rounds=2)
SOLUTION = r"[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)?"
TESTS = r"check\.py|truth\.json|data/[A-Za-z0-9._-]+"


class Writing:
    """A task while it is written: its parts, and the talks that they come from."""

    def __init__(self, spec: TaskSpec, kit: Kit, catalogue: axes.Catalogue) -> None:
        self.spec, self.kit, self.catalogue = spec, kit, catalogue
        self.brief = briefing(spec, kit, catalogue)
        self.open: Open
        self.solving: Talk
        self.judging: Talk
        self.solution = self.tests = FileTree()

    async def all(self, evidence: str = "") -> None:
        """The three calls, one after the other."""
        brief = await self.brief.answer(lambda text: filled(Brief, text))
        self.open = await opened(self.spec, self.kit, brief, evidence)
        self.solving = self._talk("solution")
        self.judging = self._talk("verifier")
        await self.solve()
        await self.judge()

    async def again(self, part: Part, evidence: str) -> None:
        """One part again, after what came of it; what was made from it follows."""
        if part == "solution":
            self.solving.object(evidence)
            await self.solve()
        elif part == "verifier":
            self.judging.object(evidence)
            await self.judge()
        else:
            self.brief.object(evidence)
            await self.all(evidence)

    async def solve(self) -> None:
        """The solution call: it sees what an agent would see."""
        nonce = self._nonce("solution")
        if len(self.solving.messages) == 1:
            self.solving.say(
                "solution.md.j2",
                instruction=self.open.instruction,
                listing=listing(self.open.files),
                texts=texts(self.open.files),
                tools=tools_of(self.spec, self.open.brief),
                seconds=self.open.brief.agent_seconds,
                nonce=nonce,
            )
        rules = Rules(SOLUTION, ("solve.sh",), asked=self.solving.text)
        self.solution = await self.solving.files(nonce, rules, only="solve.sh")

    async def judge(self) -> None:
        """The verifier call: it sees the truth and the open side, and not the solution."""
        nonce = self._nonce("verifier")
        if len(self.judging.messages) == 1:
            self.judging.say(
                "verifier.md.j2",
                spec=self.spec,
                meaning=self.catalogue.text("verifier", self.spec.verifier),
                instruction=self.open.instruction,
                truth=self.open.brief.truth,
                fixture_truth=self.open.material,
                hidden=self.open.hide,
                listing=listing(self.open.files),
                texts=texts(self.open.files),
                kit=kit_words(),
                example=example_of(self.spec, self.kit.config.author.families),
                nonce=nonce,
            )
        rules = Rules(TESTS, ("check.py",), asked=self.judging.text)
        files = await self.judging.files(nonce, rules, only="check.py", also=_truth_trouble)
        self.tests = with_material(files, self.open.material)

    def draft(self, revision: int) -> TaskDraft:
        """All parts as a draft."""
        brief, made = self.open.brief, self.open
        return TaskDraft(
            spec=self.spec,
            author=author_of(self.kit),
            revision=revision,
            title=brief.title,
            instruction=made.instruction,
            environment=Environment(
                base=self.spec.domain,
                packages=brief.packages,
                files=made.files,
                setup=brief.setup,
            ),
            initial=made.initial,
            tests=self.tests,
            solution=self.solution,
            hide=made.hide,
            secrets=made.secrets,
            limits=Limits(agent_seconds=brief.agent_seconds, verify_seconds=brief.verify_seconds),
        )

    def _talk(self, part: Part) -> Talk:
        talk = Talk(self.spec.slug, self.kit, part, CODE)
        talk.say("system.md.j2")
        return talk

    def _nonce(self, part: Part) -> str:
        return nonce_of(part, self.open.instruction, self.open.files.digest)


async def written(
    spec: TaskSpec, trail: Sequence[Rejection], kit: Kit, catalogue: axes.Catalogue
) -> TaskDraft:
    """The draft after what the gates said of the earlier ones. Raises Fault."""
    writing = Writing(spec, kit, catalogue)
    await writing.all()
    for number, rejection in enumerate(trail):
        part = part_of(rejection, trail[:number])
        await writing.again(part, evidence_for(part, rejection))
    return writing.draft(len(trail))


def with_material(tests: FileTree, material: str) -> FileTree:
    """The tests, with what the fixtures say under `fixture` in their truth."""
    truth = json.loads(tests["truth.json"].data) if "truth.json" in tests else {}
    if material:
        truth["fixture"] = json.loads(material)
    text = json.dumps(truth, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    return FileTree({**tests, "truth.json": text})


def _truth_trouble(files: FileTree) -> str:
    """Why `truth.json` cannot be used; its syntax was looked at before."""
    if "truth.json" in files and not isinstance(json.loads(files["truth.json"].data), dict):
        return "truth.json must be one JSON object"
    return ""


@cache
def kit_words() -> str:
    """The kit's API in words, as it stands beside the kit."""
    return (share("verifiers") / "README.md").read_text()
