"""The answers, computed from the rows in Python and never by a database."""

import datetime
import itertools
from collections.abc import Callable, Sequence

from envgen.authors.procedural.ledger_reports.ledger import Charge, Event, Ledger, Query
from envgen.authors.procedural.ledger_reports.rules import Rules

Cells = list[str]


class Answers:
    """All sections of one run; one method per question, each giving rows of cells."""

    def __init__(self, rules: Rules, ledger: Ledger, query: Query) -> None:
        self.rules, self.ledger, self.query = rules, ledger, query
        self.place = {p.id: p for p in ledger.places}
        self.party = {p.id: p for p in ledger.parties}
        ignored = rules.scenario.states[3] if rules.ignores else None
        self.all = [e for e in ledger.events if e.state != ignored]
        self.inside = [e for e in self.all if query.low <= e.day < query.high]
        self.money_of: dict[int, int] = {}
        for charge in ledger.charges:
            self.money_of[charge.event] = self.money_of.get(charge.event, 0) + charge.cents

    def sections(self) -> list[list[str]]:
        """Lines of each section, without its heading."""
        methods: dict[str, Callable[[], list[Cells]]] = {
            "region": self.region,
            "top": self.top,
            "running": self.running,
            "gaps": self.gaps,
            "best": self.best,
            "open": self.open,
            "share": self.share,
            "states": self.states,
            "silent": self.silent,
            "kinds": self.kinds,
        }
        found = []
        for question in self.rules.questions:
            lines = [self.rules.sep.join(cells) for cells in methods[question]()]
            found.append(lines or [self.rules.empty])
        return found

    # -- questions ------------------------------------------------------------------------------

    def region(self) -> list[Cells]:
        rows = []
        for place in self.ledger.places:
            if place.region == self.query.region:
                events = [e for e in self.inside if e.place == place.id]
                money = sum(self.money_of.get(e.id, 0) for e in events)
                rows.append(
                    (place.code, place.name, len(events), sum(e.qty for e in events), money)
                )
        key: dict[str, Callable[[tuple[str, str, int, int, int]], tuple[int, str]]] = {
            "code": lambda r: (0, r[0]),
            "money": lambda r: (-r[4], r[0]),
            "events": lambda r: (-r[2], r[0]),
        }
        rows.sort(key=key[self.rules.region_order])
        return [[c, name, str(n), str(q), self.money(m)] for c, name, n, q, m in rows]

    def top(self) -> list[Cells]:
        totals: dict[str, int] = {}
        for event in self.inside:
            if event.party is not None:
                name = self.party[event.party].name
                value = self.money_of.get(event.id, 0) if self.by_money else event.qty
                totals[name] = totals.get(name, 0) + value
        rows = []
        for name, total in totals.items():
            above = [t for t in totals.values() if t > total]
            rank = 1 + len(set(above) if self.rules.dense else above)
            if rank <= self.rules.top:
                rows.append((rank, name, self.money(total) if self.by_money else str(total)))
        return [[str(rank), name, total] for rank, name, total in sorted(rows)]

    @property
    def by_money(self) -> bool:
        return self.rules.measure == "money"

    def running(self) -> list[Cells]:
        counted = {e.id: e for e in self.all}
        length = 10 if self.rules.period == "month" else 7
        groups: dict[tuple[str, str], list[Charge]] = {}
        for charge in self.ledger.charges:
            if charge.event in counted and self.query.low <= charge.booked < self.query.high:
                region = ""
                if self.rules.running_by_region:
                    region = self.region_label(counted[charge.event])
                groups.setdefault((region, charge.booked[:length]), []).append(charge)
        rows, so_far, before = [], 0, ""
        for (region, unit), charges in sorted(groups.items(), key=lambda g: g[0]):
            so_far = so_far if region == before else 0
            before = region
            net = sum(c.cents for c in charges)
            so_far += net
            shown = self.day(unit) if length == 10 else unit
            cells = [shown, str(len(charges)), self.money(net), self.money(so_far)]
            rows.append([region, *cells] if self.rules.running_by_region else cells)
        return rows

    def gaps(self) -> list[Cells]:
        days: dict[int, list[datetime.date]] = {}
        for event in self.inside:
            if event.party is not None:
                days.setdefault(event.party, []).append(datetime.date.fromisoformat(event.day))
        rows = []
        for party, visits in days.items():
            visits.sort()
            if len(visits) > 1:
                pauses = [(b - a).days for a, b in itertools.pairwise(visits)]
                rows.append((-max(pauses), self.party[party].name, len(visits)))
        return [[name, str(count), str(-pause)] for pause, name, count in sorted(rows)]

    def best(self) -> list[Cells]:
        counts: dict[str, dict[str, int]] = {}
        for event in self.inside:
            codes = counts.setdefault(self.region_label(event), {})
            code = self.place[event.place].code
            codes[code] = codes.get(code, 0) + 1
        rows = []
        for region, codes in sorted(counts.items()):
            most = max(codes.values())
            winners = sorted(code for code, n in codes.items() if n == most)
            if self.rules.best_ties == "first":
                winners = winners[:1]
            rows += [[region, code, str(most)] for code in winners]
        return rows

    def open(self) -> list[Cells]:
        last = datetime.date.fromisoformat(self.query.high) - datetime.timedelta(days=1)
        rows = []
        for event in self.all:
            closed = event.closed is not None and event.closed < self.query.high
            age = (last - datetime.date.fromisoformat(event.day)).days
            if event.day < self.query.high and not closed and age >= self.rules.open_days:
                rows.append((-age, event.id, event))
        rows.sort(key=lambda r: r[:2])
        return [
            [str(e.id), self.party_label(e), self.place[e.place].code, self.day(e.day), str(-age)]
            for age, _, e in rows
        ]

    def share(self) -> list[Cells]:
        amounts: dict[str, int] = {}
        for event in self.inside:
            segment = self.party[event.party].segment if event.party is not None else None
            label = segment or self.rules.none
            value = 1 if self.rules.share_of == "events" else event.qty
            amounts[label] = amounts.get(label, 0) + value
        total = sum(amounts.values())
        rows = sorted(amounts.items(), key=lambda a: (-a[1], a[0]))
        return [[label, str(n), _percent(n * 1000 // total)] for label, n in rows]

    def states(self) -> list[Cells]:
        s = self.rules.scenario
        shown = s.states[:3] if self.rules.ignores else s.states
        rows = []
        for place in sorted(self.ledger.places, key=lambda p: p.code):
            events = [e for e in self.inside if e.place == place.id]
            if events:
                rows.append([place.code, *_counts(events, shown)])
        if rows:
            rows.append([self.rules.total_word, *_counts(self.inside, shown)])
        return rows

    def silent(self) -> list[Cells]:
        seen = {e.party for e in self.inside}
        rows = []
        for party in sorted(self.ledger.parties, key=lambda p: p.name):
            if party.id not in seen and party.joined < self.query.high:
                days = [e.day for e in self.all if e.party == party.id and e.day < self.query.low]
                last = self.day(max(days)) if days else self.rules.none
                rows.append([party.name, self.day(party.joined), last])
        return rows

    def kinds(self) -> list[Cells]:
        counted = {e.id for e in self.all}
        groups: dict[str, list[int]] = {}
        for charge in self.ledger.charges:
            if charge.event in counted and self.query.low <= charge.booked < self.query.high:
                groups.setdefault(charge.kind, []).append(charge.cents)
        rows = []
        for kind, cents in sorted(groups.items()):
            net = sum(cents)
            mean = abs(net) // len(cents) * (1 if net >= 0 else -1)  # cut off, towards zero
            rows.append([kind, str(len(cents)), self.money(net), self.money(mean)])
        return rows

    # -- cells ----------------------------------------------------------------------------------

    def region_label(self, event: Event) -> str:
        return self.place[event.place].region or self.rules.none

    def party_label(self, event: Event) -> str:
        if event.party is None:
            return self.rules.scenario.walk_in
        return self.party[event.party].name

    def money(self, cents: int) -> str:
        style = self.rules.money
        if style == "cents":
            return str(cents)
        sign = "-" if cents < 0 else ""
        text = f"{sign}{abs(cents) // 100}{',' if style == 'comma' else '.'}{abs(cents) % 100:02d}"
        return f"EUR {text}" if style == "eur" else text

    def day(self, day: str) -> str:
        year, month, number = day.split("-")
        return day if self.rules.day == "iso" else f"{number}.{month}.{year}"


def _percent(thousandths: int) -> str:
    return f"{thousandths // 10}.{thousandths % 10}"


def _counts(events: Sequence[Event], states: Sequence[str]) -> Cells:
    return [*(str(sum(e.state == s for e in events)) for s in states), str(len(events))]
