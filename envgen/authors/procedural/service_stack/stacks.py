"""The four kinds of stack, each drawn in its right state."""

import random
from collections.abc import Callable
from typing import Any

from .documents import Document, Service, Stack

HOME = "/home/agent/stack"
VENDORS = ("larkspur", "tamarack", "wolfram", "quillon", "brightwater", "ossuna", "cobalt", "heron")
WORDS = (
    "harbour",
    "meadow",
    "lantern",
    "copper",
    "juniper",
    "marble",
    "orchard",
    "pepper",
    "saffron",
    "thistle",
    "velvet",
    "walnut",
    "amber",
    "birch",
    "cedar",
    "falcon",
)
PEOPLE = ("ines", "tomas", "greta", "oskar", "lena", "pavel", "mira", "jonas", "edda", "ruben")


def draw_stack(rng: random.Random) -> Stack:
    """A stack of a drawn kind."""
    return rng.choice(KINDS)(rng)


def _ports(count: int, rng: random.Random) -> list[int]:
    return rng.sample(range(7010, 9890), count)


def _store(port: int, rng: random.Random, value_bytes: int) -> Document:
    return Document(
        "ini",
        {
            "server": {
                "bind": "127.0.0.1",
                "port": port,
                "password_file": f"{HOME}/store.secret",
                "pid_file": f"{HOME}/run/store.pid",
                "on_stale_pid": "replace",
            },
            "storage": {"folder": f"{HOME}/var/store", "sync": "always"},
            "limits": {"max_value_bytes": value_bytes},
        },
    )


def _secret(rng: random.Random) -> Document:
    return Document(
        "lines", ["".join(rng.choice("abcdefghkmnpqrstuvwxyz23456789") for _ in range(16))], 0o600
    )


def _gate(
    listen: int, body: int, site: str, upstreams: dict[str, int], routes: list[str]
) -> Document:
    lines = [f"listen 0.0.0.0 {listen}", f"site {site}", f"max_body {body}", "timeout 3"]
    lines += [f"upstream {name} 127.0.0.1 {port}" for name, port in upstreams.items()]
    return Document("lines", lines + [f"route {route}" for route in routes])


def _client(port: int) -> dict[str, Any]:
    return {
        "store_host": "127.0.0.1",
        "store_port": port,
        "store_password_file": f"{HOME}/store.secret",
        "store_wait_seconds": 10,
    }


def _common(rng: random.Random) -> dict[str, Any]:
    word, other = rng.sample(WORDS, 2)
    return {
        "site": f"{word}-{rng.randrange(1, 40)}",
        "host": f"www.{word}.example",
        "host2": f"{rng.choice(('api', 'ops', 'team', 'desk'))}.{other}.example",
        "prefix2": f"/{rng.choice(('v1', 'inner', 'direct', 'svc'))}",
        "max_body": rng.choice((3000, 5000, 6000, 8192, 12000)),
    }


def links(rng: random.Random) -> Stack:
    """Short links: store, link service, gate."""
    store, api, gate, health = _ports(4, rng)
    facts = _common(rng)
    schemes = ["https", "http", *rng.sample(("ftp", "mailto", "sftp", "magnet", "tel"), 2)]
    facts |= {
        "key_prefix": f"{rng.choice(WORDS)}:",
        "ttl": rng.choice((900, 1800, 3600, 7200)),
        "max_url": rng.randrange(180, 900),
        "schemes": schemes,
        "store": store,
        "api": api,
        "gate": gate,
        "health": health,
        "new_scheme": schemes[-1],
    }
    documents = {
        "store.ini": _store(store, rng, 4096),
        "store.secret": _secret(rng),
        "links.json": Document(
            "json",
            {
                "bind": "127.0.0.1",
                "port": api,
                **_client(store),
                "key_prefix": facts["key_prefix"],
                "ttl_seconds": facts["ttl"],
                "max_url_bytes": facts["max_url"],
                "schemes": schemes,
            },
        ),
        "gate.conf": _gate(
            gate,
            facts["max_body"],
            facts["site"],
            {"links": api, "health": health},
            [
                f"{facts['host']} / links",
                f"{facts['host']} /healthz health",
                "* /healthz health",
                f"{facts['host2']} {facts['prefix2']} links strip",
            ],
        ),
    }
    services = [
        Service("store", "store.ini", store),
        Service("links", "links.json", api),
        Service("gate", "gate.conf", gate),
    ]
    return Stack(
        "links",
        rng.choice(VENDORS),
        services,
        documents,
        facts,
        ("links", "store"),
        ("run", "log", "var/store"),
        {"scheme": True},
    )


