"""The kit's clients with a patience that wears out.

A right stack answers in milliseconds, on a busy machine in seconds. One that listens and says
nothing would hold the grader up for minutes, so every silence makes the next wait shorter.
"""

from collections.abc import Callable
from typing import Any, List, Optional, Sequence, TypeVar

from verifiers import multi_protocol
from verifiers.multi_protocol import DnsReply, HttpReply, RespReply, SmtpReply

Reply = TypeVar("Reply")
LONG, SHORT, WEAR = 5.0, 0.2, 0.6
_state = {"seconds": LONG}


def patience() -> float:
    """Seconds that the next answer may take."""
    return _state["seconds"]


def heard(reply: Optional[Reply]) -> Optional[Reply]:
    """The reply itself; none at all costs patience."""
    if reply is None:
        _state["seconds"] = max(SHORT, WEAR * _state["seconds"])
    return reply


def http(*args: Any, **options: Any) -> Optional[HttpReply]:
    """As in the kit."""
    return heard(multi_protocol.http(*args, timeout=patience(), **options))


def redis(port: int, password: str, *words: str) -> Optional[RespReply]:
    """One command after AUTH."""
    replies = redis_pipeline(port, [["AUTH", password], words])
    return replies[1] if replies else None


def redis_pipeline(port: int, commands: Sequence[Sequence[str]]) -> Optional[List[RespReply]]:
    """As in the kit."""
    return heard(multi_protocol.redis_pipeline(port, commands, timeout=patience()))


def tcp(port: int, payload: bytes, until: bytes) -> Optional[bytes]:
    """As in the kit."""
    return heard(multi_protocol.tcp(port, payload, until, timeout=patience()))


def dns(port: int, name: str, kind: str) -> Optional[DnsReply]:
    """As in the kit."""
    return heard(multi_protocol.dns(port, name, kind, timeout=patience()))


def smtp(port: int, sender: str, to: Sequence[str], message: bytes) -> Optional[SmtpReply]:
    """As in the kit."""
    return heard(multi_protocol.smtp(port, sender, to, message, timeout=patience()))


def again(look: Callable[[], Reply], wanted: Reply, tries: int = 3) -> Reply:
    """Look until it is as wanted: a probe with a clock may fail once on a busy machine."""
    found = look()
    while found != wanted and tries > 1 and patience() > 1:
        tries -= 1
        found = look()
    return found
