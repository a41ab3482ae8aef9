"""How a stack is handed over: without what is new, and with a drawn set of faults.

A fault changes documents, the start script or what lies about; each touches something of its own,
so that all of a set can be seen and mended one after the other.
"""

import copy
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from .documents import Document, Stack
from .stacks import HOME


@dataclass
class Handover:
    """The state that the agent finds."""

    stack: Stack
    documents: dict[str, Document]
    order: list[str]
    """Services in the order of the start script."""
    configs: dict[str, str]
    """Service -> configuration that the start script names."""
    make_folders: bool = False
    plain_mkdir: bool = False
    left_over: dict[str, str] = field(default_factory=dict)
    logs: dict[str, list[str]] = field(default_factory=dict)

    def log(self, service: str, line: str) -> None:
        """A trace that the fault left in the log of an earlier start."""
        self.logs.setdefault(service, []).append(f"{service}: {line}")


Fault = Callable[[Handover, random.Random], bool]
"""Applies itself; False when the stack has no place for it."""


def hand_over(stack: Stack, count: int, rng: random.Random) -> tuple[Handover, tuple[str, ...]]:
    """The state that the agent finds, and the names of the faults in it."""
    found = Handover(
        stack,
        copy.deepcopy(stack.documents),
        [s.name for s in stack.services],
        {s.name: s.config for s in stack.services},
    )
    _take_away_new(found)
    names = sorted(FAULTS)
    rng.shuffle(names)
    names.sort(key=lambda name: name not in ALWAYS)
    done: list[str] = []
    for name in names:
        if len(done) < count and FAULTS[name](found, rng):
            done.append(name)
    return found, tuple(done)


def _take_away_new(found: Handover) -> None:
    """What is new in the right state is not there yet."""
    gate, facts = found.documents["gate.conf"], found.stack.facts
    gate.data = [line for line in gate.data if facts["host2"] not in line and "health" not in line]
    kind, documents = found.stack.kind, found.documents
    if kind == "links":
        documents["links.json"].data["schemes"].remove(facts["new_scheme"])
    elif kind == "jobs":
        documents["jobs.json"].data["operations"].remove(facts["new_operation"])
        names = documents["worker.env"].data["OPERATIONS"].split(",")
        documents["worker.env"].data["OPERATIONS"] = ",".join(names[:3])
    elif kind == "mail":
        second = next(name for name in documents if facts["domain2"].split(".")[0] in name)
        del documents[second]
        documents["boxes"].data.remove(facts["new_box"])
        documents["aliases"].data.pop()
        documents["tokens"].data.pop()
    else:
        documents["board.json"].data["alarms"].pop()


def _api(found: Handover) -> str:
    return {"links": "links", "jobs": "jobs", "mail": "boxes", "meters": "board"}[found.stack.kind]


def store_port(found: Handover, rng: random.Random) -> bool:
    """A client looks for the store on another port."""
    wrong = found.stack.facts.get("store", 0) + rng.choice((-10, -1, 1, 10))
    if found.stack.kind == "links":
        found.documents["links.json"].data["store_port"] = wrong
    elif found.stack.kind == "jobs":
        found.documents["worker.env"].data["STORE_PORT"] = wrong
    elif found.stack.kind == "meters":
        found.documents["meter.ini"].data["store"]["store_port"] = wrong
    else:
        found.documents["mail.ini"].data["resolver"]["resolver_port"] = found.stack.facts[
            "dns"
        ] + rng.choice((-10, -1, 1, 10))
        found.log("mail", "451 test: resolver does not answer")
        return True
    name = {"links": "links", "jobs": "worker", "meters": "meter"}[found.stack.kind]
    found.log(name, f"fatal: no store after 10 s: store at 127.0.0.1:{wrong}: Connection refused")
    return True


def upstream_port(found: Handover, rng: random.Random) -> bool:
    """The gate looks for its service on another port."""
    lines = found.documents["gate.conf"].data
    at = next(i for i, line in enumerate(lines) if line.startswith("upstream"))
    words = lines[at].split()
    wrong = int(words[3]) + rng.choice((-100, -10, 10, 100))
    lines[at] = " ".join([*words[:3], str(wrong)])
    found.log("gate", f"502 GET / at 127.0.0.1:{wrong}: Connection refused")
    return True


