# ruff: noqa: E501 (a fault is its line, whole)
"""The packages: their modules in order, faults that can be planted, and requests that meet them."""

import random
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """One place in a module: right, wrong, and right in other words."""

    module: str
    symptom: str
    good: str
    bad: str
    other: str


@dataclass(frozen=True)
class Package:
    name: str
    modules: tuple[str, ...]
    """Each after those that it imports; `__init__` is last."""
    does: str
    apps: tuple[tuple[str, str], ...]
    """What uses it: a name and a few words."""
    request: Callable[[random.Random], str]
    faults: tuple[Fault, ...]


def _span(rng: random.Random) -> str:
    units = ("w", "d", "h", "m", "s", "week", "days", "hours", "hrs", "minutes", "min", "secs", "H")
    if rng.random() < 0.2:
        return (
            f"{rng.choice(('', '-'))}{rng.randrange(30)}:{rng.choice((0, 5, 59, 60, 61)):02d}"
            + (f":{rng.choice((0, 7, 59, 60)):02d}" if rng.random() < 0.6 else "")
        )
    parts = []
    for unit in rng.sample(units, rng.choice((1, 2, 2, 3))):
        part = rng.choice(("", "", ".5", ".25", ".333", ".05"))
        parts.append(f"{rng.randrange(120)}{part}{rng.choice(('', ' '))}{unit}")
    return rng.choice(("", "", "-", "- ")) + " ".join(parts)


def span_request(rng: random.Random) -> str:
    kind = rng.choice(("read", "read", "write", "round", "round", "sum"))
    if kind == "read":
        return f"read {_span(rng)}"
    if kind == "write":
        base = rng.choice((1, 60, 3600, 86400, 604800))
        seconds = rng.choice((-1, 1, 1)) * (
            base * rng.randrange(1, 9) + rng.choice((0, 0, 1, 60, 3600))
        )
        return f"write {seconds} {rng.randrange(1, 5)}"
    if kind == "round":
        unit, half = rng.choice((("h", 30), ("m", 0), ("d", 720), ("hours", 30), ("min", 0)))
        sign = rng.choice(("", "-"))
        return f"round {sign}{rng.randrange(9)}d {rng.choice((half, half + 1, rng.randrange(1400)))}m {rng.choice((0, 29, 30, 31))}s {unit}"
    return f"sum {'; '.join(_span(rng) for _ in range(rng.choice((2, 3))))}"


TAILS = ("", "", "", "-rc.1", "-rc.2", "-rc.11", "-alpha", "-beta.2", "-1", "+b7")


def _near(rng: random.Random, numbers: list[int]) -> str:
    """A version like another one: one of its numbers may differ."""
    near = list(numbers)
    near[rng.choice((0, 1, 1, 2))] += rng.choice((0, 1, 1, -1))
    return ".".join(str(max(0, n)) for n in near) + rng.choice(TAILS)


def _comparator(rng: random.Random, numbers: list[int]) -> str:
    sign = rng.choice(("^", "^", "~", ">=", "<=", ">", ">", "<", ""))
    if sign in ("^", "~") or rng.random() < 0.4:
        return sign + _near(rng, numbers).partition("+")[0]
    partial = ".".join(map(str, numbers[: rng.choice((1, 2, 2))]))
    return sign + partial + rng.choice(("", "", ".x"))


def version_request(rng: random.Random) -> str:
    numbers = [rng.choice((0, 0, 1, 2)), rng.randrange(4), rng.randrange(4)]
    versions = [_near(rng, numbers) for _ in range(4)]
    kind = rng.choice(("match", "match", "best", "sort"))
    if kind == "sort":
        base = ".".join(map(str, numbers))
        return (
            f"sort {' '.join([*versions[:2], *(base + tail for tail in rng.sample(TAILS[2:], 3))])}"
        )
    parts = (
        " ".join(_comparator(rng, numbers) for _ in range(rng.choice((1, 1, 2))))
        for _ in range(rng.choice((1, 1, 1, 2, 3)))
    )
    text = " || ".join(parts)
    return (
        f"match {versions[0]} {text}" if kind == "match" else f"best {text} | {' '.join(versions)}"
    )


def _field(rng: random.Random, low: int, high: int) -> str:
    kind = rng.randrange(7)
    first = rng.randrange(low, high)
    if kind < 2:
        return "*"
    if kind == 2:
        return f"*/{rng.randrange(2, 9)}"
    if kind == 3:
        return f"{first}/{rng.randrange(2, 5)}"
    if kind == 4:
        return f"{first}-{high}"
    return ",".join(str(rng.randrange(low, high + 1)) for _ in range(rng.choice((1, 1, 2))))


