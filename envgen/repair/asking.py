"""A model's repairs: asked with the task, the finding and its receipt; refused with a reason.

The answer holds files, of the paths that the label allows. The difference is read first
(`policy`); what may be executed is built, audited and held to the same matrix as everything else.
Each refusal goes back to the model, a bounded number of times.
"""

from collections.abc import Awaitable, Callable

from envgen.authors.llm.ask import Manner, Talk, model_of
from envgen.authors.llm.ask import quoted as quoted_within
from envgen.authors.llm.blocks import nonce_of
from envgen.authors.llm.contents import Rules
from envgen.authors.llm.full import kit_words
from envgen.authors.llm.full.sight import listing
from envgen.config import RunConfig
from envgen.errors import Fault
from envgen.files import FileTree
from envgen.kit import Kit
from envgen.prompts import render
from envgen.records import Finding, Label, TaskDraft, Trial
from envgen.repair import policy
from envgen.repair.leaking import without
from envgen.repair.matrix import proofs
from envgen.repair.seen import Seen
from envgen.repair.verifier import wrapped
from envgen.repair.ways import MODELLED
from envgen.share import share

FULL = Manner(temperature=1.0, max_tokens=24_000, rounds=0)
SMALL = Manner(temperature=0.4, max_tokens=700, rounds=0, forgets=True)
SHOWN, MOST_SHOWN = 12_000, 24_000
"""Characters of one program, and of all files of a kind, that a question shows."""
DATA_SHOWN = 1_000
"""Of a file that is no program."""
SMALL_SHOWN = 700
MORE = r"more\.py"
ENDS = ("refused", "blocked", "degenerate")
"""Faults of a model that asking again does not mend."""


def able(config: RunConfig, label: Label, foreign: bool) -> bool:
    """Whether a model of the configured profile is asked about a task with this label.

    A small one only adds checks: that mends no leak and no mismatch, and a stranger's verifier has
    no place for them.
    """
    if config.author.profile == "small":
        return label == "VERIFIER-TOO-WEAK" and not foreign
    return label in MODELLED


class Conversation:
    """What is said with the model about one task."""

    def __init__(
        self, draft: TaskDraft, label: Label, finding: Finding, seen: Seen, kit: Kit
    ) -> None:
        self.draft, self.label, self.finding, self.seen = draft, label, finding, seen
        self.small = kit.config.author.profile == "small"
        manner = SMALL if self.small else FULL
        self.talk = Talk(draft.slug, kit, "repair", manner, role="repairer")
        self.nonce = nonce_of("repair", draft.digest, finding.digest)
        self._ask()

    def _ask(self) -> None:
        if self.small:
            self.talk.say(
                "repair/small.md.j2",
                instruction=quoted(self.draft.instruction),
                left=_left(self.seen, SMALL_SHOWN),
                message=self.finding.message,
            )
            return
        self.talk.say("repair/system.md.j2")
        form = render(share("prompts") / "blocks.md.j2", nonce=self.nonce)
        findings = [f for f in self.seen.report.findings if f.label == self.label]
        self.talk.say(
            "repair/question.md.j2",
            label=self.label,
            findings=quoted("\n".join(f"{f.code}: {f.message}" for f in findings[:12])),
            attack=_attack(self.seen, self.finding),
            instruction=quoted(self.draft.instruction),
            listing=quoted("\n".join(listing(self.draft.environment.files))),
            tests=[(p, quoted(t)) for p, t in _shown(self.draft.tests)],
            solution=[(p, quoted(t)) for p, t in _shown(self.draft.solution)],
            left=_left(self.seen, DATA_SHOWN),
            kit="" if self.draft.foreign else kit_words(),
            failed=", ".join(self.seen.failed),
            form=form,
        )

    async def answer(self, round: int) -> TaskDraft:
        """The draft of the answer after so many. Raises Fault with the reason for none."""
        paths = MORE if self.small else policy.paths_of(self.label, self.draft)
        files = await self.talk.files(
            self.nonce,
            Rules(paths, asked=self.talk.text),
            only="more.py" if self.small else None,
            also=self._trouble,
            warmer=round,
        )
        return self._applied(files)

    def _trouble(self, files: FileTree) -> str:
        try:
            changed = self._applied(files)
        except ValueError as error:
            return str(error)
        return policy.trouble(self.label, self.draft, changed, self.finding, self.seen)

    def _applied(self, files: FileTree) -> TaskDraft:
        """The draft with an answer's files. ValueError, in words for the model."""
        if self.small:
            return _with_more(self.draft, files)
        changed = self.draft
        if "remove.txt" in files:
            lines = files["remove.txt"].data.decode().split("\n")
            gone = frozenset(line.strip().lstrip("/") for line in lines if line.strip())
            if unknown := sorted(gone - self.draft.environment.files.keys()):
                raise ValueError(f"remove.txt: the image has no file /{unknown[0][:120]}")
            changed = without(changed, gone, ())
        if "instruction.md" in files:
            text = files["instruction.md"].data.decode()
            changed = changed.model_copy(update={"instruction": text})
        for side in ("tests", "solution"):
            new = files.below(side)
            if side == "tests" and "more.py" in new and self.draft.foreign is None:
                changed = _with_more(changed, new)
            elif new:
                old = getattr(changed, side)
                changed = changed.model_copy(update={side: FileTree({**old, **new})})
        return changed