def port_taken(found: Handover, rng: random.Random) -> bool:
    """Two services want the same port."""
    gate = found.stack.facts["gate"]
    found.documents[f"{_api(found)}.json"].data["port"] = gate
    found.log("gate", f"fatal: cannot listen on 0.0.0.0:{gate}: Address already in use")
    return True


def open_bind(found: Handover, rng: random.Random) -> bool:
    """A service that should be for this machine alone listens everywhere."""
    if "store.ini" in found.documents:
        found.documents["store.ini"].data["server"]["bind"] = "0.0.0.0"
    else:
        found.documents["mail.ini"].data["smtp"]["bind"] = "0.0.0.0"
    return True


def shut_gate(found: Handover, rng: random.Random) -> bool:
    """The gate can only be reached from this machine."""
    lines = found.documents["gate.conf"].data
    lines[0] = lines[0].replace("0.0.0.0", "127.0.0.1")
    return True


def stale_pid(found: Handover, rng: random.Random) -> bool:
    """The store does not start beside its old pid file."""
    if "store.ini" not in found.documents:
        return False
    found.documents["store.ini"].data["server"]["on_stale_pid"] = "refuse"
    found.left_over["run/store.pid"] = f"{rng.randrange(300, 9000)}\n"
    found.log(
        "store",
        f"fatal: pid file {HOME}/run/store.pid exists: is another one running? "
        "(on_stale_pid = refuse)",
    )
    return True


def late_sync(found: Handover, rng: random.Random) -> bool:
    """What is stored is lost when the store is killed."""
    if "store.ini" not in found.documents:
        return False
    found.documents["store.ini"].data["storage"]["sync"] = "exit"
    return True


def open_secret(found: Handover, rng: random.Random) -> bool:
    """A secret may be read by everybody, which its reader refuses."""
    name = "tokens" if found.stack.kind == "mail" else "store.secret"
    found.documents[name].mode = rng.choice((0o644, 0o664, 0o640))
    found.log(_api(found), f"fatal: {HOME}/{name} is open to others: its mode must be 0600")
    return True


def misspelt_key(found: Handover, rng: random.Random) -> bool:
    """A key that nobody knows, and so one that is missing."""
    name = f"{_api(found)}.json"
    data = found.documents[name].data
    right, wrong = {
        "links": ("ttl_seconds", "ttl_second"),
        "jobs": ("keep_seconds", "keep_second"),
        "mail": ("page_size", "pagesize"),
        "meters": ("meter_port", "meterport"),
    }[found.stack.kind]
    found.documents[name].data = {
        wrong if key == right else key: value for key, value in data.items()
    }
    found.log(_api(found), f"fatal: {HOME}/{name}: unknown key '{wrong}'")
    return True


def bad_gate_line(found: Handover, rng: random.Random) -> bool:
    """A line of the gate's configuration that it does not take."""
    lines = found.documents["gate.conf"].data
    bad = rng.choice(
        (
            f"upstrem spare 127.0.0.1 {rng.randrange(6000, 6900)}",
            "route * /old spare",
            "max_body 8k",
            "timeout fast",
        )
    )
    lines.append(bad)
    found.log("gate", f"fatal: {HOME}/gate.conf: line {len(lines)}: in '{bad}'")
    return True


def small_body(found: Handover, rng: random.Random) -> bool:
    """The gate refuses bodies that are allowed."""
    lines = found.documents["gate.conf"].data
    at = next(i for i, line in enumerate(lines) if line.startswith("max_body"))
    lines[at] = f"max_body {rng.choice((64, 100, 128))}"
    return True


def wrong_host(found: Handover, rng: random.Random) -> bool:
    """The route is for a host that nobody asks for."""
    lines, host = found.documents["gate.conf"].data, found.stack.facts["host"]
    at = next(i for i, line in enumerate(lines) if line.startswith(f"route {host} "))
    lines[at] = lines[at].replace(host, host.replace("www.", rng.choice(("old.", "w3.", "web."))))
    return True


