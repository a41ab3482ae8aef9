"""Replays a request log against the rate limiter and says what would have happened."""

import sys
from typing import Dict, List

RATE = 5
BURST = 20
STRIKES = 3
PENALTY = 2000


class Client:
    """The bucket of one client, in thousandths of a token."""

    def __init__(self, now: int) -> None:
        self.level = BURST * 1000
        self.last = now
        self.strikes = 0
        self.until = 0
        self.allowed = 0
        self.denied = 0
        self.blocked = 0

    def refill(self, now: int) -> None:
        self.level = min(BURST * 1000, self.level + (now - self.last) * RATE)
        self.last = now

    def request(self, now: int, cost: int) -> str:
        """The decision on one request."""
        if now < self.until:
            self.blocked += 1
            return f"blocked {self.until}"
        self.refill(now)
        if self.level >= cost * 1000:
            self.level -= cost * 1000
            self.allowed += 1
            self.strikes = 0
            return f"allow {self.level // 1000}"
        self.denied += 1
        self.strikes += 1
        if self.strikes == STRIKES:
            self.strikes = 0
            self.until = now + PENALTY
        if cost > BURST:
            return "deny never"
        missing = cost * 1000 - self.level
        return f"deny {(missing + RATE - 1) // RATE}"


class Limiter:
    """All clients, and the clock, which never runs backwards."""

    def __init__(self) -> None:
        self.clients: Dict[str, Client] = {}
        self.now = 0

    def answer(self, line: str) -> str:
        fields = line.split()
        if len(fields) != 3 or not (fields[0].isdigit() and fields[2].isdigit()):
            return "error"
        time, name, cost = int(fields[0]), fields[1], int(fields[2])
        self.now = max(self.now, time)
        if name not in self.clients:
            self.clients[name] = Client(self.now)
        decision = self.clients[name].request(self.now, cost)
        return f"{time} {name} {decision}"

    def totals(self) -> List[str]:
        out = []
        for name in sorted(self.clients):
            client = self.clients[name]
            out.append(
                f"{name} allowed={client.allowed} denied={client.denied} blocked={client.blocked}"
            )
        return out


def run(text: str) -> str:
    limiter = Limiter()
    out = [limiter.answer(line) for line in text.split("\n") if line.strip()]
    out += limiter.totals()
    return "".join(line + "\n" for line in out)


if __name__ == "__main__":
    sys.stdout.write(run(sys.stdin.read()))
