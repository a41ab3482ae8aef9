"""Starts the service on databases that nobody has seen, and asks what a graph of ours knows.

Within each life rows are added behind the service's back. What a constant answer would get on the
same requests is taken off.
"""

from __future__ import annotations

import base64
import json
import os
import random
import sqlite3
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, Callable
from urllib.parse import quote

from graph import Graph, Refused  # type: ignore[import-not-found]

from verifiers import Check, Task
from verifiers.multi_protocol import Service, http

EACH = 7
Request = tuple[str, str, bytes, int, Any]
"""Method, path, body, status and value that are right; a value of None is not looked at."""


def checks(task: Task) -> Iterable[Check]:
    truth = task.truth
    scores: dict[str, list[float]] = {}
    up = True
    for number, packed in enumerate(truth["lives"]):
        things, links = json.loads(zlib.decompress(base64.b64decode(packed)))
        rng = task.rng(f"life {number}")
        folder = task.scratch({"store.db": _database(truth, things, links)})
        path = os.path.join(folder, "store.db")
        argv = ["python3", truth["rules"]["program"], path, str(truth["rules"]["port"])]
        with Service(task, argv, [truth["rules"]["port"]], 20 if up else 2) as service:
            up = service.ready
            for name, score in _life(truth, rng, things, links, path, up):
                scores.setdefault(name, []).append(score)
    for name, found in scores.items():
        yield Check(name, sum(found) / len(found))


def _database(truth: dict[str, Any], things: Any, links: Any) -> bytes:
    base = sqlite3.connect(":memory:")
    base.executescript(truth["schema"])
    ids = {name: n for n, name in enumerate(things, 1)}
    s = truth["scenario"]
    rows = [(ids[n], n, kind) for n, (kind, _) in things.items()]
    base.executemany(f"INSERT INTO {s['things']} VALUES (?, ?, ?)", rows)
    ends = [(ids[a], ids[b], cost, state) for a, b, cost, state in links]
    base.executemany(f"INSERT INTO {s['links']} VALUES (?, ?, ?, ?)", ends)
    base.commit()
    return bytes(base.serialize())


def _life(
    truth: dict[str, Any], rng: random.Random, things: Any, links: list[Any], path: str, up: bool
) -> Iterator[tuple[str, float]]:
    """Scores of one life, by question."""
    rules, names = truth["rules"], list(things)
    for name, requests in _requests(truth, Graph(rules, things, links), rng).items():
        yield name, _share(rules["port"], requests) if up else 0.0
    more = _more(truth, rng, names, links, path)
    graph = Graph(rules, things, [*links, *more])
    ends = [a for a, *_ in more]
    asked = [_get(f"/below/{quote(a, safe='')}", partial(graph.below, a)) for a in ends]
    yield "rows that are new", _share(rules["port"], asked) if up else 0.0
    if rules["large"]:
        written = _written(truth, rng, names, [*links, *more], path) if up else 0.0
        yield "links that are written", written


def _get(path: str, ask: Callable[[], Any]) -> Request:
    try:
        return "GET", path, b"", 200, ask()
    except Refused as refused:
        return "GET", path, b"", refused.args[0], None


