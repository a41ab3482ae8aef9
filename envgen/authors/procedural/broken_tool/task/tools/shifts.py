"""Keeps the bookings of a few places for one day."""

import sys
from typing import Dict, List, Optional

GAP = 10
SHORTEST = 15
EMPTY = "empty"


class Booking:
    """A half-open span of minutes, with a name."""

    def __init__(self, name: str, start: int, end: int) -> None:
        self.name = name
        self.start = start
        self.end = end


def minutes(text: str) -> int:
    """Minutes since midnight of HH:MM, up to 24:00; -1 for anything else."""
    if len(text) != 5 or text[2] != ":" or not (text[:2] + text[3:]).isdigit():
        return -1
    hour, minute = int(text[:2]), int(text[3:])
    if minute > 59 or hour * 60 + minute > 24 * 60:
        return -1
    return hour * 60 + minute


def clock(moment: int) -> str:
    return f"{moment // 60:02d}:{moment % 60:02d}"


class Plan:
    """All places with their bookings in order of start."""

    def __init__(self) -> None:
        self.places: Dict[str, List[Booking]] = {}

    def holder(self, name: str) -> Optional[str]:
        """The place in which a booking of that name is."""
        for place, bookings in self.places.items():
            if any(booking.name == name for booking in bookings):
                return place
        return None

    def book(self, place: str, first: str, last: str, name: str) -> str:
        start, end = minutes(first), minutes(last)
        if start < 0 or end <= start:
            return "invalid"
        if self.holder(name) is not None:
            return f"duplicate {name}"
        bookings = self.places.setdefault(place, [])
        for other in bookings:
            if start < other.end + GAP and other.start < end + GAP:
                return f"clash {other.name}"
        bookings.append(Booking(name, start, end))
        bookings.sort(key=lambda booking: booking.start)
        return f"ok {name}"

    def cancel(self, name: str) -> str:
        place = self.holder(name)
        if place is None:
            return f"unknown {name}"
        self.places[place] = [b for b in self.places[place] if b.name != name]
        return f"ok {name}"

    def free(self, place: str, first: str, last: str) -> str:
        """Spans without a booking, at least SHORTEST long."""
        begin, end = minutes(first), minutes(last)
        if begin < 0 or end <= begin:
            return "invalid"
        out = []
        cursor = begin
        for booking in self.places.get(place, []):
            if booking.end <= begin or booking.start >= end:
                continue
            if booking.start - cursor >= SHORTEST:
                out.append(f"{clock(cursor)}-{clock(booking.start)}")
            cursor = booking.end
        if end - cursor >= SHORTEST:
            out.append(f"{clock(cursor)}-{clock(end)}")
        return " ".join(out) or "none"

    def listing(self, place: str) -> str:
        bookings = self.places.get(place, [])
        spans = [f"{clock(b.start)}-{clock(b.end)} {b.name}" for b in bookings]
        return ", ".join(spans) or EMPTY

    def busy(self, place: str) -> str:
        total = sum(b.end - b.start for b in self.places.get(place, []))
        return f"{total // 60}:{total % 60:02d}"

    def answer(self, line: str) -> str:
        command, *words = line.split()
        if command == "book" and len(words) == 4:
            return self.book(*words)
        if command == "cancel" and len(words) == 1:
            return self.cancel(*words)
        if command == "free" and len(words) == 3:
            return self.free(*words)
        if command == "list" and len(words) == 1:
            return self.listing(*words)
        if command == "busy" and len(words) == 1:
            return self.busy(*words)
        return "error"


def run(text: str) -> str:
    plan = Plan()
    return "".join(plan.answer(line) + "\n" for line in text.split("\n") if line.strip())


if __name__ == "__main__":
    sys.stdout.write(run(sys.stdin.read()))