def cron_request(rng: random.Random) -> str:
    month = rng.choice((1, 2, 2, 2, 3, rng.randrange(1, 13)))
    year = rng.choice((2000, 2023, 2024, 2000, 2025))
    day, hour, minute = rng.choice((1, 15, 27, 28)), rng.randrange(24), rng.randrange(60)
    minutes = rng.choice((_field(rng, 0, 59), str(minute), "0"))
    hours = rng.choice((_field(rng, 0, 23), str(hour), "*"))
    days = rng.choice((_field(rng, 1, 31), "*", "*", "*", "29"))
    months = rng.choice(("*", "*", str(month), "feb", "2-4"))
    week = rng.choice((_field(rng, 0, 7), "*", "mon-fri", "5-7", "6-7", "sun", "*/2"))
    kind = rng.choice(("next", "next", "due"))
    return f"{kind} {year}-{month:02d}-{day:02d} {hour:02d}:{minute:02d} | {minutes} {hours} {days} {months} {week}"


def ignore_request(rng: random.Random) -> str:
    """Patterns that are made from the path, so that most of them nearly fit."""
    names = ("a", "b", "lib", "x.log", "keep.log", "axb", "tmp", "ab")
    parts = [rng.choice(names) for _ in range(rng.choice((2, 2, 3, 4)))]
    first, last, middle = parts[0], parts[-1], rng.choice(parts)
    patterns = (
        last, f"!{last}", f"!{last}", f"{middle}/", f"/{middle}", middle, f"{first}/**", f"**/{last}",
        f"{first}/**/{last}", f"{first}/*", f"{first}*{last}", f"{first[0]}*{last[-1]}", f"{first}[!x]{last}",
        "/".join(parts[-2:]), f"!{'/'.join(parts)}", f"{middle}/*", f"*{last[-1]}", "?", "[ab]*",
    )  # fmt: skip
    chosen = rng.sample(patterns, rng.choice((1, 2, 2, 3)))
    return f"{' '.join(chosen)} ? {'/'.join(parts)}{rng.choice(('', '', '/'))}"


