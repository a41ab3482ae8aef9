"""The clean records and the rejects, from what the sightings mean and never from their bytes."""

from dataclasses import dataclass

from envgen.authors.procedural.feed_cleaning.rules import Rules
from envgen.authors.procedural.feed_cleaning.stream import Sighting, Stream


@dataclass(frozen=True)
class Result:
    """Lines of each output."""

    records: list[str]
    rejects: list[str]
    stats: list[str]


def result(rules: Rules, stream: Stream) -> Result:
    """The right answer to one stream."""
    good = [s for s in stream.sightings if not s.faults]
    bad = [s for s in stream.sightings if s.faults]
    kept = _survivors(rules, good)
    rejects = [
        rules.reject_sep.join([str(s.line), rules.feeds[s.feed].name, _reason(rules, s)])
        for s in bad
    ]
    return Result(_records(rules, kept), rejects, _stats(rules, good, bad, kept))


def _survivors(rules: Rules, good: list[Sighting]) -> list[Sighting]:
    groups: dict[str, list[Sighting]] = {}
    for sighting in good:
        groups.setdefault(sighting.key, []).append(sighting)
    return [_survivor(rules.survivor, group) for group in groups.values()]


def _survivor(rule: str, group: list[Sighting]) -> Sighting:
    """`group` is in stream order."""
    if rule == "latest":
        return max(group, key=lambda s: (s.date, s.line))
    if rule == "earliest":
        return min(group, key=lambda s: (s.date, s.line))
    if rule == "last_line":
        return group[-1]
    if rule == "first_line":
        return group[0]
    if rule == "highest":
        return min(group, key=lambda s: (-s.amount, s.line))
    return min(group, key=lambda s: (s.feed, -s.line))


def _reason(rules: Rules, sighting: Sighting) -> str:
    if 0 in sighting.faults:
        return rules.reasons[0]
    return rules.reasons[next(role for role in rules.precedence if role in sighting.faults)]


def _records(rules: Rules, kept: list[Sighting]) -> list[str]:
    if rules.order == "date":
        kept = sorted(kept, key=lambda s: (s.date, s.key))
    elif rules.order == "amount":
        kept = sorted(kept, key=lambda s: (-s.amount, s.key))
    else:
        kept = sorted(kept, key=lambda s: s.key)
    lines = [rules.sep.join(_cells(rules, s)) for s in kept]
    if rules.header:
        lines.insert(0, rules.sep.join(rules.label.get(c, c) for c in rules.columns))
    return lines


def _cells(rules: Rules, sighting: Sighting) -> list[str]:
    whole = f"{'-' if sighting.amount < 0 else ''}{abs(sighting.amount) // 100}"
    decimal = f"{whole}.{abs(sighting.amount) % 100:02d}"
    values = {
        "key": sighting.key,
        "name": sighting.name,
        "date": sighting.date,
        "amount": str(sighting.amount) if rules.minor else decimal,
        "code": sighting.code,
        "quantity": str(sighting.quantity),
        "feed": rules.feeds[sighting.feed].name,
    }
    return [values[column] for column in rules.columns]


def _stats(
    rules: Rules, good: list[Sighting], bad: list[Sighting], kept: list[Sighting]
) -> list[str]:
    """Per feed in alphabetical order: records kept, records superseded, lines rejected."""
    rows = []
    for nth, feed in enumerate(rules.feeds):
        stays, valid, fails = (sum(s.feed == nth for s in some) for some in (kept, good, bad))
        rows.append((feed.name, stays, valid - stays, fails))
    rows.sort()
    lines = [" ".join(map(str, row)) for row in rows]
    if rules.stats_total:
        lines.append(f"total {len(kept)} {len(good) - len(kept)} {len(bad)}")
    return lines
