"""Players by name: a model behind `envgen.llm`, or a script."""

from collections.abc import Mapping

from envgen.agent.episode import Player
from envgen.agent.parsing import TOOLS
from envgen.agent.policies import TextPolicy
from envgen.agent.scripted import Commands, as_commands, nothing
from envgen.config import AgentConfig
from envgen.errors import Misconfigured
from envgen.llm import Model
from envgen.records import Request, TaskDraft

SCRIPTS = ("reference", "nothing")


def check(agent: AgentConfig) -> str:
    """The name of who plays.

    Raises:
        Misconfigured: nobody, or somebody who cannot play so.
    """
    if agent.model is None:
        raise Misconfigured(
            "nobody plays: --model gemini:NAME, openai:NAME (with --base-url for a server of your "
            f"own), or scripted:{' or scripted:'.join(SCRIPTS)}"
        )
    provider, _, name = agent.model.partition(":")
    if provider == "scripted" and name not in SCRIPTS:
        raise Misconfigured(f"{agent.model}: scripts are {' and '.join(SCRIPTS)}")
    if provider == "gemini" and agent.tools == "calls":
        raise Misconfigured(
            "agent.tools=calls is for openai:NAME: use blocks, or the provider's OpenAI address "
            "with --base-url"
        )
    return agent.model


def player(agent: AgentConfig, models: Mapping[str, Model], draft: TaskDraft) -> Player:
    """Who plays a task.

    Args:
        models: by role; `agent` is there unless a script plays.
        draft: the task, whose reference a script may play.
    """
    name = check(agent)
    provider, _, script = name.partition(":")
    if provider == "scripted":
        commands = as_commands(draft.solution) if script == "reference" else nothing()
        return Player(name, agent, lambda play: Commands(commands, calls=agent.tools == "calls"))
    return Player(name, agent, lambda play: text_policy(agent, models["agent"], play.sample))


def text_policy(agent: AgentConfig, model: Model, sample: int = 0) -> TextPolicy:
    """A new conversation with the model that plays."""
    request = Request(
        model=check(agent),
        messages=(),
        tools=TOOLS if agent.tools == "calls" else None,
        temperature=agent.temperature,
        top_p=agent.top_p,
        max_tokens=agent.turn_tokens,
        sample=sample,
        urgent=True,
        as_is=True,
    )
    return TextPolicy(model, request, keep=agent.thinking == "keep")
