"""What can go wrong with a call, as one table: what was seen -> its class -> what is done about it.

Adapters say what they saw (`Seen`), `trouble` says what it means. Statuses and codes decide;
messages are read only for the few faults that have no code of their own.
"""

import math
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Literal, NamedTuple

from envgen.errors import Misconfigured, Weather
from envgen.records import Usage

Kind = Literal[
    "throttled",
    "quota_dead",
    "transient",
    "truncated",
    "degenerate",
    "refused",
    "blocked",
    "bad_request",
]


class Action(NamedTuple):
    """What is done about a class of trouble."""

    attempts: int
    """Most attempts at one request that may end so; 0 = as many as patience allows."""
    then: Literal["unfinished", "stop", "answer", "misconfigured"]
    """What it comes to when no attempt is left."""
    why: str


ACTIONS: Mapping[Kind, Action] = {
    "throttled": Action(0, "unfinished", "waits as told, with jitter; uses no attempt"),
    "quota_dead": Action(1, "stop", "no call can succeed until somebody acts"),
    "transient": Action(5, "unfinished", "full jitter between attempts"),
    "truncated": Action(1, "answer", "the author goes on from where it was cut"),
    "degenerate": Action(3, "answer", "asked again with another seed and temperature"),
    "refused": Action(1, "answer", "the same question would be refused again"),
    "blocked": Action(1, "answer", "the same question would be blocked again"),
    "bad_request": Action(1, "misconfigured", "every other call would be refused too"),
}


class Seen(NamedTuple):
    """What an adapter saw in place of an answer."""

    provider: str
    """`openai` or `gemini`."""
    how: Literal[
        "http", "timeout", "dropped", "unreachable", "unbounded", "html", "empty", "cut", "shape"
    ]
    """`http`: an error of the provider's, with `status`. `shape`: JSON that is no answer.
    `unbounded`: more bytes than any answer has, or packed ones."""
    status: int = 0
    """HTTP status; for an error object under 200, the code that it names, or 200."""
    codes: tuple[str, ...] = ()
    """The provider's own names for the fault (code, type, status, reason, quota ids)."""
    says: str = ""
    """Its message, cleaned: one short line without the key."""
    after: float | None = None
    """Seconds that it asks to wait."""
    usage: Usage | None = None
    """What was billed all the same."""


class Row(NamedTuple):
    """Signs, all of which must be there, and the class that they mean."""

    kind: Kind
    statuses: tuple[tuple[int, int], ...] = ()
    """Ranges of statuses, ends included; none = any."""
    codes: tuple[str, ...] = ()
    """Any of these names, whole, whatever their case; none = any."""
    says: tuple[str, ...] = ()
    """Any of these words in the message; none = any."""
    how: tuple[str, ...] = ("http",)
    provider: str = ""


_WHOLE = ((200, 599),)
TABLE: tuple[Row, ...] = (
    Row("transient", how=("timeout", "dropped", "unreachable", "unbounded")),
    Row("transient", how=("html", "empty", "cut", "shape")),
    # Nothing heals these but a person.
    Row("quota_dead", _WHOLE, ("insufficient_quota", "billing_hard_limit_reached")),
    Row("quota_dead", _WHOLE, ("billing_not_active", "account_deactivated", "invalid_api_key")),
    Row("quota_dead", _WHOLE, ("UNAUTHENTICATED", "PERMISSION_DENIED", "API_KEY_INVALID")),
    Row("quota_dead", ((400, 400),), ("FAILED_PRECONDITION",), provider="gemini"),
    Row("quota_dead", ((429, 429),), ("per_day",), provider="gemini"),
    Row("quota_dead", ((401, 403),)),
    # Pacing.
    Row("throttled", ((429, 429), (503, 503), (529, 529))),
    Row("throttled", _WHOLE, ("rate_limit_exceeded", "RESOURCE_EXHAUSTED", "overloaded_error")),
    # Of this question alone.
    Row("blocked", ((400, 400),), ("content_filter", "content_policy_violation", "invalid_prompt")),
    Row("truncated", ((400, 413),), ("context_length_exceeded", "exceed_context_size_error")),
    Row("truncated", ((400, 400),), says=("maximum context length",), provider="openai"),
    Row("truncated", ((400, 400),), says=("maximum number of tokens",), provider="gemini"),
    # The provider's or the line's.
    Row("transient", ((408, 409), (425, 425), (499, 502), (504, 599))),
    Row("transient", ((200, 299),)),
    # Ours.
    Row("bad_request", ((300, 499),)),
)
"""The first row whose signs are all there decides."""


