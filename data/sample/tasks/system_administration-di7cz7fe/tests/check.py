"""Grades a stack: started cold, used through every protocol, killed hard, started again.

What the kinds of stack have in common is here; the rest is in checks_KIND.py beside it.
"""

import ast
import importlib
import socket
import time
from collections.abc import Iterable, Iterator
from typing import Any, Dict, Optional

from talk import again, http  # type: ignore[import-not-found]

from verifiers import Check, Task
from verifiers.multi_protocol import Service, accepts

FREEZE = """
import os, signal, sys
table, port, number = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
wanted = set()
with open(f"/proc/net/{table}") as lines:
    for line in list(lines)[1:]:
        words = line.split()
        if int(words[1].split(":")[1], 16) == port and words[3] in ("0A", "07"):
            wanted.add(f"socket:[{words[9]}]")
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        held = {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}
        if held & wanted:
            os.kill(int(pid), number)
    except OSError:
        pass
"""
STOP, GO = "19", "18"
READY = 40
"""More than is promised: our machine may be the slow one."""


def checks(task: Task) -> Iterable[Check]:
    """Two lives of the stack, with a hard stop between."""
    kind = importlib.import_module(f"checks_{task.truth['kind']}").Kind(task)
    yield Check("healthd.py is a Python program", _is_python(task.read_text("stack/healthd.py")))
    with _start(task, READY) as service:
        came_up = service.ready
        yield Check("comes up cold", float(service.ready), service.error, weight=2)
        yield from _addresses(task.truth)
        yield from _gate(task)
        yield from kind.first()
        yield from _health(task)
    _until_free(task.truth["tcp"])
    with _start(task, READY if came_up else 3) as service:
        yield Check("comes up after a hard stop", float(service.ready), service.error)
        yield from kind.second()
    yield from _script(task)


def _start(task: Task, seconds: float) -> Service:
    ports, datagrams = task.truth["tcp"], task.truth["udp"]
    return Service(task, ["stack/start.sh"], ports, seconds, udp_ports=datagrams, cwd="stack")


def _until_free(ports: "list[int]") -> None:
    """A killed program with threads lets go of its port only when the last thread is gone."""
    end = time.monotonic() + 5
    while any(accepts(port) for port in ports) and time.monotonic() < end:
        time.sleep(0.05)


def _is_python(text: Optional[str]) -> float:
    try:
        return float(text is not None and bool(ast.parse(text).body))
    except (SyntaxError, ValueError):
        return 0.0


# -- addresses and gate -------------------------------------------------------------------------


def _addresses(truth: Dict[str, Any]) -> Iterator[Check]:
    """127.0.0.2 is this machine too, but not the address that inner services are bound to."""
    gate = truth["facts"]["gate"]
    yield Check("the gate listens on all addresses", float(_reachable(gate)))
    inner = [port for port in truth["tcp"] if port != gate]
    hidden = [_local(port) and not _reachable(port) for port in inner]
    hidden += [_udp_address(port) == {"0100007F"} for port in truth["udp"]]
    yield Check("inner services listen on 127.0.0.1 alone", float(all(hidden)))


def _local(port: int) -> bool:
    return _reachable(port, "127.0.0.1")


def _reachable(port: int, address: str = "127.0.0.2") -> bool:
    try:
        socket.create_connection((address, port), timeout=1).close()
    except OSError:
        return False
    return True


def _udp_address(port: int) -> "set[str]":
    found = set()
    for table in ("/proc/net/udp", "/proc/net/udp6"):
        with open(table, encoding="ascii") as lines:
            for line in list(lines)[1:]:
                address, number = line.split()[1].split(":")
                if int(number, 16) == port:
                    found.add(address)
    return found


def _gate(task: Task) -> Iterator[Check]:
    """Site, hosts, sizes and what leads nowhere."""
    facts = task.truth["facts"]
    port, host, host2, prefix2 = facts["gate"], facts["host"], facts["host2"], facts["prefix2"]

    def status(name: str, path: str, body: bytes = b"") -> int:
        reply = http("POST" if body else "GET", port, path, body=body, host=name)
        return reply.status if reply else 0

    reply = http("GET", port, "/ping", host=host)
    yield Check(
        "gate: host and site",
        float(
            reply is not None
            and reply.status == 200
            and reply.body.strip() == b"pong"
            and reply.headers.get("x-site") == facts["site"]
        ),
    )
    answers = [status(host2, f"{prefix2}/ping"), status(host2, "/ping")]
    yield Check("gate: the new host", float(answers == [200, 404]))
    alive = reply is not None
    strangers = [status("other.example", "/ping"), status("other.example", f"{prefix2}/ping")]
    yield Check("gate: nothing else leads anywhere", float(alive and strangers == [404, 404]))
    size = facts["max_body"]
    sizes = [status(host, "/nowhere", b"x" * size), status(host, "/nowhere", b"x" * (size + 1))]
    yield Check("gate: bodies", float(sizes == [404, 413]))


# -- health -------------------------------------------------------------------------------------


def _page(port: int, host: str) -> "tuple[int, Any]":
    reply = http("GET", port, "/healthz", host=host)
    page = reply.json() if reply else None
    return (reply.status, page) if reply and isinstance(page, dict) else (0, {})


def _health(task: Task) -> Iterator[Check]:
    """All up; then with one service frozen, which keeps its process and its port."""
    truth = task.truth
    facts, names, frozen = truth["facts"], truth["probed"], truth["frozen"]
    good = {"status": "ok", "services": dict.fromkeys(names, "up")}
    places = [
        (facts["health"], "localhost"),
        (facts["gate"], "any.example"),
        (facts["gate"], facts["host"]),
    ]
    seen = [again(lambda at=place: _page(*at), (200, good)) for place in places]
    yield Check("health: all up", sum(page == (200, good) for page in seen) / len(seen))
    services = {**good["services"], frozen["name"]: "down"}  # type: ignore[dict-item]
    up = (0, "".join(f"{name} up\n" for name in names))
    down = (1, "".join(f"{name} {services[name]}\n" for name in names))
    two = truth["two_languages"]
    script_up = again(lambda: _stackcheck(task), up) if two else up
    _signal(task, STOP)
    bad = (503, {"status": "degraded", "services": services})
    page = again(lambda: _page(*places[1]), bad)
    script_down = again(lambda: _stackcheck(task), down) if two else down
    _signal(task, GO)
    yield Check(
        "health: a frozen service is down", float(page == bad and seen[1] == (200, good)), weight=2
    )
    if two:
        yield Check("stackcheck: all up", float(script_up == up))
        yield Check(
            "stackcheck: a frozen service is down", float(script_down == down and script_up == up)
        )


def _signal(task: Task, number: str) -> None:
    frozen = task.truth["frozen"]
    argv = ["/usr/bin/python3", "-I", "-c", FREEZE, frozen["table"], str(frozen["port"]), number]
    task.run(argv, timeout=5, cwd="/")


def _stackcheck(task: Task) -> "tuple[Optional[int], str]":
    limit = len(task.truth["probed"]) + 1.5
    outcome = task.run(["stack/stackcheck"], timeout=limit, cwd="stack")
    return (None if outcome.timed_out else outcome.code), outcome.text


def _script(task: Task) -> Iterator[Check]:
    """With the stack gone, everything is down."""
    if task.truth["two_languages"]:
        names = task.truth["probed"]
        bash = (task.read("stack/stackcheck") or b"").split(b"\n")[0].rstrip() == b"#!/bin/bash"
        down = "".join(f"{name} down\n" for name in names)
        yield Check("stackcheck: all down", float(bash and _stackcheck(task) == (1, down)))
