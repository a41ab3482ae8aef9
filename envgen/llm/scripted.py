"""The double that ships with the package: a model whose answers are a function of the request."""

from collections.abc import Callable

from envgen.records import Completion, Request, Usage

Script = Callable[[Request], Completion | str]


class Scripted:
    """A `Model` without a provider.

    Args:
        script: answers requests; a plain string is an answer that ended by itself, with one token
            a word.
    """

    def __init__(self, script: Script) -> None:
        self.script = script
        self.asked: list[Request] = []

    async def complete(self, request: Request) -> Completion:
        self.asked.append(request)
        answer = self.script(request)
        if isinstance(answer, Completion):
            return answer
        words = sum(len(message.text.split()) for message in request.messages)
        usage = Usage(input=words, output=len(answer.split()))
        return Completion(text=answer, finish="stop", usage=usage, model=request.model)
