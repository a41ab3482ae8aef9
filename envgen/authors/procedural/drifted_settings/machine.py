"""A machine's settings, spread over files, and the sheet that says what they were meant to be."""

import random
from dataclasses import dataclass
from typing import Any

from .truth import deciding

SERVICES = (
    ("metrod", "collects meter readings", ("edge", "core")),
    ("tilecache", "serves map tiles", ("front", "origin")),
    ("printgate", "queues print jobs", ("floor", "vault")),
    ("weighd", "reads truck scales", ("gate", "yard")),
    ("lendex", "renews library loans", ("branch", "central")),
    ("pumpctl", "drives irrigation pumps", ("field", "station")),
)
KEYS = (
    "port", "workers", "timeout", "retries", "backlog", "cache", "region", "batch", "window",
    "quota", "threads", "spool", "delay", "sender", "zone", "limit", "format", "mode",
)  # fmt: skip
WORDS = {
    "region": ("north", "south", "west", "inland"), "sender": ("desk", "robot", "nobody", "owner"),
    "zone": ("red", "green", "amber", "blue"), "format": ("plain", "binary", "packed", "mixed"),
    "mode": ("strict", "relaxed", "shadow", "silent"), "spool": ("disk", "memory", "tape", "none"),
}  # fmt: skip
HOSTS = ("heron", "otter", "badger", "kestrel", "marten", "lynx")
REMARKS = ("kept by hand", "see the wiki", "do not touch", "from the installer")
TOPICS = ("base", "network", "tuning", "storage", "limits", "site", "hotfix", "extra")


@dataclass(frozen=True)
class Machine:
    service: tuple[str, str, tuple[str, ...]]
    rules: dict[str, Any]
    files: dict[str, str]
    meant: dict[str, str]
    drift: list[tuple[str, str, str, str, int]]
    """key, meant, effective, path, line."""


def value(rng: random.Random, key: str) -> str:
    return rng.choice(WORDS[key]) if key in WORDS else str(rng.randrange(20, 9000))


def draw(rng: random.Random) -> Machine:
    service = rng.choice(SERVICES)
    host, *others = rng.sample(HOSTS, 3)
    rules: dict[str, Any] = {
        "order": rng.sample(("folder", "host", "local"), 3), "last": rng.random() < 0.5,
        "reverse": rng.random() < 0.5, "role": service[2][0], "host": host,
        "version": (rng.randrange(2, 5), rng.randrange(1, 9)),
    }  # fmt: skip
    keys = rng.sample(KEYS, rng.randrange(12, 16))
    files = _files(rng, rules, service, keys, others)
    found = deciding(rules, files)
    meant, drift = {key: found[key][0] for key in keys}, []
    for key in rng.sample(keys, rng.randrange(4, 7)):
        effective, path, line = found[key]
        while meant[key] == effective:
            meant[key] = value(rng, key)
        drift.append((key, meant[key], effective, path, line))
    return Machine(service, rules, files, meant, sorted(drift))


def _files(
    rng: random.Random,
    rules: dict[str, Any],
    service: tuple[str, str, tuple[str, ...]],
    keys: list[str],
    others: list[str],
) -> dict[str, str]:
    """Each key three times or so, in files that are read and in files that are not."""
    topics = rng.sample(TOPICS, 4)
    names = [
        f"conf.d/{number}-{topic}.conf"
        for number, topic in zip((10, 20, 50, 90), topics, strict=True)
    ]
    names[rng.randrange(1, 3)] = f"conf.d/{rng.choice((5, 100))}-{topics[1]}.conf"
    idle = [f"conf.d/{rng.choice(topics)}.conf.off", f"conf.d/_{rng.choice(topics)}.conf"]
    idle += [f"hosts/{name}.conf" for name in others]
    read = [*dict.fromkeys(names), f"hosts/{rules['host']}.conf", "local.conf", "shared/common.inc"]
    lines: dict[str, list[str]] = {name: [] for name in (*read, *idle)}
    for key in keys:
        for name in (rng.choice(read[:-1]), *rng.sample(list(lines), 3)):
            shown = rng.choice((key, key, key.upper(), key.title()))
            lines[name].append(f"{shown}{rng.choice((' = ', '=', ' ='))}{value(rng, key)}")
    major, minor = rules["version"]
    sections = (
        f"[role {service[2][1]}]", f"[role {service[2][0]}]", f"[since {major}.{minor + 1}]",
        f"[since {major}.{minor}]", f"[until {major}.{minor}]", f"[since {major - 1}.12]",
    )  # fmt: skip
    text = {}
    for name, found in lines.items():
        out = [f"# {rng.choice(REMARKS)}"]
        for line in found[2:]:
            out.append(f"# {line}" if rng.random() < 0.1 else line)
        if found:
            out += ["", rng.choice(sections), *found[:2], "[all]"]
        text[name] = "\n".join(out) + "\n"
    # At the end, after `[all]`: whatever is not set yet gets its value here, so nothing is unset.
    text[read[0]] = text[read[0]] + "include ../shared/common.inc\n"
    seen = deciding(rules, text)
    for key in keys:
        if key not in seen:
            text["local.conf"] += f"{key} = {value(rng, key)}\n"
    return text
