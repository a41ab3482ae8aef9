"""Starts the name service cold, asks it over UDP and HTTP, stops it hard, and asks once more."""

import json
from collections.abc import Iterable, Iterator
from typing import Any, Dict, List, Optional, Tuple

from verifiers import Check, Task, multi_protocol
from verifiers.multi_protocol import DnsReply, HttpReply, Service

READY, LONG, SHORT = 40.0, 6.0, 0.2
patience = {"seconds": LONG}
"""A right service answers soon even on a busy machine; each silence shortens the next wait."""


class Talk:
    """Both protocols of one service, and how many questions of each kind it was asked."""

    def __init__(self, truth: Dict[str, Any]) -> None:
        self.truth = truth
        self.asked = {"answered": 0, "empty": 0, "missing": 0, "refused": 0}

    def dns(self, name: str, kind: str) -> Optional[DnsReply]:
        reply = multi_protocol.dns(self.truth["dns"], name, kind, timeout=patience["seconds"])
        if reply is None:
            patience["seconds"] = max(SHORT, patience["seconds"] * 0.5)
        return reply

    def right(self, case: Dict[str, Any]) -> bool:
        """Whether one question is answered as it must be."""
        self.asked[case["counts"]] += 1
        reply = self.dns(case["name"], case["type"])
        wanted = sorted(tuple(one) for one in case["answers"])
        return (
            reply is not None
            and (reply.rcode, list(reply.answers)) == (case["rcode"], wanted)
            and (reply.authoritative or case["rcode"] == 5)
        )

    def http(self, method: str, path: str, body: Any = None, key: str = "") -> Optional[HttpReply]:
        headers = {self.truth["header"]: key or self.truth["key"]}
        data = (
            b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        )
        reply = multi_protocol.http(
            method, self.truth["http"], path, headers, data, timeout=patience["seconds"]
        )
        if reply is None:
            patience["seconds"] = max(SHORT, patience["seconds"] * 0.5)
        return reply

    def status(self, method: str, path: str, body: Any = None, key: str = "") -> int:
        reply = self.http(method, path, body, key)
        return reply.status if reply else 0


def checks(task: Task) -> Iterable[Check]:
    truth = task.truth
    fresh = _fresh(task)
    with _start(task) as service:
        talk = Talk(truth)
        yield Check("starts cold", float(service.ready), service.error, weight=0.5)
        if not service.ready:
            return
        plain = _share(talk, truth["questions"]["records"])
        for name, cases in truth["questions"].items():
            share = _share(talk, cases) if name != "records" else plain
            # What is not there is told from what is: silence about everything earns nothing.
            yield Check(f"dns: {name}", min(share, plain) if name != "records" else share)
        yield Check("http: only with the key and proper requests", _guards(talk, truth, fresh))
        yield from _changes(talk, truth, fresh, plain)
        yield Check("http: counts", _counts(talk, truth), weight=1.5)
    with _start(task) as service:
        talk = Talk(truth)
        kept = service.ready and all([talk.right(case) for case in _after(truth, fresh)])
        yield Check("changes outlast a hard stop", float(kept), weight=2)


def _start(task: Task) -> Service:
    truth = task.truth
    return Service(task, [truth["start"]], [truth["http"]], READY, udp_ports=[truth["dns"]],
                   cwd=truth["folder"])  # fmt: skip


def _share(talk: Talk, cases: List[Dict[str, Any]]) -> float:
    return sum([talk.right(case) for case in cases]) / len(cases)


def _fresh(task: Task) -> Dict[str, Any]:
    """Names and data that stand nowhere."""
    rng = task.rng("fresh")
    label = "".join(rng.choice("bcdfghkmnprstvz") for _ in range(7))
    address = f"10.{rng.randrange(256)}.{rng.randrange(256)}.{rng.randrange(1, 255)}"
    text = f"{label} at {rng.randrange(1000, 9999)}"
    return {"label": label, "address": address, "ttl": rng.randrange(61, 3000), "text": text}


