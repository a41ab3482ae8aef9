"""Talking with the model about one part of a task: ask, read, say what is wrong, ask again.

Every request is a value in the ledger, so a talk that is repeated costs nothing, and an author that
is run again with what came of its first draft finds all its earlier words.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from envgen.authors.llm.blocks import Answer, read
from envgen.authors.llm.contents import Rules, trouble_of
from envgen.errors import Fault, Misconfigured
from envgen.files import FileTree
from envgen.kit import Kit
from envgen.ledger import Use
from envgen.prompts import render
from envgen.records import Completion, Key, Message, Request
from envgen.share import share

T = TypeVar("T")

Role = Literal["author", "critic", "repairer"]
SYSTEM = "system.md.j2"
CONTINUATIONS = 4
"""Times that one answer may go on after it was cut."""
HOTTEST = 1.2
EVIDENCE_CHARS = 3000
"""Of what went wrong, quoted to the model: the first and the last part of it."""


@dataclass(frozen=True)
class Manner:
    """How a profile asks.

    Attributes:
        temperature: of first answers. 1 is every provider's default, and the only value that some
            reasoning models take.
        max_tokens: most tokens of an answer, thinking included.
        rounds: times that one part is asked again because its answer cannot be read.
        forgets: an unreadable answer is dropped and the question asked anew, a little warmer; small
            models repeat an objection in place of answering it.
    """

    temperature: float
    max_tokens: int
    rounds: int
    forgets: bool = False


@dataclass
class Talk:
    """The messages about one part, and the receipts of its answers."""

    task: str
    """The task's name."""
    kit: Kit
    step: str
    manner: Manner
    schema: str | None = None
    role: Role = "author"
    """Who is asked; faults begin with it."""
    messages: list[Message] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)
    warnings: tuple[str, ...] = ()
    """What was let pass in answers that were taken."""
    echo: str = ""
    """What every answer holds, whoever gives it (see `Request.echo`)."""

    def say(self, template: str, **values: object) -> str:
        """Add a message of ours, from a template in `prompts/`; returns its text.

        The template `system.md.j2` says who the model is.
        """
        text = render(share("prompts") / template, **values)
        role: Literal["system", "user"] = "system" if template.endswith(SYSTEM) else "user"
        self.messages.append(Message(role=role, text=text))
        return text

    @property
    def text(self) -> str:
        """All that was said."""
        return "\n".join(message.text for message in self.messages)

    async def answer(self, read: Callable[[str], T]) -> T:
        """The answer, read; an unreadable one goes back with the reason, a bounded number of times.

        Args:
            read: raises ValueError with what is wrong, in words for the model.

        Raises:
            Fault: `author:refused`, `author:blocked`, `author:degenerate` (or `critic:...`), or
                `author:<step>` when no answer could be read.
        """
        reason = ""
        for round in range(1 + self.manner.rounds):
            completion = await self.completion(round)
            try:
                return read(completion.text)
            except ValueError as error:
                reason = str(error)
            if completion.finish == "length":
                reason += " (the answer was cut at the most tokens that it may have: be shorter)"
            self.object(reason)
        raise Fault(f"{self.role}:{self.step}", reason, tuple(self.keys))

    async def files(
        self,
        nonce: str,
        rules: Rules,
        *,
        only: str | None = None,
        also: Callable[[FileTree], str] = lambda files: "",
        warmer: int = 0,
    ) -> FileTree:
        """The files of an answer. One that was cut is continued from its next file.

        Args:
            nonce: of the question.
            rules: what the files must be.
            only: the one file that may come in another form (see `blocks.read`).
            also: says what else is wrong with them; empty when nothing is.
            warmer: times that it was asked before.

        Raises:
            Fault: as `answer`; `author:truncated` when the end is never reached.
        """
        reason, code = "", self.step
        for round in range(1 + self.manner.rounds):
            answer = await self._whole(nonce, only, warmer + round)
            cut = not answer.whole and not answer.trouble
            reason = answer.trouble or "the answer was cut before its closing line"
            if answer.whole:
                reason = trouble_of(answer.files, rules) or also(answer.files)
            if not reason:
                self.warnings += answer.warnings
                return answer.files
            code = "truncated" if cut else self.step
            self.object(reason)
        raise Fault(f"{self.role}:{code}", reason, tuple(self.keys))

    async def _whole(self, nonce: str, only: str | None, warmer: int) -> Answer:
        """An answer and its continuations as one."""
        found = Answer()
        for _ in range(1 + CONTINUATIONS):
            completion = await self.completion(warmer)
            answer = read(completion.text, nonce, only)
            try:
                files = found.files.merged(answer.files)
            except ValueError as error:
                return replace(answer, whole=False, trouble=str(error))
            found = replace(answer, files=files, warnings=found.warnings + answer.warnings)
            if answer.whole or answer.trouble or not answer.files:
                break
            self.say("continue.md.j2", done=list(files))
        return found

    async def completion(self, warmer: int = 0) -> Completion:
        """One answer to the messages so far, which it is added to."""
        warmth = 0.2 * warmer if self.manner.forgets else 0.0
        request = Request(
            model=model_of(self.kit, self.role),
            messages=tuple(self.messages),
            answer_schema=self.schema,
            temperature=min(HOTTEST, self.manner.temperature + warmth),
            max_tokens=self.manner.max_tokens,
            sample=self.kit.sandbox.ledger.retries(chances(self.task, self.role)),
            echo=self.echo,
        )
        step = self.step if self.role == "author" else f"{self.role}:{self.step}"
        key, completion = await self.kit.llm[self.role].complete(request, Use(self.task, step))
        self.keys.append(key)
        if completion.finish in ("refused", "blocked"):
            detail = completion.text[:500] or "no text"
            raise Fault(
                f"{self.role}:{completion.finish}", f"{self.step}: {detail}", tuple(self.keys)
            )
        if sign := degenerate(completion):
            raise Fault(f"{self.role}:degenerate", f"{self.step}: {sign}", tuple(self.keys))
        self.messages.append(Message(role="assistant", text=completion.text))
        return completion

    def object(self, reason: str) -> None:
        """Say what came of the last answer. The reason is quoted: others may have written it."""
        if self.manner.forgets:
            self.messages.pop()
        else:
            self.say("again.md.j2", reason=quoted(reason))


