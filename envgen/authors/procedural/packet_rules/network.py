"""A site after its renumbering: networks, machines, services."""

import ipaddress
import random
from dataclasses import dataclass

ZONES = (
    "office", "lab", "guests", "plant", "voice", "build", "cameras", "finance", "warehouse",
    "reading-room", "studio", "ward", "kiosks", "ops",
)  # fmt: skip
SERVERS = (
    "wiki", "mail", "files", "ledger", "registry", "printer", "archive", "tickets", "scheduler",
    "catalogue", "metrics", "repo", "intake", "badge",
)  # fmt: skip
STANDARD = {
    "https": ("tcp", 443), "ssh": ("tcp", 22), "ldap": ("tcp", 389), "imaps": ("tcp", 993),
    "ipp": ("tcp", 631), "nfs": ("tcp", 2049), "syslog": ("udp", 514), "ntp": ("udp", 123),
    "snmp": ("udp", 161),
}  # fmt: skip


@dataclass(frozen=True)
class Site:
    """Where everything is: networks by zone, addresses by name, (proto, port) by service."""

    inside: str
    zones: dict[str, tuple[str, ...]]
    hosts: dict[str, str]
    services: dict[str, tuple[str, int]]
    former: str
    """What `inside` was called before the renumbering."""

    def texts(self, rng: random.Random) -> dict[str, str]:
        """The files that describe the site."""
        networks = [f"{net} {zone}" for zone, nets in self.zones.items() for net in nets]
        rng.shuffle(networks)
        hosts = [f"{address} {name}.example {name}" for name, address in self.hosts.items()]
        old = [f"# {self._old(a)} {n}.example {n}   # before the move" for n, a in
               rng.sample(list(self.hosts.items()), min(3, len(self.hosts)))]  # fmt: skip
        both = [*hosts, *old]
        rng.shuffle(both)
        services = [f"{name} {port}/{proto}" for name, (proto, port) in self.services.items()]
        return {
            "networks": _file([f"{self.inside} inside", *networks]),
            "hosts": _file(both),
            "services": _file(sorted(services)),
        }

    def _old(self, text: str) -> str:
        return text.replace(self.inside[: -len("0.0/16")], self.former[: -len("0.0/16")])

    def old_rules(self, rules: list[str]) -> str:
        """Rules as they would have been before the renumbering."""
        return _file([self._old(rule) for rule in rules])


def _file(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def draw_site(rng: random.Random, zones: int) -> Site:
    """So many zones, one or two networks each, that do not touch one another."""
    second, former = rng.sample(range(16, 250), 2)
    thirds = rng.sample(range(2, 120), zones * 2 + 1)
    names = rng.sample(ZONES, zones)
    nets = {}
    for name in names:
        count = rng.choice((1, 1, 2))
        nets[name] = tuple(_network(rng, second, 2 * thirds.pop()) for _ in range(count))
    farm = 2 * thirds.pop()
    lasts = rng.sample(range(10, 250, 2), len(SERVERS) + 3)
    hosts = {name: f"10.{second}.{farm}.{lasts.pop()}" for name in (*SERVERS, "ns1", "jump1")}
    services = dict(rng.sample(list(STANDARD.items()), 5))
    services["https"], services["ssh"] = STANDARD["https"], STANDARD["ssh"]
    services["console"] = ("tcp", rng.randrange(7000, 9990))
    services["feed"] = ("udp", rng.randrange(5001, 6900))
    services["dns"] = ("udp", 53)
    return Site(f"10.{second}.0.0/16", nets, hosts, services, f"10.{former}.0.0/16")


def _network(rng: random.Random, second: int, third: int) -> str:
    length = rng.choice((24, 24, 25, 26, 27))
    start = rng.randrange(1 << (length - 24)) << (32 - length)
    return str(ipaddress.IPv4Network(f"10.{second}.{third}.{start}/{length}"))
