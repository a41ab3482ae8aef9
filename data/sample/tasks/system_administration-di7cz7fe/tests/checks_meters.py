"""Checks of the telemetry board: UDP in, TCP and HTTP out, RESP at the store."""

import time
from collections.abc import Iterator
from typing import Any, Dict, Optional

from talk import heard, http, patience, redis, redis_pipeline, tcp  # type: ignore[import-not-found]

from verifiers import Check, Task
from verifiers.multi_protocol import RespReply, udp


class Kind:
    """Fresh meters, sent by datagram and read everywhere."""

    def __init__(self, task: Task) -> None:
        self.facts: Dict[str, Any] = task.truth["facts"]
        self.password = task.truth["password"]
        rng = task.rng("meters")
        self.names = [f"{self.facts['accept_prefix']}t{rng.randrange(10**8)}" for _ in range(5)]
        self.numbers = [rng.randrange(3, 5000) for _ in range(5)]

    def first(self) -> Iterator[Check]:
        one, two, three, four = self.names[:4]
        a, b, c, d = self.numbers[:4]
        self._send(f"{one}:{a}|c\n{two}:{a}|g")
        self._send(f"{one}:{b}|c")
        self._send(f"{two}:{b}|g\nother.{three}:1|c")
        yield Check(
            "counts and gauges, by query",
            float(self._query(one, a + b) and self._query(two, b)),
            weight=2,
        )
        yield Check(
            "the same through the gate",
            float(
                self._get(f"/metrics/{one}") == {"name": one, "value": a + b}
                and self._get(f"/metrics/{two}", new_host=True) == {"name": two, "value": b}
            ),
            weight=2,
        )
        yield Check(
            "they are in the store",
            float(
                self._redis("GET", self.facts["key_prefix"] + one)
                == RespReply("bulk", str(a + b).encode())
            ),
        )
        yield Check(
            "other names are not taken",
            float(tcp(self.facts["query"], f"GET other.{three}\n".encode(), b"\n") == b"NONE\n"),
        )
        start = self.facts["accept_prefix"] + "t"
        yield Check(
            "summary",
            float(
                self._get(f"/summary?prefix={start}")
                == {"prefix": start, "count": 2, "sum": a + 2 * b}
            ),
        )
        yield Check("length of datagrams", self._sizes(three, four, c, d))
        yield from self._alarms()
        stranger = redis_pipeline(self.facts["store"], [["GET", self.facts["key_prefix"] + one]])
        yield Check(
            "the store wants its password",
            float(stranger is not None and stranger[0].kind == "error"),
        )

    def _sizes(self, three: str, four: str, c: int, d: int) -> float:
        size = self.facts["datagram"]
        self._send(f"{four}:{d}|g\n".ljust(size + 1, "\n"))
        self._send(f"{three}:{c}|g\n".ljust(size, "\n"))
        taken = self._query(three, c)
        return float(taken and self._line(four) == b"NONE\n")

    def _alarms(self) -> Iterator[Check]:
        alarms = self.facts["alarms"]
        for alarm in alarms:
            self._send(f"{alarm['name']}:{alarm['above']}|g")
        self._query(alarms[-1]["name"], alarms[-1]["above"])
        quiet = self._get("/alarms")
        for alarm in (alarms[0], alarms[-1]):
            self._send(f"{alarm['name']}:{alarm['above'] + 1}|g")
        self._query(alarms[-1]["name"], alarms[-1]["above"] + 1)
        wanted = sorted([alarms[0]["name"], alarms[-1]["name"]])
        yield Check(
            "alarms, the new one too",
            float(quiet == {"alarms": []} and self._get("/alarms") == {"alarms": wanted}),
            weight=2,
        )

    def second(self) -> Iterator[Check]:
        one, last = self.names[0], self.names[4]
        total = self.numbers[0] + self.numbers[1]
        yield Check("values survive a hard stop", float(self._query(one, total)), weight=2)
        self._send(f"{one}:1|c\n{last}:7|c")
        yield Check(
            "counting goes on from there",
            float(self._query(last, 7) and self._query(one, total + 1)),
        )

    def _send(self, text: str) -> None:
        """Nothing comes back, so there is nothing to wait for."""
        udp(self.facts["udp"], text.encode(), timeout=0.02, tries=1)

    def _line(self, name: str) -> Optional[bytes]:
        line: Optional[bytes] = tcp(self.facts["query"], f"GET {name}\n".encode(), b"\n")
        return line

    def _query(self, name: str, value: int) -> bool:
        """Datagrams take their time: wait a while for the value."""
        wanted = f"{name} {value}\n".encode()
        end = time.monotonic() + min(patience(), 3)
        while time.monotonic() < end:
            line = self._line(name)
            if line is None or line == wanted:
                return line is not None
            time.sleep(0.03)
        heard(None)
        return False

    def _get(self, path: str, new_host: bool = False) -> Any:
        host = self.facts["host"]
        if new_host:
            host, path = self.facts["host2"], self.facts["prefix2"] + path
        reply = http("GET", self.facts["gate"], path, host=host)
        return reply.json() if reply is not None and reply.status == 200 else None

    def _redis(self, *words: str) -> Optional[RespReply]:
        reply: Optional[RespReply] = redis(self.facts["store"], self.password, *words)
        return reply
