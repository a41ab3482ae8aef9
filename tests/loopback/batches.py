"""Both batch protocols: files, jobs and lines of results, and the ways in which they go wrong.

`Batches` is the `answer` of a `Loopback`; what is none of its paths goes to the answer that it has
for single calls. What goes wrong is set on the object before a test asks.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from email import message_from_bytes
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

from tests.loopback import gemini, openai
from tests.loopback.server import Answer, Ask, Reply

Json = dict[str, Any]

LOST = Reply(how="drop")
"""The request is carried out, and its answer is lost."""
_GRPC = {0: 4, 400: 3, 401: 16, 429: 8, 500: 13, 503: 14}
"""Gemini's lines fail with the codes of gRPC."""
_BYTES = (("content-type", "application/octet-stream"),)


@dataclass(frozen=True)
class Result:
    """One line of a result file: an answer, or an error with its HTTP status."""

    key: str
    text: str
    prompt: str
    status: int = 200
    code: str = ""
    finish: Literal["stop", "length"] = "stop"


Shape = Callable[[list[Result]], list[Result]]
Ending = Literal["done", "expired", "failed", "partial", "never", "paused"]


@dataclass
class Job:
    id: str
    name: str
    lines: list[tuple[str, Json]]
    inline: bool = False
    source: str = ""
    looks: int = 0
    state: str = "running"
    results: list[Result] = field(default_factory=list)


