"""Checks of the link shortener: HTTP through the gate, RESP at the store."""

import json
from collections.abc import Iterator
from typing import Any, Optional

from talk import http, redis, redis_pipeline  # type: ignore[import-not-found]

from verifiers import Check, Task
from verifiers.multi_protocol import HttpReply, RespReply


class Kind:
    """Fresh links, followed through gate, service and store."""

    def __init__(self, task: Task) -> None:
        self.facts = task.truth["facts"]
        self.password = task.truth["password"]
        rng = task.rng("links")
        self.codes = [
            "".join(rng.choice("abcdefghkmnpqrstuvwxyz") for _ in range(9)) for _ in range(4)
        ]
        self.urls = [
            f"https://{rng.randrange(10**9)}.example/{rng.randrange(10**9)}" for _ in range(4)
        ]

    def first(self) -> Iterator[Check]:
        made = self._post({"url": self.urls[0], "code": self.codes[0]})
        followed = self._get(f"/r/{self.codes[0]}")
        yield Check(
            "a link leads where it should",
            float(made is not None and made.status == 201 and _leads(followed, self.urls[0])),
            weight=2,
        )
        yield Check(
            "it is in the store under its key",
            float(self._redis("GET", self._key(0)) == RespReply("bulk", self.urls[0].encode())),
        )
        left = self._redis("TTL", self._key(0))
        seconds = left.value if left is not None and isinstance(left.value, int) else 0
        yield Check(
            "it is kept for the agreed time",
            float(self.facts["ttl"] - 30 <= seconds <= self.facts["ttl"]),
        )
        self._redis("SET", self._key(1), self.urls[1])
        yield Check(
            "what is put into the store is served",
            float(_leads(self._get(f"/r/{self.codes[1]}"), self.urls[1])),
            weight=2,
        )
        page = self._get(f"/links/{self.codes[0]}")
        yield Check(
            "hits are counted",
            float(
                page is not None
                and page.json() == {"code": self.codes[0], "url": self.urls[0], "hits": 1}
            ),
        )
        yield from self._limits()
        new = f"{self.facts['new_scheme']}://{self.codes[3]}"
        reply = self._post({"url": new, "code": self.codes[2]}, new_host=True)
        yield Check(
            "the new scheme, through the new host",
            float(
                reply is not None
                and reply.status == 201
                and self._redis("GET", self._key(2)) == RespReply("bulk", new.encode())
            ),
        )

    def _limits(self) -> Iterator[Check]:
        size = self.facts["max_url"]
        long = "https://x.example/".ljust(size, "y")
        codes = [self._status({"url": long}), self._status({"url": long + "y"})]
        yield Check("length of URLs", float(codes == [201, 413]))
        codes = [
            self._status({"url": f"{scheme}://a.example"})
            for scheme in [*self.facts["schemes"], "gopher", "javascript"]
        ]
        yield Check("schemes", float(codes == [201] * len(self.facts["schemes"]) + [422, 422]))
        stranger = redis_pipeline(self.facts["store"], [["GET", self._key(0)]])
        yield Check(
            "the store wants its password",
            float(stranger is not None and stranger[0].kind == "error"),
        )

    def second(self) -> Iterator[Check]:
        yield Check(
            "links survive a hard stop",
            float(
                _leads(self._get(f"/r/{self.codes[0]}"), self.urls[0])
                and _leads(self._get(f"/r/{self.codes[1]}"), self.urls[1])
            ),
            weight=2,
        )

    def _key(self, number: int) -> str:
        return str(self.facts["key_prefix"]) + self.codes[number]

    def _post(self, value: Any, new_host: bool = False) -> Optional[HttpReply]:
        host, path = self.facts["host"], "/links"
        if new_host:
            host, path = self.facts["host2"], self.facts["prefix2"] + path
        reply: Optional[HttpReply] = http(
            "POST", self.facts["gate"], path, body=json.dumps(value).encode(), host=host
        )
        return reply

    def _status(self, value: Any) -> int:
        reply = self._post(value)
        return reply.status if reply else 0

    def _get(self, path: str) -> Optional[HttpReply]:
        reply: Optional[HttpReply] = http("GET", self.facts["gate"], path, host=self.facts["host"])
        return reply

    def _redis(self, *words: str) -> Optional[RespReply]:
        reply: Optional[RespReply] = redis(self.facts["store"], self.password, *words)
        return reply


def _leads(reply: Optional[HttpReply], url: str) -> bool:
    return reply is not None and reply.status == 302 and reply.headers.get("location") == url