def chances(task: str, role: Role) -> str:
    """The name under which the ledger counts another chance: each role has its own."""
    return task if role == "author" else f"{role} of {task}"


def author_of(kit: Kit) -> str:
    """The author's name as it stands in drafts."""
    return f"llm/{model_of(kit).partition(':')[2]}"


def model_of(kit: Kit, role: Role = "author") -> str:
    """The model that is configured for a role. Misconfigured when there is none."""
    models = {
        "author": ("author.model", kit.config.author.model),
        "critic": ("audit.critic", kit.config.audit.critic),
        "repairer": ("repair.model", kit.config.repair.model),
    }
    group, model = models[role]
    if model is None:
        raise Misconfigured(
            f"the {role} needs a model: name one with --set {group}=gemini:NAME or openai:NAME"
        )
    return model


def quoted(text: str, most: int = EVIDENCE_CHARS) -> str:
    """Text that is nobody's instruction: bounded, without control characters, each line marked."""
    if len(text) > most:
        half = most // 2
        text = f"{text[:half]}\n[...]\n{text[-half:]}"
    clean = "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text)
    return "\n".join(f"| {line}" for line in clean.splitlines())


def degenerate(completion: Completion) -> str:
    """Why an answer is none at all; empty when it is one. The model edge detects circles."""
    if completion.finish == "degenerate":
        return "the answer runs in circles"
    return "" if completion.text.strip() else "an empty answer"
