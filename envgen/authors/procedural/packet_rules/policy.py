"""Statements of a policy: words, rules that put them into effect, packets on both sides."""

import ipaddress
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .network import Site

FIRST, REPLIES, SPECIFIC, GENERAL = range(4)
"""Where the rules of a statement belong."""


@dataclass(frozen=True)
class Statement:
    """One statement: `exceptions` are those of its rules that a careless reader leaves out."""

    name: str
    text: str
    rules: tuple[str, ...]
    place: int = SPECIFIC
    exceptions: tuple[str, ...] = ()


def _inside(rng: random.Random, net: str) -> str:
    network = ipaddress.IPv4Network(net)
    return str(network[rng.randrange(2, network.num_addresses - 2)])


class Writer:
    """Draws statements about a site; no service of a machine is spoken of twice."""

    def __init__(self, site: Site, rng: random.Random) -> None:
        self.site, self.rng = site, rng
        self.pairs = [(h, s) for h in site.hosts for s in site.services
                      if h not in ("ns1", "jump1") and s not in ("dns", "ssh")]  # fmt: skip
        rng.shuffle(self.pairs)
        self.zones = list(site.zones)
        rng.shuffle(self.zones)
        self.guests: dict[str, str] = {}
        """Machines of users that the policy names."""

    def zone(self) -> str:
        """The zones in turn, so that none is spoken of much more than others."""
        self.zones.append(self.zones.pop(0))
        return self.zones[-1]

    def guest(self, zone: str) -> tuple[str, str]:
        name = f"{self.rng.choice(('pc', 'term', 'box', 'unit'))}-{len(self.guests) + 11}"
        self.guests[name] = _inside(self.rng, self.rng.choice(self.site.zones[zone]))
        return name, self.guests[name]

    def _target(self) -> tuple[str, str, str, str]:
        """Machine, service, and the rule's words for both."""
        host, service = self.pairs.pop()
        proto, port = self.site.services[service]
        return host, service, proto, f"to {self.site.hosts[host]} port {port}"

    def serve(self) -> Statement:
        zone, (host, service, proto, to) = self.zone(), self._target()
        rules = tuple(f"allow {proto} from {net} {to}" for net in self.site.zones[zone])
        said = self.rng.choice((
            f"Everybody in *{zone}* may use `{service}` on `{host}`.",
            f"`{host}` offers `{service}` to *{zone}*.",
        ))  # fmt: skip
        return Statement(f"{zone} to {service} on {host}", said, rules)

    def excepting(self) -> Statement:
        zone, (host, service, proto, to) = self.zone(), self._target()
        name, address = self.guest(zone)
        deny = (f"deny {proto} from {address} {to}",)
        rules = deny + tuple(f"allow {proto} from {net} {to}" for net in self.site.zones[zone])
        said = f"*{zone}* may use `{service}` on `{host}`, with the exception of `{name}`."
        return Statement(f"{zone} but {name} to {host}", said, rules, exceptions=deny)

    def admin(self) -> Statement:
        zone = self.zone()
        jump = self.site.hosts["jump1"]
        rules = tuple(f"allow tcp from {jump} to {n} port 22" for n in self.site.zones[zone])
        said = f"Machines of *{zone}* are administered by `ssh` from `jump1`, from nowhere else."
        return Statement(f"ssh to {zone}", said, rules)

    def span(self) -> Statement:
        zone, (host, _, proto, _) = self.zone(), self._target()
        low = self.rng.randrange(30_000, 50_000, 50)
        high = low + self.rng.choice((9, 19, 49, 99))
        address = self.site.hosts[host]
        rules = tuple(
            f"allow {proto} from {address} to {net} port {low}-{high}"
            for net in self.site.zones[zone]
        )
        said = (
            f"`{host}` opens {proto} connections to the machines of *{zone}*, on ports "
            f"{low} to {high}, both included."
        )
        return Statement(f"{host} to {zone}", said, rules)

    def lookups(self) -> Statement:
        to = f"to {self.site.hosts['ns1']} port 53"
        rules = tuple(f"allow {proto} from {self.site.inside} {to}" for proto in ("udp", "tcp"))
        said = "Every inside address may ask `ns1` for names, by `dns` over udp and over tcp."
        return Statement("names", said, rules)

    def ping(self) -> Statement:
        zone = self.zone()
        inside = self.site.inside
        rules = tuple(f"allow icmp from {net} to {inside}" for net in self.site.zones[zone])
        said = f"*{zone}* may ping (icmp, port 0) every inside address, and none outside."
        return Statement(f"ping from {zone}", said, rules)

    def outward(self) -> Statement:
        zone = self.zone()
        nets, port = self.site.zones[zone], self.rng.choice((443, 80, 25, 587))
        deny = tuple(f"deny tcp from {n} to {self.site.inside} port {port}" for n in nets)
        allow = tuple(f"allow tcp from {n} to any port {port}" for n in nets)
        said = (
            f"*{zone}* may reach tcp port {port} of any address outside. This says nothing of "
            "inside addresses: there the other statements decide."
        )
        return Statement(f"{zone} outward", said, deny + allow, GENERAL, deny)

    def quarantine(self) -> Statement:
        zone, (host, service, proto, to) = self.zone(), self._target()
        name, address = self.guest(zone)
        rules = (f"allow {proto} from {address} {to}", f"deny from {address} to any")
        said = (
            f"`{name}` is in quarantine: it may use `{service}` on `{host}` and send nothing else "
            "to anybody, not even in connections that are established. This goes before all else."
        )
        return Statement(f"quarantine of {name}", said, rules, FIRST, rules[1:])

    def replies(self) -> Statement:
        said = "Packets of established connections pass."
        return Statement("replies", said, ("allow from any to any state established",), REPLIES)


