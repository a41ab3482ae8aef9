"""Policies: a text model that is told the whole conversation, a sampler that continues ids."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from envgen.agent import Chat, Reply, Sampler, SampleUnusable, Sampling
from envgen.agent.prefix import common
from envgen.llm import Model
from envgen.records import Finish, Message, Request, Tokens, Usage

_THINKING = re.compile(r"\A(?:\s*<think>(?:.*?</think>|.*)|.*?</think>)\s*", re.S)


def thoughtless(text: str) -> str:
    """A reply without the thinking at its beginning, also where that was not opened or closed."""
    return _THINKING.sub("", text)


@dataclass
class TextPolicy:
    """A chat model: every turn it is sent all messages.

    Attributes:
        model: answers; retried, paced and booked, but not recalled: what is recorded is the
            episode.
        request: what all questions share; its messages are replaced.
        keep: whether earlier thinking stays in what is sent.
    """

    model: Model
    request: Request
    keep: bool = True
    _messages: list[Message] = field(default_factory=list)
    _before: str = ""

    async def reply(self, heard: Sequence[Message], most: int) -> Reply:
        self._messages += heard
        limit = min(most, self.request.max_tokens)
        asked = {"messages": tuple(self._messages), "max_tokens": limit}
        answer = await self.model.complete(self.request.model_copy(update=asked))
        text = answer.text
        if answer.thinking:
            text = f"<think>\n{answer.thinking}\n</think>\n\n{text}"
        now = "".join(map(_written, self._messages))
        reused = round(answer.usage.input * common(self._before, now) / max(1, len(now)))
        calls = answer.calls if self.request.tools else ()  # what nobody offered, nobody answers
        said = Message(role="assistant", text=text, calls=calls)
        self._before = now + _written(said)
        kept = said if self.keep else said.model_copy(update={"text": thoughtless(text)})
        self._messages.append(kept)
        return Reply(text, answer.finish, calls, answer.usage, reused)


def _written(message: Message) -> str:
    """A message as the text whose beginnings are compared: no server writes it exactly so."""
    calls = "".join(f"\x02{call.name}\x02{call.arguments}" for call in message.calls)
    return f"\x01{message.role}\x02{message.text}{calls}\x03"


@dataclass
class TokenPolicy:
    """A sampler whose history is one list of ids that only grows.

    What was sampled is never decoded and encoded again: it is what the policy sees next, and what
    is trained on. Nothing is taken out, thinking neither.

    Attributes:
        sampler: draws.
        chat: writes what others say in ids.
        sampling: how it draws; the limit is the least of its own and of what is left.
        context: most ids of prompt and sample together.
    """

    sampler: Sampler
    chat: Chat
    sampling: Sampling
    context: int
    history: list[int] = field(default_factory=list)
    _ended: bool = True

    async def reply(self, heard: Sequence[Message], most: int) -> Reply:
        before = (
            self.chat.between(heard, ended=self._ended)
            if self.history
            else self.chat.opening(heard)
        )
        prompt = (*self.history, *before)
        limit = min(most, self.sampling.max_tokens, self.context - len(prompt))
        if limit <= 0:
            return Reply("", "length")
        drawn = await self.sampler.sample(
            prompt, self.sampling._replace(max_tokens=limit, ends=self.chat.ends)
        )
        if not drawn.ids:
            raise SampleUnusable("a sample without a token")
        try:
            tokens = Tokens(
                before=before, ids=drawn.ids, logprobs=drawn.logprobs, versions=drawn.versions
            )
        except ValueError as error:
            raise SampleUnusable(" ".join(str(error).split())[:200]) from None
        reused = len(self.history)
        self.history = [*prompt, *drawn.ids]
        self._ended = drawn.ids[-1] in self.chat.ends
        finish: Finish = "stop" if self._ended else "length"
        usage = Usage(input=len(prompt), output=len(drawn.ids))
        return Reply(self.chat.text(drawn.ids), finish, (), usage, reused, tokens)