def impatient(found: Handover, rng: random.Random) -> bool:
    """A client is started before the store and does not wait for it."""
    if "store.ini" not in found.documents:
        return False
    found.order.remove("store")
    found.order.insert(rng.randrange(1, len(found.order) + 1), "store")
    client = {"links": "links.json", "jobs": "jobs.json"}.get(found.stack.kind)
    if client:
        found.documents[client].data["store_wait_seconds"] = 0
    else:
        found.documents["meter.ini"].data["store"]["store_wait_seconds"] = 0
    return True


def not_started(found: Handover, rng: random.Random) -> bool:
    """The start script leaves a service out."""
    found.order.remove(rng.choice([n for n in found.order if n not in ("store", "gate")]))
    return True


def wrong_path(found: Handover, rng: random.Random) -> bool:
    """The start script names a configuration that is not there."""
    name = rng.choice([n for n in found.order if n != "store"])
    right = found.configs[name]
    found.configs[name] = rng.choice((f"etc/{right}", f"{right}.new", f"conf.d/{right}"))
    found.log(name, f"fatal: cannot read {HOME}/{found.configs[name]}: No such file or directory")
    return True


def mkdir_once(found: Handover, rng: random.Random) -> bool:
    """The start script works on the first day only."""
    found.make_folders = found.plain_mkdir = True
    return True


def short_life(found: Handover, rng: random.Random) -> bool:
    """Things are kept for another time, or in another size, than was agreed."""
    documents = found.documents
    if found.stack.kind == "links":
        documents["links.json"].data["max_url_bytes"] //= 3
    elif found.stack.kind == "jobs":
        documents["jobs.json"].data["max_text_bytes"] //= 4
    elif found.stack.kind == "mail":
        documents["mail.ini"].data["smtp"]["max_message_bytes"] = 512
    else:
        documents["meter.ini"].data["input"]["max_datagram"] = 96
    return True


def torn_names(found: Handover, rng: random.Random) -> bool:
    """Two services disagree on a name that they share."""
    documents, facts = found.documents, found.stack.facts
    if found.stack.kind == "jobs":
        documents["worker.env"].data["JOB_PREFIX"] = facts["job_prefix"].replace(":job:", ":jobs:")
        found.log("worker", f"no job under {facts['job_prefix'].replace(':job:', ':jobs:')}2f41")
    elif found.stack.kind == "mail":
        documents["mail.ini"].data["smtp"]["hostname"] = f"mail.{facts['domain']}"
        found.log("mail", f"550 exchangers are ['{facts['hostname']}'], not mail.{facts['domain']}")
    elif found.stack.kind == "meters":
        documents["meter.ini"].data["input"]["accept_prefix"] = facts["accept_prefix"].title()
        found.log("meter", f"not taken: '{facts['accept_prefix']}test:1|c'")
    else:
        documents["links.json"].data["key_prefix"] = facts["key_prefix"].replace(":", "/")
    return True


def bad_zone(found: Handover, rng: random.Random) -> bool:
    """A zone that is left out because of one line."""
    if found.stack.kind != "mail":
        return False
    name = next(n for n in found.documents if n.startswith("zones/"))
    lines = found.documents[name].data
    bad = rng.choice(("www AA 10.0.0.300", f"@ MX {found.stack.facts['hostname']}.", "ftp A"))
    lines.insert(3, bad)
    found.log("zones", f"zone {name[6:]} is left out: line 4: '{bad}'")
    return True


def unreadable(found: Handover, rng: random.Random) -> bool:
    """A file that its own reader may not read."""
    if found.stack.kind != "mail":
        return False
    found.documents["aliases"].mode = 0o000
    found.log("mail", f"fatal: cannot read {HOME}/aliases: Permission denied")
    return True


FAULTS: dict[str, Fault] = {
    f.__name__: f
    for f in (
        store_port,
        upstream_port,
        port_taken,
        open_bind,
        shut_gate,
        stale_pid,
        late_sync,
        open_secret,
        misspelt_key,
        bad_gate_line,
        small_body,
        wrong_host,
        impatient,
        not_started,
        wrong_path,
        mkdir_once,
        short_life,
        torn_names,
        bad_zone,
        unreadable,
    )
}
ALWAYS = ("upstream_port", "misspelt_key")
"""In every draw: one between services, one inside of a file."""
