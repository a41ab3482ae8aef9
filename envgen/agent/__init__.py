"""The agent: a small loop over a policy and a session, one bash command a turn.

`Policy` is who plays: it holds one conversation. `policies.py` has two, over a text model
(`envgen.llm`) and over a token-level sampler; `scripted.py` has doubles that need neither. The loop
is `episode.py`.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from envgen.errors import Weather
from envgen.records import Finish, Message, Observation, Tokens, ToolCall, Usage

SUBMIT = "submit"
"""The command that ends an episode: it counts when it is all that the agent runs in a turn. It is
never handed to the shell, and no text in a file, in an output or in a longer command is one."""


class Shell(Protocol):
    """What the loop needs of a session (`envgen.sandbox.Session` is one)."""

    @property
    def age(self) -> float:
        """Seconds of the episode's clock."""
        ...

    async def run(self, command: str, seconds: float) -> Observation:
        """Run a command, in the state that the last one left."""
        ...


class Reply(NamedTuple):
    """What a policy said."""

    text: str
    """Thinking included."""
    finish: Finish
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    reused: int = 0
    """As in `Turn`."""
    tokens: Tokens | None = None


class Policy(Protocol):
    """One conversation with a policy, made for one episode."""

    async def reply(self, heard: Sequence[Message], most: int) -> Reply:
        """What it says to further messages, in at most so many tokens.

        Args:
            heard: what was said since its last reply; at first the opening.
            most: tokens that it may sample; a reply that was cut there finishes with `length`. An
                empty one that does says that the history is too long.

        Raises:
            Weather: no reply can be had; the episode is nobody's fault.
        """
        ...


class Sampling(NamedTuple):
    """How a sampler draws: at a temperature, from the whole distribution where there is no form."""

    max_tokens: int
    temperature: float = 1.0
    ends: tuple[int, ...] = ()
    """Ids that end a sample, and are part of it."""
    schema: str | None = None
    """JSON text of a JSON Schema that the sample has to satisfy, if it is not cut: then it is drawn
    from the tokens that the schema allows. Nothing that is trained on is drawn so."""


class Sampled(NamedTuple):
    """What a sampler drew: as many logprobs and versions as ids (see `Tokens`)."""

    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    versions: tuple[int, ...]


class Sampler(Protocol):
    """A policy, token by token. Raises Weather when it cannot draw."""

    async def sample(self, prompt: tuple[int, ...], sampling: Sampling) -> Sampled:
        """The continuation of a prompt, until an end or the limit."""
        ...


class Chat(Protocol):
    """How a model's conversations are written in ids.

    Only what others say is ever encoded: what the policy sampled stays as it is.
    """

    ends: tuple[int, ...]
    """Ids that end an assistant's turn."""

    def opening(self, heard: Sequence[Message]) -> tuple[int, ...]:
        """The first prompt, up to where the assistant speaks."""
        ...

    def between(self, heard: Sequence[Message], *, ended: bool) -> tuple[int, ...]:
        """From the last sampled id to where the assistant speaks again.

        Args:
            heard: what it is told.
            ended: whether the sample ended its turn; else the end comes first.
        """
        ...

    def text(self, ids: tuple[int, ...]) -> str:
        """Sampled ids as text, without the end."""
        ...


class SampleUnusable(Weather):
    """A sampler gave ids without finite logprobs, or none at all: nothing can be learnt from it."""

    code = "sample_unusable"
    retryable = False


class Unanswered(Weather):
    """An episode's time was over before the model had said a word: it has not been played."""

    code = "unanswered"
    retryable = False


__all__ = [
    "SUBMIT",
    "Chat",
    "Policy",
    "Reply",
    "SampleUnusable",
    "Sampled",
    "Sampler",
    "Sampling",
    "Shell",
    "Unanswered",
]