KINDS: tuple[Callable[[Writer], Statement], ...] = (
    Writer.serve, Writer.excepting, Writer.admin, Writer.span, Writer.lookups, Writer.ping,
    Writer.outward, Writer.quarantine,
)  # fmt: skip


def draw_policy(writer: Writer, count: int) -> tuple[Statement, ...]:
    """So many statements of different kinds and the one about replies, in the policy's order."""
    kinds = [Writer.excepting, *writer.rng.sample([k for k in KINDS if k != Writer.excepting],
                                                  count - 1)]  # fmt: skip
    said = [kind(writer) for kind in kinds]
    said.insert(writer.rng.randrange(len(said)), writer.replies())
    writer.rng.shuffle(said)
    return tuple(said)


def ordered(statements: tuple[Statement, ...]) -> list[str]:
    """All rules, in an order that keeps the policy."""
    return [rule for s in sorted(statements, key=lambda s: s.place) for rule in s.rules]


def around(rule: str, site: Site, rng: random.Random) -> Iterator[str]:
    """Packets at the edges of a rule."""
    words = rule.split()
    proto = words[1] if words[1] != "from" else rng.choice(("tcp", "udp"))
    state = words[-1] if "state" in words else ""
    source, target = (_edges(words[words.index(w) + 1], site, rng) for w in ("from", "to"))
    ports = _ports(words, site, rng)
    icmp = proto == "icmp"
    yield f"{proto} {source[0]} {target[0]} {0 if icmp else ports[0]} {state or 'new'}"
    for one in source[1:]:
        yield f"{proto} {one} {target[0]} {0 if icmp else ports[0]} {state or 'new'}"
    for one in target[1:]:
        yield f"{proto} {source[0]} {one} {0 if icmp else ports[0]} {state or 'new'}"
    for port in [] if icmp else ports[1:]:
        yield f"{proto} {source[0]} {target[0]} {port} {state or 'new'}"
    if not icmp:
        other = "udp" if proto == "tcp" else "tcp"
        yield f"{other} {source[0]} {target[0]} {ports[0]} new"
    yield f"{proto} {source[0]} {target[0]} {0 if icmp else ports[0]} established"
    yield f"{proto} {target[0]} {source[0]} {0 if icmp else ports[0]} new"


def _edges(text: str, site: Site, rng: random.Random) -> list[str]:
    """Addresses in and beside a place, first one inside."""
    if text == "any":
        outside = [f"{rng.choice((81, 139, 193))}.{rng.randrange(256)}.4.{rng.randrange(1, 255)}"
                   for _ in range(4)]  # fmt: skip
        return [*outside, rng.choice(list(site.hosts.values()))]
    network = ipaddress.IPv4Network(text)
    first, last = int(network[0]), int(network[-1])
    found = [rng.randint(first, last), first, last, first - 1, last + 1]
    return [str(ipaddress.IPv4Address(n)) for n in found]


def _ports(words: list[str], site: Site, rng: random.Random) -> list[int]:
    if "port" not in words:
        return [rng.choice(list(site.services.values()))[1], rng.randrange(1024, 60000)]
    low, _, high = words[words.index("port") + 1].partition("-")
    first, last = int(low), int(high or low)
    return [rng.randint(first, last), first, last, first - 1, last + 1, rng.randrange(1024, 60000)]