def _requests(truth: dict[str, Any], graph: Any, rng: random.Random) -> dict[str, list[Request]]:
    """Fresh requests for each question."""
    names, r, s = list(graph.things), truth["rules"], truth["scenario"]

    def of(name: str) -> str:
        return quote(name, safe="")

    def near(name: str, steps: int) -> Request:
        return _get(f"/near?name={of(name)}&{r['key']}={steps}", lambda: graph.near(name, steps))

    def path(a: str, b: str) -> Request:
        return _get(f"/path?from={of(a)}&to={of(b)}", lambda: graph.path(a, b))

    def search(text: str, kind: str | None) -> Request:
        more = f"&{s['kind']}={of(kind)}" if kind else ""
        return _get(f"/search?{r['text']}={of(text)}{more}", lambda: graph.search(text, kind))

    some = rng.sample(names, 4 * EACH)
    early = names[: len(names) // 2]
    far = [(a, rng.choice(sorted(graph.steps(a, [graph.out])) or names)) for a in some[:EACH]]
    texts = ["%", "_", "'", "' OR 1=1 --", rng.choice(names)[1:4], rng.choice(names).upper()]
    found = {
        "below": [
            _get(f"/below/{of(a)}", partial(graph.below, a)) for a in rng.sample(early, EACH)
        ],
        "near": [near(a, rng.choice((1, 2, 3))) for a in some[:EACH]],
        "path": [path(a, b) for a, b in [*far, (some[0], some[0]), (some[1], some[2])]],
        "cycles": [("GET", "/cycles", b"", 200, graph.cycles())],
        "search": [search(text, rng.choice((None, "A", "B"))) for text in texts],
        "refused": [
            ("GET", f"/below/{of(some[3] + ' x')}", b"", 404, None),
            ("GET", f"/path?from={of(some[4])}&to=nobody", b"", 404, None),
            ("GET", f"/path?from={of(some[4])}", b"", 400, None),
            ("GET", f"/near?name={of(some[5])}&{r['key']}=two", b"", 400, None),
            ("GET", "/search", b"", 400, None),
        ],
    }
    if r["large"]:
        late = names[len(names) // 2 :]
        asked = rng.sample(late, EACH)
        found["above"] = [_get(f"/above/{of(a)}", partial(graph.above, a)) for a in asked]
    return found


def _share(port: int, requests: list[Request]) -> float:
    """The share of right answers, less what one constant answer would get."""
    wanted = Counter(json.dumps([status, value]) for *_, status, value in requests)
    base = wanted.most_common(1)[0][1] / len(requests) if len(requests) > 1 else 0.0
    right = sum(_right(port, *one) for one in requests) / len(requests)
    return max(0.0, (right - base) / (1 - base)) if right < 1 else 1.0


def _right(port: int, method: str, path: str, body: bytes, status: int, value: Any) -> bool:
    reply = http(method, port, path, {"Content-Type": "application/json"}, body)
    if reply is None or reply.status != status:
        return False
    given = reply.json()
    return isinstance(given, dict) if value is None else bool(given == value)


def _more(
    truth: dict[str, Any], rng: random.Random, names: list[str], links: list[Any], path: str
) -> list[Any]:
    """Rows that appear while the service runs."""
    s, known = truth["scenario"], {(a, b) for a, b, *_ in links}
    pairs = [(a, b) for a, b in zip(rng.sample(names, 8), rng.sample(names, 8))]
    more = [(a, b, 7, truth["rules"]["open"]) for a, b in pairs if a != b and (a, b) not in known]
    one = f"(SELECT id FROM {s['things']} WHERE {s['name']} = ?)"
    base = sqlite3.connect(path, timeout=10)
    try:
        base.executemany(f"INSERT INTO {s['links']} VALUES ({one}, {one}, ?, ?)", more[:4])
        base.commit()
    except sqlite3.Error:
        return []  # what a service does to its database is its own fault
    finally:
        base.close()
    return more[:4]


def _written(
    truth: dict[str, Any], rng: random.Random, names: list[str], links: list[Any], path: str
) -> float:
    """New links over HTTP, and whether they are in the database then."""
    port, s = truth["rules"]["port"], truth["scenario"]
    known, cost = {(x, y) for x, y, *_ in links}, rng.randrange(100, 999)
    a, b = next((x, y) for x in rng.sample(names, 9) for y in names[-9:] if (x, y) not in known)
    shut = next(link for link in links if link[3] != truth["rules"]["open"])

    def posted(value: Any, status: int) -> bool:
        body = json.dumps(value).encode()
        return _right(port, "POST", "/links", body, status, value if status == 201 else None)

    done = [
        posted({"from": a, "to": b, "cost": cost}, 201),
        posted({"from": shut[0], "to": shut[1], "cost": 5}, 409),
        posted({"from": a, "to": "nobody at all", "cost": 5}, 404),
        posted({"from": b, "to": a, "cost": 0}, 400),
        posted(["no object"], 400),
    ]
    query = (
        f"SELECT count(*) FROM {s['links']} l JOIN {s['things']} t ON t.id = l.{s['start']} "
        f"WHERE t.{s['name']} = ? AND l.{s['cost']} = ?"
    )
    base = sqlite3.connect(path, timeout=10)
    try:
        stored = base.execute(query, (a, cost)).fetchone()[0] == 1
    except sqlite3.Error:
        stored = False
    finally:
        base.close()
    return (sum(done) + stored) / 6 if done[0] and stored else 0.0
