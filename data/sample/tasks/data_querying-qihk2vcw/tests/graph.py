# mypy: ignore-errors
"""Questions about a network, answered from its rows; what each means stands in the instruction.

`things`: name -> (kind, place). `links`: (from, to, cost, state).
"""

import heapq


class Refused(Exception):
    """A request that gets a status other than 200."""


class Graph:
    def __init__(self, rules, things, links):
        self.rules, self.things = rules, things
        self.out = {name: {} for name in things}
        for a, b, cost, state in links:
            if state == rules["open"] or not rules["states"]:
                self.out[a][b] = min(cost, self.out[a].get(b, cost))
        self.into = {name: {} for name in things}
        for a, ends in self.out.items():
            for b, cost in ends.items():
                self.into[b][a] = cost

    def known(self, name):
        if name not in self.things:
            raise Refused(404)
        return name

    def steps(self, start, sides, most=10**9):
        """name -> least number of links from the start, itself left out."""
        found, edge = {start: 0}, [start]
        while edge and found[edge[0]] < most:
            ends = [b for a in edge for side in sides for b in side[a]]
            edge = [b for b in dict.fromkeys(ends) if b not in found]
            found |= dict.fromkeys(edge, max(found.values()) + 1)
        del found[start]
        return found

    def below(self, name):
        found = self.steps(self.known(name), [self.out])
        return [
            {"name": n, "steps": s} for n, s in sorted(found.items(), key=lambda e: (e[1], e[0]))
        ]

    def above(self, name):
        found = self.steps(self.known(name), [self.into])
        return [
            {"name": n, "steps": s} for n, s in sorted(found.items(), key=lambda e: (e[1], e[0]))
        ]

    def near(self, name, steps):
        sides = [self.out, self.into] if self.rules["both"] else [self.out]
        return sorted(self.steps(self.known(name), sides, steps))

    def path(self, start, end):
        """The cheapest way; of equal ones the one with fewer links, then the first by its names."""
        self.known(start), self.known(end)
        line, done = [(0, 0, [start])], set()
        while line:
            cost, links, names = heapq.heappop(line)
            last = names[-1]
            if last == end:
                return {"cost": cost, "names": names}
            if last in done:
                continue
            done.add(last)
            for other, more in self.out[last].items():
                heapq.heappush(line, (cost + more, links + 1, [*names, other]))
        return {"cost": None, "names": []}

    def cycles(self):
        """Things that reach each other, in groups; one alone where it has a link to itself."""
        reach = {name: set(self.steps(name, [self.out])) for name in self.things}
        groups = {
            tuple(sorted([a, *(b for b in reach[a] if a in reach[b])]))
            for a in self.things
            if a in self.out[a] or any(a in reach[b] for b in reach[a])
        }
        return [list(group) for group in sorted(groups)]

    def search(self, text, kind):
        return sorted(n for n, (k, _) in self.things.items() if text in n and kind in (None, k))

    def add(self, start, end, cost):
        if not isinstance(cost, int) or isinstance(cost, bool) or cost < 1:
            raise Refused(400)
        self.known(start), self.known(end)
        if end in self.out[start]:
            raise Refused(409)
        self.out[start][end] = self.into[end][start] = cost
