"""Asks many questions in a process of its own: `ask_many.py FOLDER URL N DOLLARS`.

Waits are fifty times shorter than they would be. Prints how many were answered and how many not.
"""

import asyncio
import os
import sys
from pathlib import Path

from envgen.config import LlmConfig, Price
from envgen.errors import Weather
from envgen.ledger import Ledger, Use
from envgen.llm.opened import open_models
from envgen.llm.pace import LoopClock
from envgen.records import Completion, Message, Request

MODEL = "openai:m-1"


class Quick(LoopClock):
    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / 50)


async def main(folder: Path, url: str, n: int, dollars: float) -> None:
    prices = {MODEL: Price(input=1, output=10)}
    config = LlmConfig(base_url=url, in_flight=16, budget=dollars, prices=prices, seconds=5)
    ledger = Ledger(folder)
    async with open_models({"author": MODEL}, config, ledger, Quick()) as models:

        async def one(number: int) -> Completion | None:
            messages = (Message(role="user", text=f"number {number}"),)
            request = Request(model=MODEL, messages=messages, max_tokens=10)
            try:
                return (await models["author"].complete(request, Use(f"task-{number}", "author")))[
                    1
                ]
            except Weather:
                return None

        found = await asyncio.gather(*map(one, range(n)))
    ledger.close()
    print(sum(answer is not None for answer in found), found.count(None))


if __name__ == "__main__":
    os.environ["OPENAI_API_KEY"] = "none"
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4])))
