"""`python -m tests.loopback SECONDS`: answers both wire formats after so long; prints its address.

Runs until it is terminated.
"""

import asyncio
import sys

from tests.loopback import Ask, Loopback, Reply, gemini, openai


async def serve(seconds: float) -> None:
    plain = openai.answer("a short answer").but(delay=seconds)
    google = gemini.answer("a short answer").but(delay=seconds)

    def answer(ask: Ask) -> Reply:
        return google if "generateContent" in ask.path else plain

    async with Loopback(answer, keep=0) as server:
        print(server.url, flush=True)
        await asyncio.Event().wait()


asyncio.run(serve(float(sys.argv[1])))