def _guards(talk: Talk, truth: Dict[str, Any], fresh: Dict[str, Any]) -> float:
    noun, label = truth["noun"], fresh["label"]
    good = {"ttl": 60, "data": ["10.1.1.1"]}
    path = f"/{noun}/{label}x/A"
    asked: List[Tuple[int, int]] = [
        (talk.status("PUT", path, good, key="x" + truth["key"]), 403),
        (talk.status("GET", f"/{truth['stats']}", key="no"), 403),
        (talk.status("PUT", path, b"{"), 400),
        (talk.status("PUT", path, {"ttl": "60", "data": ["10.1.1.1"]}), 400),
        (talk.status("PUT", path, {"ttl": 60, "data": ["10.1.1"]}), 400),
        (talk.status("PUT", path, {"ttl": 60, "data": []}), 400),
        (talk.status("PUT", f"/{noun}/{label}x/MX", {"ttl": 60, "data": ["10 a"]}), 400),
        (talk.status("DELETE", path), 404),
        (talk.status("GET", f"/{noun}/{label}x"), 404),
    ]
    name = f"{label}x.{truth['zone']}"
    gone = {
        "name": name,
        "type": "A",
        "rcode": 3,
        "answers": [],
        "counts": "missing",
    }
    return float(all(one == other for one, other in asked) and talk.right(gone))


def _changes(
    talk: Talk, truth: Dict[str, Any], fresh: Dict[str, Any], plain: float
) -> Iterator[Check]:
    noun, label, ttl = truth["noun"], fresh["label"], fresh["ttl"]
    done = [
        talk.status("PUT", f"/{noun}/{label}/A", {"ttl": ttl, "data": [fresh["address"]]}),
        talk.status(
            "PUT", f"/{noun}/{truth['changed']}/A", {"ttl": ttl, "data": [fresh["address"]]}
        ),
        talk.status("PUT", f"/{noun}/{label}/TXT", {"ttl": ttl, "data": ["first"]}),
        talk.status("PUT", f"/{noun}/{label}/TXT", {"ttl": ttl, "data": [fresh["text"]]}),
        talk.status("DELETE", f"/{noun}/{truth['removed']}/A"),
    ]
    seen = [talk.right(case) for case in _after(truth, fresh)]
    listed = talk.http("GET", f"/{noun}/{label}")
    rows = listed.json() if listed and listed.status == 200 else None
    wanted = [{"type": "A", "ttl": ttl, "data": [fresh["address"]]},
              {"type": "TXT", "ttl": ttl, "data": [fresh["text"]]}]  # fmt: skip
    yield Check(
        "http: changes are accepted and listed", float(done == [204] * 5 and rows == wanted)
    )
    yield Check("dns: sees the changes", float(all(seen)) and plain, weight=2)


def _after(truth: Dict[str, Any], fresh: Dict[str, Any]) -> Iterator[Dict[str, Any]]:
    """Questions after the changes."""
    zone, ttl, address = truth["zone"], fresh["ttl"], fresh["address"]
    for label in (fresh["label"], truth["changed"]):
        name = f"{label}.{zone}"
        yield {"name": name, "type": "A", "rcode": 0, "answers": [(name, "A", ttl, address)],
               "counts": "answered"}  # fmt: skip
    name = f"{fresh['label']}.{zone}"
    yield {"name": name, "type": "TXT", "rcode": 0, "answers": [(name, "TXT", ttl, fresh["text"])],
           "counts": "answered"}  # fmt: skip
    yield {"name": name, "type": "AAAA", "rcode": 0, "answers": [], "counts": "empty"}
    gone = f"{truth['removed']}.{zone}"
    yield {"name": gone, "type": "A", "rcode": 3, "answers": [], "counts": "missing"}


def _counts(talk: Talk, truth: Dict[str, Any]) -> float:
    """Equal to what was asked since the start; a question that was sent twice spoils nothing."""
    before = talk.http("GET", f"/{truth['stats']}")
    first = before.json() if before else None
    names = {
        "answered": truth["changed"],
        "refused": "example.test",
        "missing": "no-such-name-here",
    }
    for name in names.values():
        talk.dns(name if "." in name else f"{name}.{truth['zone']}", "A")
    after = talk.http("GET", f"/{truth['stats']}")
    second = after.json() if after else None
    if not (isinstance(first, dict) and isinstance(second, dict) and set(first) == set(talk.asked)):
        return 0.0
    whole = all(type(first[k]) is int and type(second.get(k)) is int for k in first)
    enough = whole and all(first[k] >= talk.asked[k] for k in first)
    return float(enough and all((second[k] > first[k]) == (k in names) for k in first))