def jobs(rng: random.Random) -> Stack:
    """Text jobs: store, job service, worker, gate."""
    store, api, gate, health = _ports(4, rng)
    facts = _common(rng)
    names = ["upper", "reverse", "sha256", "wordcount", "sortlines", "squeeze"]
    rng.shuffle(names)
    word = rng.choice(WORDS)
    facts |= {
        "queue": f"{word}:queue",
        "job_prefix": f"{word}:job:",
        "new_operation": names[3],
        "keep": rng.choice((600, 1200, 2400)),
        "max_text": rng.randrange(400, 1500),
        "operations": names[:4],
        "closed_operation": names[4],
        "heartbeat": f"{word}:alive",
        "store": store,
        "api": api,
        "gate": gate,
        "health": health,
    }
    documents = {
        "store.ini": _store(store, rng, 65536),
        "store.secret": _secret(rng),
        "jobs.json": Document(
            "json",
            {
                "bind": "127.0.0.1",
                "port": api,
                **_client(store),
                "queue": facts["queue"],
                "job_prefix": facts["job_prefix"],
                "keep_seconds": facts["keep"],
                "max_text_bytes": facts["max_text"],
                "operations": facts["operations"],
            },
        ),
        "worker.env": Document(
            "env",
            {
                "STORE_HOST": "127.0.0.1",
                "STORE_PORT": store,
                "STORE_PASSWORD_FILE": f"{HOME}/store.secret",
                "STORE_WAIT_SECONDS": 10,
                "QUEUE": facts["queue"],
                "JOB_PREFIX": facts["job_prefix"],
                "KEEP_SECONDS": facts["keep"],
                "OPERATIONS": ",".join(facts["operations"]),
                "HEARTBEAT_KEY": facts["heartbeat"],
            },
        ),
        "gate.conf": _gate(
            gate,
            facts["max_body"],
            facts["site"],
            {"jobs": api, "health": health},
            [
                f"{facts['host']} / jobs",
                f"{facts['host']} /healthz health",
                "* /healthz health",
                f"{facts['host2']} {facts['prefix2']} jobs strip",
            ],
        ),
    }
    services = [
        Service("store", "store.ini", store),
        Service("jobs", "jobs.json", api),
        Service("worker", "worker.env"),
        Service("gate", "gate.conf", gate),
    ]
    return Stack(
        "jobs",
        rng.choice(VENDORS),
        services,
        documents,
        facts,
        ("jobs",),
        ("run", "log", "var/store"),
        {"operation": True},
    )


