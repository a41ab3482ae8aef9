"""A zone: its records, and questions with their answers."""

import random
from dataclasses import dataclass, field
from typing import Any

LABELS = (
    "www", "mail", "ftp", "wiki", "shop", "api", "cdn", "git", "vpn", "print", "media", "chat",
    "status", "login", "build", "radius", "backup", "db", "cache", "dash",
)  # fmt: skip
Answer = tuple[str, str, int, str]


@dataclass
class Zone:
    """Records by (label, type): TTL and data as the file has them."""

    name: str
    records: dict[tuple[str, str], tuple[int, list[str]]] = field(default_factory=dict)

    def full(self, label: str) -> str:
        if label.endswith("."):
            return label[:-1]
        return self.name if label == "@" else f"{label}.{self.name}"

    def answers(self, label: str, kind: str, asked: str = "") -> list[Answer]:
        """The records of a label, under the name that was asked for."""
        ttl, data = self.records.get((label, kind), (0, []))
        owner = self.full(asked or label)
        return [(owner, kind, ttl, self._shown(kind, one)) for one in data]

    def _shown(self, kind: str, data: str) -> str:
        if kind == "MX":
            weight, host = data.split()
            return f"{weight} {self.full(host)}"
        return self.full(data) if kind == "CNAME" else data

    def text(self, rng: random.Random) -> str:
        lines = [
            f"{label}\t{ttl}  {kind} {one}" + rng.choice(("", "", " ; checked"))
            for (label, kind), (ttl, data) in self.records.items()
            for one in data
        ]
        rng.shuffle(lines)
        lines.insert(rng.randrange(len(lines)), "; moved here from the old server")
        lines.insert(rng.randrange(len(lines)), "")
        return "".join(f"{line}\n" for line in lines)


def draw_zone(rng: random.Random, name: str, size: int, wildcards: bool) -> Zone:
    """At least one label has nothing but addresses of one kind."""
    zone, labels = Zone(name), rng.sample(LABELS, size)

    def ttl() -> int:
        return rng.choice((60, 120, 300, 600, 900, 3600)) + rng.randrange(5)

    def address() -> str:
        return f"10.{rng.randrange(256)}.{rng.randrange(256)}.{rng.randrange(1, 255)}"

    for label in labels:
        zone.records[label, "A"] = (ttl(), [address() for _ in range(rng.choice((1, 1, 1, 2)))])
        if rng.random() < 0.4 and label != labels[-1]:
            zone.records[label, "AAAA"] = (ttl(), [f"2001:db8::{rng.randrange(1, 65535):x}"])
    zone.records["@", "A"] = (ttl(), [address()])
    zone.records["@", "MX"] = (ttl(), [f"10 {labels[0]}", f"20 {labels[1]}"])
    zone.records["@", "TXT"] = (ttl(), [f"v=site{rng.randrange(1, 9)} -all"])
    zone.records[f"node.{labels[2]}.deep", "A"] = (ttl(), [address()])
    zone.records["old", "CNAME"] = (ttl(), [labels[3]])
    zone.records["older", "CNAME"] = (ttl(), ["old"])
    zone.records["away", "CNAME"] = (ttl(), ["host.example.test."])
    if wildcards:
        zone.records["*.dev", "A"] = (ttl(), [address()])
    zone.records["fixed.dev", "TXT"] = (ttl(), ["stays"])
    return zone


def questions(
    zone: Zone, features: list[str], rng: random.Random
) -> dict[str, list[dict[str, Any]]]:
    """Questions with their answers, by what they are about."""
    labels = [label for label, kind in zone.records if kind == "A" and label in LABELS]
    kinds = [key for key in zone.records if key[1] != "CNAME" and not key[0].startswith("*")]
    found = {
        "records": [_case(zone.full(name), kind, zone.answers(name, kind)) for name, kind in kinds],
        "names without regard to case": [
            _case(zone.full(label).upper(), "A", zone.answers(label, "A")) for label in labels[:2]
        ],
        "what is not there": [
            _case(zone.full(labels[0]), "TXT", []),
            _case(zone.full("deep"), "A", []),
            _case(zone.full(f"{labels[2]}.deep"), "A", []),
            _case(zone.full("nobody"), "A", [], 3),
            _case(zone.full(f"a.{labels[4]}"), "A", [], 3),
            _case("www.example.test", "A", [], 5),
            _case(f"not{zone.name}", "A", [], 5),
        ],
        "aliases": _aliases(zone, "alias" in features),
    }
    if "wildcard" in features:
        name = rng.choice(("x", "kim", "blue"))
        found["wildcards"] = [
            _case(zone.full(f"{name}.dev"), "A", zone.answers("*.dev", "A", f"{name}.dev")),
            _case(zone.full(f"a.{name}.dev"), "A", zone.answers("*.dev", "A", f"a.{name}.dev")),
            _case(zone.full(f"{name}.dev"), "TXT", []),
            _case(zone.full("fixed.dev"), "A", []),
            _case(zone.full("below.fixed.dev"), "A", [], 3),
        ]
    if "reverse" in features:
        found["addresses to names"] = _reverse(zone, labels)
    return found


def _aliases(zone: Zone, follows: bool) -> list[dict[str, Any]]:
    first, second = zone.answers("older", "CNAME"), zone.answers("old", "CNAME")
    target = zone.records["old", "CNAME"][1][0]
    last = zone.answers(target, "A")
    return [
        _case(zone.full("older"), "A", [*first, *second, *last] if follows else first),
        _case(zone.full("old"), "A", [*second, *last] if follows else second),
        _case(zone.full("old"), "CNAME", second),
        _case(zone.full("away"), "A", zone.answers("away", "CNAME")),
    ]


def _reverse(zone: Zone, labels: list[str]) -> list[dict[str, Any]]:
    cases = []
    for label in labels[:3]:
        ttl, data = zone.records[label, "A"]
        name = ".".join(reversed(data[0].split("."))) + ".in-addr.arpa"
        cases.append(_case(name, "PTR", [(name, "PTR", ttl, zone.full(label))]))
    return [*cases, _case("1.2.0.192.in-addr.arpa", "PTR", [], 3)]


def _case(name: str, kind: str, answers: list[Answer], rcode: int = 0) -> dict[str, Any]:
    counts = {3: "missing", 5: "refused"}.get(rcode, "answered" if answers else "empty")
    lower = [(owner.lower(), *rest) for owner, *rest in answers]
    return {"name": name, "type": kind, "answers": lower, "rcode": rcode, "counts": counts}
