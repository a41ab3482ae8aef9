"""Providers on this machine: a real HTTP server that answers as it is told, and counts.

    async with Loopback(script(openai.answer("hello"))) as server:
        ... server.url ...

`openai` and `gemini` speak the two wire formats; `Reply` can also be late, dropped, cut or dripped.
"""

from tests.loopback import gemini, openai
from tests.loopback.server import Ask, Loopback, Reply, script

__all__ = ["Ask", "Loopback", "Reply", "gemini", "openai", "script"]