def mail(rng: random.Random) -> Stack:
    """Mail: name server, SMTP receiver, mailbox reader, gate."""
    dns, smtp, api, gate, health = _ports(5, rng)
    facts = _common(rng)
    first, second = rng.sample(WORDS, 2)
    people = rng.sample(PEOPLE, 3)
    address = f"10.{rng.randrange(1, 250)}.{rng.randrange(1, 250)}.{rng.randrange(2, 250)}"
    facts |= {
        "domain": f"{first}.example",
        "domain2": f"{second}.test",
        "address": address,
        "hostname": f"mx.{first}.example",
        "ttl": rng.choice((120, 240, 600, 900)),
        "boxes": people,
        "new_box": people[2],
        "alias": "postmaster",
        "alias_to": people[0],
        "alias2": rng.choice(("sales", "billing", "jobs", "press")),
        "alias2_to": people[2],
        "max_message": rng.randrange(2000, 9000),
        "page": rng.randrange(3, 7),
        "txt": f"site={facts['site']}",
        "dns": dns,
        "smtp": smtp,
        "api": api,
        "gate": gate,
        "health": health,
        "tokens": {
            p: "".join(rng.choice("bcdfghjkmnpqrstvwxz") for _ in range(14)) for p in people
        },
    }
    documents = {
        "zones.json": Document(
            "json", {"bind": "127.0.0.1", "port": dns, "zone_folder": f"{HOME}/zones"}
        ),
        f"zones/{first}.zone": Document(
            "lines",
            [
                f"$origin {facts['domain']}.",
                f"$ttl {facts['ttl']}",
                f"@ MX 10 {facts['hostname']}.",
                f"mx A {address}",
                f"@ TXT {facts['txt']}",
                f"smtp CNAME {facts['hostname']}.",
            ],
        ),
        f"zones/{second}.zone": Document(
            "lines",
            [
                f"$origin {facts['domain2']}.",
                f"$ttl {facts['ttl']}",
                f"@ MX 20 {facts['hostname']}.",
            ],
        ),
        "mail.ini": Document(
            "ini",
            {
                "smtp": {
                    "bind": "127.0.0.1",
                    "port": smtp,
                    "hostname": facts["hostname"],
                    "max_message_bytes": facts["max_message"],
                },
                "resolver": {"resolver_host": "127.0.0.1", "resolver_port": dns},
                "delivery": {
                    "spool": f"{HOME}/var/spool",
                    "boxes_file": f"{HOME}/boxes",
                    "aliases_file": f"{HOME}/aliases",
                },
            },
        ),
        "boxes": Document("lines", list(people)),
        "aliases": Document(
            "lines",
            [f"{facts['alias']}: {facts['alias_to']}", f"{facts['alias2']}: {facts['alias2_to']}"],
        ),
        "tokens": Document("lines", [f"{p} {t}" for p, t in facts["tokens"].items()], 0o600),
        "boxes.json": Document(
            "json",
            {
                "bind": "127.0.0.1",
                "port": api,
                "spool": f"{HOME}/var/spool",
                "tokens_file": f"{HOME}/tokens",
                "page_size": facts["page"],
            },
        ),
        "gate.conf": _gate(
            gate,
            facts["max_body"],
            facts["site"],
            {"boxes": api, "health": health},
            [
                f"{facts['host']} / boxes",
                f"{facts['host']} /healthz health",
                "* /healthz health",
                f"{facts['host2']} {facts['prefix2']} boxes strip",
            ],
        ),
    }
    services = [
        Service("zones", "zones.json", 0, dns),
        Service("mail", "mail.ini", smtp),
        Service("boxes", "boxes.json", api),
        Service("gate", "gate.conf", gate),
    ]
    return Stack(
        "mail",
        rng.choice(VENDORS),
        services,
        documents,
        facts,
        ("zones", "mail", "boxes"),
        ("run", "log", "var/spool"),
        {"box": True},
    )


def meters(rng: random.Random) -> Stack:
    """Telemetry: store, meter daemon, board, gate."""
    store, udp, query, api, gate, health = _ports(6, rng)
    facts = _common(rng)
    prefix = f"{rng.choice(WORDS)}."
    alarms = [
        {"name": f"{prefix}{name}", "above": rng.randrange(20, 900)}
        for name in rng.sample(("queue", "heat", "lag", "errors", "load", "retries"), 3)
    ]
    facts |= {
        "accept_prefix": prefix,
        "datagram": rng.randrange(300, 1200),
        "alarms": alarms,
        "key_prefix": f"{rng.choice(WORDS)}:",
        "store": store,
        "udp": udp,
        "query": query,
        "api": api,
        "gate": gate,
        "health": health,
        "new_alarm": alarms[-1],
    }
    documents = {
        "store.ini": _store(store, rng, 4096),
        "store.secret": _secret(rng),
        "meter.ini": Document(
            "ini",
            {
                "input": {
                    "udp_bind": "127.0.0.1",
                    "udp_port": udp,
                    "accept_prefix": prefix,
                    "max_datagram": facts["datagram"],
                },
                "query": {"bind": "127.0.0.1", "port": query},
                "store": {**_client(store), "key_prefix": facts["key_prefix"]},
            },
        ),
        "board.json": Document(
            "json",
            {
                "bind": "127.0.0.1",
                "port": api,
                "meter_host": "127.0.0.1",
                "meter_port": query,
                "alarms": alarms,
            },
        ),
        "gate.conf": _gate(
            gate,
            facts["max_body"],
            facts["site"],
            {"board": api, "health": health},
            [
                f"{facts['host']} / board",
                f"{facts['host']} /healthz health",
                "* /healthz health",
                f"{facts['host2']} {facts['prefix2']} board strip",
            ],
        ),
    }
    services = [
        Service("store", "store.ini", store),
        Service("meter", "meter.ini", query, udp),
        Service("board", "board.json", api),
        Service("gate", "gate.conf", gate),
    ]
    return Stack(
        "meters",
        rng.choice(VENDORS),
        services,
        documents,
        facts,
        ("meter", "board"),
        ("run", "log", "var/store"),
        {"alarm": True},
    )


KINDS: tuple[Callable[[random.Random], Stack], ...] = (links, jobs, mail, meters)