def _with_more(draft: TaskDraft, files: FileTree) -> TaskDraft:
    if set(files) != {"more.py"}:
        raise ValueError("more.py stands alone: its checks are added to those that are there")
    made = wrapped(draft, FileTree({"more.py": files["more.py"]}))
    if isinstance(made, str):
        raise ValueError(made)
    return made


def name_of(kit: Kit) -> str:
    """The model as it stands in a trail."""
    return f"llm/{model_of(kit, 'repairer').partition(':')[2]}"


Refuse = Callable[[str, tuple[str, ...]], None]
Try = Callable[[TaskDraft, tuple[str, ...]], Awaitable[str]]


async def asked(conversation: Conversation, rounds: int, tried: Try, refuse: Refuse) -> bool:
    """Ask until an answer is accepted, or so many were not; whether one was.

    Args:
        conversation: about one task.
        rounds: answers at most.
        tried: executes a draft, and says why it is not accepted; empty when it is.
        refuse: takes note of an answer that is not executed.
    """
    talk = conversation.talk
    for round in range(rounds):
        before = len(talk.keys)
        try:
            draft = await conversation.answer(round)
        except Fault as fault:
            refuse(fault.detail, tuple(talk.keys[before:]))
            if fault.code.partition(":")[2] in ENDS:
                return False
            continue
        reason = await tried(draft, tuple(talk.keys[before:]))
        if not reason:
            return True
        talk.object(f"It was executed, and is not accepted. {reason}")
    return False


# -- what is shown -----------------------------------------------------------------------------


def quoted(text: str) -> str:
    """Text that others wrote, line by line, as far as a question shows any."""
    return quoted_within(text, MOST_SHOWN)


def _shown(tree: FileTree) -> list[tuple[str, str]]:
    """Texts of a side, the verifier's programs first; long ones are cut."""
    found, left = [], MOST_SHOWN
    for path in sorted(tree, key=lambda p: (not p.endswith((".py", ".sh")), p)):
        text = tree[path].data.decode(errors="replace")
        if "\0" in text or left <= 0:
            continue
        most = min(SHOWN if path.endswith((".py", ".sh")) else DATA_SHOWN, left)
        found.append(
            (path, text if len(text) <= most else f"{text[:most]}\n[the rest is not shown]")
        )
        left -= most
    return found


def _left(seen: Seen, most: int) -> list[tuple[str, str]]:
    """The beginning of each file that is asked for, as the reference leaves it."""
    found = [
        (path, quoted(data.decode(errors="replace")[:most]))
        for path, data in seen.files
        if b"\0" not in data
    ]
    return found[:6]


def _attack(seen: Seen, finding: Finding) -> list[tuple[str, str]]:
    """The script of the trial that proves the finding, its files, and what it earned."""
    trial = next((t for f, t in proofs(seen.report) if f == finding), None)
    if trial is None:
        return []
    told = f"reward {trial.reward}: {trial.note}"
    return [("What came of it, and the grader's words", quoted(told)), *_script(trial)]


def _script(trial: Trial) -> list[tuple[str, str]]:
    names = [n for n in trial.tree if n == "solve.sh" or n.startswith("files/")][:4]
    return [
        (f"`{name}`", quoted(trial.tree[name].data.decode(errors="replace")[:1500]))
        for name in names
    ]
