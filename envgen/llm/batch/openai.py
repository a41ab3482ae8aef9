"""OpenAI's batch endpoints: a file of lines is uploaded and made a job, two files are read back."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from envgen.ledger.batches import Line
from envgen.llm.batch.jobs import KEPT, Result, State, distinct, failed, parsed
from envgen.llm.openai import NAME, OpenAI, body, fault, read
from envgen.llm.trouble import Trouble, trouble
from envgen.llm.wire import count, decoded, items, mapping, text_of

PATH: Final = "/v1/chat/completions"
LABEL = "envgen"
"""The field of a job's metadata that holds our name for it."""
LISTED = 10
"""Pages of a hundred jobs in which one of ours is looked for, the newest first."""
FULL = "token_limit_exceeded"
"""What a job fails with when too many tokens wait for the model already."""
_ENDED = ("completed", "expired", "cancelled", "failed")


class OpenAIJobs:
    """`Jobs` of a model behind OpenAI, or of a server that speaks its batch format.

    Args:
        adapter: the online one: its connections, key and translation are used.
        model: whose jobs these are.
    """

    most_lines = 50_000
    most_bytes = 200_000_000

    def __init__(self, adapter: OpenAI, model: str) -> None:
        self.adapter = adapter
        self.model = model

    def _line(self, line: Line) -> bytes:
        sent = body(line.request, own=self.adapter.own)
        call = {"custom_id": line.id, "method": "POST", "url": PATH, "body": sent}
        return json.dumps(call, ensure_ascii=False).encode() + b"\n"

    def size(self, line: Line) -> int:
        return len(self._line(line))

    async def create(self, name: str, lines: Sequence[Line]) -> str:
        data = b"".join(map(self._line, distinct(lines)))
        client = self.adapter.client
        kept = await self._ask(
            lambda: client.files.with_raw_response.create(
                file=(f"{name}.jsonl", data), purpose="batch"
            )
        )
        file = text_of(kept.get("id"))
        try:
            made = await self._ask(
                lambda: client.batches.with_raw_response.create(
                    input_file_id=file,
                    endpoint=PATH,
                    completion_window="24h",
                    metadata={LABEL: name},
                )
            )
        except Trouble as error:
            if error.seen.how == "http":  # refused, so no job reads it; the next try uploads again
                await self._delete(file)
            raise
        return text_of(made.get("id"))

    async def find(self, name: str) -> str | None:
        batches = self.adapter.client.batches.with_raw_response
        after: dict[str, Any] = {}
        for _ in range(LISTED):
            page = await self._ask(lambda: batches.list(limit=100, **after))
            jobs = [mapping(job) for job in items(page.get("data"))]
            for job in jobs:
                mine = mapping(job.get("metadata")).get(LABEL) == name
                if mine and job.get("status") != "failed":
                    return text_of(job.get("id"))
            if not jobs or not page.get("has_more"):
                break
            after["after"] = text_of(jobs[-1].get("id"))
        return None

    async def look(self, job: str) -> State:
        found = await self._found(job)
        errors = items(mapping(found.get("errors")).get("data"))
        if any(mapping(error).get("code") == FULL for error in errors):
            return "full"
        if not found:
            return "gone"
        return "ended" if found.get("status") in _ENDED else "running"

    async def cancel(self, job: str) -> None:
        batches = self.adapter.client.batches.with_raw_response
        await self._ask(lambda: batches.cancel(job), but=(400, 404, 409))

    async def results(self, job: str) -> list[Result]:
        found = await self._found(job)
        files = [text_of(found.get(field)) for field in ("output_file_id", "error_file_id")]
        return [self._result(line) for file in files if file for line in await self._lines(file)]

    async def tidy(self, job: str) -> None:
        found = await self._found(job)
        for field in ("input_file_id", "output_file_id", "error_file_id"):
            if file := text_of(found.get(field)):
                await self._delete(file)

    async def _delete(self, file: str) -> None:
        files = self.adapter.client.files.with_raw_response
        await self._bytes(lambda: files.delete(file), but=KEPT)

    async def _found(self, job: str) -> Mapping[str, Any]:
        batches = self.adapter.client.batches.with_raw_response
        return await self._ask(lambda: batches.retrieve(job), but=(404,))

    async def _lines(self, file: str) -> list[Mapping[str, Any]]:
        files = self.adapter.client.files.with_raw_response
        return list(parsed(await self._bytes(lambda: files.content(file), but=(404,)) or b""))

    async def _ask(
        self, call: Callable[[], Awaitable[Any]], but: tuple[int, ...] = ()
    ) -> Mapping[str, Any]:
        """The JSON object that a call brings; empty for an error status that is no surprise."""
        data = await self._bytes(call, but)
        return {} if data is None else decoded(NAME, data)

    async def _bytes(
        self, call: Callable[[], Awaitable[Any]], but: tuple[int, ...] = ()
    ) -> bytes | None:
        import openai

        try:
            raw = await call()
        except openai.OpenAIError as error:
            if isinstance(error, openai.APIStatusError) and error.status_code in but:
                return None
            seen = self.adapter.seen(error)
        else:
            data: bytes = raw.http_response.content
            return data
        raise trouble(seen)

    def _result(self, line: Mapping[str, Any]) -> Result:
        id = text_of(line.get("custom_id"))
        response = mapping(line.get("response"))
        answer = mapping(response.get("body"))
        said = mapping(answer.get("error")) or mapping(line.get("error"))
        if said or not answer:
            status = count(response.get("status_code"))
            return failed(id, fault(said, status, self.adapter.key), self.model)
        try:
            return Result(id, read(json.dumps(answer), self.model, self.adapter.key))
        except Trouble as error:
            return Result(id, None, error.seen)
