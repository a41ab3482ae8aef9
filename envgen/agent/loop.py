"""The loop: ask the policy, run its command, tell it what came of it, until something ends it.

History only grows. Nothing in here knows the task's tests, and nothing that an agent prints, writes
or is told ends an episode: only the submit command does, budgets, and a sandbox that is gone.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from envgen.agent import SUBMIT, Policy, Reply, Shell
from envgen.agent.parsing import Action, by_block, by_call
from envgen.agent.showing import corrected, messages, observed
from envgen.config import AgentConfig
from envgen.records import Ending, Message, Turn

Parse = Callable[[Reply], Action]


@dataclass
class Loop:
    """One episode in the making.

    Attributes:
        policy: plays.
        session: the sandbox that it holds.
        agent: how, and within which budgets.
        seconds: of the episode, on the session's clock.
    """

    policy: Policy
    session: Shell
    agent: AgentConfig
    seconds: float
    turns: list[Turn] = field(default_factory=list)
    ending: Ending | None = None
    detail: str = ""
    _in_a_row: int = 0
    """Turns without a command."""

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self.seconds - self.session.age

    async def run(self, opening: Sequence[Message]) -> Ending:
        """Play until the end.

        Raises:
            Weather: sandbox or model are out of reach: nobody can say how it would have ended.
        """
        heard: Sequence[Message] = opening
        while (reply := await self._reply(heard)) is not None:
            heard = await self._turn(reply)
        assert self.ending is not None
        return self.ending

    def _end(self, ending: Ending, detail: str = "") -> None:
        self.ending, self.detail = ending, detail

    async def _reply(self, heard: Sequence[Message]) -> Reply | None:
        """The next reply, or None when there is none any more."""
        tokens = self.agent.tokens - sum(turn.usage.output for turn in self.turns)
        if self.ending is not None:
            return None
        if len(self.turns) >= self.agent.steps:
            self._end("steps")
        elif tokens <= 0:
            self._end("tokens")
        elif self.left <= 0:
            self._end("seconds")
        if self.ending is not None:
            return None
        try:
            async with asyncio.timeout(self.left) as clock:
                reply = await self.policy.reply(heard, min(tokens, self.agent.turn_tokens))
        except TimeoutError:
            if not clock.expired():
                raise
            self._end("seconds", "while the policy was sampling")
            return None
        if reply.finish == "length" and not (reply.text or reply.calls or reply.usage.output):
            self._end("context", "the history is longer than the model can take")
            return None
        return reply

    async def _turn(self, reply: Reply) -> Sequence[Message]:
        """Do what a reply asks for; what the policy is told then."""
        calls = self.agent.tools == "calls"
        action = (by_call if calls else by_block)(reply)
        turn = Turn(
            text=reply.text,
            finish=reply.finish,
            calls=reply.calls,
            usage=reply.usage,
            reused=reply.reused,
            tokens=reply.tokens,
        )
        if reply.finish in ("refused", "blocked"):
            self._end("refused", reply.finish)
        elif action.submits:
            turn = turn.model_copy(update={"command": SUBMIT})
            self._end("submitted")
        elif action.mistake:
            turn = self._mistaken(turn, action.mistake)
        else:
            turn = await self._executed(turn, action)
        self.turns.append(turn)
        return messages(turn.shown, reply.calls if calls else ())

    def _mistaken(self, turn: Turn, mistake: str) -> Turn:
        self._in_a_row += 1
        if self._in_a_row > self.agent.mistakes:
            self._end("mistakes", mistake)
        shown = corrected(mistake, calls=self.agent.tools == "calls")
        return turn.model_copy(update={"mistake": mistake, "shown": shown})

    async def _executed(self, turn: Turn, action: Action) -> Turn:
        self._in_a_row = 0
        limit = max(1.0, min(self.agent.command_seconds, self.left))
        seen = await self.session.run(action.command, limit)
        if seen.over:
            self._end("sandbox", "the agent brought its sandbox down")
        done = {
            "command": action.command,
            "shown": observed(seen, action, self.agent.output_chars, limit),
            "exit_code": seen.exit_code,
            "end": seen.end,
            "seconds": seen.seconds,
        }
        return turn.model_copy(update=done)
