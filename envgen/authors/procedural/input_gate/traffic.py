"""Records of one service: drawn, labelled by the policy, and written as lines."""

import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from envgen.authors.procedural.input_gate.policy import Policy, is_good
from envgen.authors.procedural.input_gate.samples import DRAWS
from envgen.authors.procedural.input_gate.scenarios import Scenario
from envgen.authors.procedural.input_gate.words import Values

GOOD, NEAR, BAD = 0, 1, 2
POOL = 25
BARE = re.compile(r"[\t\r\n\0]")
FORMATS = ("tsv", "pairs", "json")
OLD_PATTERNS = (
    r"\.\./", r"%0[dD]%0[aA]", r"<script", r";", r"127\.0\.0\.1", r"\$\(", r"%00", r"=cmd", r"`",
    r"\.\.%2[fF]", r"\.php", r"\.exe", r"localhost", r"//[a-z]+\.example", r"OR 1=1", r"\|", r"@",
)  # fmt: skip


@dataclass(frozen=True)
class Source:
    """All that the records of one task have in common."""

    scenario: Scenario
    policy: Policy
    rules: tuple[str, ...]
    form: str
    pool: Mapping[str, Sequence[Values]]
    """Good values of every rule, for the fields that a record is not about."""

    @property
    def fields(self) -> Mapping[str, tuple[str, ...]]:
        """Rule -> the fields that it looks at, in the order of the scenario."""
        return {rule: names for rule, names in self.scenario.slots if rule in self.rules}

    @property
    def columns(self) -> list[str]:
        """Every field of a record: the two that no rule looks at come first."""
        judged = [name for names in self.fields.values() for name in names]
        return [*self.scenario.inert, *judged]


def draw_source(
    rng: random.Random, scenario: Scenario, policy: Policy, rules: tuple[str, ...]
) -> Source:
    """A way of writing records, and ordinary values for them (one in five looks suspicious)."""
    words, pool = scenario.words, {}
    for rule in rules:
        kinds = [NEAR if i % 5 == 4 else GOOD for i in range(POOL)]
        pool[rule] = [draw_values(rng, policy, words, rule, kind) for kind in kinds]
    return Source(scenario, policy, rules, rng.choice(FORMATS), pool)


def draw_values(
    rng: random.Random, policy: Policy, words: Sequence[str], rule: str, kind: int
) -> Values:
    """A value that the policy calls good (kinds GOOD and NEAR) or bad."""
    while True:
        values = DRAWS[rule][kind](rng, policy, words)
        if not BARE.search("".join(values)) and is_good(policy, rule, values) == (kind != BAD):
            return values


def draw_record(
    rng: random.Random, source: Source, rule: str, kind: int, suspicious: float = 0.2
) -> str:
    """One line about one rule; its other fields are good, though some may look suspicious."""
    record = dict(zip(source.scenario.inert, _inert(rng, source.scenario, suspicious), strict=True))
    for other, names in source.fields.items():
        if other == rule:
            values = draw_values(rng, source.policy, source.scenario.words, rule, kind)
        else:
            values = rng.choice(source.pool[other]) if suspicious else source.pool[other][0]
        record.update(zip(names, values, strict=True))
    return _line(rng, source, record)


def _inert(rng: random.Random, scenario: Scenario, suspicious: float) -> Values:
    """Fields without a rule may hold anything, also what would be bad elsewhere."""
    scary = ("=1+1", "../up", "a;b", "//x.example", "-rf", "%0d%0ax", "nul")
    first = rng.choice(scary) if rng.random() < suspicious else f"{rng.choice(scenario.words)}-4"
    return first, str(rng.randrange(1000, 9999))


def _line(rng: random.Random, source: Source, record: dict[str, str]) -> str:
    if source.form == "tsv":
        return "\t".join(record[name] for name in source.columns)
    names = rng.sample(source.columns, len(source.columns))
    if source.form == "pairs":
        return "\t".join(f"{name}={record[name]}" for name in names)
    text = json.dumps({name: record[name] for name in names}, ensure_ascii=rng.random() < 0.5)
    return _respelled(rng, text) if rng.random() < 0.3 else text


def _respelled(rng: random.Random, text: str) -> str:
    """JSON escapes where none are needed: the value stays the same."""
    return re.sub("[./<=@]", lambda found: f"\\u{ord(found[0]):04x}", text)


def draw_corpora(
    rng: random.Random, source: Source, each: int, taken: set[str]
) -> dict[str, dict[str, list[str]]]:
    """Per rule a clean and a malicious corpus of `each` lines, none of which is in `taken`."""
    kinds = {"clean": (GOOD, NEAR, NEAR), "malicious": (BAD, BAD, BAD)}
    return {
        rule: {
            side: [_fresh(rng, source, rule, wanted[i % 3], taken) for i in range(each)]
            for side, wanted in kinds.items()
        }
        for rule in source.fields
    }


def _fresh(rng: random.Random, source: Source, rule: str, kind: int, taken: set[str]) -> str:
    while (line := draw_record(rng, source, rule, kind)) in taken:
        pass
    taken.add(line)
    return line


@dataclass(frozen=True)
class Review:
    """The log that analysts went through, and what it says about the old filter."""

    text: str
    lines: frozenset[str]
    bad: Mapping[str, int]
    missed: Mapping[str, int]
    benign: int
    alarms: int


def draw_review(rng: random.Random, source: Source, each: int) -> Review:
    """Lines `id TAB old verdict TAB label TAB record`; some are remarks or not reviewed."""
    old = re.compile("|".join(rng.sample(OLD_PATTERNS, 7)))
    records = [
        (rule, draw_record(rng, source, rule, BAD))
        for rule in source.fields
        for _ in range(each + rng.randrange(6))
    ]
    records += [
        ("ok", draw_record(rng, source, rule, kind))
        for rule in source.fields
        for kind in (GOOD, NEAR)
        for _ in range(each)
    ]
    rng.shuffle(records)
    number, out = rng.randrange(1000, 8000), []
    bad, missed = dict.fromkeys(source.fields, 0), dict.fromkeys(source.fields, 0)
    benign = alarms = 0
    for label, line in records:
        number += rng.randint(1, 4)
        blocked = old.search(line) is not None
        shown = label if rng.random() < 0.85 else "?"
        if shown == "ok":
            benign, alarms = benign + 1, alarms + blocked
        elif shown != "?":
            bad[label] += 1
            missed[label] += not blocked
        out.append(f"{number}\t{'stop' if blocked else 'pass'}\t{shown}\t{line}")
        if rng.random() < 0.06:
            out.append(f"# {rng.choice(('rotated', 'health check', 'rule reload'))} {number}")
    lines = frozenset(line for _, line in records)
    return Review("\n".join(out) + "\n", lines, bad, missed, benign, alarms)
