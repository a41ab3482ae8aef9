"""A token-level sampler asked as a text model, so that a policy can write, criticise and repair.

Each request is one conversation from its beginning, written in ids by the model's own chat. It is
drawn from the whole distribution: `top_p` is not for a policy that is to be trained on what it
draws. Who asks names the weights in `Request.model`: an answer of other weights is another effect.
"""

from dataclasses import dataclass

from envgen.agent import Chat, Sampler, Sampling
from envgen.agent.policies import thoughtless
from envgen.llm.wire import nudged
from envgen.records import Completion, Request, Usage

COLDEST = 0.01
"""Lowest temperature that is drawn at: nearly always the likeliest token."""


@dataclass
class Voice:
    """A `Model` (see `envgen.llm`) over a sampler.

    Attributes:
        sampler: draws.
        chat: writes conversations in ids.
        context: most ids of question and answer together.
    """

    sampler: Sampler
    chat: Chat
    context: int

    async def complete(self, request: Request) -> Completion:
        """The answer; an empty one that was cut where the question leaves no room.

        Raises:
            Weather: the sampler is gone.
        """
        prompt = self.chat.opening(request.messages)
        most = min(request.max_tokens, self.context - len(prompt))
        if most <= 0:
            usage = Usage(input=len(prompt))
            return Completion(text="", finish="length", usage=usage, model=request.model)
        temperature = max(COLDEST, nudged(request)[0])
        drawn = await self.sampler.sample(
            prompt, Sampling(most, temperature, self.chat.ends, request.answer_schema)
        )
        said = self.chat.text(drawn.ids)
        text = thoughtless(said)
        ended = bool(drawn.ids) and drawn.ids[-1] in self.chat.ends
        return Completion(
            text=text,
            finish="stop" if ended else "length",
            usage=Usage(input=len(prompt), output=len(drawn.ids)),
            model=request.model,
            thinking=_inner(said[: len(said) - len(text)]),
        )


def _inner(thought: str) -> str:
    """Thinking without its marks."""
    return thought.replace("<think>", "").replace("</think>", "").strip()