@dataclass
class Batches:
    """Endpoints of both providers over one store of files and jobs.

    Attributes:
        model: answers the last message of a request.
        online: answers what is no batch endpoint.
        ends: how jobs end, after `looks` looks at them.
        finished: lines answered by then where a job does not end well; None = all.
        shape: what becomes of the result lines.
        faults: replies given first, by route (`upload`, `create`, `look`, `list`, `cancel`,
            `results`); `LOST` carries the request out all the same.
    """

    model: Callable[[str], str] = str.upper
    online: Answer = lambda ask: Reply(404)
    ends: Ending = "done"
    looks: int = 1
    finished: int | None = None
    shape: Shape = list
    faults: dict[str, list[Reply]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    jobs: dict[str, Job] = field(default_factory=dict)
    served: list[str] = field(default_factory=list)
    kept: int = 0
    bodies: list[Json] = field(default_factory=list)
    """What `create` was sent."""

    def __call__(self, ask: Ask) -> Reply:
        provider = "gemini" if _is_gemini(ask) else "openai"
        parts = urlsplit(ask.path).path.strip("/").split("/")
        route = (_gemini if provider == "gemini" else _openai)(ask.method, parts)
        if route is None:
            return self.online(ask)
        self.served.append(route)
        fault = self.faults[route].pop(0) if self.faults.get(route) else None
        if fault is not None and fault is not LOST:
            return fault
        made: Reply = getattr(self, f"_{provider}_{route}")(ask, parts)
        return made if fault is None else LOST

    def count(self, route: str) -> int:
        return self.served.count(route)

    # -- jobs, whoever asks -----------------------------------------------------------------

    def _start(self, name: str, lines: list[tuple[str, Json]], source: str = "") -> Job:
        job = Job(f"batch_{len(self.jobs) + 1}", name, lines, source == "", source)
        self.jobs[job.id] = job
        return job

    def _look(self, id: str) -> Job | None:
        job = self.jobs.get(id)
        if job is None:
            return None
        job.looks += 1
        if job.state == "cancelling":
            self._end(job, "cancelled", self.finished)
        elif job.state == "running" and job.looks > self.looks:
            if self.ends == "paused":
                job.state = "paused"
            elif self.ends != "never":
                self._end(job, self.ends, None if self.ends == "done" else self.finished)
        return job

    def _end(self, job: Job, state: str, finished: int | None) -> None:
        job.state = state
        answered = [] if state == "failed" else job.lines[:finished]
        results = []
        for key, request in answered:
            prompt = _prompt(request)
            results.append(Result(key, self.model(prompt), prompt))
        job.results = self.shape(results)
        if state == "expired" and finished is not None:
            rest = job.lines[finished:]
            job.results += [Result(key, "", "", 0, "batch_expired") for key, _ in rest]

    def _cancel(self, id: str) -> Job | None:
        job = self.jobs.get(id)
        if job is not None and job.state in ("running", "paused"):
            job.state = "cancelling"
        return job

    # -- OpenAI -----------------------------------------------------------------------------

    def _openai_upload(self, ask: Ask, parts: list[str]) -> Reply:
        head = f"Content-Type: {ask.headers['content-type']}\r\n\r\n".encode()
        form: dict[str, bytes] = {}
        for part in _form(head + ask.data):
            field_name = part.get_param("name", header="content-disposition")
            form[field_name] = part.get_payload(decode=True)
        if form["purpose"] != b"batch":
            return openai.error(400, None, "wrong purpose")
        name = self._keep(form["file"])
        return Reply.of(
            {
                "id": name,
                "object": "file",
                "bytes": len(form["file"]),
                "created_at": 0,
                "filename": "batch.jsonl",
                "purpose": "batch",
                "status": "processed",
            }
        )

    def _openai_create(self, ask: Ask, parts: list[str]) -> Reply:
        asked = ask.body
        self.bodies.append(asked)
        lines = [json.loads(line) for line in self.files[asked["input_file_id"]].splitlines()]
        if len({line["custom_id"] for line in lines}) < len(lines):
            return openai.error(400, None, "custom_id twice")
        job = self._start(
            (asked.get("metadata") or {}).get("envgen", ""),
            [(line["custom_id"], line["body"]) for line in lines],
            asked["input_file_id"],
        )
        return Reply.of(self._openai_job(job))

    def _openai_look(self, ask: Ask, parts: list[str]) -> Reply:
        return self._openai_found(self._look(parts[2]))

    def _openai_cancel(self, ask: Ask, parts: list[str]) -> Reply:
        return self._openai_found(self._cancel(parts[2]))

    def _openai_found(self, job: Job | None) -> Reply:
        if job is None:
            return openai.error(404, None, "no such batch")
        return Reply.of(self._openai_job(job))

    def _openai_list(self, ask: Ask, parts: list[str]) -> Reply:
        page, more = _page(self.jobs, ask, "after", "limit")
        return Reply.of(
            {"object": "list", "data": [self._openai_job(job) for job in page], "has_more": more}
        )

    def _openai_delete(self, ask: Ask, parts: list[str]) -> Reply:
        gone = self.files.pop(parts[2], None)
        return Reply.of({"id": parts[2], "deleted": True}, 404 if gone is None else 200)

    def _openai_results(self, ask: Ask, parts: list[str]) -> Reply:
        return Reply(200, self.files[parts[2]], _BYTES)

    def _openai_job(self, job: Job) -> Json:
        status = {"running": "in_progress", "done": "completed", "partial": "completed"}
        ended = job.state not in ("running", "cancelling", "paused")
        good = [_openai_line(r) for r in job.results if r.status == 200]
        bad = [_openai_line(r) for r in job.results if r.status != 200]
        failed = [{"code": "token_limit_exceeded", "message": "enqueued token limit reached"}]
        return {
            "id": job.id,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "created_at": 0,
            "input_file_id": job.source,
            "metadata": {"envgen": job.name},
            "status": status.get(job.state, job.state),
            "output_file_id": self._keep(_jsonl(good), job.id + "-out") if ended and good else None,
            "error_file_id": self._keep(_jsonl(bad), job.id + "-err") if ended and bad else None,
            "errors": {"object": "list", "data": failed} if job.state == "failed" else None,
        }

    # -- Gemini -----------------------------------------------------------------------------

    def _gemini_upload(self, ask: Ask, parts: list[str]) -> Reply:
        """Both steps of an upload: the address, then the bytes."""
        if "start" in ask.headers.get("x-goog-upload-command", ""):
            name = self._keep(b"")
            where = f"http://{ask.headers['host']}/upload/v1/files/{name}"
            return Reply.of({}, x_goog_upload_url=where, x_goog_upload_status="active")
        self.files[parts[3]] += ask.data
        final = "finalize" in ask.headers.get("x-goog-upload-command", "")
        status = "final" if final else "active"
        return Reply.of({"file": {"name": f"files/{parts[3]}"}}, x_goog_upload_status=status)

    def _gemini_create(self, ask: Ask, parts: list[str]) -> Reply:
        asked = ask.body["batch"]
        self.bodies.append(asked)
        source = asked["inputConfig"]
        if "fileName" in source:
            stored = self.files[source["fileName"].removeprefix("files/")]
            lines = [json.loads(line) for line in stored.splitlines()]
            asks = [(line["key"], line["request"]) for line in lines]
        else:
            items = source["requests"]["requests"]
            asks = [(item["metadata"]["key"], item["request"]) for item in items]
        job = self._start(asked["displayName"], asks, source.get("fileName", ""))
        return Reply.of(self._gemini_job(job))

    def _gemini_look(self, ask: Ask, parts: list[str]) -> Reply:
        job = self._look(parts[2])
        if job is None:
            return gemini.error(404, "NOT_FOUND")
        return Reply.of(self._gemini_job(job))

    def _gemini_cancel(self, ask: Ask, parts: list[str]) -> Reply:
        self._cancel(parts[2].removesuffix(":cancel"))
        return Reply.of({})

    def _gemini_list(self, ask: Ask, parts: list[str]) -> Reply:
        page, more = _page(self.jobs, ask, "pageToken", "pageSize")
        found: Json = {"operations": [self._gemini_job(job) for job in page]}
        return Reply.of(found | ({"nextPageToken": page[-1].id} if more else {}))

    def _gemini_delete(self, ask: Ask, parts: list[str]) -> Reply:
        gone = self.files.pop(parts[2], None)
        return gemini.error(404, "NOT_FOUND") if gone is None else Reply.of({})

    def _gemini_results(self, ask: Ask, parts: list[str]) -> Reply:
        name = parts[2].removesuffix(":download")
        return Reply(200, self.files[name], _BYTES)

    def _gemini_job(self, job: Job) -> Json:
        states = {
            "running": "BATCH_STATE_RUNNING",
            "cancelling": "BATCH_STATE_RUNNING",
            "done": "BATCH_STATE_SUCCEEDED",
            "partial": "JOB_STATE_PARTIALLY_SUCCEEDED",
            "paused": "JOB_STATE_PAUSED",
        }
        state = states.get(job.state, f"BATCH_STATE_{job.state.upper()}")
        about: Json = {
            "displayName": job.name,
            "state": state,
            "createTime": "2026-01-01T00:00:00Z",
        }
        if job.source:
            about["inputConfig"] = {"fileName": job.source}
        if job.results and job.inline:
            lines = [_gemini_line(r, inline=True) for r in job.results]
            about["output"] = {"inlinedResponses": {"inlinedResponses": lines}}
        elif job.results:
            lines = [_gemini_line(r, inline=False) for r in job.results]
            about["output"] = {"responsesFile": f"files/{self._keep(_jsonl(lines), job.id)}"}
        return {"name": f"batches/{job.id}", "metadata": about}

    def _keep(self, data: bytes, name: str = "") -> str:
        self.kept += not name
        name = name or f"file-{self.kept}"
        self.files[name] = data
        return name


def _is_gemini(ask: Ask) -> bool:
    """By the key's header; the address of an upload is its own permission and is sent none."""
    return "x-goog-api-key" in ask.headers or ask.path.startswith("/upload/")


def _openai(method: str, parts: list[str]) -> str | None:
    match (method, parts[1:]):
        case ("POST", ["files"]):
            return "upload"
        case ("POST", ["batches"]):
            return "create"
        case ("GET", ["batches"]):
            return "list"
        case ("GET", ["batches", _]):
            return "look"
        case ("POST", ["batches", _, "cancel"]):
            return "cancel"
        case ("GET", ["files", _, "content"]):
            return "results"
        case ("DELETE", ["files", _]):
            return "delete"
    return None


def _gemini(method: str, parts: list[str]) -> str | None:
    if parts[0] == "upload":
        return "upload"
    match (method, parts[1:]):
        case ("POST", ["models", name]) if name.endswith(":batchGenerateContent"):
            return "create"
        case ("GET", ["batches"]):
            return "list"
        case ("GET", ["batches", _]):
            return "look"
        case ("POST", ["batches", name]) if name.endswith(":cancel"):
            return "cancel"
        case ("GET", ["files", name]) if name.endswith(":download"):
            return "results"
        case ("DELETE", ["files", _]):
            return "delete"
    return None


def _page(jobs: dict[str, Job], ask: Ask, after: str, size: str) -> tuple[list[Job], bool]:
    """The newest first, from behind `after`; whether there are more."""
    query = parse_qs(urlsplit(ask.path).query)
    found = list(reversed(jobs.values()))
    if after in query:
        found = found[[job.id for job in found].index(query[after][0]) + 1 :]
    most = int(query.get(size, ["20"])[0])
    return found[:most], len(found) > most


def _prompt(request: Json) -> str:
    """Text of the last message, in either wire format."""
    if "messages" in request:
        return str(request["messages"][-1]["content"])
    return "".join(part["text"] for part in request["contents"][-1]["parts"])


def _openai_line(result: Result) -> Json:
    line: Json = {"id": f"line-{result.key[:8]}", "custom_id": result.key}
    if result.status == 0:
        return line | {"response": None, "error": {"code": result.code, "message": result.code}}
    if result.status != 200:
        body: Json = json.loads(openai.error(result.status, result.code).data)
    else:
        use = openai.usage(len(result.prompt.split()), len(result.text.split()))
        body = openai.body(result.text, result.finish, use=use)
    response = {"status_code": result.status, "request_id": "r", "body": body}
    return line | {"response": response, "error": None}


def _gemini_line(result: Result, *, inline: bool) -> Json:
    line: Json = {"metadata": {"key": result.key}} if inline else {"key": result.key}
    if result.status != 200:
        return line | {"error": {"code": _GRPC[result.status], "message": result.code}}
    use = gemini.usage(len(result.prompt.split()), len(result.text.split()))
    reason = {"stop": "STOP", "length": "MAX_TOKENS"}[result.finish]
    return line | {"response": gemini.body(result.text, reason, use=use)}


def _form(data: bytes) -> list[Any]:
    """The parts of a multipart body."""
    payload: Any = message_from_bytes(data).get_payload()
    return list(payload)


def _jsonl(lines: Iterable[Json]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)