PACKAGES = (
    Package(
        "spanfmt", ("reading", "rounding", "writing", "__init__"), "reads, rounds and writes spans of time",
        (("timesheet", "adds up working hours"), ("retention", "works out how long backups are kept"),
         ("brewlog", "times the steps of a brewery")),
        span_request,
        (
            Fault("reading", "fractions of a unit sometimes come out a second short",
                  "total += (int(part) * size * 2 + 10 ** len(part)) // (2 * 10 ** len(part))",
                  "total += int(part) * size // 10 ** len(part)",
                  "total += (int(part) * size + 10 ** len(part) // 2) // 10 ** len(part)"),
            Fault("reading", "some spans with names of units are refused",
                  'word = NAMES.get(word[:-1] if word.endswith("s") else word, "")',
                  'word = NAMES.get(word, "")',
                  'word = NAMES.get(word.removesuffix("s"), "")'),
            Fault("reading", "a unit that stands twice, in other words, is taken",
                  "seen.add(size)", "seen.add(word)", "seen |= {size}"),
            Fault("reading", "clock times that do not exist are taken",
                  "parts[1] > 59 or parts[2] > 59", "parts[1] > 60 or parts[2] > 60",
                  "max(parts[1:]) >= 60"),
            Fault("rounding", "negative spans are rounded to odd values",
                  "whole, rest = divmod(abs(seconds), size)", "whole, rest = divmod(seconds, size)",
                  "whole, rest = abs(seconds) // size, abs(seconds) % size"),
            Fault("rounding", "what lies exactly between two units goes the wrong way",
                  "if rest * 2 >= size:", "if rest * 2 > size:", "if rest >= size - rest:"),
            Fault("writing", "units that are zero are written, and others are missing",
                  "if count and len(out) < parts:", "if (count or out) and len(out) < parts:",
                  "if count > 0 and parts > len(out):"),
        ),
    ),
    Package(
        "semrange", ("version", "ranges", "__init__"), "compares versions and tests them against ranges",
        (("mirrorctl", "picks what a package mirror fetches"), ("flashtool", "chooses firmware for devices"),
         ("plugdesk", "tells which plug-ins a host accepts")),
        version_request,
        (
            Fault("version", "pre-releases come in the wrong order",
                  'return (0, int(name), "") if name.isdigit() else (1, 0, name)',
                  'return (0, 0, name) if name.isdigit() else (1, 0, name)',
                  'return (1, 0, name) if not name.isdigit() else (0, int(name), "")'),
            Fault("version", "a pre-release is taken for newer than its release",
                  "return major, minor, patch, not names, tuple",
                  "return major, minor, patch, bool(names), tuple",
                  "return major, minor, patch, len(names) == 0, tuple"),
            Fault("ranges", "partial versions stand for too much",
                  "high[-1] += 1", "high[0] += 1", "high = [*numbers[:-1], numbers[-1] + 1]"),
            Fault("ranges", "`>` with a partial version lets too much through",
                  '">": lambda v: high is not None and key(v) >= key(high),',
                  '">": lambda v: key(v) > key(low),',
                  '">": lambda v: high is not None and not key(v) < key(high),'),
            Fault("ranges", "pre-releases that nobody named are accepted",
                  "if version[3] and not named:",
                  "if version[3] and not any(v is not None for _, v in found):",
                  "if version[3] and len(named) == 0:"),
            Fault("ranges", "ranges with several alternatives are refused",
                  'in text.split("||"):', 'in text.split("||", 1):', 'in re.split(r"[|][|]", text):'),
            Fault("ranges", "pre-releases of a neighbouring version are accepted",
                  "v[:3] == version[:3]]", "v[:2] == version[:2]]", "version[:3] == v[:3]]"),
        ),
    ),
    Package(
        "cronline", ("fields", "calendar", "search", "__init__"), "tells when lines of a crontab are due",
        (("nightshift", "plans jobs of a render farm"), ("sprinkler", "waters a botanical garden"),
         ("bellringer", "rings the bells of a school")),
        cron_request,
        (
            Fault("fields", "ranges that end on Sunday miss the Sundays",
                  "if 7 in sets[4]:", "if sets[4] == {7}:", "if not sets[4].isdisjoint({7}):"),
            Fault("fields", "lines with a step in a field of days are due on too many days",
                  'either = not parts[2].startswith("*") and not parts[4].startswith("*")',
                  'either = parts[2] != "*" and parts[4] != "*"',
                  'either = "*" not in (parts[2][0], parts[4][0])'),
            Fault("fields", "a start with a step, such as `7/3`, gives one moment only",
                  "last = high if slash else first", "last = first", "last = first if not slash else high"),
            Fault("calendar", "in some years there is a day missing",
                  "return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)",
                  "return year % 4 == 0 and year % 100 != 0",
                  "return year % 400 == 0 or (year % 4 == 0 and year % 100 != 0)"),
            Fault("calendar", "in one month of the year the days of the week are wrong",
                  "year -= month < 3", "year -= month < 2", "year -= int(month <= 2)"),
            Fault("search", "the next moment is sometimes later than it should be",
                  "if at > hour or (at == hour and then >= minute):",
                  "if at >= hour and then >= minute:", "if (at, then) >= (hour, minute):"),
            Fault("search", "what is due now is reported as the next moment",
                  "clock = first_clock(spec, hour, minute + 1)",
                  "clock = first_clock(spec, hour, minute)",
                  "clock = first_clock(spec, hour, 1 + minute)"),
            Fault("search", "lines with both kinds of days are hardly ever due",
                  "return by_month or by_week if spec[5] else by_month and by_week",
                  "return by_month and by_week",
                  "return (by_month or by_week) if spec[5] else (by_month and by_week)"),
        ),
    ),
    Package(
        "ignoreset", ("patterns", "rules", "__init__"), "tells which paths a list of patterns leaves out",
        (("packrat", "makes backups of home folders"), ("shipbox", "packs releases"),
         ("combine", "indexes the files of a newspaper")),
        ignore_request,
        (
            Fault("patterns", "a `*` reaches across folders",
                  'if char == "*":\n            out += "[^/]*"', 'if char == "*":\n            out += ".*"',
                  'if char == "*":\n            out = f"{out}[^/]*"'),
            Fault("patterns", "`[!...]` takes a slash",
                  'f"[^/{inner[1:]}]"', 'f"[^{inner[1:]}]"', '"[^/" + inner[1:] + "]"'),
            Fault("patterns", "`**` does not reach as deep as it should",
                  'out += ".*" if last else "(?:.*/)?"', 'out += ".*" if last else "(?:[^/]*/)?"',
                  'out = out + (".*" if last else "(?:.*/)?")'),
            Fault("patterns", "patterns with a slash in them fit where they should not",
                  'anchored = "/" in body', 'anchored = body.startswith("/")',
                  'anchored = body.count("/") > 0'),
            Fault("rules", "later patterns have no say any more",
                  "in reversed(self.patterns):", "in self.patterns:", "in self.patterns[::-1]:"),
            Fault("rules", "files right below a folder that is out are in",
                  "for count in range(1, len(parts)):", "for count in range(1, len(parts) - 1):",
                  "for count in range(1, len(parts[1:]) + 1):"),
            Fault("rules", "folders escape patterns without a closing slash",
                  "if folders and not folder:", "if folders != folder:", "if not folder and folders:"),
        ),
    ),
)  # fmt: skip
