# mypy: ignore-errors
"""Answers about routes: answer.py DATABASE PORT"""

import heapq
import json
import sqlite3
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

OPEN = "agreed"
LINKS = "SELECT lender AS a, borrower AS b, days AS cost FROM routes WHERE state = ?"
REACHED = f"""
WITH RECURSIVE e AS ({LINKS}), both AS (
  SELECT CASE WHEN :back THEN b ELSE a END AS a, CASE WHEN :back THEN a ELSE b END AS b FROM e
  UNION SELECT b, a FROM e WHERE :twice
), r(id, steps) AS (
  VALUES (:start, 0) UNION SELECT both.b, steps + 1 FROM r JOIN both ON both.a = r.id
  WHERE steps < min(:most, (SELECT count(*) FROM houses))
)
SELECT t.house AS name, min(steps) AS steps FROM r JOIN houses t ON t.id = r.id
WHERE t.id <> :start GROUP BY t.id
""".replace("?", ":open")


class Refused(Exception):
    pass


class Questions:
    def __init__(self, base):
        self.base = base

    def id(self, name):
        if name is None:
            raise Refused(400)
        row = self.base.execute("SELECT id FROM houses WHERE house = ?", (name,)).fetchone()
        if row is None:
            raise Refused(404)
        return row[0]

    def reached(self, name, most=10**6, back=False, twice=False):
        values = {"start": self.id(name), "most": most, "back": back, "twice": twice, "open": OPEN}
        return self.base.execute(REACHED, values).fetchall()

    def listed(self, name, back):
        rows = sorted(self.reached(name, back=back), key=lambda row: (row[1], row[0]))
        return [{"name": n, "steps": s} for n, s in rows]

    def near(self, name, steps):
        if steps is None or not steps.isascii() or not steps.isdigit():
            raise Refused(400)
        return sorted(n for n, _ in self.reached(name, int(steps), twice=True))

    def path(self, start, end):
        a, b = self.id(start), self.id(end)
        names = dict(self.base.execute("SELECT id, house FROM houses"))
        ends = {}
        for one, other, cost in self.base.execute(LINKS, (OPEN,)):
            ends.setdefault(one, []).append((other, cost))
        queue, seen = [(0, 1, (names[a],), a)], set()
        while queue:
            cost, count, way, last = heapq.heappop(queue)
            if last == b:
                return {"cost": cost, "names": list(way)}
            if last not in seen:
                seen.add(last)
                for other, more in ends.get(last, []):
                    heapq.heappush(queue, (cost + more, count + 1, (*way, names[other]), other))
        return {"cost": None, "names": []}

    def cycles(self):
        pairs = self.base.execute(
            f"WITH RECURSIVE e AS ({LINKS}), r AS (SELECT a, b FROM e UNION SELECT r.a, e.b FROM r JOIN e ON e.a = r.b) "
            "SELECT x.house, y.house FROM r JOIN houses x ON x.id = r.a JOIN houses y ON y.id = r.b "
            "WHERE EXISTS (SELECT 1 FROM r AS q WHERE q.a = r.b AND q.b = r.a)",
            (OPEN,),
        )
        groups = {}
        for one, other in pairs:
            groups.setdefault(one, set()).add(other)
        return sorted(sorted(group) for group in {frozenset(g) for g in groups.values()})

    def search(self, text, kind):
        if text is None:
            raise Refused(400)
        rows = self.base.execute(
            "SELECT house FROM houses WHERE instr(house, ?) > 0 AND (? IS NULL OR country = ?)",
            (text, kind, kind),
        )
        return sorted(name for (name,) in rows)

    def add(self, given):
        if not isinstance(given, dict) or not {"from", "to", "cost"} <= given.keys():
            raise Refused(400)
        cost = given["cost"]
        if type(cost) is not int or cost < 1:
            raise Refused(400)
        if not all(isinstance(given[key], str) for key in ("from", "to")):
            raise Refused(400)
        ends = self.id(given["from"]), self.id(given["to"])
        try:
            self.base.execute("INSERT INTO routes VALUES (?, ?, ?, ?)", (*ends, cost, OPEN))
        except sqlite3.IntegrityError:
            raise Refused(409) from None
        self.base.commit()
        return given


class Handler(BaseHTTPRequestHandler):
    def answer(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def handled(self, status, ask):
        base = sqlite3.connect(sys.argv[1], timeout=5)
        try:
            self.answer(status, ask(Questions(base)))
        except Refused as refused:
            self.answer(refused.args[0], {"error": "refused"})
        finally:
            base.close()

    def do_GET(self):
        url = urlsplit(self.path)
        given = {key: values[0] for key, values in parse_qs(url.query, keep_blank_values=True).items()}
        verb, _, rest = url.path.lstrip("/").partition("/")
        asks = {
            "below": lambda q: q.listed(unquote(rest), False),
            "near": lambda q: q.near(given.get("name"), given.get("steps")),
            "path": lambda q: q.path(given.get("from"), given.get("to")),
            "cycles": lambda q: q.cycles(),
            "search": lambda q: q.search(given.get("q"), given.get("country")),
            "above": lambda q: q.listed(unquote(rest), True),
        }
        if verb in asks:
            self.handled(200, asks[verb])
        else:
            self.answer(404, {"error": "no such question"})

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            given = json.loads(body)
        except ValueError:
            given = None
        self.handled(201, lambda q: q.add(given))

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()
