"""Checks of the job queue: HTTP through the gate, RESP at the store, results by the worker."""

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from typing import Any, Dict, Optional

from talk import heard, http, patience, redis, redis_pipeline  # type: ignore[import-not-found]

from verifiers import Check, Task
from verifiers.multi_protocol import HttpReply, RespReply

EXPECTED: Dict[str, Callable[[str], str]] = {
    "upper": str.upper,
    "reverse": lambda given: given[::-1],
    "sha256": lambda given: hashlib.sha256(given.encode()).hexdigest(),
    "wordcount": lambda given: str(len(given.split())),
    "sortlines": lambda given: "\n".join(sorted(given.split("\n"))),
    "squeeze": lambda given: " ".join(given.split()),
}


class Kind:
    """Fresh texts, from the gate to the worker and back."""

    def __init__(self, task: Task) -> None:
        self.facts: Dict[str, Any] = task.truth["facts"]
        self.password = task.truth["password"]
        self.rng = task.rng("jobs")
        self.kept = ""
        self.kept_result = ""

    def first(self) -> Iterator[Check]:
        for operation in self.facts["operations"]:
            text = self._text()
            number = self._submit(operation, text)
            result = self._result(number)
            yield Check(f"{operation} is done", float(result == EXPECTED[operation](text)))
            self.kept, self.kept_result = number, result or "-"
        left = self._redis("TTL", self.facts["job_prefix"] + self.kept)
        seconds = left.value if left is not None and isinstance(left.value, int) else 0
        yield Check(
            "jobs are kept for the agreed time",
            float(self.facts["keep"] - 30 <= seconds <= self.facts["keep"]),
        )
        yield Check("a job that was put into the store is done", self._by_hand(), weight=2)
        reply = self._post("/jobs", {"operation": self.facts["closed_operation"], "text": "a"})
        yield Check(
            "other operations are refused", float(reply is not None and reply.status == 422)
        )
        sizes = [self._size(self.facts["max_text"]), self._size(self.facts["max_text"] + 1)]
        yield Check("length of texts", float(sizes == [202, 413]))
        stranger = redis_pipeline(self.facts["store"], [["LLEN", self.facts["queue"]]])
        yield Check(
            "the store wants its password",
            float(stranger is not None and stranger[0].kind == "error"),
        )

    def second(self) -> Iterator[Check]:
        number = self.kept or "none"
        yield Check(
            "jobs survive a hard stop", float(self._result(number) == self.kept_result), weight=2
        )
        text = self._text()
        number = self._submit(self.facts["new_operation"], text, new_host=True)
        yield Check(
            "work goes on after it, through the new host",
            float(self._result(number) == EXPECTED[self.facts["new_operation"]](text)),
        )

    def _text(self) -> str:
        words = ["".join(self.rng.choice("abcdefgh") for _ in range(5)) for _ in range(9)]
        return "  ".join(words[:4]) + "\n" + "\n".join(words[4:])

    def _by_hand(self) -> float:
        """The list and the keys are those that were agreed."""
        number, text = f"{self.rng.randrange(1 << 40):x}", self._text()
        job = {"state": "queued", "operation": self.facts["operations"][0], "text": text}
        self._redis("SET", self.facts["job_prefix"] + number, json.dumps(job))
        self._redis("RPUSH", self.facts["queue"], number)
        wanted = EXPECTED[self.facts["operations"][0]](text)
        return float(self._result(number) == wanted)

    def _size(self, count: int) -> int:
        reply = self._post("/jobs", {"operation": self.facts["operations"][0], "text": "z" * count})
        return reply.status if reply else 0

    def _submit(self, operation: str, text: str, new_host: bool = False) -> str:
        reply = self._post("/jobs", {"operation": operation, "text": text}, new_host)
        page = reply.json() if reply is not None and reply.status == 202 else None
        number = page.get("id") if isinstance(page, dict) else None
        return number if isinstance(number, str) and number.isalnum() else ""

    def _result(self, number: str) -> Optional[str]:
        """The result, for which we wait a while."""
        end = time.monotonic() + (patience() if number else 0)
        while time.monotonic() < end:
            reply = http("GET", self.facts["gate"], f"/jobs/{number}", host=self.facts["host"])
            page = reply.json() if reply is not None else None
            if reply is None or not isinstance(page, dict) or reply.status != 200:
                return None
            if page.get("state") == "done":
                return str(page.get("result"))
            time.sleep(0.05)
        heard(None)
        return None

    def _post(self, path: str, value: Any, new_host: bool = False) -> Optional[HttpReply]:
        host = self.facts["host"]
        if new_host:
            host, path = self.facts["host2"], self.facts["prefix2"] + path
        reply: Optional[HttpReply] = http(
            "POST", self.facts["gate"], path, body=json.dumps(value).encode(), host=host
        )
        return reply

    def _redis(self, *words: str) -> Optional[RespReply]:
        reply: Optional[RespReply] = redis(self.facts["store"], self.password, *words)
        return reply