class Trouble(Weather):
    """A call that brought no answer.

    Attributes:
        seen: what the adapter saw.
    """

    def __init__(self, seen: Seen) -> None:
        super().__init__(describe(seen))
        self.seen = seen

    @property
    def unseen(self) -> bool:
        """Whether the provider may bill an answer that never arrived."""
        lost = ("timeout", "dropped", "unbounded", "cut", "empty")
        return self.seen.usage is None and self.seen.how in lost


class Throttled(Trouble):
    """The provider asks for patience."""

    code = "throttled"


class Transient(Trouble):
    """The provider or the line failed; another attempt may not."""

    code = "transient"


class QuotaDead(Trouble):
    """The provider answers nobody until its account is seen to."""

    code = "quota_dead"
    retryable = False
    stops = True


class Answerless(Trouble):
    """No text came, and none would: the fact is an answer (`truncated`, `blocked`)."""

    code = "answerless"
    retryable = False


def kind_of(seen: Seen) -> Kind:
    """The class of what was seen."""
    names = {code.lower() for code in seen.codes}
    for row in TABLE:
        if (
            seen.how in row.how
            and row.provider in ("", seen.provider)
            and (not row.statuses or any(a <= seen.status <= b for a, b in row.statuses))
            and (not row.codes or names & {code.lower() for code in row.codes})
            and (not row.says or any(words in seen.says.lower() for words in row.says))
        ):
            return row.kind
    return "transient"


def trouble(seen: Seen) -> Trouble | Misconfigured:
    """The exception that what was seen means."""
    kind = kind_of(seen)
    if kind == "bad_request":
        return Misconfigured(
            f"{describe(seen)}: every call would end so; check the model's name, llm.base_url and "
            "what the model supports"
        )
    made = {"throttled": Throttled, "quota_dead": QuotaDead, "transient": Transient}
    return made.get(kind, Answerless)(seen)


def describe(seen: Seen) -> str:
    """One line for people."""
    what = {
        "http": f"HTTP {seen.status}",
        "timeout": "no answer in time",
        "dropped": "the connection was dropped",
        "unreachable": "no connection",
        "unbounded": "an answer that is too large, or packed",
        "html": "a web page in place of an answer",
        "empty": "an empty answer",
        "cut": "an answer that breaks off",
        "shape": "an answer of another shape",
    }[seen.how]
    names = " ".join(dict.fromkeys(seen.codes))
    return ", ".join(filter(None, (f"{seen.provider}: {what}", names, seen.says)))


def cleaned(text: object, secret: str, most: int = 300) -> str:
    """A message of the provider's as one short line, in which the key does not stand."""
    line = " ".join(str(text).split())
    if secret:
        line = line.replace(secret, "***")
    return "".join(c if c.isprintable() else "?" for c in line)[:most]


_LONGEST = 7 * 24 * 3600.0


def wait_of(headers: Mapping[str, str], delays: tuple[str, ...] = ()) -> float | None:
    """Seconds that an error asks to wait; None when it does not say.

    Args:
        headers: the response's, with names in lower case: `retry-after-ms`, and `retry-after` in
            seconds or as a date, which counts from the server's own `date`.
        delays: RetryInfo's delays, such as `17s`; the longest counts.
    """
    found = [_seconds(headers.get("retry-after-ms"), 0.001)]
    if found == [None]:
        after = headers.get("retry-after")
        found = [_seconds(after), _until(after, headers.get("date"))]
    found += [_seconds(delay.removesuffix("s")) for delay in delays]
    told = [wait for wait in found if wait is not None]
    return max(told) if told else None


def _seconds(text: str | None, unit: float = 1.0) -> float | None:
    try:
        value = float(text or "") * unit
    except ValueError:
        return None
    return min(max(value, 0.0), _LONGEST) if math.isfinite(value) else None


def _until(after: str | None, date: str | None) -> float | None:
    try:
        wait = parsedate_to_datetime(after or "") - parsedate_to_datetime(date or "")
    except (ValueError, TypeError):
        return None
    return min(max(wait.total_seconds(), 0.0), _LONGEST)
