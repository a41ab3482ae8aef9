"""Gemini's batch endpoint: small jobs carry their requests, larger ones name an uploaded file.

Settings stand under `generationConfig`, for a flat dump of them is half accepted. Jobs are asked
for as raw JSON: the SDK's types refuse a whole job for one odd line.
"""

import io
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import urlencode

from envgen.ledger.batches import Line
from envgen.llm.batch.dialect import openapi
from envgen.llm.batch.jobs import KEPT, Result, State, distinct, failed, parsed
from envgen.llm.gemini import NAME, Gemini, body, fault, read
from envgen.llm.line import line_seen
from envgen.llm.trouble import Seen, Trouble, trouble
from envgen.llm.wire import count, decoded, items, mapping, text_of

T = TypeVar("T")
_NOTHING: Mapping[str, Any] = {}

INLINE_BYTES = 18_000_000
"""Most bytes of a job that carries its requests: the limit is 20 MB for all that is sent."""
LISTED = 10
"""Pages of a hundred jobs in which one of ours is looked for."""
ENDED = frozenset({"SUCCEEDED", "PARTIALLY_SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED"})
"""States that a job does not leave. The SDK's own list lacks one, and a loop over it never ends;
a paused job is not ended, and is given up at the deadline like one that hangs."""
_CODES: Mapping[int, tuple[int, str]] = {
    1: (499, "CANCELLED"),
    3: (400, "INVALID_ARGUMENT"),
    4: (504, "DEADLINE_EXCEEDED"),
    7: (403, "PERMISSION_DENIED"),
    8: (429, "RESOURCE_EXHAUSTED"),
    9: (400, "FAILED_PRECONDITION"),
    13: (500, "INTERNAL"),
    14: (503, "UNAVAILABLE"),
    16: (401, "UNAUTHENTICATED"),
}
"""Lines fail with the codes of gRPC: the HTTP status and the name of each."""


class GeminiJobs:
    """`Jobs` of a model behind Gemini.

    Args:
        adapter: the online one: its connections, key and translation are used.
        model: whose jobs these are.
        inline_bytes: larger jobs are uploaded as files.
    """

    most_lines = 100_000
    most_bytes = 1_900_000_000

    def __init__(self, adapter: Gemini, model: str, inline_bytes: int = INLINE_BYTES) -> None:
        self.adapter = adapter
        self.model = model
        self.inline_bytes = inline_bytes

    def _item(self, line: Line) -> dict[str, Any]:
        """A request under its key, as raw JSON."""
        asked = body(line.request)
        config = asked["generationConfig"]
        if (schema := config.pop("responseJsonSchema", None)) is not None:
            config["responseSchema"] = openapi(schema)
        return {"metadata": {"key": line.id}, "request": asked}

    def size(self, line: Line) -> int:
        return len(json.dumps(self._item(line)))

    async def create(self, name: str, lines: Sequence[Line]) -> str:
        work = [self._item(line) for line in distinct(lines)]
        data = b"".join(
            json.dumps({"key": item["metadata"]["key"], "request": item["request"]}).encode()
            + b"\n"
            for item in work
        )
        if len(data) <= self.inline_bytes:
            source: dict[str, Any] = {"requests": {"requests": work}}
        else:
            source = {"fileName": await self._upload(name, data)}
        path = f"models/{self.model.partition(':')[2]}:batchGenerateContent"
        batch = {"displayName": name, "inputConfig": source}
        try:
            made = await self._ask("post", path, {"batch": batch})
        except Trouble as error:
            if error.seen.how == "http":  # refused, so no job reads it; the next try uploads again
                await self._delete(text_of(source.get("fileName")))
            raise
        return text_of(made.get("name"))

    async def _upload(self, name: str, data: bytes) -> str:
        config: Any = {"display_name": name, "mime_type": "application/jsonl"}
        files = self.adapter.client.aio.files
        kept = await self._met(lambda: files.upload(file=io.BytesIO(data), config=config))
        return text_of(kept.name if kept else "")

    async def find(self, name: str) -> str | None:
        query: dict[str, str] = {"pageSize": "100"}
        for _ in range(LISTED):
            page = await self._ask("get", f"batches?{urlencode(query)}")
            for job in map(mapping, items(page.get("operations"))):
                about = mapping(job.get("metadata"))
                if about.get("displayName") == name and _state(about) != "FAILED":
                    return text_of(job.get("name"))
            if not (token := text_of(page.get("nextPageToken"))):
                break
            query["pageToken"] = token
        return None

    async def look(self, job: str) -> State:
        found = await self._ask("get", job, but=(404,))
        if not found:
            return "gone"
        return "ended" if _state(mapping(found.get("metadata"))) in ENDED else "running"

    async def cancel(self, job: str) -> None:
        await self._ask("post", f"{job}:cancel", but=(400, 404, 409))

    async def results(self, job: str) -> list[Result]:
        found = await self._ask("get", job, but=(404,))
        output = mapping(mapping(found.get("metadata")).get("output"))
        carried = items(mapping(output.get("inlinedResponses")).get("inlinedResponses"))
        lines = [mapping(line) for line in carried]
        if file := text_of(output.get("responsesFile")):
            files = self.adapter.client.aio.files
            lines += parsed(await self._met(lambda: files.download(file=file), (404,)) or b"")
        return [self._result(line) for line in lines]

    async def tidy(self, job: str) -> None:
        about = mapping((await self._ask("get", job, but=(404,))).get("metadata"))
        await self._delete(text_of(mapping(about.get("inputConfig")).get("fileName")))
        await self._delete(text_of(mapping(about.get("output")).get("responsesFile")))

    async def _delete(self, file: str) -> None:
        """Delete a file, where there is one and it can be deleted."""
        if file:
            await self._ask("delete", file, but=KEPT)

    async def _ask(
        self,
        method: str,
        path: str,
        sent: Mapping[str, Any] = _NOTHING,
        but: tuple[int, ...] = (),
    ) -> Mapping[str, Any]:
        """The JSON object of an answer; empty for an error status that is no surprise."""
        client = self.adapter.client._api_client
        raw = await self._met(lambda: client.async_request(method, path, dict(sent)), but)
        return {} if raw is None else decoded(NAME, raw.body or "")

    async def _met(self, call: Callable[[], Awaitable[T]], but: tuple[int, ...] = ()) -> T | None:
        import httpx2
        from google.genai import errors

        try:
            return await call()
        except errors.APIError as error:
            if error.code in but:
                return None
            seen = self.adapter.seen(error)
        except httpx2.HTTPError as error:
            seen = line_seen(NAME, error)
        except (ValueError, KeyError):  # how the SDK says that an upload was answered oddly
            seen = Seen(NAME, "shape", 200)
        raise trouble(seen)

    def _result(self, line: Mapping[str, Any]) -> Result:
        id = text_of(line.get("key")) or text_of(mapping(line.get("metadata")).get("key"))
        answer = mapping(line.get("response"))
        said = mapping(line.get("error")) or mapping(line.get("status"))
        if said or not answer:
            status, name = _CODES.get(count(said.get("code")), (count(said.get("code")), ""))
            seen = fault({"status": name, **said}, status, self.adapter.key, {})
            return failed(id, seen, self.model)
        try:
            return Result(id, read(json.dumps(answer), self.model, self.adapter.key))
        except Trouble as error:
            return Result(id, None, error.seen)


def _state(about: Mapping[str, Any]) -> str:
    """The state of a job without what it is prefixed with."""
    state = text_of(about.get("state"))
    return state.removeprefix("BATCH_STATE_").removeprefix("JOB_STATE_")
